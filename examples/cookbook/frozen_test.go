package cookbook_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/ledger"
)

// carrier has one parcel for each order: that of the latest fence.
type carrier struct {
	mu     sync.Mutex
	booked int
	fence  map[string]int64
	parcel map[string]string
}

var errOvertaken = errors.New("a later fence has booked this order")

func (c *carrier) book(_ context.Context, order string, fence int64) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch last := c.fence[order]; {
	case fence < last:
		return "", errOvertaken
	case fence > last:
		c.booked++
		c.fence[order], c.parcel[order] = fence, fmt.Sprintf("%s as parcel %d", order, c.booked)
	}
	return c.parcel[order], nil
}

// leap is a clock that goes on while the process is frozen, and its timers stand.
type leap struct{ by atomic.Int64 }

func (l *leap) Now() time.Time { return time.Now().Add(time.Duration(l.by.Load())) }

// function returns a function and its table, and a carrier that it has not called yet.
func function(t *testing.T, db *dynamotest.DB, now func() time.Time) (cookbook.Shipping, *carrier) {
	t.Helper()
	seen, err := ledger.New(db.Client(), "seen", &ledger.Config{Lease: cookbook.Lease, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	db.Create(seen.Table())
	c := &carrier{fence: map[string]int64{}, parcel: map[string]string{}}
	return cookbook.Shipping{Seen: seen, Book: c.book}, c
}

// wantParcel delivers the order: the answer is the one parcel that the carrier has.
func wantParcel(t *testing.T, s cookbook.Shipping, c *carrier) {
	t.Helper()
	got, err := s.Handle(t.Context(), "1001")
	if want := "1001 as parcel 1"; got != want || c.parcel["1001"] != want || err != nil {
		t.Errorf("got %q, %v; the carrier has %q", got, err, c.parcel["1001"])
	}
}

// A process is frozen while it books, for ten minutes. Another one books meanwhile.
// When the first wakes up its context ends, and the carrier refuses its fence.
func TestFrozenWhileItBooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clock leap
		db := dynamotest.New(t, nil)
		second, parcels := function(t, db, clock.Now)
		frozen, thawed, woken := make(chan bool), make(chan bool), time.Time{}
		first := second
		first.Book = func(ctx context.Context, order string, fence int64) (string, error) {
			close(frozen)
			<-thawed
			woken = time.Now()
			<-ctx.Done()
			if took := time.Since(woken); took > time.Second || !errors.Is(context.Cause(ctx), ledger.ErrLeaseLost) {
				t.Errorf("the context ended after %v: %v", took, context.Cause(ctx))
			}
			return parcels.book(ctx, order, fence) // a request that was under way
		}
		go func() {
			<-frozen
			clock.by.Add(int64(10 * time.Minute))
			wantParcel(t, second, parcels)
			close(thawed)
		}()
		if _, err := first.Handle(t.Context(), "1001"); !errors.Is(err, ledger.ErrLeaseLost) {
			t.Errorf("got %v", err)
		}
		wantParcel(t, second, parcels)
	})
}

// The work hangs, and the process is killed at the function's timeout. When the
// queue delivers again the lease has lapsed, and no delivery is wasted.
func TestKilledAtItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		second, parcels := function(t, db, nil)
		began := time.Now()
		first := second
		first.Book = func(context.Context, string, int64) (string, error) {
			time.Sleep(cookbook.Timeout)
			panic("killed")
		}
		func() {
			defer func() { _ = recover() }()
			ctx, cancel := context.WithTimeout(t.Context(), cookbook.Timeout)
			defer cancel()
			_, err := first.Handle(ctx, "1001")
			t.Errorf("it was not killed: %v", err)
		}()
		time.Sleep(time.Until(began.Add(cookbook.Visibility)))
		wantParcel(t, second, parcels)
	})
}

// Work that stops when its context ends leaves time to say so, and so does a claim that
// nobody answers: it is given up. The key is free.
func TestOutOfTime(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]func(*dynamotest.DB, *cookbook.Shipping){
		"work": func(_ *dynamotest.DB, s *cookbook.Shipping) {
			s.Book = func(ctx context.Context, _ string, _ int64) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}
		},
		"nobody answers": func(db *dynamotest.DB, _ *cookbook.Shipping) {
			db.Inject(dynamotest.Fault{Do: dynamotest.DelayReply(time.Hour), Op: "UpdateItem"})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			db := dynamotest.New(t, nil)
			second, parcels := function(t, db, nil)
			first := second
			hang(db, &first)
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), cookbook.Timeout)
			defer cancel()
			_, err := first.Handle(ctx, "1001")
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != cookbook.Timeout-cookbook.Margin {
				t.Errorf("%s: %v after %v", name, err, took)
			}
			wantParcel(t, second, parcels)
		})
	}
}

// After a thaw the connections of the client are dead: what is sent on one fails,
// and may have taken effect. The SDK sends it again on another.
func TestDeadConnections(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.LoseReply} {
		for i, request := range []string{"claim", "completion"} {
			t.Run(fmt.Sprint(do, " of the ", request), func(t *testing.T) {
				t.Parallel()
				db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})
				s, parcels := function(t, db, nil)
				db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem", Nth: i + 1})
				want := dynamotest.Price{Requests: 3, WCU: 2}
				if do == dynamotest.LoseReply {
					want.WCU++ // the refusal of the second
				}
				db.Meter(func() { wantParcel(t, s, parcels) }).Want(t, want)
				wantParcel(t, s, parcels)
			})
		}
	}
}

func TestWhatShippingCosts(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	s, parcels := function(t, db, nil)
	db.Meter(func() { wantParcel(t, s, parcels) }).Want(t, dynamotest.Price{Requests: 2, WCU: 2})
	db.Meter(func() { wantParcel(t, s, parcels) }).Want(t, dynamotest.Price{Requests: 1, WCU: 1})
	if got, err := s.Handle(t.Context(), "1002"); got != "1002 as parcel 2" || err != nil {
		t.Errorf("another order: %q, %v", got, err)
	}
	if _, err := s.Handle(t.Context(), ""); err == nil {
		t.Error("an order without a number was shipped")
	}
}
