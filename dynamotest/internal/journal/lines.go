package journal

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// AppendEntry appends an entry with its time and members.
func AppendEntry(entries []byte, at time.Time, members func(w *api.Writer)) []byte {
	w := api.Writer{Buf: AppendStart(entries, at)}
	members(&w)
	return append(w.Buf, EntryEnd...)
}

// AppendStart begins an entry.
func AppendStart(entries []byte, at time.Time) []byte {
	return appendTime(append(entries, `{"At":`...), at)
}

const EntryEnd = "},"

// Lines writes entries to a file, several a line. Its first error stays.
type Lines struct {
	to      *bufio.Writer
	size    int64
	entries []byte
	err     error
}

// lineSize is roughly how many bytes of entries a line has.
const lineSize = 1 << 16

// Add adds an entry.
func (l *Lines) Add(at time.Time, members func(w *api.Writer)) {
	l.entries = AppendEntry(l.entries, at, members)
	if len(l.entries) >= lineSize {
		l.flush()
	}
}

func (l *Lines) flush() {
	if len(l.entries) > 0 && l.err == nil {
		n, err := writeLine(l.to, l.entries)
		l.size, l.err = l.size+int64(n), err
	}
	l.entries = l.entries[:0]
}

func (l *Lines) raw(text []byte) {
	n, err := l.to.Write(text)
	l.size, l.err = l.size+int64(n), err
}

// writeLine writes entries as one line.
func writeLine(w interface{ Write([]byte) (int, error) }, entries ...[]byte) (int, error) {
	const sum = "00000000" // until it is known
	size := len(sum) + len(" [\n")
	for _, piece := range entries {
		size += len(piece)
	}
	line := append(make([]byte, 0, size), sum+" ["...)
	for _, piece := range entries {
		line = append(line, piece...)
	}
	line[len(line)-1] = ']' // in the place of the last comma
	copy(line, fmt.Sprintf("%08x", crc32.Checksum(line[len(sum)+1:], castagnoli)))
	return w.Write(append(line, '\n'))
}
