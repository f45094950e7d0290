package counter_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

func TestRefundMakesRoomForOthersOnly(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for i := range 3 {
		e.take(t, message(t, noon, i), 3)
	}
	back := message(t, noon, 0)
	for i, want := range []event.Outcome{event.Created, event.Duplicate, event.Duplicate} {
		total, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: back, Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		wantTotal := counter.Total{Outcome: want, Refunded: true, Used: 2, Day: day, ResetsAt: tzclock.Stockholm.End(day)}
		if diff := cmp.Diff(wantTotal, total); diff != "" {
			t.Errorf("refund %d (-want +got):\n%s", i, diff)
		}
	}
	grant := e.take(t, back, 3)
	if grant.OK || !grant.Refunded || grant.Outcome != event.Duplicate || grant.Used != 2 || grant.Remaining != 1 {
		t.Errorf("a late delivery of the refunded event: %+v", grant)
	}
	total, err := e.Add(t.Context(), counter.Add{Key: chat, Event: back, Weight: 1})
	if err != nil || !total.Refunded || total.Outcome != event.Duplicate || total.Used != 2 {
		t.Errorf("adding the refunded event: %+v, %v", total, err)
	}
	if grant := e.take(t, message(t, noon, 7), 3); !grant.OK || grant.Outcome != event.Created || grant.Used != 3 {
		t.Errorf("another event: %+v", grant)
	}
}

func TestRefundOfWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	refund := counter.Refund{Key: chat, Event: message(t, noon, 1), Weight: 1}
	if _, err := e.Refund(t.Context(), refund); !errors.Is(err, counter.ErrNotFound) {
		t.Errorf("no row: %v, want ErrNotFound", err)
	}
	if row := e.row(t, day); row != nil {
		t.Errorf("a refund has made a row: %v", row)
	}
	e.take(t, message(t, noon, 2), 3)
	if _, err := e.Refund(t.Context(), refund); !errors.Is(err, counter.ErrNotFound) {
		t.Errorf("another's row: %v, want ErrNotFound", err)
	}
	if count := e.get(t, day); count.Used != 1 {
		t.Errorf("Get = %v", count)
	}
}

func TestRefundNeverBelowZero(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	if _, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: 5}); err != nil {
		t.Fatal(err)
	}
	row := e.row(t, day)
	row["count"] = item.Digits("4") // somebody has lowered it by hand
	e.put(t, row)
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 5}); !errors.Is(err, counter.ErrBelowZero) {
		t.Errorf("Refund = %v, want ErrBelowZero", err)
	}
	row["count"] = item.Digits("5")
	e.put(t, row)
	total, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 5})
	if err != nil || total.Used != 0 || total.Outcome != event.Created {
		t.Errorf("Refund = %+v, %v", total, err)
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	add := counter.Add{Key: chat, Event: message(t, noon, 1), Weight: 1e12}
	for _, want := range []event.Outcome{event.Created, event.Duplicate} {
		total, err := e.Add(t.Context(), add)
		if err != nil || total.Outcome != want || total.Used != 1e12 || total.Day != day || total.Refunded {
			t.Errorf("Add = %+v, %v, want %v", total, err, want)
		}
	}
	if grant := e.take(t, message(t, noon, 2), 3); grant.OK || grant.Used != 1e12 || grant.Remaining != 0 {
		t.Errorf("Take beside what was added: %+v", grant)
	}
	if _, err := e.Add(t.Context(), counter.Add{Key: chat, Event: message(t, noon, 3), Weight: 1}); err != nil {
		t.Errorf("Add knows no cap: %v", err)
	}
}

// The seeds' way, reading first and counting later, has the gap that Add's
// documentation names. Take has not.
func TestCheckThenIncrementOvershoots(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	e.take(t, message(t, noon, 1), 3)
	e.take(t, message(t, noon, 2), 3)
	left, right := e.get(t, day), e.get(t, day)
	if left.Used >= 3 || right.Used >= 3 {
		t.Fatal("no room to begin with")
	}
	for i := range 2 { // both saw room for one more
		if _, err := e.Add(t.Context(), counter.Add{Key: chat, Event: message(t, noon, 3+i), Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if count := e.get(t, day); count.Used != 4 {
		t.Errorf("Get = %v, want the overshoot, 4", count)
	}
}

// Where a refund may come before its Take, adding the event first makes both
// orders end alike.
func TestRefundOutOfOrder(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"before its Take": false, "after its Take": true} {
		e := open(t, counter.Config{})
		ev := message(t, noon, 1)
		added := event.Created
		if taken {
			e.take(t, ev, 1)
			added = event.Duplicate
		}
		total, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: 1})
		if err != nil || total.Outcome != added {
			t.Errorf("%s: Add = %+v, %v", name, total, err)
		}
		total, err = e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1})
		if err != nil || total.Outcome != event.Created || total.Used != 0 {
			t.Errorf("%s: Refund = %+v, %v", name, total, err)
		}
		if grant := e.take(t, ev, 1); grant.OK || !grant.Refunded || grant.Used != 0 {
			t.Errorf("%s: Take = %+v", name, grant)
		}
	}
}

// A cancel that does not know whether the hold was settled: it gives back what was
// taken, and if that is not what is held, what is. Delivered twice it gives back once.
func TestRefundOfWhatMayBeSettled(t *testing.T) {
	t.Parallel()
	for _, settle := range []bool{false, true} {
		e := open(t, counter.Config{})
		ev := message(t, noon, 1)
		e.hold(t, message(t, noon, 2), 5)
		e.hold(t, ev, 10)
		if settle {
			if _, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: ev, From: 10, To: 7}); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []event.Outcome{event.Created, event.Duplicate} {
			back := counter.Refund{Key: chat, Event: ev, Weight: 10}
			total, err := e.Refund(t.Context(), back)
			var differs *counter.WeightError
			if errors.As(err, &differs) != settle {
				t.Fatalf("settled %v: %v", settle, err)
			}
			if differs != nil {
				back.Weight = differs.Recorded
				total, err = e.Refund(t.Context(), back)
			}
			if err != nil || total.Outcome != want || !total.Refunded || total.Used != 5 {
				t.Errorf("settled %v: %+v, %v, want %v", settle, total, err, want)
			}
		}
	}
}
