package counter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

// takeOf takes 1 of 2.
func takeOf(s *counter.Store, key string, ev event.Event) counter.TakeOf {
	return counter.TakeOf{Store: s, Take: counter.Take{Key: key, Event: ev, Weight: 1, Cap: 2}}
}

// told is what a test compares of a Grant.
func told(grants []counter.Grant) string {
	var all []string
	for _, g := range grants {
		switch {
		case g.Refunded:
			all = append(all, "refunded")
		case g.Refused():
			all = append(all, "refused")
		case g.OK:
			all = append(all, g.Outcome.String())
		default:
			all = append(all, "open")
		}
	}
	return strings.Join(all, " ")
}

// All hold afterwards, or nothing new is taken: over the hour and the month of a
// customer, in one table, and the day of the company, in another.
func TestTakeAll(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	client := recordtest.Impatient(db.Client())
	store := func(table string, window counter.Window) *counter.Store {
		s := must(counter.New(client, db.Name(table), tzclock.Stockholm, &counter.Config{Now: func() time.Time { return noon }, Window: window}))
		recordtest.Create(t, db.Client(), s.Table())
		return s
	}
	hours, months, days := store("limits", counter.Hour), store("limits", counter.Month), store("companies", counter.Day)
	all := func(id any) []counter.TakeOf {
		return []counter.TakeOf{
			takeOf(hours, "ann", message(t, noon, id)), takeOf(months, "ann", message(t, noon, id)), takeOf(days, "acme", message(t, noon, id)),
		}
	}
	used := func() (all [3]int64) {
		for i, of := range []struct {
			*counter.Store
			key string
		}{{hours, "ann"}, {months, "ann"}, {days, "acme"}} {
			all[i] = must(of.Get(t.Context(), of.key, noon)).Used
		}
		return all
	}
	step := func(name string, items []counter.TakeOf, want string, requests int, uses [3]int64) []counter.Grant {
		t.Helper()
		var grants []counter.Grant
		var err error
		cost := db.Meter(func() { grants, err = counter.TakeAll(t.Context(), items...) })
		if err != nil || told(grants) != want || used() != uses || cost.Requests != requests {
			t.Errorf("%s: %s, %v, %v, used %v; want %s, %d requests, %v", name, told(grants), err, cost, used(), want, requests, uses)
		}
		return grants
	}
	first := step("first", all(1), "created created created", 1, [3]int64{1, 1, 1})
	hour := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	want := counter.Grant{OK: true, Total: counter.Total{
		Outcome: event.Created, Used: counter.Unknown, StartsAt: hour, ResetsAt: hour.Add(time.Hour),
	}, Cap: 2, Remaining: counter.Unknown}
	if diff := cmp.Diff(want, first[0]); diff != "" {
		t.Errorf("the grant of the hour (-want +got):\n%s", diff)
	}
	step("again", all(1), "duplicate duplicate duplicate", 1, [3]int64{1, 1, 1})

	take := counter.Take{Key: "acme", Event: message(t, noon, 2), Weight: 1, Cap: 2}
	if _, err := days.Take(t.Context(), take); err != nil {
		t.Fatal(err)
	}
	step("one holds already", all(2), "created created duplicate", 2, [3]int64{2, 2, 2})
	refusals := step("no room", all(3), "refused refused refused", 1, [3]int64{2, 2, 2})
	if refusals[2].Used != 2 || refusals[2].Remaining != 0 {
		t.Errorf("the refusal: %+v", refusals[2])
	}
	if _, err := days.Refund(t.Context(), counter.Refund{Key: "acme", Event: message(t, noon, 1), Weight: 1}); err != nil {
		t.Fatal(err)
	}
	step("no room in two", all(3), "refused refused open", 1, [3]int64{2, 2, 1})
	step("refunded", all(1), "duplicate duplicate refunded", 1, [3]int64{2, 2, 1})
	bob := all(1)
	bob[0].Take.Key, bob[1].Take.Key = "bob", "bob"
	step("refunded, and nothing else", bob, "open open refunded", 1, [3]int64{2, 2, 1})
	elsewhere := store("limits", counter.Day)
	step("one key and day in two tables", []counter.TakeOf{
		takeOf(elsewhere, "acme", message(t, noon, 4)), takeOf(days, "acme", message(t, noon, 4)),
	}, "created created", 1, [3]int64{2, 2, 2})
}

