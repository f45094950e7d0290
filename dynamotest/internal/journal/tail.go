package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

// The bytes after the last whole line are what a crash has left of a write, or
// they are damaged. A write is one line, it is begun when the line before is
// safe, and it is acknowledged only when it is safe itself. So a crash leaves
//
//   - the beginning of the line, if the process is killed or the disk is full, or
//   - some of its sectors, in any order, if the power fails: the others are zeros,
//     and the file may be shorter.
//
// Such a line is torn: it lacks its newline, or the whole part of it in some
// sector is zeros, which a line never contains. It is cut off. A line that lacks
// only its newline is kept. Every other line was written whole, may have been
// acknowledged, and is damaged.

// Sector is the smallest unit that a disk writes entirely or not at all.
const Sector = 512

// ending judges the bytes after the last whole line, which are not a whole line
// themselves. If they lacked only a newline, it returns the line with its newline,
// and the number of other bytes.
func (j *Journal) ending(line []byte, rest io.Reader, number int, reason string) (mended []byte, torn int, err error) {
	var tail tail
	if _, err := io.Copy(&tail, rest); err != nil {
		return nil, 0, err
	}

	damaged := func(how string) error { return j.damaged(number, reason+how) }
	if tail.written {
		return nil, 0, damaged(fmt.Sprintf(", and %d bytes follow that were written later", tail.size))
	}

	written := bytes.TrimRight(line, "\x00")
	end, ended := wholePart(written), bytes.HasSuffix(written, []byte("\n"))
	switch torn = len(line) + tail.size; {
	case end > 0 && !ended && end >= len(written)-1:
		return append(written[:end:end], '\n'), torn - end, nil
	case end > 0:
		return nil, 0, damaged(fmt.Sprintf(", for another byte stands where its newline was, and %d bytes follow that were written later", len(written)-end-1))
	case ended && !holed(written, j.size):
		return nil, 0, damaged("")
	case torn > 0:
		j.warn("cut off what a crash left of the last line of the data file, which nobody was told was safe", number, torn, reason)
	}

	return nil, 0, nil
}

func (j *Journal) damaged(number int, how string) error {
	return fmt.Errorf("damaged in line %d, at byte %d: %s; nothing was changed", number, j.size, how)
}

func (j *Journal) warn(what string, number, bytes int, reason string) {
	j.log.Warn("dynamotest: "+what, "file", j.path, "line", number, "byte", j.size, "bytes", bytes, "reason", reason)
}

// secure writes the last line again, which was read from the file. The process
// that wrote it may have been killed before the line was safe, or after the disk
// had failed to sync it. Then the line can be read, but perhaps only from
// memory. It is known to be safe only after it is written again.
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

// A tail is what follows a line. Zeros do not count as written: they are blocks
// that the file got and that were never filled.
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

// holed reports whether the whole part of a line in some sector is zeros. The line
// begins at the given byte of the file.
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

// Checked returns the entries of the line of a number, or the reason why it is
// not that line, or not whole.
func Checked(line []byte, number int) (entries []byte, reason string) {
	rest, reason := summed(line)
	if reason != "" {
		return nil, reason
	}
	return numbered(rest, number)
}

// numbered returns what follows the number of a line.
func numbered(rest []byte, number int) (entries []byte, reason string) {
	text, entries, _ := bytes.Cut(rest, []byte(" "))
	switch has, err := strconv.Atoi(string(text)); {
	case err != nil:
		return nil, "it has no number"
	case has > number:
		return nil, fmt.Sprintf("it was written as line %d, so lines before it are missing", has)
	case has < number:
		return nil, fmt.Sprintf("it was written as line %d, so it is in another place", has)
	}
	return entries, ""
}

// summed returns what follows the checksum of a line, or the reason why the line
// is not whole.
func summed(line []byte) (rest []byte, reason string) {
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

// framed splits a line into its parts.
func framed(line []byte) (sum uint32, entries []byte, ok bool) {
	text, entries, found := bytes.Cut(line, []byte(" "))
	want, err := strconv.ParseUint(string(text), 16, 32)
	return uint32(want), entries, found && len(text) == 8 && err == nil
}

// wholePart returns the length of the whole line, without its newline, at the
// beginning of a text. It is 0 if the text does not begin with a whole line.
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
