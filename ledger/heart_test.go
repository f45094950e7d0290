package ledger_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ledger"
)

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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clock leap
				l, store := newLineBy(t, ledger.Config{Lease: tc.lease, Now: clock.Now})
				_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, _ *ledger.Claim) (int, error) {
					time.Sleep(tc.lease / 10)
					clock.jump(10 * tc.lease)
					woken := time.Now()
					ended(ctx)
					if got := time.Since(woken); got > tc.within {
						t.Errorf("the context ended after %v, want %v at most", got, tc.within)
					}
					wantErr(t, "cause", context.Cause(ctx), ledger.ErrLeaseLost)
					if len(l.sent) != 1 {
						t.Errorf("%d updates, want the claim's alone", len(l.sent))
					}
					return 0, context.Cause(ctx)
				})
				wantErr(t, "Do", err, ledger.ErrLeaseLost)
			})
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
		"claim":         {[]time.Duration{45 * time.Second, 5 * time.Second}, 80 * time.Second, false, "[0s 52.5s 1m17.5s 1m20s]"},
		"renewal":       {[]time.Duration{0, 39 * time.Second}, 100 * time.Second, false, "[0s 20s 1m9.5s 1m29.5s 1m40s]"},
		"claim, lapsed": {[]time.Duration{70 * time.Second}, 100 * time.Second, true, "[0s 1m15s 1m35s 1m40s]"}, // kept from others
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
					time.Sleep(tc.until - time.Since(began))
					if lost := errors.Is(context.Cause(ctx), ledger.ErrLeaseLost); lost != tc.lost {
						t.Errorf("lost: %v", lost)
					}
					return 0, nil
				})
				if got := l.since(began); err != nil || got != tc.want {
					t.Errorf("updates at %s, want %s; %v", got, tc.want, err)
				}
			})
		})
	}
}

// What the work ended by itself needs no renewal, and the work goes on. Of a
// transaction the heartbeat hears by the next renewal, which is then the last.
func TestTheHeartbeatStopsWhenTheWorkSettles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		settle func(context.Context, *line, *ledger.Claim) error
		result error
		want   string
	}{
		"Complete":     {func(ctx context.Context, _ *line, c *ledger.Claim) error { return c.Complete(ctx, 0) }, nil, "[0s 1s 10m1s]"},
		"Fail":         {func(ctx context.Context, _ *line, c *ledger.Claim) error { return c.Fail(ctx, errCut) }, errCut, "[0s 1s 10m1s]"},
		"CompleteItem": {func(ctx context.Context, l *line, c *ledger.Claim) error { return l.transact(ctx, c, 0) }, nil, "[0s 20s 10m1s]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, store := newLine(t)
			began := time.Now()
			_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
				time.Sleep(time.Second)
				must(t, tc.settle(ctx, l, c))
				time.Sleep(10 * time.Minute)
				must(t, ctx.Err())
				return 0, tc.result
			})
			if got := l.since(began); got != tc.want || !errors.Is(err, tc.result) { // the last is the record
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

// A claim that the work has ended, or was told has ended, cannot be lost any
// more, as by a suspend.
func TestTheContextGoesOnWhenTheWorkSettles(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(context.Context, *line, *ledger.Claim) error{
		"Complete": func(ctx context.Context, _ *line, c *ledger.Claim) error { return c.Complete(ctx, 1) },
		"Fail":     func(ctx context.Context, _ *line, c *ledger.Claim) error { return c.Fail(ctx, errCut) },
		"a transaction, and Renew says so": func(ctx context.Context, l *line, c *ledger.Claim) error {
			return unless(l.transact(ctx, c, 1) == nil && isDone(c.Renew(ctx)), "not done")
		},
		"a transaction, and Complete says so": func(ctx context.Context, l *line, c *ledger.Claim) error {
			return errors.Join(l.transact(ctx, c, 1), c.Complete(ctx, 1))
		},
		"a transaction, and Fail says so": func(ctx context.Context, l *line, c *ledger.Claim) error {
			return unless(l.transact(ctx, c, 1) == nil && isDone(c.Fail(ctx, errCut)), "not done")
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var clock leap
			l, store := newLineBy(t, ledger.Config{Lease: time.Minute, Now: clock.Now})
			_, _ = ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
				must(t, settle(ctx, l, c))
				clock.jump(time.Hour)
				if ended(ctx); ctx.Err() != nil {
					t.Errorf("%s: the context ended: %v", name, context.Cause(ctx))
				}
				return 1, nil
			})
		})
	}
}