// A reply that is lost is not a refusal, and a conflict is sent again.
func TestTakeAllAfterFaults(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	items := func(id any) []counter.TakeOf {
		return []counter.TakeOf{takeOf(e.Store, "ann", message(t, noon, id)), takeOf(e.Store, "acme", message(t, noon, id))}
	}
	conflict := dynamotest.Answer(400, `{"__type": "TransactionCanceledException", "CancellationReasons": [{"Code": "TransactionConflict"}, {"Code": "None"}]}`)
	for name, fault := range map[string]dynamotest.Fault{
		"reply lost": {Do: dynamotest.LoseReply, Op: "TransactWriteItems", Nth: 1},
		"conflict":   {Do: conflict, Op: "TransactWriteItems", Nth: 1},
	} {
		e.db.Inject(fault)
		if grants, err := counter.TakeAll(t.Context(), items(name)...); err != nil || told(grants) != "created created" {
			t.Errorf("%s: %+v, %v", name, grants, err)
		}
	}
}

func TestTakeAllErrors(t *testing.T) {
	t.Parallel()
	e, other := open(t, counter.Config{}), open(t, counter.Config{})
	ok := takeOf(e.Store, "ann", message(t, noon, 1))
	bad := func(change func(*counter.TakeOf)) []counter.TakeOf {
		it := takeOf(e.Store, "acme", message(t, noon, 1))
		change(&it)
		return []counter.TakeOf{ok, it}
	}
	for field, items := range map[string][]counter.TakeOf{
		"items":           nil,
		"items ":          make([]counter.TakeOf, 101),
		"items[1].Weight": bad(func(it *counter.TakeOf) { it.Take.Weight = 0 }),
		"items[1].Key":    bad(func(it *counter.TakeOf) { it.Take.Key = "" }),
		"items[1].Cap":    bad(func(it *counter.TakeOf) { it.Take.Cap = -1 }),
		"items[1].Store":  bad(func(it *counter.TakeOf) { it.Store = nil }),
		"items[1].Store ": bad(func(it *counter.TakeOf) { it.Store = other.Store }),
		"items[1].Take":   bad(func(it *counter.TakeOf) { it.Take.Key, it.Take.Event = "ann", message(t, noon, 2) }),
	} {
		cost := e.db.Meter(func() {
			_, err := counter.TakeAll(t.Context(), items...)
			wantBad(t, err, strings.TrimSpace(field))
		})
		if cost.Requests > 0 {
			t.Errorf("%s: %v", field, cost)
		}
	}
	if _, err := counter.TakeAll(t.Context(), bad(func(it *counter.TakeOf) { it.Take.Event = message(t, noon.AddDate(0, -1, 0), 1) })...); !errors.Is(err, event.ErrTooOld) {
		t.Errorf("an old event: %v", err)
	}
	e.take(t, message(t, noon, 1), 1)
	heavier := bad(func(it *counter.TakeOf) { it.Take.Key, it.Take.Weight = chat, 2 })
	var differs *counter.WeightError
	if _, err := counter.TakeAll(t.Context(), heavier...); !errors.As(err, &differs) || must(e.Get(t.Context(), "ann", noon)).Used != 0 {
		t.Errorf("another weight: %v", err)
	}
	s := must(counter.New(e.db.Client(), "no-such-table", tzclock.UTC, &counter.Config{Now: func() time.Time { return noon }}))
	_, err := counter.TakeAll(t.Context(), takeOf(s, "ann", message(t, noon, 1)))
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), "counter: TakeAll on table no-such-table: ") {
		t.Errorf("no table: %v", err)
	}
}

// Clients that cannot be compared are not taken for different ones.
func TestTakeAllClients(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	type unequal struct {
		*dynamodb.Client
		_ []int
	}
	store := func() *counter.Store {
		return must(counter.New(unequal{Client: e.db.Client()}, e.table, tzclock.UTC, &counter.Config{Now: func() time.Time { return noon }}))
	}
	grants, err := counter.TakeAll(t.Context(), takeOf(store(), "ann", message(t, noon, 1)), takeOf(store(), "acme", message(t, noon, 1)))
	if err != nil || told(grants) != "created created" {
		t.Errorf("%s, %v", told(grants), err)
	}
}
