package cookbook

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/ledger"
)

// GivenUp is a page of ten keys that an operator should see, and the cursor of the next
// page, "" at the end. The last page may be empty. A row that cannot be read has only a Key.
func GivenUp(ctx context.Context, ops *ledger.Operators, cursor string) (page []ledger.Record, next string, err error) {
	f := ledger.Filter{States: []ledger.State{ledger.Failed, ledger.Refused, ledger.Claimed}, Cursor: cursor, Next: &next}
	for r, err := range ops.List(ctx, f) {
		if err != nil && r.Key == "" {
			return nil, "", err
		}
		if r.Lease.After(time.Now()) {
			continue // somebody works on it
		}
		if page = append(page, r); len(page) == 10 {
			break // not return: next is written when the loop is left
		}
	}
	return page, next, nil
}

// Latest is a page of ten activities of a scope, the newest first, and the cursor of
// the next page, "" if nothing follows.
func Latest(ctx context.Context, log *activity.Store, scope, cursor string) (page []activity.Activity, next string, err error) {
	for a, err := range log.InScope(ctx, scope, activity.Range{NewestFirst: true, Limit: 10, Cursor: cursor, Next: &next}) {
		if err != nil {
			return nil, "", err
		}
		page = append(page, a)
	}
	if next != "" { // after ten rows, and perhaps after the last
		for _, err := range log.InScope(ctx, scope, activity.Range{NewestFirst: true, Limit: 1, Cursor: next}) {
			return page, next, err
		}
	}
	return page, "", nil
}
