package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

type receipt struct {
	ID    string
	Cents int
	Note  *string `json:",omitempty"`
}

// worker does an order and counts how often.
type worker struct {
	runs atomic.Int64
	err  error
}

func (w *worker) do(context.Context, *ledger.Claim) (receipt, error) {
	return receipt{ID: fmt.Sprint(w.runs.Add(1)), Cents: 1200}, w.err
}

func (w *worker) wantRuns(t *testing.T, want int64) {
	t.Helper()
	if got := w.runs.Load(); got != want {
		t.Errorf("the work was done %d times, want %d", got, want)
	}
}

func TestDoReplaysAnyResult(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	replays(t, store, "nothing", struct{}{})
	replays(t, store, "null", (*receipt)(nil))
	replays(t, store, "html", "<&>ö")
	replays(t, store, "raw", json.RawMessage(`{"a":1}`))
}

func replays[T any](t *testing.T, store *ledger.Store, key string, value T) {
	t.Helper()
	for _, replayed := range []bool{false, true} {
		res, err := ledger.Do(t.Context(), store, ledger.Request{Key: key}, func(context.Context, *ledger.Claim) (T, error) {
			return value, nil
		})
		if diff := cmp.Diff(ledger.Result[T]{Value: value, Replayed: replayed}, res); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", key, err, diff)
		}
	}
}

// The effect has happened: it must not happen again because its result cannot
// be stored.
func TestDoWithAResultThatCannotBeStored(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{MaxResult: 100})
	runs := 0
	for i := range 2 {
		res, err := ledger.Do(t.Context(), store, order, func(context.Context, *ledger.Claim) (string, error) {
			runs++
			return strings.Repeat("x", 99), nil
		})
		recordtest.WantBad(t, err, "ledger", "result", i)
		if !isPermanent(err) || !errors.Is(err, ledger.ErrResultNotStored) || !strings.HasSuffix(err.Error(), ", is 101") ||
			!strings.HasPrefix(err.Error(), "ledger: the work ran, but its result cannot be stored: ledger: result must") {
			t.Errorf("delivery %d: %v", i+1, err)
		}
		if got := len(res.Value); i == 0 && got != 99 {
			t.Errorf("the worker's own caller got %d bytes of its result", got)
		}
	}
	if runs != 1 {
		t.Errorf("the work was done %d times", runs)
	}
}

// Check says of a result what storing it would say, and sends nothing.
func TestCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{MaxResult: 12})
	c := mustClaim(t, store, order)
	must(t, c.Check(strings.Repeat("x", 10)))
	must(t, c.Check(json.RawMessage(`{"a":1}`)))
	for name, result := range map[string]any{
		"too long": strings.Repeat("x", 11), "no JSON": make(chan int), "no UTF-8": json.RawMessage("\"\xff\""), "bytes in Base64": make([]byte, 9),
	} {
		recordtest.WantBad(t, c.Check(result), "ledger", "result", name)
		recordtest.WantBad(t, c.Complete(t.Context(), result), "ledger", "result", name)
		_, err := c.CompleteItem(result)
		recordtest.WantBad(t, err, "ledger", "result", name)
	}
	if len(w.ops) != 1 {
		t.Errorf("sent: %v", w.ops)
	}
	must(t, c.Complete(t.Context(), "held"))
}

func TestDoWithoutAStoredResult(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	wantMark(t, store, "marked", event.Created)
	b.put(t, ddb.Item{"pk": item.S("older")})
	var w worker
	for _, key := range []string{"marked", "older"} {
		res, err := ledger.Do(t.Context(), store, ledger.Request{Key: key, Payload: []byte("any")}, w.do)
		if !errors.Is(err, ledger.ErrNoResult) || !res.Replayed {
			t.Errorf("%s: %+v, %v", key, res, err)
		}
	}
	w.wantRuns(t, 0)
}

