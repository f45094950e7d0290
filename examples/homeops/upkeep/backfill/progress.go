package backfill

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
	"golang.org/x/time/rate"
)

// progress shows how many rows of a table are done: as a bar on a terminal,
// otherwise as a line now and then.
type progress struct {
	io.Writer
	mu          sync.Mutex
	bar         *progressbar.ProgressBar // nil without a terminal
	lines       rate.Sometimes
	table       string
	rows, total int64 // DynamoDB counts the total every six hours
}

func newProgress(log io.Writer, table string, total, rows int64) *progress {
	p := &progress{Writer: log, lines: rate.Sometimes{Interval: 10 * time.Second}, table: table, total: total}
	if f, ok := log.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions64(max(total, 1), progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(table),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	p.add(rows)
	return p
}

func (p *progress) add(rows int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows += rows
	if p.bar != nil {
		p.bar.Set64(min(p.rows, p.bar.GetMax64()))
		return
	}
	p.lines.Do(func() { fmt.Fprintf(p, "%s: %d of about %d rows\n", p.table, p.rows, p.total) })
}

func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
	fmt.Fprintf(p, format+"\n", args...)
}

func (p *progress) end() {
	if p.bar != nil {
		p.bar.Exit()
		fmt.Fprintln(p)
	}
}
