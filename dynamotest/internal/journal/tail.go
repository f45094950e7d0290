package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

// What follows the last whole line is what a crash has left of a write, or it is
// damaged. A write is one line, it is begun when the one before is safe, and
// nobody is told of it before it is safe itself. So a crash leaves
//
//   - a first part of the line, when the process is killed or the disk is full, or
//   - some of its sectors, in any order, when the power fails: zeros stand for the
//     others, and the file may be shorter.
//
// Such a line is torn: it lacks its newline, or all that a sector has of it is
// zeros, which no line contains. It is cut off. A line that lacks nothing but its
// newline is kept. Every other one was written whole, may have been acknowledged,
// and is damaged.

// Sector is the least that a disk writes all of or nothing.
const Sector = 512

// ending judges what follows the last whole line, which is not a whole line itself.
// It returns one that lacked nothing but its newline, with that.
func (j *Journal) ending(line []byte, rest io.Reader, number int, reason string) (mended []byte, err error) {
	var tail tail
	if _, err := io.Copy(&tail, rest); err != nil {
		return nil, err
	}
	damaged := func(how string) error {
		return fmt.Errorf("damaged in line %d, at byte %d: %s%s; nothing was changed", number, j.size, reason, how)
	}
	if tail.written {
		return nil, damaged(fmt.Sprintf(", and %d bytes follow that were written later", tail.size))
	}
	written := bytes.TrimRight(line, "\x00")
	end, ended := wholePart(written), bytes.HasSuffix(written, []byte("\n"))
	switch torn := len(line) + tail.size; {
	case end > 0 && !ended && end >= len(written)-1:
		j.warn("mended the last line of the data file, which lacked its newline", number, torn-end, reason)
		return append(written[:end:end], '\n'), nil
	case end > 0:
		return nil, damaged(fmt.Sprintf(", for another byte stands where its newline was, and %d bytes follow that were written later", len(written)-end-1))
	case ended && !holed(written, j.size):
		return nil, damaged("")
	case torn > 0:
		j.warn("cut off what a crash left of the last line of the data file, which nobody was told was safe", number, torn, reason)
	}
	return nil, nil
}

func (j *Journal) warn(what string, number, bytes int, reason string) {
	j.log.Warn("dynamotest: "+what, "file", j.path, "line", number, "byte", j.size, "bytes", bytes, "reason", reason)
}

// secure ends the file with a line that was read from it, the last one. The
// process that wrote it may have been killed before the line was safe, or after
// the disk had failed to make it so: then it is there to read, perhaps in memory
// alone, and only what is written once more is known to be safe.
func (j *Journal) secure(line []byte) error {
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	if _, err := j.file.Seek(j.size-int64(len(line)), io.SeekStart); err != nil {
		return err
	}
	if _, err := j.file.Write(line); err != nil {
		return err
	}
	return j.file.Sync()
}

// A tail is what follows a line. Zeros do not count as written: they stand for blocks
// that the file got and that nothing came into.
type tail struct {
	size    int
	written bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.size += len(p)
	t.written = t.written || !blank(p)
	return len(p), nil
}

func blank(p []byte) bool { return len(bytes.Trim(p, "\x00")) == 0 }

// holed reports whether all that some sector has of a line is zeros. The line begins
// at a byte of the file.
func holed(line []byte, at int64) bool {
	for len(line) > 0 {
		n := min(len(line), Sector-int(at%Sector))
		if blank(line[:n]) {
			return true
		}
		line, at = line[n:], at+int64(n)
	}
	return false
}

// Checked returns what a whole line holds, or why it is none.
func Checked(line []byte) (entries []byte, reason string) {
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	if !whole {
		return nil, "it has no end"
	}
	sum, entries, ok := framed(line)
	if !ok {
		return nil, "it does not begin with a checksum"
	}
	if crc32.Checksum(entries, castagnoli) != sum {
		return nil, "its checksum is another"
	}
	return entries, ""
}

// framed takes a line apart.
func framed(line []byte) (sum uint32, entries []byte, ok bool) {
	text, entries, found := bytes.Cut(line, []byte(" "))
	want, err := strconv.ParseUint(string(text), 16, 32)
	return uint32(want), entries, found && len(text) == 8 && err == nil
}

// wholePart returns the length of a line without its newline with which a text
// begins, 0 when it begins with none.
func wholePart(text []byte) int {
	want, entries, ok := framed(text)
	if !ok {
		return 0
	}
	sum, summed := uint32(0), 0
	for i, b := range entries {
		if b != ']' {
			continue
		}
		sum = crc32.Update(sum, castagnoli, entries[summed:i+1])
		if summed = i + 1; sum == want {
			return len(text) - len(entries) + summed
		}
	}
	return 0
}
