package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// Result is what [Do] and [DoTx] answer.
type Result[T any] struct {
	// Value is what the work returned, or the stored result.
	Value T

	// Replayed says that the key had ended before this call, with this value or
	// with the error beside it.
	Replayed bool
}

// The heartbeat: two renewals may fail before the lease ends, and a failed one
// is sent again sooner.
const (
	renewalsPerLease = 3
	retriesPerLease  = 12
)

// tick is how often the holder looks at its clock; more often when its lease is
// short.
const tick = time.Second

// settleWithin bounds how long Do stays after its work to record the outcome,
// whether the caller's context has ended or not.
const settleWithin = 5 * time.Second

// Do claims the key, does the work and stores its result, or replays the
// result that is stored: one result for each key, however often it comes. The
// errors of [Store.Claim] are its answers when it neither works nor replays.
//
// The work runs at least once, and again when its worker crashed, lost its
// lease or returned an error; so what it does elsewhere should be conditional
// on [Claim.Fence], or be written in one transaction with the result: see [DoTx].
// Work that sends such a transaction itself, with [Claim.CompleteItem], must
// return the result that it stored: another is [ErrResultDiffers]. While it
// runs its lease is renewed. Its context ends with the caller's, and with
// [ErrLeaseLost] as the cause as soon as the lease cannot be counted on, or
// within a second after a suspend that outlasted the lease. It must stop then.
// When it completes or fails its claim itself the renewals end and its context
// goes on. Of a transaction with CompleteItem the claim hears when the next
// renewal is answered; until then the context may end as of a lost lease. It
// runs on the caller's goroutine, and a panic is as a crash: the key is free when
// the lease has lapsed.
//
// An error of the work gives the key up, to be tried again up to
// Config.MaxAttempts; [Permanent] stores it, and it is replayed as a
// [*PermanentError] that is for errors.Is what it was. A result that cannot be
// stored ends the key in the same way, for the work is done and must not be done
// again. The outcome is recorded also when the caller's context has ended, within
// 5 s. If that fails, the error is that of Complete or Fail, Value is what the
// work returned, and the work may be done again.
//
// An attempt is not counted when the caller cancelled its context, as a deploy
// does, and the work's error is or wraps that context's error or cause. A
// deadline counts, for the work may be what did not meet it. When the context
// ends before the work begins, the attempt is not counted either: see
// [Store.Claim].
//
// Bad input that the work meets, an [*event.InputError], is an error as any
// other: whether it will do better later (a date too far ahead does) is the
// work's to say. What cannot is returned through Permanent, so that it is
// told at once the next time and not tried to the last attempt.
//
// T must survive encoding/json, which stores it: a replay has no unexported
// fields, and U+FFFD in place of what is not UTF-8 in a string. A stored result
// that does not fit T, as after a deploy, is a [*ResultError]; a key that is done
// without one, [ErrNoResult]. A queue's worker
// that gets an [*InProgressError] leaves the message in the queue and makes it
// visible again after Wait. Work that is nil is an [*event.InputError].
//
// Price: 2 requests, 2 WCU. Each third of a lease that the work takes adds 1
// request and 1 WCU. A transaction with CompleteItem is paid on top: Do sends
// its second request all the same, to see what stands. A replay, as every
// refusal, is 1 request and 1 WCU for each KB of the stored row. Rows above
// 1 KB: as [Store.Claim] and [Claim.Complete]. Waiting costs what
// [Request.WaitUpTo] says.
// Price (ReadFirst): 1 request, 0.5 RCU. For a replay, with 0.5 RCU for each 4 KB
// of a larger row. Any other key pays it on top.
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
	// The heartbeat outlives the caller's context: the work may take its time
	// to stop, and nobody else must begin meanwhile.
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
// claim, and ends the work when the lease is lost: taken over, or not renewed
// in time, by whomever.
func (c *Claim) beat(ctx context.Context, lose func()) {
	defer c.onLapse(lose)()
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

// onLapse calls lose when the lease is over, until it is stopped.
func (c *Claim) onLapse(lose func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lapse = time.AfterFunc(c.until(c.lease), lose)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lapse.Stop()
		c.lapse = nil
	}
}

// watch ends the work when the holder's clock says that the lease is over. A
// timer alone would not: timers stand while a machine is suspended.
func (c *Claim) watch(ctx context.Context, lose func()) {
	clock := time.NewTicker(min(tick, c.span/retriesPerLease))
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		}
		if c.remaining() <= 0 {
			lose()
			return
		}
	}
}

// remaining is how long the lease still holds by the store's clock.
func (c *Claim) remaining() time.Duration { return c.until(c.LeaseUntil()) }

// until is how long a lease holds. It is no longer than one lasts, should
// the store's clock have been set back.
func (c *Claim) until(lease time.Time) time.Duration {
	return min(lease.Sub(c.store.cfg.Now()), c.span)
}

// untilRenewal is how long the heartbeat waits. A claim or a renewal that was
// answered late leaves little of its lease, or nothing: the next comes while
// half of that is left, or soon.
func (c *Claim) untilRenewal() time.Duration {
	left := c.remaining()
	if left <= 0 {
		return c.span / retriesPerLease
	}
	return min(c.span/renewalsPerLease, left/2)
}

// finish records the outcome of the work.
func finish[T any](ctx context.Context, c *Claim, op string, value T, err error) (Result[T], error) {
	return settle(ctx, c, op, value, err, cancelled(ctx, err))
}

// settle is finish that is told whether the attempt is given back.
func settle[T any](ctx context.Context, c *Claim, op string, value T, err error, withdrawn bool) (Result[T], error) {
	failed := err != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	res := Result[T]{Value: value}
	var text string
	if err == nil {
		text, err = c.encode(value)
		err = Permanent(err)
	}
	var unsettled error
	switch {
	case err == nil:
		unsettled = c.complete(ctx, text)
	case withdrawn:
		unsettled = c.withdraw(ctx, err)
	default:
		unsettled = c.Fail(ctx, err)
	}
	if _, done := errors.AsType[*DoneError](unsettled); done {
		return completed[T](c, op, unsettled, failed)
	}
	switch {
	case err == nil:
		return res, unsettled
	case unsettled == nil || errors.Is(err, unsettled):
		return res, err
	}
	return res, fmt.Errorf("%w; %w", err, unsettled)
}

// completed answers for a claim that the work completed itself. Work that
// failed has not heard that its transaction took effect.
func completed[T any](c *Claim, op string, done error, failed bool) (Result[T], error) {
	if !failed {
		return Result[T]{}, ErrResultDiffers
	}
	res, err := replay[T](c.store, op, done)
	res.Replayed = false // the row carries this claim's own nonce
	return res, err
}

// cancelled reports whether the work's error is that its caller cancelled it.
func cancelled(ctx context.Context, err error) bool {
	if !errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	if _, permanent := errors.AsType[*PermanentError](err); permanent {
		return false
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))
}
