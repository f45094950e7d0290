package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

// line is a connection that can be cut: updates then hang until their context
// ends, or fail.
type line struct {
	ledger.API

	mu   sync.Mutex                      // guards what follows
	cut  func(ctx context.Context) error // nil lets the update pass
	sent []time.Time
}

func (l *line) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	l.mu.Lock()
	l.sent = append(l.sent, time.Now())
	cut := l.cut
	l.mu.Unlock()
	if cut != nil {
		if err := cut(ctx); err != nil {
			return nil, err
		}
	}
	return l.API.UpdateItem(ctx, in, opts...)
}

// since lists when updates were sent.
func (l *line) since(began time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var at []time.Duration
	for _, sent := range l.sent {
		at = append(at, sent.Sub(began))
	}
	return fmt.Sprint(at)
}

// cutBy has every update from now on meet cut first.
func (l *line) cutBy(cut func(context.Context) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
}

// Two ways for a connection to be cut.
func fail(context.Context) error     { return errCut }
func hang(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// newLine returns a ledger on the bubble's clock, with a lease of a minute.
func newLine(t *testing.T) (*line, *ledger.Store) {
	t.Helper()
	return newLineBy(t, ledger.Config{Lease: time.Minute})
}

func newLineBy(t *testing.T, cfg ledger.Config) (*line, *ledger.Store) {
	t.Helper()
	db := dynamotest.New(t, nil) // no socket, so that the bubble's time runs
	l := &line{API: db.Client()}
	cfg.MaxSkew = 5 * time.Second
	store, err := ledger.New(l, "ledger", &cfg)
	must(t, err)
	must(t, schema.Create(t.Context(), db.Client(), store.Table()))
	return l, store
}

var errCut = &net.OpError{Op: "write", Net: "tcp", Err: errors.New("no route")}

// Cut off, the worker stops at the end of the lease it knows of, before anyone
// may take the key over.
func TestTheContextEndsWithTheLease(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cut         func(context.Context) error
		after, lost time.Duration // since the claim
	}{
		"requests fail from the start": {fail, 0, time.Minute},
		"requests hang, renewed once":  {hang, 30 * time.Second, 80 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, store := newLine(t)
			began := time.Now()
			_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
				time.Sleep(tc.after)
				l.cutBy(tc.cut)
				<-ctx.Done()
				if got := time.Since(began); got != tc.lost || time.Now().Before(c.LeaseUntil()) {
					t.Errorf("%s: the context ended after %v, want %v", name, got, tc.lost)
				}
				wantErr(t, "cause", context.Cause(ctx), ledger.ErrLeaseLost)
				return 0, ctx.Err()
			})
			wantErr(t, "Do", err, ledger.ErrLeaseLost)
			wantErr(t, "Do", err, context.Canceled)
		})
	}
}

// One lost heartbeat, or two, is made good before the lease ends.
func TestHeartbeatRecovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLine(t)
		res, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (string, error) {
			failures := 6
			l.cutBy(func(context.Context) error {
				if failures--; failures >= 0 {
					return errCut
				}
				return nil
			})
			time.Sleep(5 * time.Minute)
			return "paid", ctx.Err()
		})
		if err != nil || res.Value != "paid" {
			t.Errorf("Do = %+v, %v", res, err)
		}
	})
}

// The heartbeat of a worker that was stopped for longer than its lease finds
// the successor, and ends the context.
func TestTheContextEndsAtATakeover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLine(t)
		_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
			// A clock an hour ahead breaks the declared budget, and takes over.
			ahead, err := ledger.New(l, "ledger", &ledger.Config{Now: func() time.Time { return time.Now().Add(time.Hour) }})
			must(t, err)
			heir := mustClaim(t, ahead, order)
			began := time.Now()
			<-ctx.Done()
			if got := time.Since(began); got != 20*time.Second {
				t.Errorf("the context ended after %v, want 20s: the next heartbeat", got)
			}
			if heir.Fence <= c.Fence {
				t.Errorf("fence %d after %d", heir.Fence, c.Fence)
			}
			return 0, context.Cause(ctx)
		})
		if err == nil || err.Error() != ledger.ErrLeaseLost.Error() {
			t.Errorf("Do: %v", err)
		}
	})
}

// The work that goes on after its caller has gone still holds the key.
func TestHeartbeatOutlivesTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, store := newLine(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := ledger.Do(ctx, store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
			cancel()
			<-ctx.Done()
			wantErr(t, "cause", context.Cause(ctx), context.Canceled)
			time.Sleep(10 * time.Minute) // cleaning up
			var busy *ledger.InProgressError
			if _, err := store.Claim(t.Context(), order); !errors.As(err, &busy) {
				t.Errorf("another claims meanwhile: %v", err)
			}
			return 1, nil
		})
		if err != nil {
			t.Errorf("Do: %v", err)
		}
		wantDone(t, store, order, "1")
	})
}

// A deadline that passes counts: the work may be what did not meet it.
func TestAMissedDeadlineCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, store := newLine(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := ledger.Do(ctx, store, order, func(ctx context.Context, _ *ledger.Claim) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		wantErr(t, "Do", err, context.DeadlineExceeded)
		if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Attempts != 1 {
			t.Errorf("%s after %d attempts", r.State, r.Attempts)
		}
	})
}

// What Do leaves when DynamoDB hangs at the end: it does not stay for ever.
func TestDoDoesNotHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLine(t)
		began := time.Now()
		_, err := ledger.Do(t.Context(), store, order, func(context.Context, *ledger.Claim) (int, error) {
			l.cutBy(hang)
			return 1, nil
		})
		if got := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || got != 5*time.Second {
			t.Errorf("Do: %v after %v", err, got)
		}
	})
}
