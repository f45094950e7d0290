package journal

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// reopen redoes the entries of the file, repairs a torn end, and leaves the file
// positioned for the next line. It returns the version of its format.
func (j *Journal) reopen() (version int, err error) {
	in := bufio.NewReaderSize(j.file, 1<<20)
	start, err := in.Peek(len(header(journalFormat)) + 1)
	switch {
	case err != nil && err != io.EOF:
		return 0, err
	case err == io.EOF && Unborn(start):
		return journalFormat, j.start()
	}

	head, err := in.ReadString('\n')
	if err != nil && err != io.EOF {
		return 0, err
	}
	if version, err = versionOf(head); err != nil {
		return 0, err
	}

	return version, j.redoLines(in, []byte(head), version)
}

// redoLines redoes the lines after the first one, and secures the last.
func (j *Journal) redoLines(in *bufio.Reader, last []byte, version int) error {
	j.size = int64(len(last))
	for j.lines = 1; ; j.lines++ {
		number := j.lines + 1
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}

		entries, reason := summed(line)
		torn := 0
		if reason != "" {
			if line, torn, err = j.ending(line, in, number, reason); err != nil {
				return err
			}
			if line == nil {
				return j.secure(last)
			}
			entries, _ = summed(line)
		}

		if version >= numberedFrom {
			var wrong string
			if entries, wrong = numbered(entries, number); wrong != "" {
				return j.damaged(number, wrong)
			}
		}

		if reason != "" {
			j.warn("mended the last line of the data file, which lacked its newline", number, torn, reason)
		}

		told, err := j.owner.Redo(entries)
		if err != nil {
			return fmt.Errorf("line %d, at byte %d: %w", number, j.size, err)
		}

		last = line
		j.told += told
		j.size += int64(len(line))
	}
}

func header(version int) string { return fmt.Sprintf("%s%d\n", journalName, version) }

// Unborn reports whether a file is empty, or has only what a crash left of its
// first line. Nothing was acknowledged before that line.
func Unborn(file []byte) bool {
	head := header(journalFormat)
	for i, b := range file {
		if i >= len(head) || b != head[i] && b != 0 {
			return false
		}
	}
	return string(file) != head
}

func versionOf(head string) (int, error) {
	text, ours := strings.CutPrefix(strings.TrimSuffix(head, "\n"), journalName)
	version, err := strconv.Atoi(text)
	switch {
	case !ours || err != nil || header(version) != head || version < 1:
		return 0, fmt.Errorf("not a data file of dynamotest")
	case version > journalFormat:
		return 0, fmt.Errorf("a later version of dynamotest wrote it: its format is %d, and this one reads up to %d", version, journalFormat)
	}
	return version, nil
}

func (j *Journal) start() error {
	if err := j.cutAt(0); err != nil {
		return err
	}
	n, err := j.file.Write([]byte(header(journalFormat)))
	if err != nil {
		return err
	}
	j.size, j.lines = int64(n), 1
	return j.file.Sync()
}

func (j *Journal) cutAt(end int64) error {
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	_, err := j.file.Seek(end, io.SeekStart)
	return err
}
