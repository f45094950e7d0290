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

// Page is a part of an answer.
type Page struct {
	Activities []Activity

	// Cursor is where the next Page begins, for Range.Cursor; "" says that this
	// is the last. The page it leads to may be empty, and with a ReadAtMost this
	// one may be, too. It is text that can be
	// handed out and taken back: it holds a position, never a scope or an actor
	// to read, so a forged one cannot leave what the query asks for. It is not
	// encrypted: it discloses the id and the time of the last activity of its
	// page, or of the last that was read, and that of ByActor its scope.
	Cursor string
}

// page walks to the Limit. Its last row gives the cursor, not the last row read,
// unless ReadAtMost ended it.
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

// positions are the attributes that, beside what the query fixes, make up the
// position after a row.
func (s *Store) positions(q *query) []string {
	switch q.sort {
	case attrID:
		return []string{attrID}
	case attrTimestamp:
		return []string{attrTimestamp, s.cfg.ScopeAttr, attrID}
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

// cursorName is what a cursor must have been made by.
func (q *query) cursorName() string {
	if q.r.NewestFirst {
		return q.name + " newest first" + q.filter.ID()
	}
	return q.name + q.filter.ID()
}

// startAfter is the cursor's position as DynamoDB takes it, nil without a
// cursor. DynamoDB would refuse one outside the bounds, in words that say
// nothing to a caller.
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
			return nil, event.BadInput(pkg, "Range.Cursor", "lies outside the range")
		}
		start[attr] = q.sortKey(key)
	}
	// The id is that of a row, which need not be one that can be read.
	const field = "Range.Cursor"
	if check.SortKey(pkg, field, item.Text(start, attrID)) != nil || check.PartitionKey(pkg, field, item.Text(start, s.cfg.ScopeAttr)) != nil {
		return nil, event.BadInput(pkg, field, "holds no position of this query")
	}
	return start, nil
}
