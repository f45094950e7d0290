package cookbook

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/ledger"
)

// What is set together.
const (
	Timeout    = 30 * time.Second // the function's
	Visibility = 6 * Timeout      // its queue's
	Lease      = time.Minute      // Lease + MaxSkew is at most Visibility - Timeout
	Margin     = 2 * time.Second  // is left of each invocation, to report what failed
)

// Shipping is a Lambda function. It is made once, before the first invocation.
type Shipping struct {
	Seen *ledger.Store // with this Lease in its Config
	// Book books the parcel of an order in place of one that an earlier fence has
	// booked, and refuses a fence when it has seen a later one.
	Book func(ctx context.Context, order string, fence int64) (parcel string, err error)
}

// Handle ships an order that the queue delivers. It returns when its work has
// ended: what goes on after a handler has returned is frozen with the process.
func (s Shipping) Handle(ctx context.Context, order string) (string, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-Margin))
		defer cancel()
	}
	key, err := ledger.Key("SHIPMENT", order)
	if err != nil {
		return "", err
	}
	done, err := ledger.Do(ctx, s.Seen, ledger.Request{Key: key}, func(ctx context.Context, c *ledger.Claim) (string, error) {
		return s.Book(ctx, order, c.Fence)
	})
	return done.Value, err
}
