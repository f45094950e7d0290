package engine

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
)

// ends returns two files. The last line of the first is three sectors long; the
// second is the same without that line. after and before are the states of
// engines that opened them.
func ends(t *testing.T) (with, without []byte, after, before string) {
	t.Helper()
	e, m := played(t, puts(2, 9, 1300))
	with, after = m.names["data"].data, whole(t, e)
	e, m = played(t, puts(1, 9, 1300))
	without, before = m.names["data"].data, whole(t, e)
	if !bytes.HasPrefix(with, without) || len(without)%journal.Sector == journal.Sector-1 || len(with)-len(without) < 2*journal.Sector {
		t.Fatalf("%d and %d bytes: these files show nothing", len(without), len(with))
	}
	return with, without, after, before
}

// opened opens a file, and returns what is left of the file and what was
// logged.
func opened(content []byte) (e *Engine, left []byte, log string, err error) {
	var b bytes.Buffer
	m := holding(content)
	e = New(Options{Disk: m, CompactFrom: 1 << 20, Log: slog.New(slog.NewTextHandler(&b, nil))})
	err = e.OpenJournal("data")
	return e, m.names["data"].data, b.String(), err
}

// A last line with any wrong byte is refused: it was written whole, and may have
// been acknowledged.
func TestADamagedLastLineIsRefused(t *testing.T) {
	t.Parallel()
	content, without, _, _ := ends(t)
	for at := len(without); at < len(content)-1; at++ {
		for _, b := range []byte{content[at] ^ 1, 0, '\n'} {
			if b == content[at] {
				continue
			}
			damaged := bytes.Clone(content)
			damaged[at] = b
			_, left, _, err := opened(damaged)
			if want := fmt.Sprintf("damaged in line 4, at byte %d: ", len(without)); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("byte %d is %q: %v", at, b, err)
			}
			if !bytes.Equal(left, damaged) {
				t.Fatalf("byte %d is %q, and the file was changed", at, b)
			}
		}
	}
}

// A file with any wrong byte is refused and left as it is, or is read with the
// same state.
func TestOneWrongByte(t *testing.T) {
	t.Parallel()
	e, m := played(t, history()[:6])
	good, want := m.names["data"].data, whole(t, e)
	refused := 0
	for at, was := range good {
		for _, b := range []byte{was ^ 1, '\n'} {
			wrong := bytes.Clone(good)
			wrong[at] = b
			e, left, _, err := opened(wrong)
			switch {
			case err != nil && !bytes.Equal(left, wrong):
				t.Fatalf("byte %d is %q, and the file was changed", at, b)
			case err != nil:
				refused++
			case whole(t, e) != want:
				t.Fatalf("byte %d is %q: %s", at, b, cmp.Diff(want, whole(t, e)))
			}
		}
	}
	if refused < 2*len(good)-20 {
		t.Errorf("%d of %d bytes were refused", refused, 2*len(good))
	}
}

// A line whose newline is another byte runs into the next line. It is not cut
// off with that, wherever that ends.
func TestADamagedNewline(t *testing.T) {
	t.Parallel()
	content, without, after, _ := ends(t)
	for end := len(without) + 1; end <= len(content); end++ {
		joined := bytes.Clone(content[:end])
		joined[len(without)-1] = 'x'
		_, left, _, err := opened(joined)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("another byte stands where its newline was, and %d bytes follow", end-len(without))) || !bytes.Equal(left, joined) {
			t.Fatalf("with %d of the bytes that follow: %v", end-len(without), err)
		}
	}
	for _, last := range []string{"x", "\x00", " ", "]"} {
		e, left, log, err := opened(append(bytes.Clone(content[:len(content)-1]), last...))
		if err != nil {
			t.Fatalf("%q for the last newline: %v", last, err)
		}
		if diff := cmp.Diff(after, whole(t, e)); diff != "" {
			t.Errorf("%q for the last newline: %s", last, diff)
		}
		if !bytes.Equal(left, content) || !strings.Contains(log, "mended the last line") {
			t.Errorf("%q for the last newline leaves %q, and is logged as %s", last, left[len(left)-5:], log)
		}
	}
}

