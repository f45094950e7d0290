package counter_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// A table whose rows were kept for two years before the counter came keeps them so
// after every kind of write, and no sweep changes an answer while they stand.
func TestLongerRetention(t *testing.T) {
	t.Parallel()
	const kept, skew = 731 * 24 * time.Hour, 10 * time.Minute
	now := noon
	clock := func() time.Time { return now }
	db := dynamotest.New(t, &dynamotest.Config{Now: clock})
	s, err := counter.New(db.Client(), "usage", tzclock.Stockholm, &counter.Config{
		Now: clock, Names: map[string]string{"chatId": "customer", "date": "day", "count": "used", "ttl": "expires"}, Retention: kept, MaxSkew: skew,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), s.Table()); err != nil {
		t.Fatal(err)
	}
	expiry := tzclock.Stockholm.End(day).Add(kept)
	key := ddb.Item{"customer": item.S("acme"), "day": item.S(day.String())}
	recordtest.Put(t, db.Client(), "usage", ddb.Item{
		"customer": key["customer"], "day": key["day"], "used": item.N(4900), "expires": item.N(expiry.Unix()),
	})
	first, second := message(t, noon, 1), message(t, noon, 2)
	for i, write := range []func() error{
		func() error {
			grant, err := s.Take(t.Context(), counter.Take{Key: "acme", Event: first, Weight: 3, Cap: 5000})
			if !grant.First() || grant.Used != 4903 {
				t.Errorf("Take = %+v", grant)
			}
			return err
		},
		func() error {
			_, err := s.Adjust(t.Context(), counter.Adjust{Key: "acme", Event: first, From: 3, To: 2})
			return err
		},
		func() error {
			_, err := s.Add(t.Context(), counter.Add{Key: "acme", Event: second, Weight: 1})
			return err
		},
		func() error {
			_, err := s.Refund(t.Context(), counter.Refund{Key: "acme", Event: second, Weight: 1})
			return err
		},
		func() error {
			_, err := s.Refund(t.Context(), counter.Refund{Key: "acme", Event: message(t, noon, 3), Weight: 1, Tombstone: true})
			return err
		},
		func() error {
			_, err := s.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: "acme", At: noon, Weight: 1})
			return err
		},
	} {
		if err := write(); err != nil {
			t.Fatal(i, err)
		}
		if got := recordtest.Row(t, db.Client(), "usage", key)["expires"]; !reflect.DeepEqual(got, item.N(expiry.Unix())) {
			t.Errorf("write %d: it expires %v, want %d", i, got, expiry.Unix())
		}
	}
	used := func(want int64) {
		t.Helper()
		if count, err := s.Get(t.Context(), "acme", day); err != nil || count.Used != want {
			t.Errorf("Get at %s = %+v, %v, want %d", now, count, err, want)
		}
	}
	// Past the seven days, and up to the horizon, an event is judged by its row.
	for _, at := range []time.Time{tzclock.Stockholm.End(day).Add(counter.Retention + time.Hour), expiry.Add(-skew - time.Millisecond)} {
		if now = at; db.Server().ExpireTTL() != 0 {
			t.Errorf("at %s the row is deleted", at)
		}
		used(4903)
		grant, err := s.Take(t.Context(), counter.Take{Key: "acme", Event: first, Weight: 3, Cap: 5000})
		if err != nil || grant.Outcome != event.Duplicate || grant.Used != 4903 {
			t.Errorf("a redelivery at %s: %+v, %v", at, grant, err)
		}
	}
	now = expiry.Add(-skew)
	if grant, err := s.Take(t.Context(), counter.Take{Key: "acme", Event: first, Weight: 3, Cap: 5000}); !errors.Is(err, event.ErrTooOld) {
		t.Errorf("at the horizon: %+v, %v, want ErrTooOld", grant, err)
	}
	used(4903)
	// An earlier time of the table's own, which has come: it counts until it is deleted.
	recordtest.Put(t, db.Client(), "usage", ddb.Item{
		"customer": key["customer"], "day": key["day"], "used": item.N(7), "expires": item.N(noon.Unix()),
	})
	used(7)
	now = expiry // and not deleted yet
	used(0)
}
