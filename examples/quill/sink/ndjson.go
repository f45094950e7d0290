package sink

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// line is a row as a File and a Writer write it. A map's keys come sorted, so that the
// same row is always the same line.
type line struct {
	Table string   `json:"table"`
	Row   fact.Row `json:"row"`
}

// beginning is how every line begins.
const beginning = `{"table":`

// lines returns the rows, one a line.
func lines(table string, rows []fact.Row) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	for i, row := range rows {
		if err := encoder.Encode(line{table, row}); err != nil {
			return nil, fmt.Errorf("sink: row %d: %w", i, err)
		}
	}
	return text.Bytes(), nil
}

// ndjsonLimits bound what a post holds in memory.
var ndjsonLimits = Limits{RowsAPost: 10_000}

// Writer writes newline-delimited JSON, such as to standard output. It cannot be asked
// what it wrote.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	torn bool // the last line is not whole
}

var _ Sink = (*Writer)(nil)

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Limits returns 10,000 rows a post.
func (w *Writer) Limits() Limits { return ndjsonLimits }

// Post writes the rows in one Write. When that fails the error is an *UnknownError if
// some of them were written, else a *WaitError.
func (w *Writer) Post(ctx context.Context, table string, rows []fact.Row) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, err := lines(table, rows)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	if w.torn {
		text = append([]byte("\n"), text...)
	}
	n, err := w.w.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if n > 0 {
		w.torn = text[n-1] != '\n'
	}
	switch {
	case err == nil:
		return nil
	case n > 0:
		return &UnknownError{Err: err}
	}
	return &WaitError{Err: err}
}

// Posted returns ErrCannotAsk.
func (w *Writer) Posted(context.Context, string, string) ([]string, error) {
	return nil, ErrCannotAsk
}

// File is a file of newline-delimited JSON, to which rows are only added. It belongs to
// one process: where the system has flock, a second that opens it is refused.
type File struct {
	mu   sync.Mutex
	file file
	size int64 // of whole lines
	torn bool  // more than size may be there
}

var _ Sink = (*File)(nil)

// file is what a File needs of an *os.File.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// OpenFile opens the file, or makes it. A last line that is not whole is cut off: the
// post of it did not return. A file of something else is refused.
func OpenFile(path string) (*File, error) {
	opened, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sink: %w", err)
	}
	err = lock(opened)
	f := &File{file: opened, torn: true}
	if err == nil {
		f.size, err = wholeLines(opened)
	}
	if err == nil {
		err = f.mend()
	}
	if err != nil {
		_ = opened.Close() // nothing was written
		return nil, fmt.Errorf("sink: %s: %w", path, err)
	}
	return f, nil
}

// errNotOurs is the error of OpenFile for another program's file.
var errNotOurs = errors.New("is not a file of rows: the beginning is another")

// wholeLines returns up to where the file has whole lines.
func wholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	head := make([]byte, min(info.Size(), int64(len(beginning))))
	if _, err := f.ReadAt(head, 0); err != nil || string(head) != beginning[:len(head)] {
		return 0, errors.Join(err, errNotOurs)
	}
	chunk := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		part := chunk[:min(end, int64(len(chunk)))]
		end -= int64(len(part))
		if _, err := f.ReadAt(part, end); err != nil {
			return 0, err
		}
		if at := bytes.LastIndexByte(part, '\n'); at >= 0 {
			return end + int64(at) + 1, nil
		}
	}
	return 0, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Limits returns 10,000 rows a post.
func (f *File) Limits() Limits { return ndjsonLimits }

// Post adds the rows and has them on the disk when it returns. After an error the file
// is as it was before, and where the system failed, such as on a full disk, it is a
// *WaitError. Only if the file cannot be made so is the error an *UnknownError, and the
// next Post tries that again first. After a crash a part of the rows may be there.
func (f *File) Post(ctx context.Context, table string, rows []fact.Row) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := lines(table, rows)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	if err := f.mend(); err != nil {
		return &WaitError{Err: err} // of these rows nothing was written
	}
	f.torn = true
	_, err = f.file.WriteAt(text, f.size)
	if err == nil {
		err = f.file.Sync()
	}
	if err == nil {
		f.size, f.torn = f.size+int64(len(text)), false
		return nil
	}
	if mending := f.mend(); mending != nil {
		return &UnknownError{Err: errors.Join(err, mending)}
	}
	return &WaitError{Err: err} // a full disk may have room later
}

// mend cuts off what a failed write may have left.
func (f *File) mend() error {
	if !f.torn {
		return nil
	}
	if err := f.file.Truncate(f.size); err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	f.torn = false
	return nil
}

// Posted reads the whole file, line by line. A failed post that could not be undone is
// undone first: rows that it says are there must stay.
func (f *File) Posted(ctx context.Context, table, batch string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.mend(); err != nil {
		return nil, &WaitError{Err: err}
	}
	var keys []string
	scanner := bufio.NewScanner(io.NewSectionReader(f.file, 0, f.size))
	scanner.Buffer(nil, longestLine)
	for number := 1; scanner.Scan(); number++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var row struct {
			Table string `json:"table"`
			Row   struct {
				Key   string `json:"key"`
				Batch string `json:"batch"`
			} `json:"row"`
		}
		if err := json.Unmarshal(scanner.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("sink: line %d: %w", number, err)
		}
		if row.Table == table && row.Row.Batch == batch {
			keys = append(keys, row.Row.Key)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("sink: %w", err)
	}
	return keys, nil
}

// longestLine bounds a line: a record of DynamoDB's has 400 KB at most, and JSON needs
// no more than six bytes for each.
const longestLine = 4 << 20
