package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

// line is a connection that can be cut: updates then hang until their context
// ends, or fail.
type line struct {
	ledger.API
	db *dynamotest.DB

	mu   sync.Mutex                      // guards what follows
	cut  func(ctx context.Context) error // nil lets the update pass
	sent []time.Time                     // requests
	seen func(*dynamodb.UpdateItemInput) // of the next update

	reads     int
	failReads bool
}

func (l *line) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	l.mu.Lock()
	l.sent = append(l.sent, time.Now())
	l.reads++
	cut := l.failReads
	l.mu.Unlock()
	if cut {
		return nil, errCut
	}
	return l.API.GetItem(ctx, in, opts...)
}

func (l *line) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	l.mu.Lock()
	l.sent = append(l.sent, time.Now())
	cut := l.cut
	if l.seen != nil {
		l.seen(in)
		l.seen = nil
	}
	l.mu.Unlock()
	if cut != nil {
		if err := cut(ctx); err != nil {
			return nil, err
		}
	}
	return l.API.UpdateItem(ctx, in, opts...)
}

// since lists when requests were sent.
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
	l := &line{API: db.Client(), db: db}
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
			if _, err := store.Claim(t.Context(), order); !isBusy(err) {
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

// leap is the bubble's clock, moved by so much at once: as a clock does that
// goes on while the machine is suspended and its timers stand.
type leap struct{ by atomic.Int64 }

func (l *leap) Now() time.Time        { return time.Now().Add(time.Duration(l.by.Load())) }
func (l *leap) jump(by time.Duration) { l.by.Add(int64(by)) }

// ended waits for the end of the context, an hour at most.
func ended(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Hour):
	}
}

// After a suspend the holder's own clock says that the lease is over. The work
// is told within a second, and within a part of a shorter lease, not at the
// next heartbeat.
func TestTheContextEndsAfterASuspend(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ lease, within time.Duration }{
		"of a minute": {time.Minute, time.Second},
		"of a second": {time.Second, time.Second / 12},
	} {
		synctest.Test(t, func(t *testing.T) {
			var clock leap
			l, store := newLineBy(t, ledger.Config{Lease: tc.lease, Now: clock.Now})
			_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, _ *ledger.Claim) (int, error) {
				time.Sleep(tc.lease / 10)
				clock.jump(10 * tc.lease)
				woken := time.Now()
				ended(ctx)
				if got := time.Since(woken); got > tc.within {
					t.Errorf("%s: the context ended after %v, want %v at most", name, got, tc.within)
				}
				wantErr(t, name, context.Cause(ctx), ledger.ErrLeaseLost)
				if len(l.sent) != 1 {
					t.Errorf("%d updates, want the claim's alone", len(l.sent))
				}
				return 0, context.Cause(ctx)
			})
			wantErr(t, name, err, ledger.ErrLeaseLost)
		})
	}
}

// A clock that is set back makes no lease longer: others' clocks go on. Renewals, if
// they come through, move nothing.
func TestAClockSetBackMakesNoLeaseLonger(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(context.Context) error{"cut off": fail, "renewed": nil} {
		synctest.Test(t, func(t *testing.T) {
			var clock leap
			l, store := newLineBy(t, ledger.Config{Lease: time.Minute, Now: clock.Now})
			_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, _ *ledger.Claim) (int, error) {
				began := time.Now()
				l.cutBy(cut)
				clock.jump(-time.Hour)
				ended(ctx)
				if got := time.Since(began); got != time.Minute {
					t.Errorf("%s: the context ended after %v, want the lease", name, got)
				}
				return 0, context.Cause(ctx)
			})
			wantErr(t, name, err, ledger.ErrLeaseLost)
		})
	}
}

// So it is if the work of DoTx is called again.
func TestAClockSetBackMakesNoLeaseLongerForTheNextCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clock leap
		_, store := newLineBy(t, ledger.Config{Lease: time.Minute, Now: clock.Now})
		began := time.Now()
		_, err := ledger.DoTx(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, []types.TransactWriteItem, error) {
			if c.Reasons() == nil {
				clock.jump(-time.Hour)
				time.Sleep(40 * time.Second)
				return 0, []types.TransactWriteItem{{ConditionCheck: &types.ConditionCheck{
					TableName: aws.String("ledger"), Key: ddb.Item{"pk": item.S("other")}, ConditionExpression: aws.String("attribute_exists(pk)"),
				}}}, nil
			}
			ended(ctx)
			if got := time.Since(began); got != time.Minute {
				t.Errorf("the context ended after %v, want the lease", got)
			}
			return 0, nil, context.Cause(ctx)
		})
		wantErr(t, "DoTx", err, ledger.ErrLeaseLost)
	})
}

