package activity

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/event"
)

// RecordMany records activities of many events side by side, each as
// [Store.Record] does, with at most Config.Concurrency requests under way. It
// returns the outcome of each, by its index.
//
// If some have no outcome the error is an [*event.LeftoverError] that names
// every one of them by its index, with its reason: bad input, a conflict,
// throttling or lost replies that outlasted the SDK's retries, a context that
// ended before its turn. All others are recorded. One whose replies were all
// lost may be recorded too: as every write is safe to repeat, so is the whole
// call. BatchWriteItem would be fewer requests at the same units, but it has no
// conditions and replaces existing rows.
//
// Price: 1 request, 4 WCU. For each activity, as Record.
func (s *Store) RecordMany(ctx context.Context, all []Activity) ([]event.Outcome, error) {
	if len(all) == 0 {
		return nil, nil
	}
	outcomes := make([]event.Outcome, len(all))
	errs := make([]error, len(all))
	var group errgroup.Group // without a context: one failure stops no other
	group.SetLimit(s.cfg.Concurrency)
	for i, a := range all {
		group.Go(func() error {
			if ctx.Err() != nil {
				errs[i] = context.Cause(ctx)
				return nil
			}
			outcomes[i], errs[i] = s.record(ctx, "RecordMany", a)
			return nil
		})
	}
	_ = group.Wait() // the functions return no error: each keeps its own
	var left []event.Leftover
	for i, err := range errs {
		if err != nil {
			left = append(left, event.Leftover{Index: i, Err: err})
		}
	}
	if left != nil {
		return outcomes, &event.LeftoverError{Leftovers: left}
	}
	return outcomes, nil
}
