package record

import (
	"github.com/homeops/ddbpatterns/internal/cursor"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/key"
)

// Key joins the parts of a key with '#'. In each part it writes '%' as %25 and
// '#' as %23, and leaves everything else unchanged. So two different lists of
// one or more parts never give the same key. A prefix that ends in '#' begins
// only keys with the same first parts: every key that begins with "RATING#42#"
// has the first parts "RATING" and "42".
func Key(parts ...string) string { return key.Join(parts...) }

func keyOf(partition, sort string) Item {
	return Item{attrPK: item.S(partition), attrSK: item.S(sort)}
}

// Cursor returns a text for the position at which a page ended. The position is
// the sort key of the page's last row. If the query reads an index, the position
// is the row's sort key in the index and its key in the table. A caller passes
// the text back to get the next page. Leave out the partition that the query
// reads: the query itself gives it, so that a forged cursor cannot lead to
// another partition. The text has a checksum, which covers the query's name. The
// checksum detects a cut or mistyped cursor and a cursor of another query, but
// not a forged cursor.
func Cursor(query string, position ...string) string { return cursor.Encode(query, position) }

// Position reads a text that [Cursor] returned for the query, and returns the n
// values of its position. For any other text, or if the position has another
// number of values, the error is an [*event.InputError] that names package pkg
// and the field Cursor.
func Position(pkg, query, text string, n int) ([]string, error) {
	return cursor.Decode(pkg, "Cursor", query, text, n)
}
