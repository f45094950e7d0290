package journal

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// notes is an owner with the latest text of each name.
type notes struct {
	journal *Journal

	mu    sync.RWMutex // guards texts
	texts map[string]string
	told  []string // the entries redone, in order
}

type note struct{ Name, Text string }

func (n *notes) Redo(entries []byte) (weight int64, err error) {
	var all []note
	if err := json.Unmarshal(entries, &all); err != nil {
		return 0, err
	}
	for _, one := range all {
		n.texts[one.Name] = one.Text
		n.told = append(n.told, one.Name+"="+one.Text)
	}
	return int64(len(all)), nil
}

func (n *notes) Between(alone bool, f func()) {
	if alone {
		n.mu.Lock()
		defer n.mu.Unlock()
	} else {
		n.mu.RLock()
		defer n.mu.RUnlock()
	}
	f()
}

func (n *notes) Weight() int64 { return int64(len(n.texts)) }

func (n *notes) Snapshot() func(out *Lines) {
	texts := maps.Clone(n.texts)
	return func(out *Lines) {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			out.Add(time.Unix(0, 0), note{name, texts[name]}.write)
		}
	}
}

func (n note) write(w *api.Writer) {
	w.Text("Name", n.Name)
	w.Text("Text", n.Text)
}

// commit changes a text and appends it to the journal.
func (n *notes) commit(name, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts[name] = text
	n.journal.Append(1, AppendEntry(nil, time.Unix(0, 0), note{name, text}.write))
}

// write commits a text and waits until it is safe.
func (n *notes) write(name, text string) error {
	end, err := n.journal.Begin()
	if err != nil {
		return err
	}
	defer end()
	n.commit(name, text)
	return n.journal.Settle()
}

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// opened returns what opens a file.
func opened(path string, opt Options) (*notes, error) {
	n := &notes{texts: map[string]string{}}
	opt.Log = silent
	j, err := Open(path, opt, n)
	n.journal = j
	return n, err
}

func open(t *testing.T, path string, opt Options) *notes {
	t.Helper()
	n, err := opened(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.journal.Close() })
	return n
}

// reopened returns an owner with what the next process finds.
func (n *notes) reopened(t *testing.T, path string) *notes {
	t.Helper()
	if err := n.journal.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, path, Options{})
}

func (n *notes) mustWrite(t *testing.T, notes ...string) {
	t.Helper()
	for _, one := range notes {
		name, text, _ := strings.Cut(one, "=")
		if err := n.write(name, text); err != nil {
			t.Fatal(err)
		}
	}
}

// line is the line of a number with entries.
func line(number int, notes ...string) string {
	var entries []byte
	for _, one := range notes {
		name, text, _ := strings.Cut(one, "=")
		entries = AppendEntry(entries, time.Unix(0, 0), note{name, text}.write)
	}
	var b strings.Builder
	_, _ = writeLine(&b, number, entries)
	return b.String()
}

// older is a line with entries as formats without numbers have it.
func older(notes ...string) string {
	_, entries, _ := strings.Cut(line(0, notes...), " 0 ")
	return summedLine(strings.TrimSuffix(entries, "\n"))
}

func summedLine(text string) string {
	return fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(text), castagnoli), text)
}

func file(t *testing.T, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
