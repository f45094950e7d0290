package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What was committed is redone in the order of the commits, from one line for
// each flush.
func TestToldInOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	n := open(t, path, Options{})
	n.mustWrite(t, "a=1", "b=2")
	n.commit("a", "3")
	n.commit("c", "4")
	if got := n.journal.Status(); got.Appended != 4 || got.Waiting != 2 {
		t.Errorf("before they are settled: %+v", got)
	}
	if err := n.journal.Settle(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(header(journalFormat)+line(2, "a=1")+line(3, "b=2")+line(4, "a=3", "c=4"), content(t, path)); diff != "" {
		t.Error(diff)
	}
	again := n.reopened(t, path)
	if diff := cmp.Diff([]string{"a=1", "b=2", "a=3", "c=4"}, again.told); diff != "" {
		t.Error(diff)
	}
	again.mustWrite(t, "d=5")
	if got := again.reopened(t, path).told; len(got) != 5 || got[4] != "d=5" {
		t.Errorf("what was written after it was opened again: %v", got)
	}
}

// An incomplete last line is what a crash has left, and is cut off; a line that
// lacks only its newline is whole. An incomplete line elsewhere is damage, and the
// file is left as it is.
func TestOpen(t *testing.T) {
	t.Parallel()
	head := header(journalFormat)
	one, two, three := line(2, "a=1"), line(3, "b=2"), line(4, "c=3")
	zeros := strings.Repeat("\x00", 2*Sector)
	long := head + line(2, "b="+strings.Repeat("x", 3*Sector))
	holed := long[:Sector] + zeros[:Sector] + long[2*Sector:]
	for name, tt := range map[string]struct{ content, told, left, err string }{
		"nothing":                  {"", "", head, ""},
		"a part of the first line": {head[:7], "", head, ""},
		"zeros for it":             {zeros[:len(head)], "", head, ""},
		"the first line":           {head, "", head, ""},
		"two lines":                {head + one + two, "a=1 b=2", head + one + two, ""},
		"a torn line":              {head + one + two[:len(two)/2], "a=1", head + one, ""},
		"a line of zeros":          {head + one + zeros, "a=1", head + one, ""},
		"a torn line and zeros":    {head + one + two[:9] + zeros, "a=1", head + one, ""},
		"no newline":               {head + one + two[:len(two)-1], "a=1 b=2", head + one + two, ""},
		"zeros for a newline":      {head + one + two[:len(two)-1] + zeros, "a=1 b=2", head + one + two, ""},
		"a sector of zeros":        {holed, "", head, ""},
		"another byte":             {head + one + strings.Replace(two, "b", "x", 1), "", "", "damaged in line 3"},
		"damage before the end":    {head + one[:20] + "x" + one[20:] + two, "", "", "damaged in line 2"},
		"zeros before the end":     {holed + one, "", "", "damaged in line 2"},
		"torn before the end":      {head + one + two[:len(two)/2] + "\n" + three, "", "", "damaged in line 3"},
		"a line missing":           {head + one + three, "", "", "damaged in line 3, at byte " + fmt.Sprint(len(head+one)) + ": it was written as line 4, so lines before it are missing; nothing was changed"},
		"the first one missing":    {head + two + three, "", "", "damaged in line 2"},
		"a line twice":             {head + one + one + two, "", "", "damaged in line 3, at byte " + fmt.Sprint(len(head+one)) + ": it was written as line 2, so it is in another place"},
		"lines in another order":   {head + two + one, "", "", "damaged in line 2"},
		"missing, and no newline":  {head + one + three[:len(three)-1], "", "", "damaged in line 3"},
		"a line without a number":  {head + one + older("b=2"), "", "", "damaged in line 3, at byte " + fmt.Sprint(len(head+one)) + ": it has no number"},
		"somebody's file":          {"Dear diary,\n", "", "", "not a data file of dynamotest"},
		"a later format":           {header(journalFormat + 1), "", "", "a later version of dynamotest wrote it"},
		"entries that are none":    {head + lineOf(`[{"Name":7}]`), "", "", "line 2, at byte"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t, tt.content)
			n, err := opened(path, Options{})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v, want %s", err, tt.err)
				}
				if got := content(t, path); got != tt.content {
					t.Errorf("refused, and the file was changed: %q", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(n.told, " "); got != tt.told {
				t.Errorf("told %q, want %q", got, tt.told)
			}
			if got := content(t, path); got != tt.left {
				t.Errorf("%q is left, want %q", got, tt.left)
			}
			n.mustWrite(t, "next=1")
			if got := strings.Join(n.reopened(t, path).told, " "); got != strings.TrimSpace(tt.told+" next=1") {
				t.Errorf("one more, and told %q", got)
			}
		})
	}
}

