package counter_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
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
		wantTotal := counter.Total{Outcome: want, Refunded: true, Used: 2, StartsAt: tzclock.Stockholm.Start(day), ResetsAt: tzclock.Stockholm.End(day)}
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
}

func TestRefundNeverBelowZero(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	if _, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: 5}); err != nil {
		t.Fatal(err)
	}
	e.setCount(t, 4) // somebody has lowered it by hand
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 5}); !errors.Is(err, counter.ErrBelowZero) {
		t.Errorf("Refund = %v, want ErrBelowZero", err)
	}
	e.setCount(t, 5)
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
		if err != nil || total.Outcome != want || total.Used != 1e12 || !total.StartsAt.Equal(tzclock.Stockholm.Start(day)) || total.Refunded {
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
