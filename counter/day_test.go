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
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/schema"
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
	if grant := e.take(t, ev, 1); !grant.OK || grant.Outcome != event.Created || grant.Day != day {
		t.Fatalf("before midnight: %+v", grant)
	}
	e.now = sent.Add(5 * time.Minute)
	if grant := e.take(t, ev, 1); !grant.OK || grant.Outcome != event.Duplicate || grant.Day != day {
		t.Errorf("after midnight: %+v", grant)
	}
	if count := e.get(t, day.AddDays(1)); count.Used != 0 {
		t.Errorf("the next day: %v", count)
	}
	if grant := e.take(t, message(t, e.now, 2), 1); !grant.OK || grant.Day != day.AddDays(1) {
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
		{"2026-03-29T01:00:00Z", "2026-03-29", "2026-03-29T22:00:00Z"},
		{"2026-03-29T21:59:59Z", "2026-03-29", "2026-03-29T22:00:00Z"},
		{"2026-03-29T22:00:00Z", "2026-03-30", "2026-03-30T22:00:00Z"},
		{"2026-10-24T21:59:59Z", "2026-10-24", "2026-10-24T22:00:00Z"},
		{"2026-10-24T22:00:00Z", "2026-10-25", "2026-10-25T23:00:00Z"}, // 25 hours
		{"2026-10-25T00:30:00Z", "2026-10-25", "2026-10-25T23:00:00Z"}, // 02:30 the first time
		{"2026-10-25T01:30:00Z", "2026-10-25", "2026-10-25T23:00:00Z"}, // and the second
		{"2026-10-25T22:59:59Z", "2026-10-25", "2026-10-25T23:00:00Z"},
		{"2026-10-25T23:00:00Z", "2026-10-26", "2026-10-26T23:00:00Z"},
	} {
		at, ends := instant(t, tc.at), instant(t, tc.ends)
		e.now = at
		grant := e.take(t, message(t, at, i), 100)
		if grant.Day.String() != tc.day || !grant.ResetsAt.Equal(ends) {
			t.Errorf("%s: day %s until %s, want %s until %s", tc.at, grant.Day, grant.ResetsAt.UTC(), tc.day, ends)
		}
		if got, want := ttl(t, e, grant.Day), ends.Add(7*24*time.Hour).Unix(); got != want {
			t.Errorf("%s: ttl %d, want %d", tc.at, got, want)
		}
	}
	for day, want := range map[string]int64{"2026-03-28": 1, "2026-03-29": 4, "2026-03-30": 1, "2026-10-24": 1, "2026-10-25": 4, "2026-10-26": 1} {
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

// Events of several days come in any order, and each counts on its own.
func TestDaysInAnyOrder(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	start, end := tzclock.Stockholm.Start(day), tzclock.Stockholm.End(day)
	e.now = end
	for i, tc := range []struct {
		at  time.Time
		day tzclock.Date
	}{
		{noon, day},
		{start.Add(-time.Millisecond), day.AddDays(-1)},
		{start, day},
		{end.Add(-time.Millisecond), day},
		{end, day.AddDays(1)},
		{start.Add(-time.Millisecond), day.AddDays(-1)},
		{end, day.AddDays(1)},
		{noon, day},
	} {
		if grant := e.take(t, message(t, tc.at, i), 100); grant.Day != tc.day || !grant.ResetsAt.Equal(tzclock.Stockholm.End(tc.day)) {
			t.Errorf("%d, at %s: %s until %s, want %s", i, tc.at, grant.Day, grant.ResetsAt, tc.day)
		}
		if got, want := ttl(t, e, tc.day), tzclock.Stockholm.End(tc.day).Add(counter.Retention).Unix(); got != want {
			t.Errorf("%d: ttl %d, want %d", i, got, want)
		}
	}
	for d, want := range map[tzclock.Date]int64{day.AddDays(-1): 2, day: 4, day.AddDays(1): 2} {
		if count := e.get(t, d); count.Used != want {
			t.Errorf("%s: %v, want %d", d, count, want)
		}
	}
}

// Every write sets the row's expiry, whatever stood there.
func TestEveryWriteSetsTheTTL(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	want := tzclock.Stockholm.End(day).Add(counter.Retention).Unix()
	ev := message(t, noon, 1)
	for _, write := range []struct {
		name string
		do   func() error
	}{
		{"Take", func() error {
			_, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 9})
			return err
		}},
		{"Add", func() error {
			_, err := e.Add(t.Context(), counter.Add{Key: chat, Event: message(t, noon, 2), Weight: 1})
			return err
		}},
		{"Refund", func() error {
			_, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1})
			return err
		}},
		{"AddUnkeyed", func() error {
			_, err := e.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: noon, Weight: 1})
			return err
		}},
		{"Adjust", func() error {
			_, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: message(t, noon, 2), From: 1, To: 1})
			return err
		}},
		{"a tombstone", func() error {
			_, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: message(t, noon, 3), Weight: 1, Tombstone: true})
			return err
		}},
	} {
		if row := e.row(t, day); row != nil {
			row["ttl"] = item.Digits("1") // what another writer may have left
			e.put(t, row)
		}
		if err := write.do(); err != nil {
			t.Fatal(write.name, err)
		}
		if got := ttl(t, e, day); got != want {
			t.Errorf("%s: ttl %d, want %d", write.name, got, want)
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
	for _, now := range []time.Time{horizon, horizon.Add(time.Hour), horizon.AddDate(1, 0, 0)} {
		e.now = now
		cost := e.db.Meter(func() {
			grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3})
			if !errors.Is(err, event.ErrTooOld) || grant.OK {
				t.Errorf("Take at %s: %+v, %v, want ErrTooOld", now, grant, err)
			}
			if _, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: 1}); !errors.Is(err, event.ErrTooOld) {
				t.Errorf("Add at %s: %v, want ErrTooOld", now, err)
			}
			if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1}); !errors.Is(err, event.ErrTooOld) {
				t.Errorf("Refund at %s: %v, want ErrTooOld", now, err)
			}
			if _, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: ev, From: 1, To: 2, Cap: 3}); !errors.Is(err, event.ErrTooOld) {
				t.Errorf("Adjust at %s: %v, want ErrTooOld", now, err)
			}
			if item, err := e.TakeItem(counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3}); !errors.Is(err, event.ErrTooOld) || item != nil {
				t.Errorf("TakeItem at %s: %v, want ErrTooOld", now, err)
			}
			if item, err := e.AdjustItem(counter.Adjust{Key: chat, Event: ev, From: 1, To: 2, Cap: 3}); !errors.Is(err, event.ErrTooOld) || item != nil {
				t.Errorf("AdjustItem at %s: %v, want ErrTooOld", now, err)
			}
			if item, err := e.RefundItem(counter.Refund{Key: chat, Event: ev, Weight: 1}); !errors.Is(err, event.ErrTooOld) || item != nil {
				t.Errorf("RefundItem at %s: %v, want ErrTooOld", now, err)
			}
			if _, err := e.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: noon, Weight: 1}); !errors.Is(err, event.ErrTooOld) {
				t.Errorf("AddUnkeyed at %s: %v, want ErrTooOld", now, err)
			}
		})
		if cost.Requests != 0 {
			t.Errorf("at %s: %v", now, cost)
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

// Whether DynamoDB has deleted the row yet never changes an answer.
func TestSweepChangesNoAnswer(t *testing.T) {
	t.Parallel()
	for _, sweep := range []bool{false, true} {
		now := noon
		clock := func() time.Time { return now }
		db := dynamotest.New(t, &dynamotest.Config{Now: clock})
		s, err := counter.New(db.Client(), "limits", tzclock.Stockholm, &counter.Config{Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Create(t.Context(), db.Client(), s.Table()); err != nil {
			t.Fatal(err)
		}
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
		expiry := tzclock.Stockholm.End(day).Add(counter.Retention)
		counts := func(want int64) {
			t.Helper()
			if count, err := s.Get(t.Context(), chat, day); err != nil || count.Used != want || count.Recorded != want {
				t.Errorf("Get at %s, swept %v: %+v, %v, want %d", now, sweep, count, err, want)
			}
		}
		step(expiry.Add(-5*time.Minute-time.Millisecond), 0)
		counts(1)
		if grant, err := s.Take(t.Context(), take); err != nil || !grant.OK || grant.Outcome != event.Duplicate {
			t.Errorf("before: %+v, %v", grant, err)
		}
		step(expiry.Add(time.Second), 1)
		if grant, err := s.Take(t.Context(), take); !errors.Is(err, event.ErrTooOld) {
			t.Errorf("after, swept %v: %+v, %v, want ErrTooOld", sweep, grant, err)
		}
		counts(0)
	}
}
