package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/record"
)

// Result is what [Do] and [DoTx] return.
type Result[T any] struct {
	// Value is what the work returned, or the stored result.
	Value T

	// Replayed reports whether Value or the returned error comes from the row of a key
	// that was done or refused before this call could claim it. It is false with
	// [ErrFingerprintMismatch].
	Replayed bool
}

// The heartbeat: two renewals may fail before the lease ends, and a failed one
// is sent again sooner.
const (
	renewalsPerLease = 3
	retriesPerLease  = 12
)

// tick is how often the holder looks at its clock. It looks more often if its
// lease is short.
const tick = time.Second

// settleWithin bounds how long Do may take after its work to record the
// outcome, even if the caller's context has ended.
const settleWithin = 5 * time.Second

// Do claims the key, does the work and stores its result. For a key that is done, Do
// replays the stored result instead: each key has one result, for any number of
// deliveries.
//
// The work runs at least once, and again after a crash, a lost lease or an error that
// is not [Permanent]. So make what it writes elsewhere conditional on [Claim.Fence], or
// write it in one transaction with the result: with [DoTx], or with
// [Claim.CompleteItem] and the same result returned. A write of this library counts
// once for each event: use the request's own event or [Claim.Event], and never
// time.Now. When its context ends, the work must stop: see Lease in the package
// comment.
//
// If the work returns an error, even an [*event.InputError], Do gives the key up, and
// later deliveries try again, if attempts are left. If the error is [Permanent], or the
// result cannot be stored ([ErrResultNotStored]), Do ends the key instead. If the
// outcome cannot be recorded, Do returns the error of Complete or Fail, beside the work's
// own. Value is what the work returned, and the work may be done again.
//
// The result is stored as JSON: in a replayed Value, unexported fields are zero, and
// invalid UTF-8 is U+FFFD. Do also returns the errors of [Store.Claim], [ErrNoResult],
// [ErrResultDiffers] and a [*ResultError].
//
// Price: 2 requests, 2 WCU. While the work runs, each third of the lease adds a
// renewal: 1 request and 1 WCU. A replay or a refusal is 1 request and 1 WCU for each
// KB of the stored row.
// Price (ReadFirst): 1 request, 0.5 RCU. This is the price of a replay from the row
// that was read; a larger row costs 0.5 RCU for each 4 KB. Otherwise, the read is
// added.
func Do[T any](ctx context.Context, s *Store, req Request, work func(context.Context, *Claim) (T, error)) (Result[T], error) {
	if work == nil {
		return Result[T]{}, event.BadInput(pkg, "work", "must not be nil")
	}
	claim, err := s.Claim(ctx, req)
	if err != nil {
		return replay[T](s, "Do", err)
	}
	value, err := attend(ctx, claim, work)
	return finish(ctx, claim, "Do", value, err)
}

// replay answers for a key that cannot be claimed.
func replay[T any](s *Store, op string, refusal error) (Result[T], error) {
	if _, ok := errors.AsType[*PermanentError](refusal); ok {
		return Result[T]{Replayed: true}, refusal
	}

	done, ok := errors.AsType[*DoneError](refusal)
	if !ok {
		return Result[T]{}, refusal
	}

	res := Result[T]{Replayed: true}
	if done.Record.Result == nil {
		return res, ErrNoResult
	}
	if err := json.Unmarshal(done.Record.Result, &res.Value); err != nil {
		return Result[T]{Replayed: true}, &ResultError{Record: done.Record, op: op, table: s.table, want: fmt.Sprintf("%T", res.Value), cause: err}
	}

	return res, nil
}

// attend does the work under a heartbeat.
func attend[T any](ctx context.Context, c *Claim, work func(context.Context, *Claim) (T, error)) (T, error) {
	working, end := context.WithCancelCause(ctx)
	defer end(nil)
	lose := func() {
		if !c.isSettled() { // else there is nothing to lose
			end(ErrLeaseLost)
		}
	}

	if c.remaining() <= 0 { // the claim was answered too late: the work hears it at once
		lose()
	}

	// The heartbeat outlives the caller's context: the work may need time to
	// stop, and no other worker may begin meanwhile.
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	var heart sync.WaitGroup
	heart.Go(func() { c.beat(beating, lose) })
	heart.Go(func() { c.watch(beating, lose) })
	defer heart.Wait()
	defer stop()

	value, err := work(working, c)
	if err != nil && errors.Is(context.Cause(working), ErrLeaseLost) && !errors.Is(err, ErrLeaseLost) {
		err = fmt.Errorf("%w: %w", ErrLeaseLost, err)
	}

	return value, err
}

