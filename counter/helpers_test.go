package counter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

const chat = "-100123"

// noon is the clock of most tests; Stockholm is on its day of 23 hours.
var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// env is a store on a table of its own, without TTL: on an endpoint the clock
// of the tests is not that of the server.
type env struct {
	*counter.Store
	db    *dynamotest.DB
	table string
	now   time.Time
}

func open(t testing.TB, cfg counter.Config) *env {
	t.Helper()
	e := &env{db: dynamotest.Open(t, pricetest.Watch), now: noon}
	e.table = e.db.Name("limits")
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return e.now }
	}
	var err error
	if e.Store, err = counter.New(recordtest.Impatient(e.db.Client()), e.table, tzclock.Stockholm, &cfg); err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, e.db.Client(), e.Table())
	return e
}

// message is the event of a chat's message.
func message(t testing.TB, at time.Time, id any) event.Event {
	t.Helper()
	return recordtest.Event(t, at, "telegram", chat, fmt.Sprint(id))
}

func (e *env) take(t testing.TB, ev event.Event, most int64) counter.Grant {
	t.Helper()
	grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: most})
	if err != nil {
		t.Fatal(err)
	}
	return grant
}

func (e *env) get(t testing.TB, day tzclock.Date) counter.Count {
	t.Helper()
	count, err := e.Get(t.Context(), chat, tzclock.Stockholm.Start(day))
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// row reads the stored row as it is.
func (e *env) row(t testing.TB, day tzclock.Date) ddb.Item {
	t.Helper()
	return recordtest.Row(t, e.db.Client(), e.table, ddb.Item{"chatId": item.S(chat), "date": item.S(day.String())})
}

func (e *env) put(t testing.TB, row ddb.Item) {
	t.Helper()
	recordtest.Put(t, e.db.Client(), e.table, row)
}

func wantBad(t testing.TB, err error, field string) {
	t.Helper()
	recordtest.WantBad(t, err, "counter", field)
}

var day = tzclock.Stockholm.Date(noon)

// dayOf is the day whose count the grant has.
func dayOf(g counter.Grant) tzclock.Date { return tzclock.Stockholm.Date(g.StartsAt) }

// write is a call that writes.
type write struct {
	name string
	do   func() error
}

// writes are all kinds of them, for the day of at.
func writes(t testing.TB, s *counter.Store, key string, at time.Time) []write {
	t.Helper()
	ctx, ev, other := t.Context(), message(t, at, 1), message(t, at, 2)
	return []write{
		{"Take", func() error { return failed(s.Take(ctx, counter.Take{Key: key, Event: ev, Weight: 1, Cap: 9})) }},
		{"Add", func() error { return failed(s.Add(ctx, counter.Add{Key: key, Event: other, Weight: 1})) }},
		{"Refund", func() error { return failed(s.Refund(ctx, counter.Refund{Key: key, Event: ev, Weight: 1})) }},
		{"AddUnkeyed", func() error { return failed(s.AddUnkeyed(ctx, counter.AddUnkeyed{Key: key, At: at, Weight: 1})) }},
		{"Adjust", func() error { return failed(s.Adjust(ctx, counter.Adjust{Key: key, Event: other, From: 1, To: 1})) }},
		{"Refund", func() error {
			return failed(s.Refund(ctx, counter.Refund{Key: key, Event: message(t, at, 3), Weight: 1, Tombstone: true}))
		}},
	}
}

func failed[T any](_ T, err error) error { return err }

// must is for items whose input is good.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}
