package activity

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// concurrency bounds the requests of one RecordMany.
const concurrency = 8

// RecordMany records activities of many events concurrently, each as
// [Store.Record] does, with at most 8 requests at a time. It returns the outcome of
// each activity at the activity's index. Activities with the same Event and Scope are
// recorded in their order: the first of them stays.
//
// If some activities have no outcome, the error is an [*event.LeftoverError] that
// names each by its index, with the reason: an error of Record, a context that ended
// before its turn, or the failure of an earlier activity with the same Event and
// Scope. All others are recorded. A leftover whose replies were all lost may also be
// recorded. The whole call is safe to repeat.
//
// Price: 1 request, 4 WCU. This is the price for each activity, as for
// [Store.Record].
func (s *Store) RecordMany(ctx context.Context, activities []Activity) ([]event.Outcome, error) {
	if len(activities) == 0 {
		return nil, nil
	}

	outcomes := make([]event.Outcome, len(activities))
	errs := make([]error, len(activities))
	var group errgroup.Group // without a context: a failure does not stop the others
	group.SetLimit(concurrency)

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

// byRow groups the activities by their row, in their order. It leaves out bad
// input and keeps its error.
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

// recordInOrder records activities of one row. If one fails, it is unknown what
// is recorded, so those that follow are left over with it.
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
