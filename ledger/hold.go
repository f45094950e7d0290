package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/event"
)

// unlimited are more attempts than a key can have.
const unlimited = 1 << 62

// Hold does the work while this worker, and no other, holds the key: the key is a lock.
// Hold claims the key, renews the lease while the work runs, gives the key up and
// returns the work's error. If the lease is lost, the work's context ends. No result is
// stored: the next Hold does its work again. For work that must be done once, such as a
// nightly job by one of five workers, use [Do] or [DoTx].
//
// While another worker holds the key, Hold returns an [*InProgressError]; with
// [Request.WaitUpTo], it waits first. Hold ignores Config.MaxAttempts. A lock and a result
// need different keys: for a key that has ended, Hold returns a [*DoneError] or a
// [*PermanentError], and Do counts the crashes of earlier holders as attempts.
//
// A worker that was stopped for longer than its lease cannot know that another has the
// key. So put [Claim.CheckItem] into transactions, and make other writes conditional on
// [Claim.Fence].
//
// If giving the key up fails, Hold returns that error, although the work was done. It is
// [ErrLeaseLost] if another worker took the key over. If the work returned an error,
// too, the error of Hold wraps both.
//
// Price: 2 requests, 2 WCU. Renewals cost as much as in [Do]. A refusal is 1 request, 1
// WCU.
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
