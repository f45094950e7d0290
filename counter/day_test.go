package counter_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

// What was sent before midnight and is delivered again after it holds the
// grant of its own day, and takes nothing of the next.
func TestRedeliveryAfterMidnight(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	sent := time.Date(2026, 3, 29, 21, 59, 30, 0, time.UTC) // 23:59:30
	ev := message(t, sent, 1)
	e.now = sent.Add(10 * time.Second)
	if grant := e.take(t, ev, 1); !grant.OK || grant.Outcome != event.Created || dayOf(grant) != day {
		t.Fatalf("before midnight: %+v", grant)
	}
	e.now = sent.Add(5 * time.Minute)
	if grant := e.take(t, ev, 1); !grant.OK || grant.Outcome != event.Duplicate || dayOf(grant) != day {
		t.Errorf("after midnight: %+v", grant)
	}
	if count := e.get(t, day.AddDays(1)); count.Used != 0 {
		t.Errorf("the next day: %v", count)
	}
	if grant := e.take(t, message(t, e.now, 2), 1); !grant.OK || dayOf(grant) != day.AddDays(1) {
		t.Errorf("another on the next day: %+v", grant)
	}
}

// Each instant of the days on which clocks change has one day, which ends when
// the next begins, and a TTL of seven days after that end.
func TestDaysOfClockChanges(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for i, tc := range []struct {
		at   string // of the event
		day  string
		ends string
	}{
		{"2026-03-28T22:59:59Z", "2026-03-28", "2026-03-28T23:00:00Z"},
		{"2026-03-28T23:00:00Z", "2026-03-29", "2026-03-29T22:00:00Z"}, // 23 hours
		{"2026-03-29T00:59:59Z", "2026-03-29", "2026-03-29T22:00:00Z"},
		{"2026-03-29T21:59:59Z", "2026-03-29", "2026-03-29T22:00:00Z"},
		{"2026-03-29T22:00:00Z", "2026-03-30", "2026-03-30T22:00:00Z"},
		{"2026-10-24T22:00:00Z", "2026-10-25", "2026-10-25T23:00:00Z"}, // 25 hours
		{"2026-10-25T00:30:00Z", "2026-10-25", "2026-10-25T23:00:00Z"}, // 02:30 the first time
		{"2026-10-25T01:30:00Z", "2026-10-25", "2026-10-25T23:00:00Z"}, // and the second
		{"2026-10-25T22:59:59Z", "2026-10-25", "2026-10-25T23:00:00Z"},
		{"2026-10-25T23:00:00Z", "2026-10-26", "2026-10-26T23:00:00Z"},
		{"2026-10-25T22:59:59Z", "2026-10-25", "2026-10-25T23:00:00Z"}, // late
	} {
		at, ends := instant(t, tc.at), instant(t, tc.ends)
		e.now = at
		grant := e.take(t, message(t, at, i), 100)
		if dayOf(grant).String() != tc.day || !grant.ResetsAt.Equal(ends) {
			t.Errorf("%s: day %s until %s, want %s until %s", tc.at, dayOf(grant), grant.ResetsAt.UTC(), tc.day, ends)
		}
		if got, want := ttl(t, e, dayOf(grant)), ends.Add(7*24*time.Hour).Unix(); got != want {
			t.Errorf("%s: ttl %d, want %d", tc.at, got, want)
		}
	}
	for day, want := range map[string]int64{"2026-03-28": 1, "2026-03-29": 3, "2026-03-30": 1, "2026-10-25": 5, "2026-10-26": 1} {
		d, err := tzclock.ParseDate(day)
		if err != nil {
			t.Fatal(err)
		}
		e.now = tzclock.Stockholm.End(d)
		if count := e.get(t, d); count.Used != want {
			t.Errorf("%s: %v, want %d", day, count, want)
		}
	}
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func ttl(t testing.TB, e *env, day tzclock.Date) int64 {
	t.Helper()
	seconds, ok := e.row(t, day)["ttl"].(*types.AttributeValueMemberN)
	if !ok {
		t.Fatal("the row has no ttl")
	}
	n, err := strconv.ParseInt(seconds.Value, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Every write sets the row's expiry, whatever stood there.
func TestEveryWriteSetsTheTTL(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	want := tzclock.Stockholm.End(day).Add(counter.Retention).Unix()
	for i, write := range writes(t, e.Store, chat, noon) {
		if row := e.row(t, day); row != nil {
			row["ttl"] = item.Digits("1") // what another writer may have left
			e.put(t, row)
		}
		if err := write.do(); err != nil {
			t.Fatal(write.name, err)
		}
		if got := ttl(t, e, day); got != want {
			t.Errorf("%d, %s: ttl %d, want %d", i, write.name, got, want)
		}
	}
}

// Until the skew budget before its row may expire an event is judged; from
// then on it is refused, and nothing is written or sent.
func TestTooOld(t *testing.T) {
	t.Parallel()
	const skew = 10 * time.Minute
	e := open(t, counter.Config{MaxSkew: skew})
	ev := message(t, noon, 1)
	horizon := tzclock.Stockholm.End(day).Add(counter.Retention - skew)

	e.now = horizon.Add(-time.Millisecond)
	if grant := e.take(t, ev, 3); !grant.OK || grant.Outcome != event.Created {
		t.Errorf("just before: %+v", grant)
	}
	calls := append(writes(t, e.Store, chat, noon), []write{
		{"TakeItem", func() error { return failed(e.TakeItem(counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3})) }},
		{"AdjustItem", func() error {
			return failed(e.AdjustItem(counter.Adjust{Key: chat, Event: ev, From: 1, To: 2, Cap: 3}))
		}},
		{"RefundItem", func() error { return failed(e.RefundItem(counter.Refund{Key: chat, Event: ev, Weight: 1})) }},
	}...)
	for _, e.now = range []time.Time{horizon, horizon.AddDate(1, 0, 0)} {
		cost := e.db.Meter(func() {
			for _, call := range calls {
				if err := call.do(); !errors.Is(err, event.ErrTooOld) {
					t.Errorf("%s at %s: %v, want ErrTooOld", call.name, e.now, err)
				}
			}
		})
		if cost.Requests != 0 {
			t.Errorf("at %s: %v", e.now, cost)
		}
	}
	expiry := horizon.Add(skew)
	for now, want := range map[time.Time]int64{horizon: 1, expiry.Add(-time.Millisecond): 1, expiry: 0} {
		e.now = now
		if count := e.get(t, day); count.Used != want {
			t.Errorf("Get at %s = %v, want %d", now, count, want)
		}
	}
}

// Whether DynamoDB has deleted the row yet never changes an answer, however long the
// table keeps its rows.
func TestSweepChangesNoAnswer(t *testing.T) {
	t.Parallel()
	for _, retention := range []time.Duration{counter.Retention, 731 * 24 * time.Hour} {
		for _, sweep := range []bool{false, true} {
			now := noon
			clock := func() time.Time { return now }
			db := dynamotest.New(t, &dynamotest.Config{Now: clock})
			s, err := counter.New(db.Client(), "limits", tzclock.Stockholm, &counter.Config{Now: clock, Retention: retention})
			if err != nil {
				t.Fatal(err)
			}
			db.Create(s.Table())
			take := counter.Take{Key: chat, Event: message(t, noon, 1), Weight: 1, Cap: 1}
			if grant, err := s.Take(t.Context(), take); err != nil || !grant.OK {
				t.Fatal(grant, err)
			}
			step := func(at time.Time, deletes int) {
				if now = at; !sweep {
					return
				}
				if n := db.Server().ExpireTTL(); n != deletes {
					t.Errorf("at %s: %d rows deleted, want %d", at, n, deletes)
				}
			}
			used := func(want int64) {
				t.Helper()
				if count, err := s.Get(t.Context(), chat, noon); err != nil || count.Used != want {
					t.Errorf("Get at %s, swept %v: %+v, %v, want %d", now, sweep, count, err, want)
				}
			}
			expiry := tzclock.Stockholm.End(day).Add(retention)
			step(expiry.Add(-5*time.Minute-time.Millisecond), 0)
			used(1)
			if grant, err := s.Take(t.Context(), take); err != nil || !grant.OK || grant.Outcome != event.Duplicate {
				t.Errorf("before: %+v, %v", grant, err)
			}
			step(expiry.Add(time.Second), 1)
			used(0)
			if grant, err := s.Take(t.Context(), take); !errors.Is(err, event.ErrTooOld) {
				t.Errorf("after, swept %v: %+v, %v, want ErrTooOld", sweep, grant, err)
			}
			// An earlier time of the table's own, which has come: it counts until it is deleted.
			now = expiry.Add(-1)
			recordtest.Put(t, db.Client(), "limits", ddb.Item{
				"chatId": item.S(chat), "date": item.S(day.String()), "count": item.N(7), "ttl": item.N(noon.Unix()),
			})
			used(7)
		}
	}
}
