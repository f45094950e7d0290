package sink

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
	Writer
	file file
}

var _ Sink = (*File)(nil)

// file has the methods of *os.File that a File needs.
type file interface {
	io.ReaderAt
	io.WriteCloser
	Sync() error
}

// OpenFile opens or creates the file. It cuts off an incomplete last line, whose
// post did not return. It refuses a file with other content.
func OpenFile(path string) (*File, error) {
	opened, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sink: %w", err)
	}
	if err = lock.File(opened); err == nil {
		err = cutTorn(opened)
	}
	if err != nil {
		_ = opened.Close() // nothing was written
		return nil, fmt.Errorf("sink: %s: %w", path, err)
	}
	return newFile(opened), nil
}

func newFile(f file) *File { return &File{Writer: Writer{w: f}, file: f} }

// errNotOurs is the error of OpenFile for another program's file.
var errNotOurs = errors.New("not a file of rows, which has " + beginning + " at the beginning of each line")

// cutTorn cuts off an incomplete last line. No line is longer than what it reads.
func cutTorn(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, min(info.Size(), int64(len(beginning))))
	if _, err := f.ReadAt(head, 0); err != nil || string(head) != beginning[:len(head)] {
		return errors.Join(err, errNotOurs)
	}
	tail := make([]byte, min(info.Size(), longestLine))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return err
	}
	torn := len(tail) - 1 - bytes.LastIndexByte(tail, '\n')
	return f.Truncate(info.Size() - int64(torn))
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Post adds the rows. They are on the disk when it returns. It is a *WaitError if
// nothing was written, and an *UnknownError after any other failure: then Posted says
// which of the lines are whole.
func (f *File) Post(ctx context.Context, table string, rows []fact.Row) error {
	if err := f.Writer.Post(ctx, table, rows); err != nil || len(rows) == 0 {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return &UnknownError{Err: err}
	}
	return nil
}

// Posted reads the whole file, line by line. A line that is not whole is not a row.
func (f *File) Posted(ctx context.Context, table, batch string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.file.Sync(); err != nil { // rows that it reports must stay
		return nil, &WaitError{Err: err}
	}
	var keys []string
	scanner := bufio.NewScanner(io.NewSectionReader(f.file, 0, math.MaxInt64))
	scanner.Buffer(nil, longestLine)
	for scanner.Scan() {
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
		if err := json.Unmarshal(scanner.Bytes(), &row); err == nil && row.Table == table && row.Row.Batch == batch {
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