// beat renews the lease until the context ends or the work has settled its
// claim, and ends the work when another worker has taken the key over.
func (c *Claim) beat(ctx context.Context, lose func()) {
	pause := c.untilRenewal()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.settled:
			return
		case <-time.After(pause):
		}

		err := c.Renew(ctx)
		switch {
		case err == nil:
			pause = c.untilRenewal()
		case errors.Is(err, ErrLeaseLost):
			lose()
			return
		default:
			pause = c.span / retriesPerLease
		}
	}
}

// watch ends the work when the lease is over: when the store's clock says so, for
// timers stand while a machine is suspended, or when the timers do, for a clock
// may be set back. Only a renewal that moves the lease begins it anew: others count on
// the lease in the row.
func (c *Claim) watch(ctx context.Context, lose func()) {
	for pause := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-time.After(pause):
			if renewed := c.LeaseUntil(); renewed.After(c.watched) {
				c.watched, c.over = renewed, now.Add(c.remaining())
			}
			if c.remaining() <= 0 || !now.Before(c.over) {
				lose()
				return
			}
			pause = min(c.over.Sub(now), tick, c.span/retriesPerLease)
		}
	}
}

// remaining is how long the lease still holds by the store's clock: at most its full
// length, in case the clock was set back.
func (c *Claim) remaining() time.Duration {
	return min(c.LeaseUntil().Sub(c.store.cfg.Now()), c.span)
}

// untilRenewal is how long the heartbeat waits. A claim or renewal that was
// answered late leaves little of its lease: the next comes when half of that is
// left, or soon.
func (c *Claim) untilRenewal() time.Duration {
	left := c.remaining()
	if left <= 0 {
		return c.span / retriesPerLease
	}
	return min(c.span/renewalsPerLease, left/2)
}

// finish records the outcome of the work.
func finish[T any](ctx context.Context, c *Claim, op string, value T, err error) (Result[T], error) {
	if err != nil && c.released.Load() {
		return Result[T]{Value: value}, err // nothing is left to record
	}

	failed, uncounted := err != nil, withdrawn(ctx, err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	res := Result[T]{Value: value}
	var text string
	if err == nil {
		if text, err = c.encode(value); err != nil {
			err = Permanent(fmt.Errorf("%w: %w", ErrResultNotStored, err))
		}
	}

	var unsettled error
	switch {
	case err == nil:
		unsettled = c.complete(ctx, text)
	case uncounted:
		unsettled = c.giveUp(ctx, err, ownAttempt)
	default:
		unsettled = c.Fail(ctx, err)
	}

	if done, ok := errors.AsType[*DoneError](unsettled); ok {
		return completed[T](c, op, done, failed)
	}

	switch {
	case err == nil:
		return res, unsettled
	case unsettled == nil || errors.Is(err, unsettled):
		return res, err
	}
	return res, fmt.Errorf("%w; %w", err, unsettled)
}

// completed answers for a claim that the work completed itself, or that an
// earlier transaction of DoTx completed late. Work that failed does not know that
// its transaction took effect.
func completed[T any](c *Claim, op string, done *DoneError, failed bool) (Result[T], error) {
	if err := c.author(string(done.Record.Result), c.sent); err != nil && !failed {
		return Result[T]{}, err
	}
	res, err := replay[T](c.store, op, done)
	res.Replayed = false // the row carries this claim's own nonce
	return res, err
}

// withdrawn reports whether the attempt does not count: the caller cancelled it,
// or DynamoDB, one of its rows, or another service of AWS, was too busy for it.
func withdrawn(ctx context.Context, err error) bool {
	if _, permanent := errors.AsType[*PermanentError](err); permanent {
		return false
	}
	if errors.Is(ctx.Err(), context.Canceled) && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return true
	}
	item, refused := errors.AsType[*ItemError](err)
	return refused && item.contended || ddb.Busy(err) || ddb.Throttled(err) || errors.Is(err, record.ErrContended)
}
