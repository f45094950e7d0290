package counter_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/tzclock"
)

// hold takes a weight under a cap of 20.
func (e *env) hold(t testing.TB, ev event.Event, weight int64) {
	t.Helper()
	grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Cap: 20, Weight: weight})
	if err != nil || !grant.First() {
		t.Fatalf("Take = %+v, %v", grant, err)
	}
}

func TestAdjust(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		from, to int64
		used     int64 // of 20, after 5 of another's
		ok       bool
	}{
		{"it comes to the least", 10, 1, 6, true},
		{"it takes the last room", 10, 15, 20, true},
		{"it finds no room", 10, 16, 15, false},
		{"it comes to what was held", 10, 10, 15, true},
	} {
		e := open(t, counter.Config{})
		ev := message(t, noon, 1)
		e.hold(t, message(t, noon, 2), 5)
		e.hold(t, ev, tc.from)
		adjust := counter.Adjust{Key: chat, Event: ev, From: tc.from, To: tc.to, Cap: 20}
		for _, outcome := range []event.Outcome{event.Created, event.Duplicate} {
			want := counter.Grant{
				OK: tc.ok, Total: counter.Total{Outcome: outcome, Used: tc.used, StartsAt: tzclock.Stockholm.Start(day), ResetsAt: tzclock.Stockholm.End(day)}, Cap: 20, Remaining: 20 - tc.used,
			}
			if !tc.ok {
				want.Outcome = 0
			}
			grant, err := e.Adjust(t.Context(), adjust)
			if err != nil {
				t.Fatal(tc.name, err)
			}
			if diff := cmp.Diff(want, grant); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.name, diff)
			}
		}
		if count := e.get(t, day); count.Used != tc.used || count.Recorded != 2 {
			t.Errorf("%s: Get = %+v", tc.name, count)
		}
	}
}

// A hold is settled once: no late delivery changes it back.
func TestAdjustIsFinal(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	e.hold(t, ev, 10)
	first := counter.Adjust{Key: chat, Event: ev, From: 10, To: 7}
	if grant, err := e.Adjust(t.Context(), first); err != nil || !grant.First() || grant.Used != 7 {
		t.Fatalf("Adjust = %+v, %v", grant, err)
	}
	for adjust, want := range map[counter.Adjust]counter.WeightError{
		{From: 7, To: 10, Cap: 20}: {Recorded: 7, Given: 10},
		{From: 10, To: 8}:          {Recorded: 7, Given: 8},
		{From: 7, To: 6}:           {Recorded: 7, Given: 6},
	} {
		adjust.Key, adjust.Event = chat, ev
		var differs *counter.WeightError
		if grant, err := e.Adjust(t.Context(), adjust); !errors.As(err, &differs) || *differs != want || grant != (counter.Grant{}) {
			t.Errorf("%d to %d: %+v, %v, want %v", adjust.From, adjust.To, grant, err, &want)
		}
	}
	for _, from := range []int64{10, 7, 3} { // it stands settled to 7, whatever it was
		first.From = from
		if grant, err := e.Adjust(t.Context(), first); err != nil || !grant.OK || grant.Outcome != event.Duplicate || grant.Used != 7 {
			t.Errorf("again, from %d: %+v, %v", from, grant, err)
		}
	}
}

// A settled event is not weighed by who takes or adds it once more, and gives
// back what it was settled to.
func TestSettledEvent(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	e.hold(t, ev, 10)
	if _, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: ev, From: 10, To: 7}); err != nil {
		t.Fatal(err)
	}
	for _, weight := range []int64{10, 7, 1} {
		grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: weight})
		if err != nil || !grant.OK || grant.Outcome != event.Duplicate || grant.Used != 7 {
			t.Errorf("Take %d = %+v, %v", weight, grant, err)
		}
		total, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: weight})
		if err != nil || total.Refunded || total.Outcome != event.Duplicate || total.Used != 7 {
			t.Errorf("Add %d = %+v, %v", weight, total, err)
		}
	}
	var differs *counter.WeightError
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 10}); !errors.As(err, &differs) || *differs != (counter.WeightError{Recorded: 7, Given: 10}) {
		t.Errorf("Refund of the hold: %v", err)
	}
	for _, want := range []event.Outcome{event.Created, event.Duplicate} {
		total, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 7})
		if err != nil || !total.Refunded || total.Outcome != want || total.Used != 0 {
			t.Errorf("Refund = %+v, %v, want %v", total, err, want)
		}
	}
}

func TestAdjustOfWhatIsNotHeld(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	adjust := counter.Adjust{Key: chat, Event: ev, From: 10, To: 7, Cap: 20}
	if _, err := e.Adjust(t.Context(), adjust); !errors.Is(err, counter.ErrNotFound) {
		t.Errorf("no row: %v, want ErrNotFound", err)
	}
	if row := e.row(t, day); row != nil {
		t.Errorf("it has left %v", row)
	}
	e.hold(t, ev, 1)
	var differs *counter.WeightError
	for from, to := range map[int64]int64{10: 7, 7: 10, 5: 5} { // "1~" is not a part of "10~"
		adjust.From, adjust.To = from, to
		if _, err := e.Adjust(t.Context(), adjust); !errors.As(err, &differs) || *differs != (counter.WeightError{Recorded: 1, Given: from}) {
			t.Errorf("%d to %d of a hold of 1: %v", from, to, err)
		}
	}
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	grant, err := e.Adjust(t.Context(), adjust)
	if err != nil || grant.OK || !grant.Refunded || grant.Outcome != event.Duplicate || grant.Used != 0 || grant.Cap != 20 {
		t.Errorf("refunded: %+v, %v", grant, err)
	}
}

func TestAdjustNeverBelowZero(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	e.hold(t, ev, 10)
	e.setCount(t, 2) // somebody has lowered it by hand
	adjust := counter.Adjust{Key: chat, Event: ev, From: 10, To: 7}
	if _, err := e.Adjust(t.Context(), adjust); !errors.Is(err, counter.ErrBelowZero) {
		t.Errorf("Adjust = %v, want ErrBelowZero", err)
	}
	e.setCount(t, 3)
	if grant, err := e.Adjust(t.Context(), adjust); err != nil || !grant.First() || grant.Used != 0 {
		t.Errorf("Adjust = %+v, %v", grant, err)
	}
}
