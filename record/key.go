package record

import (
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Key joins the parts of a key with '#'. In each part it writes '%' as %25 and
// '#' as %23, and leaves everything else unchanged. So two different lists of
// one or more parts never give the same key. A prefix that ends in '#' begins
// only keys with the same first parts: every key that begins with "RATING#42#"
// has the first parts "RATING" and "42".
func Key(parts ...string) string { return check.Join(parts...) }

func keyOf(partition, sort string) Item {
	return Item{attrPK: item.S(partition), attrSK: item.S(sort)}
}
