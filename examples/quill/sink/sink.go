// Package sink is where facts go: the interface that the poster writes to, what it
// allows, and a file of newline-delimited JSON, for as long as there is no other.
// Package powerbi is another.
//
// After a lost reply the poster must learn what the sink has. These sinks say which
// rows of a batch they hold, or nothing at all. For one that says only whether it holds
// a batch, save the keys of the batch before the post, in rows of their own if they are
// many: its answer is for all of them. For one that takes a batch once, by its name, send
// the same rows under the same name again.
package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// Sink takes rows. It need not notice that one comes twice: the poster sees to that. The
// row of a fact has its key and its batch in the columns key and batch.
type Sink interface {
	// Post adds the rows to the table, all or none. Its error is an *UnknownError
	// when they may have been added all the same, and a *WaitError when they were not and
	// may be later. Any other says that they were not, and is taken for the fault of
	// some rows: the poster looks for them in smaller posts, and leaves them aside.
	Post(ctx context.Context, table string, rows []fact.Row) error

	// Posted returns the keys of the rows of the batch that the table holds. Its
	// error wraps ErrCannotAsk where the sink never answers that, and is a *WaitError
	// when it may later.
	Posted(ctx context.Context, table, batch string) ([]string, error)

	// Limits returns what the sink allows.
	Limits() Limits
}

// ErrCannotAsk is returned by Posted: the sink does not say what it holds.
var ErrCannotAsk = errors.New("sink: it cannot be asked what it holds")

// UnknownError says that a post may have taken effect: its reply was lost.
type UnknownError struct{ Err error }

// Error says so.
func (e *UnknownError) Error() string { return "sink: the rows may have been added: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// WaitError says that nothing was added, and that it may be later.
type WaitError struct {
	After time.Duration // 0 when the sink does not say
	Err   error
}

// Error says so.
func (e *WaitError) Error() string {
	if e.After == 0 {
		return fmt.Sprintf("sink: later: %v", e.Err)
	}
	return fmt.Sprintf("sink: later, after %s: %v", e.After, e.Err)
}

// Unwrap returns the cause.
func (e *WaitError) Unwrap() error { return e.Err }

// Limits are what a sink allows. Zero is no limit.
type Limits struct {
	RowsAPost    int
	RowsAnHour   int
	PostsAMinute int

	// LargeTable is from how many rows of a table on PostsAnHour holds for the whole
	// sink.
	LargeTable  int
	PostsAnHour int

	RowsATable int // more are refused
	TextUnits  int // of a column, in UTF-16: the poster cuts what is longer
}