// lineOf is a whole line with any text for its entries.
func lineOf(entries string) string {
	var b strings.Builder
	_, _ = writeLine(&b, 2, []byte(entries[:len(entries)-1]+","))
	return b.String()
}

// A last line that is torn at any place is as if it had not been begun.
func TestTornAnywhere(t *testing.T) {
	t.Parallel()
	before := header(journalFormat) + line(2, "a=1")
	last := line(3, "b=2", "c=3")
	for n := range len(last) - 1 {
		path := file(t, before+last[:n])
		if got := open(t, path, Options{}); len(got.told) != 1 || content(t, path) != before {
			t.Fatalf("%d bytes of the line: told %v, and %q is left", n, got.told, content(t, path))
		}
	}
}

// After a flush has failed, nobody knows what the file has: nothing begins and
// nothing is tried again, even if the disk would take it.
func TestAfterAFailure(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	n := open(t, path, Options{})
	n.mustWrite(t, "a=1")
	whole := n.journal.file
	n.journal.file = brokenFile{whole}
	if err := n.write("b", "2"); !errors.Is(err, errBroken) {
		t.Errorf("b: %v", err)
	}
	n.journal.file = whole
	if err := n.write("c", "3"); !errors.Is(err, errBroken) {
		t.Errorf("c: %v", err)
	}
	if _, err := n.journal.Begin(); !errors.Is(err, errBroken) {
		t.Errorf("begun: %v", err)
	}
	if err := n.journal.Close(); !errors.Is(err, errBroken) {
		t.Errorf("closed: %v", err)
	}
	if got := open(t, path, Options{}).told; len(got) != 1 || got[0] != "a=1" {
		t.Errorf("told %v", got)
	}
}

var errBroken = errors.New("broken")

type brokenFile struct{ File }

func (brokenFile) Write([]byte) (int, error) { return 0, errBroken }

// After Close nothing begins, and to close again is not an error.
func TestClose(t *testing.T) {
	t.Parallel()
	n := open(t, filepath.Join(t.TempDir(), "data"), Options{})
	for range 2 {
		if err := n.journal.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.write("a", "1"); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want %v", err, ErrClosed)
	}
}

// An owner without a file has a nil Journal, which does nothing.
func TestNoJournal(t *testing.T) {
	t.Parallel()
	n := &notes{texts: map[string]string{}}
	n.mustWrite(t, "a=1")
	if n.texts["a"] != "1" {
		t.Error(n.texts)
	}
}

// Any time is read back as it was written.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{
		time.Unix(0, 0), time.Unix(0, -1), time.Unix(1774785600, 123456789), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), {}, time.Unix(1<<60, 5),
	} {
		if got, err := ParseTime(string(appendTime(nil, at))); err != nil || !got.Equal(at) {
			t.Errorf("%v becomes %v, %v", at, got, err)
		}
	}
	for _, text := range []string{"", "1.5", "x", strings.Repeat("9", longestTime), strings.Repeat("9", 1000)} {
		if got, err := ParseTime(text); err == nil {
			t.Errorf("%.40q is taken for %v", text, fmt.Sprint(got))
		}
	}
}
