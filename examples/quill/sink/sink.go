// Package sink has the interface that the poster writes facts to, its limits and
// errors, and a simple sink: a file of newline-delimited JSON. Package powerbi has
// another.
//
// After a lost reply the poster must learn what the sink has. These sinks either
// say which rows of a batch they have, or say nothing. Another sink may say only
// whether it has a batch: then save the keys of the batch before the post, in rows
// of their own if they are many, because the answer is for all of them. A sink may
// also accept each batch name once: then send the same rows under the same name
// again.
package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// Sink stores rows. It need not detect a row that comes twice: the poster does. The
// row of a fact has its key and its batch in the columns key and batch.
type Sink interface {
	// Post adds all the rows to the table or none. Its error is an *UnknownError if
	// they may have been added, and a *WaitError if they were not added but may be
	// later. Any other error says that they were not added, and that some rows are
	// at fault: the poster looks for those with smaller posts, and leaves them
	// aside.
	Post(ctx context.Context, table string, rows []fact.Row) error

	// Posted returns the keys of the batch's rows that the table has. Its error
	// wraps ErrCannotAsk if the sink never answers that, and is a *WaitError if it
	// may answer later.
	Posted(ctx context.Context, table, batch string) ([]string, error)

	// Limits returns what the sink allows.
	Limits() Limits
}

// ErrCannotAsk is returned by Posted if the sink does not say what it has.
var ErrCannotAsk = errors.New("sink: this sink cannot be asked which rows it has")

// UnknownError says that a post may have taken effect: its reply was lost.
type UnknownError struct{ Err error }

// Error says that, and why.
func (e *UnknownError) Error() string { return "sink: the rows may have been added: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// WaitError says that nothing was added, but may be later.
type WaitError struct {
	After time.Duration // 0 if the sink does not say
	Err   error
}

// Error says that, and why.
func (e *WaitError) Error() string {
	if e.After == 0 {
		return fmt.Sprintf("sink: try again later: %v", e.Err)
	}
	return fmt.Sprintf("sink: try again after %s: %v", e.After, e.Err)
}

// Unwrap returns the cause.
func (e *WaitError) Unwrap() error { return e.Err }

// Limits are what a sink allows. A zero field does not limit.
type Limits struct {
	RowsAPost    int
	RowsAnHour   int
	PostsAMinute int

	// LargeTable is the number of rows of one table from which on PostsAnHour
	// limits the whole sink.
	LargeTable  int
	PostsAnHour int

	RowsATable int // more are refused
	TextUnits  int // of a column, in UTF-16: the poster cuts longer texts
}
