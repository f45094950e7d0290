package engine

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
)

// Bytes of a file are replaced, or a line of any content is added with its
// checksum. The file is then opened with all of its whole lines, or refused and
// left as it is. A server that opened it has the same state at the next start.
func FuzzJournal(f *testing.F) {
	_, m := played(f, history()[:12])
	good := m.names["data"].data
	states, _ := played(f, history()[:12])
	var compacted bytes.Buffer
	if _, err := journal.WriteFile(&compacted, states.state.write); err != nil {
		f.Fatal(err)
	}
	// The two files together have all kinds of entries.
	for _, file := range [][]byte{good, compacted.Bytes()} {
		for line := range bytes.Lines(file) {
			if _, entries, ok := bytes.Cut(line, []byte(" [")); ok {
				f.Add(uint16(0), uint16(0), append([]byte("["), bytes.TrimSpace(entries)...), true)
			}
		}
	}
	f.Add(uint16(len(good)-1), uint16(1), []byte{}, false)
	f.Add(uint16(len(good)-9), uint16(9), []byte("\x00\x00\x00"), false)
	f.Add(uint16(100), uint16(1), []byte("x"), false)
	f.Add(uint16(0), uint16(65535), []byte("dynamotest jour"), false)
	f.Add(uint16(19), uint16(1), []byte("1"), false)
	f.Add(uint16(19), uint16(1), []byte("9"), false)
	f.Fuzz(func(t *testing.T, at, length uint16, put []byte, framed bool) {
		content := bytes.Clone(good)
		if framed {
			put = fmt.Appendf(nil, "%d %s", bytes.Count(content, []byte("\n"))+1, put)
			content = fmt.Appendf(content, "%08x %s\n", crc32.Checksum(put, crc32.MakeTable(crc32.Castagnoli)), put)
		} else {
			start := min(int(at), len(content))
			content = bytes.Join([][]byte{content[:start], put, content[min(start+int(length), len(content)):]}, nil)
		}
		m := holding(content)
		e := fuzzed(m)
		err := e.OpenJournal("data")
		left := m.names["data"].data
		if err != nil {
			if !bytes.Equal(left, content) {
				t.Fatalf("%v, and the file was changed", err)
			}
			return
		}
		kept := bytes.HasPrefix(content, left) || bytes.HasPrefix(content, left[:len(left)-1]) // its newline may have been repaired
		if !kept && m.renames == 0 && !journal.Unborn(content) {
			t.Fatalf("opened and changed to %q", left)
		}
		if was, is := wholeLines(content), wholeLines(left); m.renames == 0 && is < was {
			t.Fatalf("%d of %d whole lines are left", is, was)
		}
		again := fuzzed(holding(left))
		if err := again.OpenJournal("data"); err != nil {
			t.Fatalf("opened once, and then %v", err)
		}
		if diff := cmp.Diff(whole(t, e), whole(t, again)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// fuzzed returns an engine that only compacts a file of an older format.
func fuzzed(m *model) *Engine {
	return New(Options{Now: ticking(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Disk: m, CompactFrom: 1 << 30})
}

func wholeLines(file []byte) (n int) {
	number := 0
	for line := range bytes.Lines(file) {
		number++
		if _, reason := journal.Checked(line, number); reason == "" {
			n++
		}
	}
	return n
}