// A deploy cancels the worker's context: that says nothing of the event, and
// uses up no attempt. Every other error does.
func TestACancelledAttemptDoesNotCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	signal := errors.New("terminated")
	for name, tc := range map[string]struct {
		cancel   bool // the caller's context, with the cause
		work     func(context.Context) error
		attempts int64
		state    ledger.State
	}{
		"cancelled":           {true, context.Context.Err, 0, ledger.Failed},
		"cancelled, wrapped":  {true, func(ctx context.Context) error { return fmt.Errorf("charging: %w", ctx.Err()) }, 0, ledger.Failed},
		"the cause":           {true, context.Cause, 0, ledger.Failed},
		"another error":       {true, func(context.Context) error { return errors.New("no connection") }, 1, ledger.Failed},
		"cancelled by itself": {false, func(context.Context) error { return context.Canceled }, 1, ledger.Failed},
		"a permanent error":   {true, func(ctx context.Context) error { return ledger.Permanent(ctx.Err()) }, 1, ledger.Refused},
	} {
		store := b.store(t, ledger.Config{MaxAttempts: 1})
		req := ledger.Request{Key: name}
		ctx, cancel := context.WithCancelCause(t.Context())
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 2}) // what is sent twice is given back once
		_, err := ledger.Do(ctx, store, req, func(ctx context.Context, _ *ledger.Claim) (int, error) {
			if tc.cancel {
				cancel(signal)
			}
			return 0, tc.work(ctx)
		})
		cancel(nil)
		r := mustGet(t, store, name)
		if err == nil || r.Attempts != tc.attempts || r.State != tc.state {
			t.Errorf("%s: %v, then %s after %d attempts", name, err, r.State, r.Attempts)
		}
		if tc.attempts == 0 {
			if c := mustClaim(t, store, req); c.Attempt != 1 || c.Fence <= r.Fence {
				t.Errorf("%s: then attempt %d, fence %d after %d", name, c.Attempt, c.Fence, r.Fence)
			}
		}
	}
}

// A panic is as a crash: nothing is recorded.
func TestDoPanics(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic did not come through")
			}
		}()
		_, _ = ledger.Do(t.Context(), store, order, func(context.Context, *ledger.Claim) (int, error) { panic("boom") })
	}()
	wantBusy(t, store, order, time.Minute+time.Second)
}

// When the record of the outcome cannot be written the error says so, and the
// key is held until the lease is over.
func TestDoWhoseOutcomeIsNotRecorded(t *testing.T) {
	t.Parallel()
	for _, failed := range []error{nil, errors.New("no connection")} {
		b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
		w := worker{err: failed}
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Nth: 2, Times: -1})
		res, err := ledger.Do(t.Context(), store, order, w.do)
		if err == nil || failed != nil && !errors.Is(err, failed) || res.Value.ID != "1" || res.Replayed {
			t.Errorf("Do = %+v, %v", res, err)
		}
		b.db.Heal()
		wantBusy(t, store, order, time.Minute+time.Second)
	}
}

// The longest Retention there is must not wrap around to rows that have expired
// when they are written.
func TestTheLongestRetention(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{Retention: math.MaxInt64})
	for _, want := range []event.Outcome{event.Created, event.Duplicate} {
		if out, err := store.MarkSeen(t.Context(), order.Key); err != nil || out != want {
			t.Errorf("MarkSeen = %v, %v, want %v", out, err, want)
		}
	}
}

// Work that gives its attempt back itself leaves nothing for Do to record.
func TestDoOfWorkThatReleases(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{MaxAttempts: 1})
	busy := errors.New("busy")
	for range 2 {
		b.db.Meter(func() {
			res, err := ledger.Do(t.Context(), store, ledger.Request{Key: "k"}, func(ctx context.Context, c *ledger.Claim) (string, error) {
				must(t, c.Release(ctx))
				return "said", busy
			})
			if res.Value != "said" || err != busy {
				t.Errorf("%q, %v", res.Value, err)
			}
		}).Want(t, dynamotest.Price{Requests: 2, WCU: 2})
	}
	// If the reply to the Release is lost to the work, too, Do records the failure.
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Nth: 2, Times: 3})
	_, err := ledger.Do(t.Context(), store, ledger.Request{Key: "k"}, func(ctx context.Context, c *ledger.Claim) (string, error) {
		if c.Release(ctx) == nil {
			t.Error("released without a request")
		}
		return "", busy
	})
	if !errors.Is(err, busy) {
		t.Error(err)
	}
	if r, _, err := store.Get(t.Context(), "k"); err != nil || r.Attempts != 1 || r.LastError != "busy" {
		t.Errorf("%d attempts, %q, %v", r.Attempts, r.LastError, err)
	}
}
