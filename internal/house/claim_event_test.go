package house

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/tzclock"
)

// till charges a card for requests that have no time of their own.
type till struct {
	seen   *ledger.Store
	limits *counter.Store
	now    time.Time
	ahead  time.Duration // of the ledger's clock
	broken error         // what happens after the charge
}

func newTill(t *testing.T) (*till, *dynamotest.DB) {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	s := &till{now: time.Date(2026, 5, 4, 23, 59, 0, 0, time.UTC)}
	var err1, err2 error
	s.seen, err1 = ledger.New(db.Client(), db.Name("seen"), &ledger.Config{Now: func() time.Time { return s.now.Add(s.ahead) }})
	s.limits, err2 = counter.New(db.Client(), db.Name("limits"), tzclock.UTC, &counter.Config{Now: func() time.Time { return s.now }})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	seen, limits := s.seen.Table(), s.limits.Table()
	seen.TTL, limits.TTL = "", "" // the clock is the test's
	db.Create(seen)
	db.Create(limits)
	return s, db
}

func (s *till) charge(ctx context.Context, key string) (string, error) {
	res, err := ledger.Do(ctx, s.seen, ledger.Request{Key: key}, func(ctx context.Context, c *ledger.Claim) (string, error) {
		ev, err := c.Event()
		if err != nil {
			return "", err
		}
		_, err = s.limits.Take(ctx, counter.Take{Key: "card", Event: ev, Weight: 2000, Cap: 100_000})
		if err != nil {
			return "", err
		}
		return "charged", s.broken
	})
	return res.Value, err
}

// counted is the sum of all days.
func (s *till) counted(t *testing.T) (sum int64) {
	t.Helper()
	for day := range 30 {
		used, err := s.limits.Get(t.Context(), "card", tzclock.UTC.Date(s.now).AddDays(2-day))
		if err != nil {
			t.Fatal(err)
		}
		sum += used.Used
	}
	return sum
}

// A request has no time. Its attempts, on different days, count one charge.
func TestAttemptsOfARequestCountOnce(t *testing.T) {
	t.Parallel()
	s, db := newTill(t)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Table: db.Name("limits"), Nth: 1, Times: 3})
	s.broken = errors.New("no connection")
	for range 3 {
		if _, err := s.charge(t.Context(), "r-1"); err == nil {
			t.Error("no error")
		}
		s.now = s.now.Add(time.Hour)
	}
	s.broken = nil
	for range 2 {
		if got, err := s.charge(t.Context(), "r-1"); got != "charged" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got := s.counted(t); got != 2000 {
		t.Errorf("one charge counted %d", got)
	}
	if _, err := s.charge(t.Context(), "r-2"); err != nil || s.counted(t) != 4000 {
		t.Errorf("two charges counted %d; %v", s.counted(t), err)
	}
}

// A retry after the counter's Retention is told that it is too old to judge: the
// attempt before it has counted.
func TestARequestOlderThanTheCounter(t *testing.T) {
	t.Parallel()
	s, _ := newTill(t)
	s.broken = errors.New("no connection")
	_, _ = s.charge(t.Context(), "r-1")
	s.now, s.broken = s.now.Add(10*24*time.Hour), nil
	if _, err := s.charge(t.Context(), "r-1"); !errors.Is(err, event.ErrTooOld) {
		t.Errorf("after 10 days: %v", err)
	}
	s.now = s.now.Add(-10 * 24 * time.Hour) // the row of that day, before it expired
	if got := s.counted(t); got != 2000 {
		t.Errorf("counted %d", got)
	}
}

// The clock of the first caller may be ahead by the greatest MaxSkew. Further
// ahead, the request is refused until its time has come.
func TestARequestFromTheFuture(t *testing.T) {
	t.Parallel()
	for ahead, first := range map[time.Duration]bool{time.Hour: true, time.Hour + time.Second: false} {
		s, _ := newTill(t)
		s.ahead = ahead
		_, err := s.charge(t.Context(), "r-1")
		var bad *event.InputError
		if (err == nil) != first || errors.As(err, &bad) == first {
			t.Errorf("%v ahead: %v", ahead, err)
		}
		s.ahead, s.now = 0, s.now.Add(time.Second)
		if _, err := s.charge(t.Context(), "r-1"); err != nil || s.counted(t) != 2000 {
			t.Errorf("%v ahead, later: %v, %d counted", ahead, err, s.counted(t))
		}
	}
}
