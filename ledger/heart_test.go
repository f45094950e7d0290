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

// A suspend shorter than the lease ends nothing.
func TestTheContextOutlivesAShortSuspend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clock leap
		_, store := newLineBy(t, ledger.Config{Lease: time.Minute, Now: clock.Now})
		res, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, _ *ledger.Claim) (string, error) {
			clock.jump(30 * time.Second)
			time.Sleep(5 * time.Minute)
			return "paid", ctx.Err()
		})
		if err != nil || res.Value != "paid" {
			t.Errorf("Do = %+v, %v", res, err)
		}
	})
}

// A clock that is set back makes no lease longer: others' clocks go on.
func TestAClockSetBackMakesNoLeaseLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clock leap
		l, store := newLineBy(t, ledger.Config{Lease: time.Minute, Now: clock.Now})
		_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, _ *ledger.Claim) (int, error) {
			began := time.Now()
			l.cutBy(fail)
			clock.jump(-time.Hour)
			ended(ctx)
			if got := time.Since(began); got != time.Minute {
				t.Errorf("the context ended after %v, want the lease", got)
			}
			return 0, context.Cause(ctx)
		})
		wantErr(t, "Do", err, ledger.ErrLeaseLost)
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
	cause := errors.New("no connection")
	for name, settle := range map[string]func(context.Context, *ledger.Claim) error{
		"Complete":            func(ctx context.Context, c *ledger.Claim) error { return c.Complete(ctx, 0) },
		"Fail":                func(ctx context.Context, c *ledger.Claim) error { return c.Fail(ctx, cause) },
		"Fail with Permanent": func(ctx context.Context, c *ledger.Claim) error { return c.Fail(ctx, ledger.Permanent(cause)) },
		"CompleteItem":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, store := newLine(t)
				began := time.Now()
				_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
					time.Sleep(time.Second)
					if settle == nil {
						must(t, l.transact(ctx, c, 0))
					} else {
						must(t, settle(ctx, c))
					}
					time.Sleep(10 * time.Minute)
					must(t, ctx.Err())
					switch name {
					case "Fail":
						return 0, cause
					case "Complete", "CompleteItem":
						return 0, nil
					}
					return 0, ledger.Permanent(cause)
				})
				want := "[0s 1s 10m1s]" // claim, end, the record
				if settle == nil {
					want = "[0s 20s 10m1s]" // claim, one renewal, the record
				}
				if got := l.since(began); got != want || errors.Is(err, ledger.ErrLeaseLost) {
					t.Errorf("updates at %s, want %s; %v", got, want, err)
				}
			})
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
// more: neither by a cut connection nor by a suspend.
func TestTheContextGoesOnWhenTheWorkSettles(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(*testing.T, context.Context, *line, *ledger.Claim){
		"Complete": func(t *testing.T, ctx context.Context, _ *line, c *ledger.Claim) { must(t, c.Complete(ctx, 1)) },
		"Fail":     func(t *testing.T, ctx context.Context, _ *line, c *ledger.Claim) { must(t, c.Fail(ctx, errCut)) },
		"Fail with Permanent": func(t *testing.T, ctx context.Context, _ *line, c *ledger.Claim) {
			must(t, c.Fail(ctx, ledger.Permanent(errCut)))
		},
		"a transaction, and Renew says so": func(t *testing.T, ctx context.Context, l *line, c *ledger.Claim) {
			must(t, l.transact(ctx, c, 1))
			if err := c.Renew(ctx); !isDone(err) {
				t.Errorf("Renew: %v", err)
			}
		},
		"a transaction, and Complete says so": func(t *testing.T, ctx context.Context, l *line, c *ledger.Claim) {
			must(t, l.transact(ctx, c, 1))
			must(t, c.Complete(ctx, 1))
		},
		"a transaction, and Fail says so": func(t *testing.T, ctx context.Context, l *line, c *ledger.Claim) {
			must(t, l.transact(ctx, c, 1))
			if err := c.Fail(ctx, errCut); !isDone(err) {
				t.Errorf("Fail: %v", err)
			}
		},
	} {
		for trouble, meet := range map[string]func(*line, *leap){
			"cut off":   func(l *line, _ *leap) { l.cutBy(fail) },
			"suspended": func(_ *line, clock *leap) { clock.jump(time.Hour) },
		} {
			t.Run(name+", "+trouble, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var clock leap
					l, store := newLineBy(t, ledger.Config{Lease: time.Minute, Now: clock.Now})
					_, _ = ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
						settle(t, ctx, l, c)
						meet(l, &clock)
						began := time.Now()
						ended(ctx)
						if ctx.Err() != nil {
							t.Errorf("the context ended after %v: %v", time.Since(began), context.Cause(ctx))
						}
						return 1, nil
					})
				})
			})
		}
	}
}

// A renewal is under way while the work gives the key up and another worker
// takes it. Its answer, that the lease is lost, ends nothing.
func TestTheContextGoesOnWhenARenewalIsAnsweredLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLine(t)
		_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
			time.Sleep(19 * time.Second)
			l.cutBy(func(context.Context) error { time.Sleep(10 * time.Second); return nil })
			time.Sleep(2 * time.Second)
			l.cutBy(nil)
			must(t, c.Fail(ctx, errCut))
			mustClaim(t, store, order)
			time.Sleep(10 * time.Minute)
			must(t, ctx.Err())
			return 0, errCut
		})
		wantErr(t, "Do", err, errCut)
		if got := len(l.sent); got != 5 {
			t.Errorf("%d updates, want 5: claim, renewal, Fail, the other's claim, the record", got)
		}
	})
}

// The work renews its lease itself while the heartbeat's renewals fail: the
// context ends with the lease that the work has got.
func TestTheWorksOwnRenewalCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLine(t)
		_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (int, error) {
			l.cutBy(fail)
			time.Sleep(52 * time.Second)
			l.cutBy(nil)
			must(t, c.Renew(ctx))
			l.cutBy(fail)
			renewed := time.Now()
			ended(ctx)
			if got := time.Since(renewed); got != time.Minute {
				t.Errorf("the context ended %v after the work's own renewal, want a lease", got)
			}
			return 0, context.Cause(ctx)
		})
		wantErr(t, "Do", err, ledger.ErrLeaseLost)
	})
}

// The clock is set back, and renewals find that the lease which stands is later
// than theirs: they move nothing, and others count on the lease that stands.
func TestARenewalThatMovesNothingMakesNoLeaseLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clock leap
		_, store := newLineBy(t, ledger.Config{Lease: time.Minute, Now: clock.Now})
		_, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, _ *ledger.Claim) (int, error) {
			began := time.Now()
			clock.jump(-time.Hour)
			ended(ctx)
			if got := time.Since(began); got != time.Minute {
				t.Errorf("the context ended after %v, want the lease", got)
			}
			return 0, context.Cause(ctx)
		})
		wantErr(t, "Do", err, ledger.ErrLeaseLost)
	})
}
