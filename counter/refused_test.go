package counter_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

// First is what may be acted upon once. Refused is a decision, not the lack of one.
func TestFirstAndRefused(t *testing.T) {
	t.Parallel()
	for grant, want := range map[counter.Grant]struct{ first, refused bool }{
		{OK: true, Total: counter.Total{Outcome: event.Created}}:                   {first: true},
		{OK: true, Total: counter.Total{Outcome: event.Duplicate, ResetsAt: noon}}: {},
		{OK: true}: {},
		{Total: counter.Total{Outcome: event.Created}}: {},
		{}:                                     {}, // of an error, or of an item that was not at fault
		{Total: counter.Total{ResetsAt: noon}}: {refused: true},
		{Total: counter.Total{Outcome: event.Duplicate, Refunded: true, ResetsAt: noon}}: {refused: true},
	} {
		if grant.First() != want.first || grant.Refused() != want.refused {
			t.Errorf("%+v: first %v, refused %v", grant, grant.First(), grant.Refused())
		}
	}
}

// setCount sets the count of today's row as another system would.
func (e *env) setCount(t testing.TB, to int64) {
	t.Helper()
	row := e.row(t, day)
	row["count"] = item.N(to)
	e.put(t, row)
}

// A count below zero, which another system left, makes no room above the cap: what
// needs more than the whole cap is refused by the call and in a transaction, and
// nothing is written. What was granted before stays granted.
func TestNoRoomBelowZero(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{MaxRecorded: 2})
	held, settled, another := message(t, noon, 1), message(t, noon, 2), message(t, noon, 3)
	if grant := e.take(t, another, 0); !grant.Refused() || e.row(t, day) != nil {
		t.Errorf("no row: %+v, left %v", grant, e.row(t, day))
	}
	e.hold(t, held, 1)
	e.hold(t, settled, 1)
	if _, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: settled, From: 1, To: 2, Cap: 20}); err != nil {
		t.Fatal(err)
	}
	e.setCount(t, -5)
	before := e.row(t, day)
	take := func(ev event.Event, weight, most int64) map[string]func() (counter.Grant, error) {
		take := counter.Take{Key: chat, Event: ev, Weight: weight, Cap: most}
		return map[string]func() (counter.Grant, error){
			"Take":     func() (counter.Grant, error) { return e.Take(t.Context(), take) },
			"TakeItem": func() (counter.Grant, error) { return e.refusal(t, must(e.TakeItem(take))) },
		}
	}
	adjust := func(ev event.Event, from, to, most int64) map[string]func() (counter.Grant, error) {
		adjust := counter.Adjust{Key: chat, Event: ev, From: from, To: to, Cap: most}
		return map[string]func() (counter.Grant, error){
			"Adjust":     func() (counter.Grant, error) { return e.Adjust(t.Context(), adjust) },
			"AdjustItem": func() (counter.Grant, error) { return e.refusal(t, must(e.AdjustItem(adjust))) },
		}
	}
	for _, tc := range []struct {
		name  string
		calls map[string]func() (counter.Grant, error)
		most  int64
		ok    bool // as a Duplicate
	}{
		{"cap 0", take(another, 1, 0), 0, false},
		{"a weight above the cap", take(another, 4, 3), 3, false},
		{"a rise at cap 0", adjust(held, 1, 2, 0), 0, false},
		{"a rise by more than the cap", adjust(held, 1, 5, 3), 3, false},
		{"granted before", take(held, 1, 0), 0, true},
		{"settled before, and asked for as it was taken", take(settled, 1, 0), 0, true},
		{"settled before", adjust(settled, 1, 2, 0), 0, true},
	} {
		want := counter.Grant{OK: tc.ok, Total: counter.Total{Used: -5, StartsAt: tzclock.Stockholm.Start(day), ResetsAt: tzclock.Stockholm.End(day)}, Cap: tc.most, Remaining: tc.most}
		if tc.ok {
			want.Outcome = event.Duplicate
		}
		for method, call := range tc.calls {
			grant, err := call()
			if diff := cmp.Diff(want, grant); err != nil || diff != "" || grant.Refused() == tc.ok {
				t.Errorf("%s, %s: %v, refused %v (-want +got):\n%s", tc.name, method, err, grant.Refused(), diff)
			}
		}
	}
	if diff := cmp.Diff(before, e.row(t, day), cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{})); diff != "" {
		t.Errorf("what was refused wrote (-want +got):\n%s", diff)
	}
}
