package message

import (
	"context"
	"errors"
	"strconv"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/cursor"
)

// defaultPage is the Limit of a Page.
const defaultPage = 50

// Page is a part of an answer.
type Page struct {
	Messages []Message

	// Cursor is where the next Page begins: pass it as Range.Cursor or
	// TimeRange.Cursor. "" means that this Page is the last. The next Page may be
	// empty; with a ReadAtMost, this Page may be empty and yet have a Cursor. You
	// may give the Cursor to a client and take it back. Its content is not
	// encrypted: it holds the sequence of the last message of this Page or, if
	// ReadAtMost ended the Page, of the last row read. In a Page of ByActorPage,
	// it also holds the scope and time of that message or row.
	Cursor string
}

// page reads to the Limit, or as far as it may.
func (s *Store) page(ctx context.Context, left part, w walk, err error) (Page, error) {
	if err != nil {
		return Page{}, err
	}
	if w.limit == 0 {
		w.limit = defaultPage
	}
	var page Page
	for f, err := range s.messages(ctx, left, w) {
		switch {
		case errors.Is(err, ErrReadAtMost):
			page.Cursor = left.cursor(f.row)
			return page, nil
		case err != nil:
			return Page{}, err
		}
		page.Messages = append(page.Messages, f.Message)
		if len(page.Messages) == w.limit {
			page.Cursor = left.cursor(f.row)
		}
	}
	return page, nil
}

// direction names the query a cursor belongs to.
func direction(query string, newestFirst bool) string {
	if newestFirst {
		return query + ".NewestFirst"
	}
	return query
}

func writeCursor(query string, position ...string) string { return cursor.Encode(query, position) }

func readCursor(query, text string) (int64, error) {
	position, err := cursor.Decode(pkg, "Range.Cursor", query, text, 1)
	if err != nil {
		return 0, err
	}
	seq, err := strconv.ParseInt(position[0], 10, 64)
	if err != nil {
		return 0, event.BadInput(pkg, "Range.Cursor", "is not a cursor of this query")
	}
	return seq, nil
}
