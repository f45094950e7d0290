package message

import (
	"strconv"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/cursor"
)

// defaultPage is the Limit of a Page.
const defaultPage = 50

// Page is a part of an answer.
type Page struct {
	Messages []Message

	// Cursor is where the next Page begins, for Range.Cursor; "" says that this
	// is the last. The page it leads to may be empty. It is text that can be
	// handed out and taken back: it holds the sequence of this page's last
	// message, readable by anyone, and nothing else.
	Cursor string
}

// direction names the query a cursor belongs to.
func direction(newestFirst bool) string {
	if newestFirst {
		return "message.InScope.NewestFirst"
	}
	return "message.InScope"
}

func writeCursor(seq int64, newestFirst bool) string {
	return cursor.Encode(direction(newestFirst), []string{strconv.FormatInt(seq, 10)})
}

func readCursor(text string, newestFirst bool) (int64, error) {
	position, err := cursor.Decode(pkg, "Range.Cursor", direction(newestFirst), text, 1)
	if err != nil {
		return 0, err
	}
	seq, err := strconv.ParseInt(position[0], 10, 64)
	if err != nil {
		return 0, event.BadInput(pkg, "Range.Cursor", "holds no position of this query")
	}
	return seq, nil
}
