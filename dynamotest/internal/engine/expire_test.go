package engine

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// expiring returns an engine with a table of n items that expired an hour
// before epoch. With enough of them a sweep takes a while.
func expiring(t *testing.T, now func() time.Time, n int) *Engine {
	t.Helper()
	e := New(Options{Now: now})
	for _, s := range []step{puts(0, 0, 0)[0], {"UpdateTimeToLive", `{"TableName":"plain","TimeToLiveSpecification":{"AttributeName":"ends","Enabled":true}}`}} {
		if !s.do(e) {
			t.Fatalf("%s is refused", s.op)
		}
	}
	for i := range n {
		if s := endsAt(i, epoch.Add(-time.Hour)); !s.do(e) {
			t.Fatalf("item %d is refused", i)
		}
	}
	return e
}

func endsAt(id int, at time.Time) step {
	return step{"PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"N":"%d"},"ends":{"N":"%d"}}}`, id, at.Unix())}
}

// A sweep of many items does not hold up requests: those that come after it has
// begun are answered before it ends. The scheduler may end a sweep before any
// request comes, so the test makes several sweeps.
func TestASweepHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	var begun atomic.Pointer[chan struct{}]
	e := expiring(t, func() time.Time {
		if c := begun.Swap(nil); c != nil {
			close(*c)
		}
		return epoch
	}, 0)
	stays := newRecord(attr.Map{})
	for i := range 200_000 {
		e.tables["plain"].items.put(fmt.Sprint(i), stays)
	}
	const enough = 100
	most := 0
	for range 50 {
		began, ended := make(chan struct{}), make(chan struct{})
		begun.Store(&began)
		go func() {
			defer close(ended)
			e.ExpireTTL()
		}()
		<-began
		if most = max(most, answeredUntil(t, e, ended)); most >= enough {
			return
		}
	}
	t.Errorf("at most %d requests were answered while a sweep went on", most)
}

// answeredUntil counts the requests answered before a channel is closed.
func answeredUntil(t *testing.T, e *Engine, closed chan struct{}) (n int) {
	t.Helper()
	for {
		if !(step{"GetItem", `{"TableName":"plain","Key":{"id":{"N":"1"}}}`}).do(e) {
			t.Fatal("a read is refused")
		}
		select {
		case <-closed:
			return n
		default:
			n++
		}
	}
}

// A sweep does not delete an item that was written after the sweep read it.
func TestASweepLeavesWhatIsWrittenMeanwhile(t *testing.T) {
	t.Parallel()
	begin := func(n int) (*Engine, sweep, []change) {
		e := expiring(t, func() time.Time { return epoch }, n)
		s := e.sweeps()[0]
		return e, s, s.expired(epoch)
	}
	e, s, expired := begin(4)
	for _, s := range []step{
		endsAt(1, epoch.Add(time.Hour)),
		{"DeleteItem", `{"TableName":"plain","Key":{"id":{"N":"2"}}}`},
	} {
		if !s.do(e) {
			t.Fatalf("%s is refused", s.op)
		}
	}
	got := []int{len(expired), e.expire(s, expired), e.tables["plain"].items.Len()}
	if diff := cmp.Diff([]int{4, 2, 1}, got); diff != "" {
		t.Errorf("found, deleted and left: %s", diff)
	}
	for _, last := range []step{
		{"UpdateTimeToLive", `{"TableName":"plain","TimeToLiveSpecification":{"AttributeName":"ends","Enabled":false}}`},
		{"DeleteTable", `{"TableName":"plain"}`},
	} {
		e, s, expired := begin(1)
		if !last.do(e) {
			t.Fatalf("%s is refused", last.op)
		}
		if n := e.expire(s, expired); n != 0 {
			t.Errorf("%d items are deleted after %s", n, last.op)
		}
	}
}

// One sweep deletes any number of expired items.
func TestASweepOfMany(t *testing.T) {
	t.Parallel()
	const n = 2*sweptAtOnce + 1
	e := expiring(t, func() time.Time { return epoch }, n)
	if got := e.ExpireTTL(); got != n || e.tables["plain"].items.Len() != 0 {
		t.Errorf("%d of %d are deleted", got, n)
	}
}
