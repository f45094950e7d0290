package journal

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
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
	number  int // of the last line
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
		n, err := writeLine(l.to, l.number+1, l.entries)
		l.size, l.number, l.err = l.size+int64(n), l.number+1, err
	}
	l.entries = l.entries[:0]
}

func (l *Lines) raw(line []byte) {
	n, err := l.to.Write(line)
	l.size, l.number, l.err = l.size+int64(n), l.number+1, err
}

// copy adds the lines of another file from one number, exclusive, up to another.
func (l *Lines) copy(from io.Reader, after, last int) error {
	in := bufio.NewReader(from)
	for number := after + 1; number <= last && l.err == nil; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		entries, reason := Checked(line, number)
		if reason != "" {
			return errors.New(reason)
		}
		l.entries = append(append(l.entries, entries[1:len(entries)-1]...), ',')
		l.flush()
	}

	return l.end()
}

func (l *Lines) end() error {
	if l.err == nil {
		l.err = l.to.Flush()
	}
	return l.err
}

// writeLine writes entries as the line of a number.
func writeLine(w interface{ Write([]byte) (int, error) }, number int, entries ...[]byte) (int, error) {
	const sum = "00000000" // until it is known
	size := len(sum) + len(" 18446744073709551615 [\n")
	for _, piece := range entries {
		size += len(piece)
	}

	line := append(make([]byte, 0, size), sum+" "...)
	line = append(strconv.AppendInt(line, int64(number), 10), " ["...)
	for _, piece := range entries {
		line = append(line, piece...)
	}

	line[len(line)-1] = ']' // in the place of the last comma
	copy(line, fmt.Sprintf("%08x", crc32.Checksum(line[len(sum)+1:], castagnoli)))
	return w.Write(append(line, '\n'))
}
