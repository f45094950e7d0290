package ledger

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/item"
)

const releaseUpdate = "SET #state = :failed, #expiresAt = :expires, #attempts = #attempts - :one REMOVE #lease"

var releaseNames = item.Names(attrClaim, attrFence, attrState, attrExpiresAt, attrLease, attrAttempts)

// Release gives the key up without counting the attempt. It is for work that has
// not begun, for example because the worker shuts down, and for a key that
// serves as a lock.
//
// A lock is a key that is claimed and released, and never completed. A crash of
// its holder counts as an attempt, so give a Store of locks a MaxAttempts that
// is never reached. A holder loses the lock if its lease lapses and another
// worker then claims the key. The former holder learns of that only from its
// own next request. So what a holder writes elsewhere must be conditional on
// [Claim.Fence].
//
// Release is safe to repeat. It returns [ErrLeaseLost] if another worker
// claimed the key or this claim has failed, a [*PermanentError] if it failed
// with a permanent error, and a [*DoneError] if this claim is completed.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (c *Claim) Release(ctx context.Context) error {
	in := c.store.updateInput(c.Key, releaseUpdate, held, releaseNames)
	in.ExpressionAttributeValues = c.values()
	in.ExpressionAttributeValues[":failed"] = item.S(string(Failed))
	in.ExpressionAttributeValues[":one"] = item.N(1)
	err := c.settle(ctx, "Release", in, func(stands row) bool {
		return stands.State == Failed && stands.Attempts < c.Attempt // a Fail counts
	})
	if err == nil {
		c.released.Store(true)
		c.setSettled()
	}
	return err
}
