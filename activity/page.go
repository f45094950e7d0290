package activity

import (
	"context"
	"errors"
	"iter"
	"maps"
	"strings"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/cursor"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// defaultPage is the Limit of a Page.
const defaultPage = 50

// Page is one part of a list.
type Page struct {
	Activities []Activity

	// Cursor is where the next Page begins: give it as Range.Cursor. It is ""
	// if this Page is the last. If Cursor is set, the next Page may still be
	// empty. With a ReadAtMost, even this Page may be empty although Cursor is
	// set. You may give the cursor to clients and take it back. A cursor holds
	// only a position, and never determines which scope or actor is read, so a
	// forged cursor cannot make a list read outside its scope or actor. The
	// cursor is not encrypted: it discloses the id and the time of the Page's
	// last activity or, if ReadAtMost ended the Page, of the last row that was
	// read. For ByActor, the cursor also discloses the scope of that activity
	// or row. If that row has a name of an older system which only looks like
	// the Name of the list, the cursor discloses the end of that name.
	Cursor string
}

// page walks to the Limit. The cursor is its last row, not the last row read,
// unless ReadAtMost ended the walk.
func (s *Store) page(ctx context.Context, q query, err error) (Page, error) {
	if err != nil {
		return Page{}, check.Positional(err)
	}
	q.method = q.name + "Page"
	if q.r.Limit == 0 {
		q.r.Limit = defaultPage
	}
	var page Page
	var end found
	for f, err := range s.walk(ctx, q, q.r.Limit, nil) {
		switch {
		case errors.Is(err, ErrReadAtMost):
			page.Cursor = s.cursorAfter(&q, f.row)
			return page, nil
		case err != nil:
			return Page{}, err
		}
		page.Activities = append(page.Activities, f.Activity)
		end = f
	}
	if len(page.Activities) == q.r.Limit && !end.last {
		page.Cursor = s.cursorAfter(&q, end.row)
	}
	return page, nil
}

// each yields the activities up to the Limit.
func (s *Store) each(ctx context.Context, q query, err error) iter.Seq2[Activity, error] {
	return func(yield func(Activity, error) bool) {
		if err != nil {
			yield(Activity{}, check.Positional(err))
			return
		}
		q.method = q.name
		for f, err := range s.walk(ctx, q, max(q.r.Limit, firstPage), nil) {
			if !yield(f.Activity, err) {
				return
			}
		}
	}
}

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

func (s *Store) cursorAfter(q *query, row ddb.Item) string {
	var position []string
	for _, attr := range s.positions(q) {
		value := item.Text(row, attr)
		if attr == q.sort {
			value = strings.TrimPrefix(value, q.prefix)
		}
		position = append(position, value)
	}
	return cursor.Encode(q.cursorName(), position)
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
	position, err := cursor.Decode(pkg, "Range.Cursor", q.cursorName(), q.r.Cursor, len(attrs))
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
