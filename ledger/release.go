package ledger

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/item"
)

const releaseUpdate = "SET #state = :failed, #expiresAt = :expires, #attempts = #attempts - :one REMOVE #lease"

var releaseNames = item.Names(attrClaim, attrFence, attrState, attrExpiresAt, attrLease, attrAttempts)

// Release gives the key up, and the attempt does not count: for work that has
// not begun, as of a worker that shuts down, and for a key that serves as a lock.
//
// A lock is a key that is claimed and released, and never completed. Whose
// holder crashed counts as an attempt, so a Store of locks has a MaxAttempts
// that is never reached. The lease makes it a lock of the kind that can be
// lost: what its holder writes elsewhere must be conditional on [Claim.Fence],
// for a holder that was slow learns of its successor only by its own next
// request.
//
// It is safe to repeat. When another worker claimed the key it is
// [ErrLeaseLost], as after a Fail of this claim; when this claim is completed, a
// [*DoneError].
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (c *Claim) Release(ctx context.Context) error {
	in := c.store.updateInput(c.Key, releaseUpdate, held, c.store.names.release)
	in.ExpressionAttributeValues = c.values()
	in.ExpressionAttributeValues[":failed"] = item.S(string(Failed))
	in.ExpressionAttributeValues[":one"] = item.N(1)
	err := c.settle(ctx, "Release", in, func(stands row) bool {
		return stands.State == Failed && stands.Attempts < c.Attempt // a Fail counts
	})
	if err == nil {
		c.setSettled()
	}
	return err
}
