package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// steps that make a table and put items into it, of which each weighs about size
// bytes.
func puts(n, keys, size int) []step {
	steps := []step{{"CreateTable", `{"TableName":"plain","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"N"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`}}
	for i := range n {
		steps = append(steps, step{"PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"N":"%d"},"n":{"N":"%d"},"text":{"S":"%s"}}}`, i%keys, i, strings.Repeat("x", size))})
	}
	return steps
}

// played returns an engine that has done the steps, and its disk.
func played(t testing.TB, steps []step) (*Engine, *model) {
	t.Helper()
	m := newModel()
	e := onModel(m, ticking())
	if err := e.OpenJournal("data"); err != nil {
		t.Fatal(err)
	}
	for i, s := range steps {
		if !s.do(e) {
			t.Fatalf("step %d is refused", i)
		}
		m.compacted(e.journal)
	}
	return e, m
}

// holding returns a disk with one file.
func holding(content []byte) *model {
	m := newModel()
	m.names["data"] = &inode{data: bytes.Clone(content)}
	return m
}

// However the last line was torn, the server opens with what came before, and
// says what it cut off; the whole line is not cut, whatever blocks follow it.
func TestATornEndIsCutOff(t *testing.T) {
	t.Parallel()
	e, m := played(t, puts(2, 9, 10))
	content := m.names["data"].data
	after := whole(t, e)
	e, m = played(t, puts(1, 9, 10))
	before, start := whole(t, e), len(m.names["data"].data)
	for end := start; end <= len(content); end++ {
		for _, zeros := range []string{"", "\x00\x00\x00"} {
			torn := holding(append(content[:end:end], zeros...))
			var log bytes.Buffer
			e := New(Options{disk: torn, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err := e.OpenJournal("data"); err != nil {
				t.Fatalf("cut at %d: %v", end, err)
			}
			want, kept := before, start
			if end == len(content) {
				want, kept = after, end
			}
			if diff := cmp.Diff(want, whole(t, e)); diff != "" {
				t.Fatalf("cut at %d of %d: %s", end, len(content), diff)
			}
			if got := torn.names["data"].data; !bytes.Equal(got, content[:kept]) {
				t.Fatalf("cut at %d: left %q", end, got)
			}
			if cut := end + len(zeros) - kept; cut > 0 != strings.Contains(log.String(), fmt.Sprintf("file=data line=%d byte=%d bytes=%d ", 3+bytes.Count(content[start:kept], []byte("\n"))+1, kept, cut)) {
				t.Fatalf("cut at %d, the log: %s", end, &log)
			}
		}
	}
}

// Only what is over is a reason to begin a new file, and the old one has to be
// worth it.
func TestWhenTheFileIsCompacted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		before      []step // which are not counted
		steps       []step
		least, most int
	}{
		{"nothing is over", nil, puts(300, 300, 100), 0, 0},
		{"a little is", nil, puts(300, 200, 100), 0, 0},
		{"most is", nil, puts(300, 10, 100), 8, 20},
		{"all is, and it is small", nil, puts(4, 1, 100), 0, 0},
		{"most was", puts(40, 1, 100), puts(300, 300, 100)[1:], 0, 1},
	} {
		e, m := played(t, append(tt.before, tt.steps...))
		_, before := played(t, tt.before)
		if n := m.renames - before.renames; n < tt.least || n > tt.most {
			t.Errorf("%s: compacted %d times, want %d to %d", tt.name, n, tt.least, tt.most)
		}
		if size := int64(len(m.names["data"].data)); size != e.journal.size {
			t.Errorf("%s: %d bytes, taken for %d", tt.name, size, e.journal.size)
		}
	}
}
