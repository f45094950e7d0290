package counter_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

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
		count, err := e.Get(ctx, chat, noon)
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
	e := open(t, counter.Config{Names: map[string]string{"count": "used", "ttl": "expireAt"}})
	if table := e.Table(); table.TTL != "expireAt" {
		t.Errorf("Table expires by %s", table.TTL)
	}
	// "count" and "ttl" are the table's own here, and none of ours.
	e.put(t, ddb.Item{"chatId": item.S(chat), "date": item.S(day.String()), "used": item.N(4900), "count": item.S("mine"), "ttl": item.S("mine, too")})
	take := counter.Take{Key: chat, Event: message(t, noon, 1), Cap: 5000, Weight: 101}
	if grant, err := e.Take(t.Context(), take); err != nil || grant.OK || grant.Used != 4900 {
		t.Errorf("above the cap: %+v, %v", grant, err)
	}
	take.Weight = 100
	if grant, err := e.Take(t.Context(), take); err != nil || !grant.First() || grant.Used != 5000 {
		t.Errorf("Take = %+v, %v", grant, err)
	}
	if count := e.get(t, day); count.Used != 5000 {
		t.Errorf("Get = %+v", count)
	}
	row := e.row(t, day)
	for name, want := range map[string]types.AttributeValue{
		"used": item.N(5000), "count": item.S("mine"), "ttl": item.S("mine, too"),
		"expireAt": item.N(tzclock.Stockholm.End(day).Add(counter.Retention).Unix()),
	} {
		if !reflect.DeepEqual(row[name], want) {
			t.Errorf("%s is %v, want %v", name, row[name], want)
		}
	}
}
