package activity

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// RecordMany records activities of many events side by side, each as
// [Store.Record] does, with at most Config.Concurrency requests under way. It
// returns the outcome of each, by its index. Those of one event and scope are
// recorded in their order: the first stands.
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
func (s *Store) RecordMany(ctx context.Context, activities []Activity) ([]event.Outcome, error) {
	if len(activities) == 0 {
		return nil, nil
	}
	outcomes := make([]event.Outcome, len(activities))
	errs := make([]error, len(activities))
	var group errgroup.Group // without a context: one failure stops no other
	group.SetLimit(s.cfg.Concurrency)
	for _, same := range s.byRow(activities, errs) {
		group.Go(func() error {
			s.recordInOrder(ctx, same, outcomes, errs)
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

// encoded is one of the activities and its row.
type encoded struct {
	Activity
	index int
	row   ddb.Item
}

// byRow returns the activities, together those of one row, in their order. What is
// bad input is left out, and its error kept.
func (s *Store) byRow(all []Activity, errs []error) [][]encoded {
	type id struct {
		scope string
		event event.Event
	}
	var rows [][]encoded
	place := map[id]int{}
	for i, a := range all {
		var e encoded
		if e, errs[i] = s.encoded(i, a); errs[i] != nil {
			continue
		}
		n, known := place[id{a.Scope, a.Event}]
		if !known {
			n = len(rows)
			place[id{a.Scope, a.Event}] = n
			rows = append(rows, nil)
		}
		rows[n] = append(rows[n], e)
	}
	return rows
}

func (s *Store) encoded(index int, a Activity) (encoded, error) {
	row, err := s.encode(a)
	return encoded{a, index, row}, err
}

// recordInOrder records activities of one row. After trouble with one it is not
// known what stands, so those that follow are left over with it.
func (s *Store) recordInOrder(ctx context.Context, same []encoded, outcomes []event.Outcome, errs []error) {
	var trouble error
	for _, e := range same {
		if trouble == nil && ctx.Err() != nil {
			trouble = s.wrap("RecordMany", context.Cause(ctx))
		}
		if trouble != nil {
			errs[e.index] = trouble
			continue
		}
		var err error
		outcomes[e.index], err = s.recordRow(ctx, "RecordMany", e.Activity, e.row)
		errs[e.index] = err
		if _, conflict := errors.AsType[*ConflictError](err); !conflict {
			trouble = err
		}
	}
}