// The power failed after any of the sectors of the last line were written: the
// line is cut off unless all of them were.
func TestSectorsInAnyOrder(t *testing.T) {
	t.Parallel()
	content, without, after, before := ends(t)
	first := len(without) / journal.Sector
	count := (len(content)-1)/journal.Sector - first + 1
	for written := range 1 << count {
		torn := bytes.Clone(content)
		for i := range count {
			if written&(1<<i) == 0 {
				clear(torn[max(len(without), (first+i)*journal.Sector):min(len(torn), (first+i+1)*journal.Sector)])
			}
		}
		want, kept := before, without
		if written == 1<<count-1 {
			want, kept = after, content
		}
		e, left, log, err := opened(torn)
		if err != nil {
			t.Fatalf("sectors %b: %v", written, err)
		}
		if diff := cmp.Diff(want, whole(t, e)); diff != "" {
			t.Errorf("sectors %b: %s", written, diff)
		}
		if !bytes.Equal(left, kept) || strings.Contains(log, "cut off") != (want == before) {
			t.Errorf("sectors %b: %d bytes are left of %d, and it is logged as %s", written, len(left), len(torn), log)
		}
	}
}

// The power fails after any operation of the disk while a file is repaired: the
// next start finds everything that was acknowledged.
func TestEveryCrashOfAMend(t *testing.T) {
	t.Parallel()
	content, without, after, before := ends(t)
	for name, tt := range map[string]struct{ content, safe []byte }{
		"a part":           {content[:len(content)-700], without},
		"no newline":       {content[:len(content)-1], content[:len(content)-1]},
		"another newline":  {append(bytes.Clone(content[:len(content)-1]), 'x'), append(bytes.Clone(content[:len(content)-1]), 'x')},
		"not a byte":       {without, without},
		"all and not safe": {content, without},
	} {
		for failAt := 1; ; failAt++ {
			m := newModel()
			node := &inode{data: tt.content, safe: tt.safe}
			m.names["data"], m.kept["data"] = node, node
			m.failAt, m.power = failAt, true
			err := onModel(m, ticking()).OpenJournal("data")
			if m.operations < failAt {
				break
			}
			if err == nil {
				t.Fatalf("%s: operation %d fails, and nobody hears", name, failAt)
			}
			for _, img := range images() {
				got := restart(t, name, m.crash(img, rand.New(rand.NewPCG(uint64(failAt), 1))))
				if got != after && (got != before || len(tt.safe) != len(without)) {
					t.Fatalf("%s: operation %d fails, left: %+v: %s", name, failAt, img, cmp.Diff(after, got))
				}
			}
		}
	}
}

// The state that a start has found is safe, even if the earlier process was
// killed before it was safe, or its sync failed.
func TestWhatIsFoundIsSafe(t *testing.T) {
	t.Parallel()
	steps := history()[:25]
	for failAt := 1; ; failAt++ {
		m := newModel()
		m.failAt, m.power = failAt, true
		play(t, m, steps)
		if m.operations < failAt {
			return
		}
		m = m.restarted()
		e := onModel(m, ticking())
		if err := e.OpenJournal("data"); err != nil {
			t.Fatalf("operation %d fails: %v", failAt, err)
		}
		want := whole(t, e)
		e = New(Options{Disk: m.crash(image{}, nil), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err := e.OpenJournal("data"); err != nil {
			t.Fatalf("operation %d fails, and later the power: %v", failAt, err)
		}
		if diff := cmp.Diff(want, whole(t, e)); diff != "" {
			t.Fatalf("operation %d fails, and later the power: %s", failAt, diff)
		}
	}
}
