package counter_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/tzclock"
)

// A hold is settled in a transaction, whether it falls, stays or rises.
func TestAdjustItem(t *testing.T) {
	t.Parallel()
	for _, to := range []int64{7, 10, 12} {
		e := open(t, counter.Config{})
		ev := message(t, noon, 1)
		adjust := counter.Adjust{Key: chat, Event: ev, From: 10, To: to, Cap: 20}
		i := must(e.AdjustItem(adjust))
		reasons := e.transact(t, i.Item, e.order("1"))
		if grant, err := i.Outcome(reasons[0]); !errors.Is(err, counter.ErrNotFound) || grant != (counter.Grant{}) {
			t.Errorf("not recorded: %+v, %v", grant, err)
		}
		e.hold(t, ev, 10)
		if reasons := e.transact(t, i.Item, e.order("1")); reasons != nil {
			t.Fatal(reasons)
		}
		want := counter.Grant{
			OK: true, Total: counter.Total{Outcome: event.Created, Used: counter.Unknown, StartsAt: tzclock.Stockholm.Start(day), ResetsAt: tzclock.Stockholm.End(day)}, Cap: 20, Remaining: counter.Unknown,
		}
		if diff := cmp.Diff(want, i.Committed()); diff != "" || !i.Committed().First() {
			t.Errorf("Committed (-want +got):\n%s", diff)
		}
		if count := e.get(t, day); count.Used != to || count.Recorded != 1 {
			t.Errorf("Get = %+v", count)
		}
		want.Used, want.Remaining = to, 20-to
		if diff := cmp.Diff(want, outcome(t, i.Outcome, e.transact(t, e.order("1"), i.Item)[1])); diff != "" {
			t.Errorf("its own (-want +got):\n%s", diff)
		}
		want.Outcome = event.Duplicate
		another := must(e.AdjustItem(adjust))
		if diff := cmp.Diff(want, outcome(t, another.Outcome, e.transact(t, another.Item)[0])); diff != "" {
			t.Errorf("another delivery (-want +got):\n%s", diff)
		}
		if grant, err := e.Adjust(t.Context(), adjust); err != nil || grant.Outcome != event.Duplicate {
			t.Errorf("Adjust = %+v, %v", grant, err)
		}
	}
}

// An item answers what Adjust would have, and nothing of the transaction is written.
func TestAdjustItemRefused(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev, back := message(t, noon, 1), message(t, noon, 2)
	e.hold(t, ev, 10)
	e.hold(t, back, 1)
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: back, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	refused := func(adjust counter.Adjust) (counter.Grant, error) {
		t.Helper()
		return e.refusal(t, must(e.AdjustItem(adjust)))
	}
	if grant, err := refused(counter.Adjust{Key: chat, Event: ev, From: 10, To: 13, Cap: 12}); err != nil || grant.OK || grant.Outcome != 0 || grant.Used != 10 || grant.Remaining != 2 {
		t.Errorf("no room: %+v, %v", grant, err)
	}
	var differs *counter.WeightError
	if grant, err := refused(counter.Adjust{Key: chat, Event: ev, From: 1, To: 2, Cap: 20}); !errors.As(err, &differs) || *differs != (counter.WeightError{Recorded: 10, Given: 1}) {
		t.Errorf("another weight: %+v, %v", grant, err)
	}
	if grant, err := refused(counter.Adjust{Key: chat, Event: back, From: 1, To: 2, Cap: 20}); err != nil || grant.OK || !grant.Refunded || grant.Used != 10 {
		t.Errorf("a refunded event: %+v, %v", grant, err)
	}
	if reasons := e.transact(t, e.order("refused")); reasons != nil {
		t.Errorf("a part was written: %v", reasons)
	}
	if count := e.get(t, day); count.Used != 10 {
		t.Errorf("Get = %+v", count)
	}
}
