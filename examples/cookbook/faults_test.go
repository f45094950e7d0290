package cookbook_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Whatever the requests of a delivery meet, the next delivery holds the cents once.
func TestHoldsUnderFaults(t *testing.T) {
	t.Parallel()
	seeded, _ := opened(t)
	for _, do := range []dynamotest.Effect{
		dynamotest.LoseRequest, dynamotest.LoseReply, dynamotest.Throttle, dynamotest.Conflict,
		dynamotest.InternalError, dynamotest.Unavailable.After(), dynamotest.DelayReply(time.Second),
	} {
		t.Run(do.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // waits and delays take no time
				db := dynamotest.Use(t, seeded.Server().Fork())
				s := spending(t, db, func() time.Time { return placed })
				h := kept(t, "1001", 700)

				db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem", Times: -1})
				_, err := s.Authorize(t.Context(), h)
				if late := do == dynamotest.DelayReply(time.Second); late != (err == nil) {
					t.Errorf("the first delivery: %v", err)
				}
				db.Heal()
				if grant, err := s.Authorize(t.Context(), h); !grant.OK || err != nil {
					t.Errorf("the second delivery: %+v, %v", grant, err)
				}
				wantUsed(t, s, 700)
			})
		})
	}
}

// A fault that met nothing proves nothing: at the end, or with db.Heal, it fails
// the test with this text. db.Tap().Heal returns it.
func TestAFaultThatNeverFires(t *testing.T) {
	t.Parallel()
	db, s := opened(t)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"})
	if _, err := s.Authorize(t.Context(), kept(t, "1001", 700)); err != nil {
		t.Error(err)
	}
	idle := db.Tap().Heal()
	const want = "fault LoseReply on request 1 of Op PutItem never fired: 0 requests matched; seen: UpdateItem ×1 on days"
	if len(idle) != 1 || idle[0] != want {
		t.Errorf("got %q", idle)
	}
}

// DynamoDB deletes what has expired some time later. Until then it stands, and
// must not count.
func TestAnExpiredDayDoesNotCount(t *testing.T) {
	t.Parallel()
	now := placed
	db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }})
	s := spending(t, db, func() time.Time { return now })
	db.Create(s.Days.Table())
	h := kept(t, "1001", 700)
	if _, err := s.Authorize(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	now = tzclock.Stockholm.End(tzclock.Stockholm.Date(placed)).Add(counter.Retention + time.Second)
	for _, rows := range []int{1, 0} { // expired, then deleted
		if got := len(db.Items("days")); got != rows {
			t.Errorf("%d rows, want %d", got, rows)
		}
		wantUsed(t, s, 0)
		wantTooOld(t, s, h)
		db.Server().ExpireTTL()
	}
}

// wantTooOld takes each step with a hold of a day that is forgotten.
func wantTooOld(t *testing.T, s cookbook.Spending, h cookbook.Hold) {
	t.Helper()
	_, held := s.Authorize(t.Context(), h)
	_, settled := s.Capture(t.Context(), h, 450)
	for _, err := range []error{held, settled, s.Void(t.Context(), h)} {
		if !errors.Is(err, event.ErrTooOld) {
			t.Errorf("got %v", err)
		}
	}
}
