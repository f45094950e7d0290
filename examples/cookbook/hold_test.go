package cookbook_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/tzclock"
)

// placed is when the orders of these tests are placed: late in Stockholm's day.
var placed = time.Date(2026, 3, 23, 22, 30, 0, 0, time.UTC)

// spending returns a limit of 1000 cents a day, whose clock shows what now returns.
func spending(t *testing.T, db *dynamotest.DB, now func() time.Time) cookbook.Spending {
	t.Helper()
	days, err := counter.New(db.Client(), "days", tzclock.Stockholm, &counter.Config{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return cookbook.Spending{Days: days, Cap: 1000}
}

// opened returns it on a table of its own, an hour after the orders: past midnight.
func opened(t *testing.T) (*dynamotest.DB, cookbook.Spending) {
	t.Helper()
	db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})
	s := spending(t, db, func() time.Time { return placed.Add(time.Hour) })
	db.Create(s.Days.Table())
	return db, s
}

// kept returns the hold of ann's purchase as it comes back from where it is kept.
func kept(t *testing.T, id string, cents int64) (h cookbook.Hold) {
	t.Helper()
	made, err := cookbook.Purchase{Order: id, Customer: "ann", PlacedAt: placed, Cents: cents}.Hold()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &h); err != nil {
		t.Fatal(err)
	}
	return h
}

// wantUsed compares what ann's day holds.
func wantUsed(t *testing.T, s cookbook.Spending, want int64) {
	t.Helper()
	day, err := s.Days.Get(t.Context(), "ann", placed)
	if day.Used != want || err != nil {
		t.Errorf("ann's day holds %d cents, want %d; %v", day.Used, want, err)
	}
}

// Each step is delivered twice, and each reply to its first try is lost.
func TestAHoldIsSettledOnce(t *testing.T) {
	t.Parallel()
	db, s := opened(t)
	h := kept(t, "1001", 700)
	for _, step := range []struct {
		do   func() error
		used int64
	}{
		{func() error { _, err := s.Authorize(t.Context(), h); return err }, 700},
		{func() error { _, err := s.Capture(t.Context(), h, 450); return err }, 450},
		{func() error { _, err := s.Authorize(t.Context(), h); return err }, 450}, // late
		{func() error { return s.Void(t.Context(), h) }, 0},
		{func() error { _, err := s.Capture(t.Context(), h, 450); return err }, 0}, // late
	} {
		for range 2 {
			db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply})
			if err := step.do(); err != nil {
				t.Error(err)
			}
			wantUsed(t, s, step.used)
		}
	}
}

func TestNoRoomIsAnAnswer(t *testing.T) {
	t.Parallel()
	_, s := opened(t)
	for _, tc := range []struct {
		id    string
		cents int64
		ok    bool
	}{{"1", 700, true}, {"2", 400, false}, {"3", 300, true}, {"1", 700, true}} {
		grant, err := s.Authorize(t.Context(), kept(t, tc.id, tc.cents))
		if grant.OK != tc.ok || err != nil {
			t.Errorf("purchase %s: %+v, %v", tc.id, grant, err)
		}
	}
	grant, err := s.Capture(t.Context(), kept(t, "3", 300), 301)
	if !grant.Refused() || err != nil {
		t.Errorf("one cent more than there is room for: %+v, %v", grant, err)
	}
	wantUsed(t, s, 1000)
}

func TestWhatAHoldCosts(t *testing.T) {
	t.Parallel()
	db, s := opened(t)
	first, second := kept(t, "1001", 700), kept(t, "1002", 200)
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	one, two := dynamotest.Price{Requests: 1, WCU: 1}, dynamotest.Price{Requests: 2, WCU: 2}
	for _, step := range []struct {
		do   func()
		want dynamotest.Price
	}{
		{func() { _, err := s.Authorize(t.Context(), first); must(err) }, one},
		{func() { must(s.Void(t.Context(), first)) }, one},
		{func() { must(s.Void(t.Context(), second)) }, two}, // which comes first
		{func() { _, err := s.Authorize(t.Context(), kept(t, "1003", 400)); must(err) }, one},
		{func() { _, err := s.Capture(t.Context(), kept(t, "1003", 400), 300); must(err) }, one},
		{func() { must(s.Void(t.Context(), kept(t, "1003", 400))) }, two}, // which is settled
	} {
		db.Meter(step.do).Want(t, step.want)
	}
	wantUsed(t, s, 0)
}

// Bad input is refused before a request; 0 is not taken for 1.
func TestInvalidHolds(t *testing.T) {
	t.Parallel()
	db, s := opened(t)
	cost := db.Meter(func() {
		var bad *event.InputError
		for _, p := range []cookbook.Purchase{
			{Customer: "ann", PlacedAt: placed, Cents: 1}, {Order: "1", PlacedAt: placed}, {Order: "1", Cents: 1},
		} {
			if h, err := p.Hold(); !errors.As(err, &bad) {
				t.Errorf("%+v gives %+v, %v", p, h, err)
			}
		}
		var none cookbook.Hold
		_, authorized := s.Authorize(t.Context(), none)
		_, captured := s.Capture(t.Context(), none, 1)
		_, nothing := s.Capture(t.Context(), kept(t, "1", 1), 0)
		for _, err := range []error{authorized, captured, nothing, s.Void(t.Context(), none)} {
			if !errors.As(err, &bad) {
				t.Errorf("got %v", err)
			}
		}
	})
	cost.Want(t, dynamotest.Price{})
}
