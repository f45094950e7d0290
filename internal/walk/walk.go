// Package walk reads an answer page by page: how many rows each page asks for,
// where the walk ends, and where a later walk goes on.
package walk

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// FullPage is the greatest number of rows that fit into the 1 MB that DynamoDB
// reads at once.
const FullPage = 1 << 14

// Shown is what a row is to the answer.
type Shown int

const (
	Part    Shown = iota // a part of the answer; an error does not end the walk
	Skipped              // not a part of it
	Beyond               // behind its end; or an error that ends the walk after the row
)

// Walk reads an answer of values of type T.
type Walk[T any] struct {
	Limit      int // values at most; 0 for any number
	ReadAtMost int // rows at most; 0 for any number
	First      int // rows of the first page
	Most       int // rows of any page

	// Page reads the next page, of at most so many rows, and returns nil if
	// there is none.
	Page func(rows int32) (*dynamodb.QueryOutput, error)
	// Show reads a row.
	Show func(row ddb.Item) (T, Shown, error)

	Cursor string  // with which the walk began
	Next   *string // if set, gets the cursor with which a later walk goes on
	After  func(row ddb.Item) string
}

// Each yields the values up to the Limit.
func (w Walk[T]) Each(yield func(T, error) bool) {
	var none T
	var at ddb.Item // the last row that the walk passed, by its key
	end := false
	defer func() { w.leave(at, end) }()

	for p := paceOf(w.Limit, w.ReadAtMost, min(w.First, w.Most)); !end && p.left > 0; {
		page, err := w.Page(int32(p.rows))
		if err != nil {
			yield(none, err)
			return
		}

		if page == nil {
			end = true
			return
		}

		last, yielded := len(page.LastEvaluatedKey) == 0, 0
		for i, row := range page.Items {
			value, shown, err := w.Show(row)
			at, end = row, shown == Beyond && err == nil || last && i == len(page.Items)-1
			switch {
			case shown == Beyond && err != nil:
				yield(value, err)
				return
			case shown == Beyond:
				return
			case shown == Skipped:
				continue
			}

			if yielded++; !yield(value, err) || yielded == p.lacks {
				return
			}
		}

		at, end = page.LastEvaluatedKey, last
		read := max(len(page.Items), int(page.ScannedCount)) // including rows that the filter left out
		p.turn(read, yielded, w.Most)
	}
}

// leave writes Next: "" at the end of the answer, and otherwise the cursor after the
// last row that the walk passed. If it passed none, that is the cursor with which it
// began.
func (w Walk[T]) leave(at ddb.Item, end bool) {
	switch {
	case w.Next == nil:
	case end:
		*w.Next = ""
	case at == nil:
		*w.Next = w.Cursor
	default:
		*w.Next = w.After(at)
	}
}
