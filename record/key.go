package record

import (
	"github.com/homeops/ddbpatterns/internal/cursor"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/key"
)

// Key joins the parts of a key with '#'. In each part it writes '%' as %25 and
// '#' as %23 and nothing else, so that two different lists of parts never give
// the same key and a prefix that ends in '#' matches no neighbour.
func Key(parts ...string) string { return key.Join(parts...) }

func keyOf(partition, sort string) Item {
	return Item{attrPK: item.S(partition), attrSK: item.S(sort)}
}

// Cursor writes the position after a page, the values of its sort key and, on an
// index, of the row's own key, as text that a caller can carry and bring back.
// The partition does not belong in it: it comes from the query, so that a forged
// cursor cannot leave it. The query's name is part of a checksum, which detects a
// cut or mistyped cursor and one of another query, not a forger.
func Cursor(query string, position ...string) string { return cursor.Encode(query, position) }

// Position reads a [Cursor] of the query, of n values. What is not one is an
// [event.InputError] of pkg's Cursor.
func Position(pkg, query, text string, n int) ([]string, error) {
	return cursor.Decode(pkg, "Cursor", query, text, n)
}
