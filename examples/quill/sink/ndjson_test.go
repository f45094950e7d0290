package sink_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

func rows(batch string, keys ...string) []fact.Row {
	var rows []fact.Row
	for _, key := range keys {
		rows = append(rows, fact.Row{"key": key, "batch": batch, "amount": json.Number("12.50"), "name": "a<b>\n\"c\" ü"})
	}
	return rows
}

const lineA = `{"table":"Changes","row":{"amount":12.50,"batch":"1.1","key":"a","name":"a<b>\n\"c\" ü"}}` + "\n"

func open(t *testing.T, path string) *sink.File {
	t.Helper()
	f, err := sink.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func asked(t *testing.T, s sink.Sink, table, batch string, want ...string) {
	t.Helper()
	keys, err := s.Posted(t.Context(), table, batch)
	if diff := cmp.Diff(want, keys); err != nil || diff != "" {
		t.Errorf("of %s %s: %v %s", table, batch, err, diff)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "facts.ndjson")
	f := open(t, path)
	if got := f.Limits(); got != (sink.Limits{RowsAPost: 10_000}) {
		t.Errorf("%+v", got)
	}
	for _, post := range []struct {
		table string
		rows  []fact.Row
	}{
		{fact.Changes, rows("1.1", "a")},
		{fact.Changes, nil},
		{fact.Changes, rows("1.2", "b", "c")},
		{fact.Communications, rows("1.1", "d")},
	} {
		if err := f.Post(t.Context(), post.table, post.rows); err != nil {
			t.Fatal(err)
		}
	}
	asked(t, f, fact.Changes, "1.1", "a")
	asked(t, f, fact.Changes, "1.2", "b", "c")
	asked(t, f, fact.Changes, "1.3")
	asked(t, f, fact.Communications, "1.1", "d")
	if text := read(t, path); !strings.HasPrefix(text, lineA) || strings.Count(text, "\n") != 4 {
		t.Errorf("the file: %s", text)
	}

	// This stands for another process: flock works between open files, even in one
	// process.
	if _, err := sink.OpenFile(path); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("opened twice: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, path)
	if err := f.Post(t.Context(), fact.Changes, rows("2.1", "e")); err != nil {
		t.Fatal(err)
	}
	asked(t, f, fact.Changes, "1.2", "b", "c")
	asked(t, f, fact.Changes, "2.1", "e")
}

// Wherever a crash cut the last write, complete lines stay, and the next post
// begins a new one.
func TestFileCutsATornLine(t *testing.T) {
	t.Parallel()
	long := strings.ReplaceAll(lineA, `"name":"a`, `"name":"`+strings.Repeat("x", 100_000)) // more than a chunk
	for name, whole := range map[string]string{"nothing before": "", "a line before": lineA, "two before": lineA + long} {
		for _, torn := range []string{"", "{", `{"table":`, lineA[:len(lineA)-1], long[:len(long)-1], long[:65_536], long[:65_535]} {
			path := filepath.Join(t.TempDir(), "facts.ndjson")
			if err := os.WriteFile(path, []byte(whole+torn), 0o600); err != nil {
				t.Fatal(err)
			}
			f := open(t, path)
			if text := read(t, path); text != whole {
				t.Errorf("%s, %d torn: %d bytes stay of %d", name, len(torn), len(text), len(whole))
			}
			if err := f.Post(t.Context(), fact.Changes, rows("1.1", "a")); err != nil || read(t, path) != whole+lineA {
				t.Errorf("%s, %d torn: %v", name, len(torn), err)
			}
		}
	}
}

func TestOpenFileRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"notes", "notes\n", `{"table"`[:3] + "x", "[]\n"} {
		path := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sink.OpenFile(path); err == nil || !strings.Contains(err.Error(), "not a file of rows") || read(t, path) != text {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := sink.OpenFile(filepath.Join(t.TempDir(), "no", "such")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
}

// A line that is not whole has no row. One that is too long for a row is an error.
func TestFileWithABrokenLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "facts.ndjson")
	if err := os.WriteFile(path, []byte(lineA+"{\"table\":\"Chan\n"+strings.ReplaceAll(lineA, `"key":"a"`, `"key":"b"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	asked(t, open(t, path), fact.Changes, "1.1", "a", "b")
	path = filepath.Join(t.TempDir(), "facts.ndjson")
	if err := os.WriteFile(path, []byte(lineA+`{"table":"`+strings.Repeat("x", 5<<20)+"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if keys, err := open(t, path).Posted(t.Context(), fact.Changes, "1.1"); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("%q, %v", keys, err)
	}
}

// disk is a file in memory whose calls can fail.
type disk struct {
	text     []byte
	most     int // how many bytes a write writes; -1 for all
	failSync int // so often
}

var errDisk = errors.New("disk full")

func (d *disk) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(d.text).ReadAt(p, at) }
func (d *disk) Close() error                           { return nil }

func (d *disk) Write(p []byte) (int, error) {
	n := len(p)
	if d.most >= 0 {
		n = min(n, d.most)
	}
	d.text = append(d.text, p[:n]...)
	if n < len(p) {
		return n, errDisk
	}
	return n, nil
}

func (d *disk) Sync() error {
	if d.failSync--; d.failSync >= 0 {
		return errDisk
	}
	return nil
}

// After a failed post the file says which rows it has, and the next post begins a line
// of its own.
func TestFileAfterAFailedPost(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]struct {
		disk
		wait bool
		has  []string
	}{
		"nothing written": {wait: true},
		"half a line":     {disk: disk{most: 10}},
		"a line and half": {disk: disk{most: len(lineA) + 10}, has: []string{"b"}},
		"not synced":      {disk: disk{most: -1, failSync: 2}, has: []string{"b", "c"}},
	} {
		d := &disk{most: -1}
		f := sink.FileOn(d)
		if err := f.Post(t.Context(), fact.Changes, rows("1.1", "a")); err != nil {
			t.Fatal(err)
		}
		d.most, d.failSync = broken.most, broken.failSync
		err := f.Post(t.Context(), fact.Changes, rows("1.2", "b", "c"))
		var unknown *sink.UnknownError
		var wait *sink.WaitError // no row is at fault
		if !errors.Is(err, errDisk) || errors.As(err, &unknown) == broken.wait || errors.As(err, &wait) != broken.wait {
			t.Errorf("%s: %v", name, err)
		}
		if d.failSync > 0 {
			if _, err := f.Posted(t.Context(), fact.Changes, "1.2"); !errors.As(err, &wait) {
				t.Errorf("%s: what may be lost is reported: %v", name, err)
			}
		}
		d.most = -1
		asked(t, f, fact.Changes, "1.2", broken.has...)
		if err := f.Post(t.Context(), fact.Changes, rows("1.3", "d")); err != nil {
			t.Errorf("%s: then %v", name, err)
		}
		asked(t, f, fact.Changes, "1.3", "d")
	}
}

// If one row cannot be written, nothing of its post is. Nothing is written either
// if the context has ended.
func TestPostsThatWriteNothing(t *testing.T) {
	t.Parallel()
	d, out := &disk{most: -1}, &bytes.Buffer{}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range []sink.Sink{sink.FileOn(d), sink.NewWriter(out)} {
		bad := append(rows("1.1", "a"), fact.Row{"key": func() {}})
		if err := s.Post(t.Context(), fact.Changes, bad); err == nil || !strings.Contains(err.Error(), "row 1") {
			t.Errorf("%T: %v", s, err)
		}
		if err := s.Post(over, fact.Changes, rows("1.1", "a")); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: %v", s, err)
		}
	}
	if len(d.text)+out.Len() > 0 {
		t.Errorf("wrote %q and %q", d.text, out)
	}
}

// pipe accepts so many bytes the first time, and then all.
type pipe struct {
	bytes.Buffer
	most int
	err  error
}

func (p *pipe) Write(b []byte) (int, error) {
	n := min(len(b), p.most)
	err := p.err
	p.most, p.err = 1<<20, nil
	p.Buffer.Write(b[:n])
	return n, err
}

func TestWriter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most    int
		err     error
		unknown bool
		then    string // its content after one more post
	}{
		{most: 1 << 20, then: lineA + lineA},
		{most: 0, err: io.ErrClosedPipe, then: lineA},
		{most: 5, err: io.ErrClosedPipe, unknown: true, then: lineA[:5] + "\n" + lineA},
		{most: 5, unknown: true, then: lineA[:5] + "\n" + lineA}, // breaks the rules of io.Writer
		{most: len(lineA), err: io.ErrClosedPipe, unknown: true, then: lineA + lineA},
	} {
		p := &pipe{most: c.most, err: c.err}
		w := sink.NewWriter(p)
		err := w.Post(t.Context(), fact.Changes, rows("1.1", "a"))
		var unknown *sink.UnknownError
		var wait *sink.WaitError
		if errors.As(err, &unknown) != c.unknown || errors.As(err, &wait) != (err != nil && !c.unknown) || c.err != nil && !errors.Is(err, c.err) || (err == nil) != (c.most > len(lineA)) {
			t.Errorf("%+v: %v", c, err)
		}
		if err := w.Post(t.Context(), fact.Changes, rows("1.1", "a")); err != nil || p.String() != c.then {
			t.Errorf("%+v: then %v, %q", c, err, p.String())
		}
		if _, err := w.Posted(t.Context(), fact.Changes, "1.1"); !errors.Is(err, sink.ErrCannotAsk) || w.Limits() != (sink.Limits{RowsAPost: 10_000}) {
			t.Errorf("asked: %v", err)
		}
	}
}

// A long row is one line, and Posted finds its key.
func TestFileOfLongLines(t *testing.T) {
	t.Parallel()
	f := open(t, filepath.Join(t.TempDir(), "facts.ndjson"))
	for i := range 3 {
		long := rows("1.1", fmt.Sprint(i))
		long[0]["note"] = strings.Repeat("é", 200_000)
		if err := f.Post(t.Context(), fact.Changes, long); err != nil {
			t.Fatal(err)
		}
	}
	asked(t, f, fact.Changes, "1.1", "0", "1", "2")
}
