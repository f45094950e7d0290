package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/event"
)

// unlimited are more attempts than a key can have.
const unlimited = 1 << 62

// Hold does the work while this worker, and no other, holds the key: the key is a
// lock. Hold claims the key, renews the lease while the work runs, and gives the key
// up. It returns the work's error. Nothing is stored, so the next Hold of the key does
// its work again: for work that must be done once, such as a nightly job by one of
// five workers, use [Do], or the five do it in turn.
//
// While another worker holds the key, Hold returns an [*InProgressError], whose Holder
// is the name that the other gave in [Request.Holder]; with [Request.WaitUpTo], Hold
// waits first. Attempts are not counted, so a lock whose holders crash never ends in
// [ErrTooManyAttempts]. A lock and a result need different keys: for a key that [Do] or
// [Claim.Complete] has ended, Hold returns a [*DoneError] or a [*PermanentError], and
// Do counts the crashes of earlier holders.
//
// The work's context ends as in Do, with [ErrLeaseLost] as its cause when the lease is
// no longer certain. A worker that was stopped for longer than its lease cannot know
// that another has the key; only the store that it writes to can refuse it. So put
// [Claim.CheckItem] into the transactions that write to DynamoDB, and make other writes
// conditional on [Claim.Fence].
//
// Hold gives the key up within 5 s after the work, even if the caller's context has
// ended. If that fails, the key is free when the lease and the skew budget are over, and
// Hold returns the error, if the work returned none. That error is ErrLeaseLost if
// another worker took the key over. In both cases, the work was done. A
// panic of the work is like a crash: the key is free when lease and skew budget are
// over. Work that needs the lock no longer may call [Claim.Release]. If work is nil,
// Hold returns an [*event.InputError].
//
// Price: 2 requests, 2 WCU. While the work runs, each third of the lease adds a renewal:
// 1 request and 1 WCU. A refusal is 1 request, 1 WCU. Waiting costs what
// [Request.WaitUpTo] says.
func Hold(ctx context.Context, s *Store, req Request, work func(context.Context, *Claim) error) error {
	if work == nil {
		return event.BadInput(pkg, "work", "must not be nil")
	}

	claim, err := s.claimUpTo(ctx, req, unlimited)
	if err != nil {
		return err
	}

	_, err = attend(ctx, claim, func(ctx context.Context, c *Claim) (struct{}, error) { return struct{}{}, work(ctx, c) })
	if claim.isSettled() {
		return err
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	released := claim.Release(ctx)
	switch {
	case claim.isSettled() || errors.Is(err, released): // by the work, perhaps in a transaction
		return err
	case err == nil:
		return released
	}

	return fmt.Errorf("%w; %w", err, released)
}
