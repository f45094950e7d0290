package counter_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

// nonces are the same in every run.
func nonces() *bytes.Reader {
	return bytes.NewReader([]byte("first---second--third---fourth--"))
}

// The row as it is stored: one event held, one given back.
func TestGoldenRow(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{Rand: nonces()})
	e.take(t, message(t, noon, 1), 3)
	second := message(t, noon, 2)
	if _, err := e.Add(t.Context(), counter.Add{Key: chat, Event: second, Weight: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: second, Weight: 2}); err != nil {
		t.Fatal(err)
	}
	golden.Want(t, e.db.Client(), e.table, "testdata/row.json", "chatId", "date")
}

// An event that was settled, and one that was refunded before it was taken.
func TestGoldenSettledRow(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{Rand: nonces()})
	e.hold(t, message(t, noon, 1), 10)
	if _, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: message(t, noon, 1), From: 10, To: 7}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Refund(t.Context(), tombstone(message(t, noon, 2), 5)); err != nil {
		t.Fatal(err)
	}
	golden.Want(t, e.db.Client(), e.table, "testdata/settled.json", "chatId", "date")
}

// A row that only a refund made, of an event that has not come yet.
func TestGoldenTombstoneFirst(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{Rand: nonces()})
	if _, err := e.Refund(t.Context(), tombstone(message(t, noon, 1), 5)); err != nil {
		t.Fatal(err)
	}
	golden.Want(t, e.db.Client(), e.table, "testdata/tombstone.json", "chatId", "date")
}

// A row of the TypeScript system is read and written as it is: its count goes
// on, its ttl becomes that of all others, and what we do not know stays.
func TestTypeScriptRow(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{Rand: nonces()})
	golden.Put(t, e.db.Client(), e.table, "testdata/typescript.json")
	want := counter.Count{Used: 2, UpdatedAt: instant(t, "2026-03-29T09:15:30.123Z")}
	if got := e.get(t, day); got != want {
		t.Errorf("Get = %+v, want %+v", got, want)
	}
	ev := message(t, noon, 1)
	if grant := e.take(t, ev, 3); !grant.OK || grant.Outcome != event.Created || grant.Used != 3 {
		t.Errorf("the third of three: %+v", grant)
	}
	golden.Want(t, e.db.Client(), e.table, "testdata/typescript-taken.json", "chatId", "date")
	if grant := e.take(t, message(t, noon, 2), 3); grant.OK || grant.Used != 3 {
		t.Errorf("the fourth: %+v", grant)
	}
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1}); err != nil {
		t.Error(err)
	}
	total, err := e.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: noon, Weight: 1})
	if err != nil || total.Used != 3 {
		t.Errorf("AddUnkeyed = %+v, %v", total, err)
	}
}

// The older system's ttl comes before ours. Until DynamoDB deletes the row, who
// reads sees what Take does, and then neither sees anything.
func TestTypeScriptRowPastItsTTL(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	golden.Put(t, e.db.Client(), e.table, "testdata/typescript.json")
	ours := tzclock.Stockholm.End(day).Add(counter.Retention)
	for _, now := range []time.Time{instant(t, "2026-04-05T00:00:00Z"), ours.Add(-5*time.Minute - 1)} {
		e.now = now
		if count, grant := e.get(t, day), e.take(t, message(t, noon, 1), 2); count.Used != 2 || grant.Used != 2 {
			t.Errorf("at %s: Get = %v, Take = %+v, want 2 used", now, count, grant)
		}
	}
	e.now = ours
	if count := e.get(t, day); count != (counter.Count{}) {
		t.Errorf("past our ttl: %v", count)
	}
	row := e.row(t, day)
	for _, none := range []types.AttributeValue{item.Digits("0"), item.S("never"), nil} {
		if row["ttl"] = none; none == nil {
			delete(row, "ttl")
		}
		e.put(t, row)
		if count := e.get(t, day); count.Used != 2 {
			t.Errorf("without a ttl, %v: %v", none, count)
		}
	}
}

// Only who asks for the time of the last write needs to read it.
func TestUpdatedAtOfAnotherType(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	e.take(t, ev, 1)
	row := e.row(t, day)
	row["updatedAt"] = item.Digits("1774785600000")
	e.put(t, row)
	if grant := e.take(t, ev, 1); !grant.OK || grant.Outcome != event.Duplicate {
		t.Errorf("a redelivery: %+v", grant)
	}
	if grant := e.take(t, message(t, noon, 2), 1); grant.OK || grant.Used != 1 {
		t.Errorf("above the cap: %+v", grant)
	}
	if count, err := e.Get(t.Context(), chat, noon); err == nil || count != (counter.Count{}) {
		t.Errorf("Get = %v, %v, want an error", count, err)
	}
}
