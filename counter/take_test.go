package counter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

func TestTakeUpToTheCap(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	midnight := time.Date(2026, 3, 30, 0, 0, 0, 0, tzclock.Stockholm.Location())
	for i := int64(1); i <= 3; i++ {
		want := counter.Grant{
			OK: true, Total: counter.Total{Outcome: event.Created, Used: i, StartsAt: tzclock.Stockholm.Start(day), ResetsAt: midnight}, Cap: 3, Remaining: 3 - i,
		}
		if diff := cmp.Diff(want, e.take(t, message(t, noon, i), 3)); diff != "" {
			t.Errorf("take %d (-want +got):\n%s", i, diff)
		}
	}
	want := counter.Grant{Total: counter.Total{Used: 3, StartsAt: tzclock.Stockholm.Start(day), ResetsAt: midnight}, Cap: 3}
	if diff := cmp.Diff(want, e.take(t, message(t, noon, 4), 3)); diff != "" {
		t.Errorf("above the cap (-want +got):\n%s", diff)
	}
	count := e.get(t, day)
	if want := (counter.Count{Used: 3, Recorded: 3, UpdatedAt: noon}); count != want {
		t.Errorf("Get = %v, want %v", count, want)
	}
}

// A redelivery holds its grant also when the cap was reached since, or lowered.
func TestRedeliveryAtTheCap(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	first := message(t, noon, 1)
	for i := range 3 {
		e.take(t, message(t, noon, i+1), 3)
	}
	for _, most := range []int64{3, 1} {
		grant := e.take(t, first, most)
		if !grant.OK || grant.Outcome != event.Duplicate || grant.Used != 3 || grant.Remaining != 0 {
			t.Errorf("cap %d: %+v", most, grant)
		}
	}
}

func TestAnotherWeightIsAnError(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	if _, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Cap: 5, Weight: 2}); err != nil {
		t.Fatal(err)
	}
	var differs *counter.WeightError
	if grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Cap: 5, Weight: 3}); !errors.As(err, &differs) || grant.OK {
		t.Errorf("Take = %+v, %v", grant, err)
	}
	if _, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: 1}); !errors.As(err, &differs) {
		t.Errorf("Add = %v", err)
	}
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1}); !errors.As(err, &differs) {
		t.Errorf("Refund = %v", err)
	}
	if want := (counter.WeightError{Recorded: 2, Given: 1}); *differs != want {
		t.Errorf("got %+v, want %+v", *differs, want)
	}
	if got, want := differs.Error(), "counter: the event is recorded with weight 2, not 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// "2~" is not a part of "20~": the digits are compared as a whole.
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 20}); !errors.As(err, &differs) {
		t.Errorf("Refund of 20 = %v", err)
	}
	if count := e.get(t, day); count.Used != 2 {
		t.Errorf("Get = %v", count)
	}
}

func TestKeysDaysAndEventsAreApart(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	yesterday := noon.AddDate(0, 0, -1)
	second, err := message(t, noon, 1).Nth(2)
	if err != nil {
		t.Fatal(err)
	}
	for name, take := range map[string]counter.Take{
		"first":                   {Key: chat, Event: message(t, noon, 1), Weight: 1},
		"another key":             {Key: chat + "4", Event: message(t, noon, 1), Weight: 1},
		"a # is any letter":       {Key: chat + "#2026-03-29", Event: message(t, noon, 1), Weight: 1},
		"another day":             {Key: chat, Event: message(t, yesterday, 1), Weight: 1},
		"the second of the event": {Key: chat, Event: second, Weight: 1},
	} {
		take.Cap = 10
		grant, err := e.Take(t.Context(), take)
		if err != nil || grant.Outcome != event.Created {
			t.Errorf("%s: %+v, %v", name, grant, err)
		}
	}
	if count := e.get(t, day); count.Used != 2 {
		t.Errorf("today: %v, want 2 used", count)
	}
	if count := e.get(t, day.AddDays(-1)); count.Used != 1 {
		t.Errorf("yesterday: %v, want 1 used", count)
	}
}

func TestFullRow(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{MaxRecorded: 3})
	for i := range 3 {
		e.take(t, message(t, noon, i), 100)
	}
	fourth := message(t, noon, 4)
	if _, err := e.Take(t.Context(), counter.Take{Key: chat, Event: fourth, Weight: 1, Cap: 4}); !errors.Is(err, counter.ErrFull) {
		t.Errorf("Take with room for just one = %v, want ErrFull", err)
	}
	if _, err := e.Add(t.Context(), counter.Add{Key: chat, Event: fourth, Weight: 1}); !errors.Is(err, counter.ErrFull) {
		t.Errorf("Add = %v, want ErrFull", err)
	}
	if grant := e.take(t, fourth, 3); grant.OK || grant.Used != 3 {
		t.Errorf("a cap that is reached is the better answer: %+v", grant)
	}
	if grant := e.take(t, message(t, noon, 1), 100); !grant.OK || grant.Outcome != event.Duplicate {
		t.Errorf("a recorded event in a full row: %+v", grant)
	}
	// A tombstone takes its place in the row.
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: message(t, noon, 1), Weight: 1}); err != nil {
		t.Fatal(err)
	}
	if total, err := e.Refund(t.Context(), tombstone(fourth, 1)); !errors.Is(err, counter.ErrFull) || total != (counter.Total{}) {
		t.Errorf("Refund that comes first = %+v, %v, want ErrFull", total, err)
	}
	if count := e.get(t, day); count.Used != 2 || count.Recorded != 3 {
		t.Errorf("Get = %v", count)
	}
}

