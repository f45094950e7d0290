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
	"github.com/homeops/ddbpatterns/examples/quill/lock"
)

// line is a row as a File and a Writer write it. JSON sorts a map's keys, so the
// same row is always the same line.
type line struct {
	Table string   `json:"table"`
	Row   fact.Row `json:"row"`
}

// beginning is the beginning of every line.
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

// ndjsonLimits bound a post's memory.
var ndjsonLimits = Limits{RowsAPost: 10_000}

// Writer writes newline-delimited JSON, for example to standard output. It cannot
// be asked what it wrote.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	torn bool // the last line is incomplete
}

var _ Sink = (*Writer)(nil)

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Limits returns 10,000 rows a post.
func (w *Writer) Limits() Limits { return ndjsonLimits }

// Post writes the rows in one Write. If that fails, the error is an *UnknownError
// if a part was written, and otherwise a *WaitError.
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

// File is a file of newline-delimited JSON, to which rows are only added. It
// belongs to one process: on systems with flock, a second process cannot open it.
type File struct {
	mu   sync.Mutex
	file file
	size int64 // of whole lines
	torn bool  // the file may have more than size
}

var _ Sink = (*File)(nil)

// file has the methods of *os.File that a File needs.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// OpenFile opens or creates the file. It cuts off an incomplete last line, whose
// post did not return. It refuses a file with other content.
func OpenFile(path string) (*File, error) {
	opened, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sink: %w", err)
	}
	err = lock.File(opened)
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
var errNotOurs = errors.New("not a file of rows, which has " + beginning + " at the beginning of each line")

// wholeLines returns how many bytes the file's complete lines have.
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

// Post adds the rows. They are on the disk when it returns. After an error the file
// is as before. The error is a *WaitError if the system failed, for example on a
// full disk. Only if the file cannot be restored is the error an *UnknownError, and
// the next Post first tries again to restore it. After a crash the file may have a
// part of the rows.
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
		return &WaitError{Err: err} // nothing of these rows was written
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

// mend cuts off what a failed write may have left behind.
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

// Posted reads the whole file, line by line. It first undoes a failed post that
// could not be undone before, because rows that it reports must stay.
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

// longestLine bounds a line: an item of DynamoDB has at most 400 KB, and JSON needs
// at most six bytes for each of its bytes.
const longestLine = 4 << 20
