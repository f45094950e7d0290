package counter_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Every call gives the same answers and rows in a table of other names.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	golden.WithOtherNames(t, golden.Renamed(t, "counter"), func(t testing.TB, names map[string]string, note func(...any)) (*dynamodb.Client, string) {
		e := open(t, counter.Config{Names: names, Rand: rand.NewChaCha8([32]byte{})})
		ctx := t.Context()
		for n := range 3 {
			grant, err := e.Take(ctx, counter.Take{Key: chat, Event: message(t, noon, n%2), Weight: 2, Cap: 3})
			note(grant, err)
		}
		total, err := e.Add(ctx, counter.Add{Key: chat, Event: message(t, noon, 2), Weight: 3})
		note(total, err)
		total, err = e.AddUnkeyed(ctx, counter.AddUnkeyed{Key: chat, At: noon, Weight: 1})
		note(total, err)
		grant, err := e.Adjust(ctx, counter.Adjust{Key: chat, Event: message(t, noon, 2), From: 3, To: 1})
		note(grant, err)
		for range 2 {
			total, err = e.Refund(ctx, counter.Refund{Key: chat, Event: message(t, noon, 0), Weight: 2})
			note(total, err)
		}
		take, err := e.TakeItem(counter.Take{Key: chat, Event: message(t, noon, 5), Weight: 9, Cap: 3})
		note(err)
		_, err = e.db.Client().TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{take.Item}})
		cancelled, _ := errors.AsType[*types.TransactionCanceledException](err)
		grant, err = take.Outcome(cancelled.CancellationReasons[0])
		note(grant, err)
		count, err := e.Get(ctx, chat, tzclock.UTC.Date(noon))
		note(count, err)
		total, err = e.AddUnkeyed(ctx, counter.AddUnkeyed{Key: "other", At: noon, Weight: 1})
		note(total, err)
		erased, err := e.Erase(ctx, "other")
		note(erased, err)
		return e.db.Client(), e.table
	})
}

// A table that counts already, under names of its own: what stands there is
// counted on, and what else stands there is left.
func TestExistingTable(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	quotas, err := counter.New(recordtest.Impatient(db.Client()), db.Name("quotas"), tzclock.UTC, &counter.Config{
		Now: recordtest.Clock(noon), Names: map[string]string{"chatId": "customer", "date": "day", "count": "used", "ttl": "expireAt"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if table := quotas.Table(); table.TTL != "expireAt" {
		t.Errorf("Table expires by %s", table.TTL)
	}
	recordtest.Create(t, db.Client(), quotas.Table())
	key := ddb.Item{"customer": item.S("acme"), "day": item.S("2026-03-29")}
	// "count" and "ttl" are the table's own here, and none of ours.
	recordtest.Put(t, db.Client(), db.Name("quotas"), ddb.Item{
		"customer": key["customer"], "day": key["day"], "used": item.N(4900), "count": item.S("mine"), "ttl": item.S("mine, too"),
	})
	today := tzclock.UTC.Date(noon)
	used := func(want int64) {
		t.Helper()
		if count, err := quotas.Get(t.Context(), "acme", today); err != nil || count.Used != want {
			t.Errorf("Get = %+v, %v, want %d", count, err, want)
		}
	}
	used(4900)
	take := counter.Take{Key: "acme", Event: message(t, noon, 1), Cap: 5000, Weight: 101}
	if grant, err := quotas.Take(t.Context(), take); err != nil || grant.OK || grant.Used != 4900 {
		t.Errorf("above the cap: %+v, %v", grant, err)
	}
	take.Weight = 100
	for _, want := range []event.Outcome{event.Created, event.Duplicate} {
		if grant, err := quotas.Take(t.Context(), take); err != nil || !grant.OK || grant.Outcome != want || grant.Used != 5000 {
			t.Errorf("Take = %+v, %v, want %v", grant, err, want)
		}
	}
	if grant, err := quotas.Adjust(t.Context(), counter.Adjust{Key: "acme", Event: take.Event, From: 100, To: 60}); err != nil || grant.Used != 4960 {
		t.Errorf("Adjust = %+v, %v", grant, err)
	}
	if total, err := quotas.Refund(t.Context(), counter.Refund{Key: "acme", Event: message(t, noon, 2), Weight: 1, Tombstone: true}); err != nil || total.Used != 4960 {
		t.Errorf("a tombstone: %+v, %v", total, err)
	}
	if total, err := quotas.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: "acme", At: noon, Weight: 1}); err != nil || total.Used != 4961 {
		t.Errorf("AddUnkeyed = %+v, %v", total, err)
	}
	used(4961)
	row := recordtest.Row(t, db.Client(), db.Name("quotas"), key)
	want := ddb.Item{
		"used": item.N(4961), "count": item.S("mine"), "ttl": item.S("mine, too"),
		"expireAt": item.N(tzclock.UTC.End(today).Add(counter.Retention).Unix()),
	}
	for name, value := range want {
		if diff := cmp.Diff(value, row[name], cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{})); diff != "" {
			t.Errorf("%s (-want +stored):\n%s", name, diff)
		}
	}
}

// Both forms of a write that is refused read the row by its own names.
func TestExistingTableAtItsCap(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	now := noon
	s, err := counter.New(db.Client(), db.Name("quotas"), tzclock.UTC, &counter.Config{
		Now: func() time.Time { return now }, Names: map[string]string{"count": "used", "ttl": "expireAt"},
	})
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, db.Client(), s.Table())
	if _, err := s.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: noon, Weight: 3}); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int64{3, 0} {
		if grant, err := s.Take(t.Context(), counter.Take{Key: chat, Event: message(t, noon, 1), Weight: 1, Cap: most}); err != nil || grant.OK || grant.Used != 3 {
			t.Errorf("cap %d: %+v, %v", most, grant, err)
		}
	}
	now = tzclock.UTC.End(tzclock.UTC.Date(noon)).Add(counter.Retention)
	if count, err := s.Get(t.Context(), chat, tzclock.UTC.Date(noon)); err != nil || count != (counter.Count{}) {
		t.Errorf("past its expiry: %+v, %v", count, err)
	}
}
