package counter_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/tzclock"
)

// tombstone is a refund that may come first.
func tombstone(ev event.Event, weight int64) counter.Refund {
	return counter.Refund{Key: chat, Event: ev, Weight: weight, Tombstone: true}
}

// A refund that comes first leaves a tombstone: a caller that takes the event
// later, of whatever weight, is told so, and nothing is counted.
func TestRefundThatComesFirst(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	for i, tc := range []struct {
		outcome  event.Outcome
		requests int
	}{{event.Created, 2}, {event.Duplicate, 1}} {
		var total counter.Total
		var err error
		cost := e.db.Meter(func() { total, err = e.Refund(t.Context(), tombstone(ev, 5)) })
		want := counter.Total{Outcome: tc.outcome, Refunded: true, StartsAt: tzclock.Stockholm.Start(day), ResetsAt: tzclock.Stockholm.End(day)}
		if diff := cmp.Diff(want, total); err != nil || diff != "" || cost.Requests != tc.requests {
			t.Errorf("refund %d: %v after %v (-want +got):\n%s", i, err, cost, diff)
		}
	}
	for _, weight := range []int64{5, 1} {
		if grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Cap: 9, Weight: weight}); err != nil || grant.OK || !grant.Refunded || grant.Used != 0 {
			t.Errorf("Take %d = %+v, %v", weight, grant, err)
		}
		if total, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: weight}); err != nil || total.Outcome != event.Duplicate || !total.Refunded || total.Used != 0 {
			t.Errorf("Add %d = %+v, %v", weight, total, err)
		}
		if grant, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: ev, From: weight, To: 2, Cap: 9}); err != nil || grant.OK || !grant.Refunded {
			t.Errorf("Adjust %d = %+v, %v", weight, grant, err)
		}
	}
	if count := e.get(t, day); count != (counter.Count{Recorded: 1, UpdatedAt: noon}) {
		t.Errorf("Get = %+v", count)
	}
	var differs *counter.WeightError
	if _, err := e.Refund(t.Context(), tombstone(ev, 4)); !errors.As(err, &differs) {
		t.Errorf("of another weight: %v", err)
	}
	// Where the event is recorded, a Tombstone changes nothing.
	other := message(t, noon, 2)
	e.hold(t, other, 3)
	cost := e.db.Meter(func() {
		if total, err := e.Refund(t.Context(), tombstone(other, 3)); err != nil || total.Outcome != event.Created || total.Used != 0 {
			t.Errorf("Refund = %+v, %v", total, err)
		}
	})
	if cost.Requests != 1 {
		t.Errorf("Refund of what is recorded: %v", cost)
	}
}

// What others do between the requests of one refund. It ends in at most three.
func TestTombstoneOvertaken(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		second, third func(*env, event.Event)
		sent          int
		outcome       event.Outcome
		err           bool
	}{
		"by the Take": {
			second: func(e *env, ev event.Event) { e.hold(t, ev, 2) },
			sent:   3, outcome: event.Created,
		},
		"by the Take and another refund": {
			second: func(e *env, ev event.Event) { e.hold(t, ev, 2) },
			third: func(e *env, ev event.Event) {
				if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 2}); err != nil {
					t.Error(err)
				}
			},
			sent: 3, outcome: event.Duplicate,
		},
		"by another tombstone": {
			second: func(e *env, ev event.Event) {
				if _, err := e.Refund(t.Context(), tombstone(ev, 2)); err != nil {
					t.Error(err)
				}
			},
			sent: 2, outcome: event.Duplicate,
		},
		"by a Take that is erased": {
			second: func(e *env, ev event.Event) { e.hold(t, ev, 2) },
			third: func(e *env, ev event.Event) {
				if _, err := e.Erase(t.Context(), chat); err != nil {
					t.Error(err)
				}
			},
			sent: 3, err: true,
		},
		"by a Take of another weight": {
			second: func(e *env, ev event.Event) { e.hold(t, ev, 3) },
			sent:   2, err: true,
		},
	} {
		e := open(t, counter.Config{})
		ev := message(t, noon, 1)
		e.db.Inject(dynamotest.Fault{Op: "UpdateItem", Nth: 2, Do: dynamotest.Before(func() {
			tc.second(e, ev)
			if tc.third != nil {
				e.db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.Before(func() { tc.third(e, ev) })})
			}
		})})
		ctx, meter := dynamotest.WithMeter(t.Context())
		total, err := e.Refund(ctx, tombstone(ev, 2))
		if (err != nil) != tc.err || total.Outcome != tc.outcome || total.Refunded == tc.err || total.Used != 0 || meter.Cost().Requests != tc.sent {
			t.Errorf("%s: %+v, %v after %v", name, total, err, meter.Cost())
		}
		if errors.Is(err, counter.ErrNotFound) {
			t.Errorf("%s: %v, which a Tombstone never is", name, err)
		}
	}
}