// A claim or a renewal whose answer took long leaves little of its lease. The
// next renewal comes while half of that is left.
func TestRenewalsAfterSlowAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		slow  []time.Duration // each update, in turn
		until time.Duration   // the work ends
		lost  bool            // the context has ended by then
		want  string
	}{
		"claim":           {[]time.Duration{45 * time.Second, 5 * time.Second}, 80 * time.Second, false, "[0s 52.5s 1m17.5s 1m20s]"},
		"claim, lapsed":   {[]time.Duration{70 * time.Second}, 100 * time.Second, true, "[0s 1m15s 1m35s 1m40s]"},  // kept from others
		"renewal, lapsed": {[]time.Duration{0, 70 * time.Second}, 100 * time.Second, true, "[0s 20s 1m35s 1m40s]"}, // kept from others
	} {
		synctest.Test(t, func(t *testing.T) {
			l, store := newLine(t)
			began := time.Now()
			slow := tc.slow
			l.cutBy(func(context.Context) error {
				if len(slow) > 0 {
					time.Sleep(slow[0])
					slow = slow[1:]
				}
				return nil
			})
			_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, _ *ledger.Claim) (int, error) {
				if over := time.Since(began) > time.Minute; over != (ctx.Err() != nil) {
					t.Errorf("%s: the work begins with the context's error %v", name, ctx.Err())
				}
				time.Sleep(tc.until - time.Since(began))
				if lost := errors.Is(context.Cause(ctx), ledger.ErrLeaseLost); lost != tc.lost {
					t.Errorf("%s: lost: %v", name, lost)
				}
				return 0, nil
			})
			if got := l.since(began); err != nil || got != tc.want {
				t.Errorf("%s: updates at %s, want %s; %v", name, got, tc.want, err)
			}
		})
	}
}

// What the work ended by itself, or was told has ended, needs no renewal, and cannot be
// lost any more, as by a suspend: the work goes on. Of a transaction the heartbeat hears
// by the next renewal, which is then the last.
func TestTheHeartbeatStopsWhenTheWorkSettles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		settle func(context.Context, *line, *ledger.Claim) error
		result error
		want   string // when updates are sent; the last is the record
	}{
		"Complete": {func(ctx context.Context, _ *line, c *ledger.Claim) error { return c.Complete(ctx, 0) }, nil, "[0s 1s 1h0m1s]"},
		"Fail":     {func(ctx context.Context, _ *line, c *ledger.Claim) error { return c.Fail(ctx, errCut) }, errCut, "[0s 1s 1h0m1s]"},
		"a transaction, and Renew says so": {func(ctx context.Context, l *line, c *ledger.Claim) error {
			return unless(l.transact(ctx, c, 0) == nil && isDone(c.Renew(ctx)), "not done")
		}, nil, "[0s 1s 1h0m1s]"},
		"a transaction, and Complete says so": {func(ctx context.Context, l *line, c *ledger.Claim) error {
			return errors.Join(l.transact(ctx, c, 0), c.Complete(ctx, 0))
		}, nil, "[0s 1s 1h0m1s]"},
		"a transaction, and Fail says so": {func(ctx context.Context, l *line, c *ledger.Claim) error {
			return unless(l.transact(ctx, c, 0) == nil && isDone(c.Fail(ctx, errCut)), "not done")
		}, nil, "[0s 1s 1h0m1s]"},
		"a transaction": {func(ctx context.Context, l *line, c *ledger.Claim) error {
			defer time.Sleep(time.Minute)
			return l.transact(ctx, c, 0)
		}, nil, "[0s 20s 1h1m1s]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var clock leap
			l, store := newLineBy(t, ledger.Config{Lease: time.Minute, Now: clock.Now})
			began := time.Now()
			_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
				time.Sleep(time.Second)
				must(t, tc.settle(ctx, l, c))
				clock.jump(time.Hour)
				if ended(ctx); ctx.Err() != nil {
					t.Errorf("%s: the context ended: %v", name, context.Cause(ctx))
				}
				return 0, tc.result
			})
			if got := l.since(began); got != tc.want || !errors.Is(err, tc.result) {
				t.Errorf("%s: updates at %s, want %s; %v", name, got, tc.want, err)
			}
		})
	}
}

// transact completes the claim in a transaction, which the line does not see.
func (l *line) transact(ctx context.Context, c *ledger.Claim, result any) error {
	done, err := c.CompleteItem(result)
	if err != nil {
		return err
	}
	_, err = l.API.(*dynamodb.Client).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{done.Item}})
	return err
}
