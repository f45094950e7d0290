package activity

import (
	"maps"
	"strings"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// positions are the attributes that make up the position after a row, together
// with those that the query fixes.
func (s *Store) positions(q *query) []string {
	switch q.sort {
	case attrID:
		return []string{attrID}
	case attrTimestamp:
		return []string{attrTimestamp, attrScope, attrID}
	}
	return []string{attrNameTime, attrID}
}

// cursorAfter returns the cursor after a row of the query, by its key.
func (s *Store) cursorAfter(q *query, row ddb.Item) string {
	var position []string
	for _, attr := range s.positions(q) {
		value := item.Text(row, attr)
		if attr == q.sort {
			value = strings.TrimPrefix(value, q.prefix)
		}
		position = append(position, value)
	}
	return check.EncodeCursor(q.cursorName(), position)
}

// cursorName names the query that a cursor must come from.
func (q *query) cursorName() string {
	if q.r.NewestFirst {
		return q.name + " newest first" + q.filter.ID()
	}
	return q.name + q.filter.ID()
}

// startAfter is the cursor's position as DynamoDB takes it, nil without a
// cursor. DynamoDB would refuse a cursor outside the bounds, with a text that
// does not help a caller.
func (s *Store) startAfter(q *query) (ddb.Item, error) {
	if q.r.Cursor == "" {
		return nil, nil
	}
	attrs := s.positions(q)
	position, err := check.DecodeCursor(pkg, "Range.Cursor", q.cursorName(), q.r.Cursor, len(attrs))
	if err != nil {
		return nil, err
	}
	start := maps.Clone(q.keys)
	for i, attr := range attrs {
		if attr != q.sort {
			start[attr] = item.S(position[i])
			continue
		}
		key := q.prefix + position[i]
		if !q.within(key) {
			return nil, event.BadInput(pkg, "Range.Cursor", "points to a row outside the range")
		}
		start[attr] = q.sortKey(key)
	}
	// The id comes from a row, which may be an unreadable one.
	const field = "Range.Cursor"
	if check.SortKey(pkg, field, item.Text(start, attrID)) != nil || check.PartitionKey(pkg, field, item.Text(start, attrScope)) != nil {
		return nil, event.BadInput(pkg, field, "is not a cursor of this query")
	}
	return start, nil
}
