package cookbook

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/ledger"
)

// Settings that depend on each other.
const (
	Timeout    = 30 * time.Second // of the function
	Visibility = 6 * Timeout      // of its queue
	Lease      = time.Minute      // Lease + MaxSkew is at most Visibility - Timeout
	Margin     = 2 * time.Second  // at the end of each invocation, to report a failure
)

// Shipping is a Lambda function. It is made once, before the first invocation.
type Shipping struct {
	Seen *ledger.Store // with this Lease in its Config
	// Book books the parcel of an order in place of one that an earlier fence has
	// booked, and refuses a fence when it has seen a later one.
	Book func(ctx context.Context, order string, fence int64) (parcel string, err error)
}

// Handle ships an order that the queue delivers. It returns when its work has
// ended: work that outlives its handler is frozen with the process.
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