func TestBadInputSendsNothing(t *testing.T) {
	t.Parallel()
	s, ev := limits(t, recordtest.Silent(t), "limits"), message(t, noon, 1)
	for field, takes := range map[string][]counter.Take{
		"Key": {
			{Event: ev, Weight: 1, Cap: 3},
			{Key: strings.Repeat("k", 2049), Event: ev, Weight: 1, Cap: 3},
			{Key: "\xff", Event: ev, Weight: 1, Cap: 3},
		},
		"Event": {
			{Key: chat, Cap: 3},
			{Key: chat, Event: recordtest.Bound(ev), Cap: 3},
			{Key: chat, Event: message(t, noon.Add(time.Hour+time.Second), 1), Cap: 3},
		},
		"Cap": {{Key: chat, Event: ev, Weight: 1, Cap: -1}},
		"Weight": {
			{Key: chat, Event: ev, Cap: 3}, // nothing is no 1
			{Key: chat, Event: ev, Cap: 3, Weight: -1},
			{Key: chat, Event: ev, Cap: 1e15, Weight: 1e12 + 1},
		},
	} {
		for _, take := range takes {
			_, err := s.Take(t.Context(), take)
			wantBad(t, err, field)
			_, err = s.TakeItem(take)
			wantBad(t, err, field)
			if field == "Cap" {
				continue
			}
			_, err = s.Add(t.Context(), counter.Add{Key: take.Key, Event: take.Event, Weight: take.Weight})
			wantBad(t, err, field)
			refund := counter.Refund{Key: take.Key, Event: take.Event, Weight: take.Weight}
			_, err = s.Refund(t.Context(), refund)
			wantBad(t, err, field)
			_, err = s.RefundItem(refund)
			wantBad(t, err, field)
		}
	}
	for field, adjusts := range map[string][]counter.Adjust{
		"Key":   {{Event: ev, From: 1, To: 1, Cap: 3}},
		"Event": {{Key: chat, From: 1, To: 1, Cap: 3}},
		"From":  {{Key: chat, Event: ev, To: 1}, {Key: chat, Event: ev, From: -1, To: 1}, {Key: chat, Event: ev, From: 1e12 + 1, To: 1}},
		"To":    {{Key: chat, Event: ev, From: 1}, {Key: chat, Event: ev, From: 1, To: -1}, {Key: chat, Event: ev, From: 1, To: 1e12 + 1}},
		"Cap":   {{Key: chat, Event: ev, From: 1, To: 1, Cap: -1}},
	} {
		for _, adjust := range adjusts {
			_, err := s.Adjust(t.Context(), adjust)
			wantBad(t, err, field)
			_, err = s.AdjustItem(adjust)
			wantBad(t, err, field)
		}
	}
	_, err := s.RefundItem(counter.Refund{Key: chat, Event: ev, Weight: 1, Tombstone: true})
	wantBad(t, err, "Tombstone")
	_, err = s.Erase(t.Context(), "")
	wantBad(t, err, "key")
	_, err = s.Get(t.Context(), "", noon)
	wantBad(t, err, "key")
	for _, at := range []time.Time{{}, time.Unix(0, -1), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<62, 0)} {
		_, err = s.Get(t.Context(), chat, at)
		wantBad(t, err, "at")
	}
	for field, adds := range map[string][]counter.AddUnkeyed{
		"Key":    {{At: noon, Weight: 1}},
		"At":     {{Key: chat, Weight: 1}},
		"Weight": {{Key: chat, At: noon}, {Key: chat, At: noon, Weight: -1}},
	} {
		for _, add := range adds {
			_, err := s.AddUnkeyed(t.Context(), add)
			wantBad(t, err, field)
		}
	}
	for _, at := range []time.Time{
		noon.Add(time.Hour + 1),
		time.Unix(0, -1),
		time.Unix(1<<62, 0),                   // whose milliseconds are those of 1970
		time.Unix(-18_446_742_299_000_000, 0), // and here of 2026
	} {
		_, err = s.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: at, Weight: 1})
		wantBad(t, err, "At")
	}
}

func TestErrorsNameMethodAndTableButNoKey(t *testing.T) {
	t.Parallel()
	s := limits(t, dynamotest.Open(t).Client(), "no-such-table")
	const key = "person@example.com"
	for _, call := range append(writes(t, s, key, noon), []write{
		{"Erase", func() error { return failed(s.Erase(t.Context(), key)) }},
		{"Get", func() error { return failed(s.Get(t.Context(), key, noon)) }},
	}...) {
		err := call.do()
		if err == nil || !strings.HasPrefix(err.Error(), "counter: "+call.name+" on table no-such-table: ") || strings.Contains(err.Error(), "person") {
			t.Errorf("%s = %v", call.name, err)
		}
	}
}
