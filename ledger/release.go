package ledger

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/item"
)

const releaseUpdate = "SET #state = :failed, #expiresAt = :expires, #attempts = #attempts - :one REMOVE #lease"

// Release gives the key up without counting the attempt. It is for work that has
// not begun, for example because the worker shuts down. For a key that serves as a
// lock, [Hold] claims and releases.
//
// Release is safe to repeat. It returns [ErrLeaseLost] if another worker
// claimed the key or this claim has failed, a [*PermanentError] if it failed
// with a permanent error, and a [*DoneError] if this claim is completed.
//
// Price: 1 request, 1 WCU. A larger row costs 1 WCU for each KB.
func (c *Claim) Release(ctx context.Context) error {
	values := c.values()
	values[":failed"], values[":one"] = item.S(string(Failed)), item.N(1)
	err := c.end(ctx, "Release", releaseUpdate, values, func(stands row) bool {
		return stands.State == Failed && stands.Attempts < c.Attempt // a Fail counts
	})
	if err == nil {
		c.released.Store(true)
	}
	return err
}
