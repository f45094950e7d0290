package ledger

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/item"
)

const releaseUpdate = "SET #state = :failed, #expiresAt = :expires, #attempts = #attempts - :one REMOVE #lease"

// Release gives the key up without counting the attempt, for work that has not begun.
// It is safe to repeat. If this claim has ended the key, it returns a [*DoneError] or a
// [*PermanentError]. If the claim is no longer held otherwise, as after a Fail, it
// returns [ErrLeaseLost].
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
