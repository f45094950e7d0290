// Package failures is the worker of docs/failures.md. Its tests let it fail in six
// ways and draw what it sent, and what DynamoDB answered.
package failures

import (
	"context"
	"errors"
	"time"

	"github.com/homeops/ddbpatterns/ledger"
)

// Worker charges each order that a payment provider's webhook delivers.
type Worker struct {
	Seen *ledger.Store
	// Charge does the work. It refuses a fence that is lower than one it has seen.
	Charge func(ctx context.Context, order string, fence int64) (receipt string, err error)
}

// Answer is what the provider is told.
type Answer struct {
	Receipt string
	Wait    time.Duration // another worker has the order: deliver it again after that
}

// Deliver may be called again for the same order, by any worker. An error is
// trouble: let the provider deliver again.
func (w Worker) Deliver(ctx context.Context, order string) (Answer, error) {
	key, err := ledger.Key("ORDER", order)
	if err != nil {
		return Answer{}, err
	}
	res, err := ledger.Do(ctx, w.Seen, ledger.Request{Key: key}, func(ctx context.Context, c *ledger.Claim) (string, error) {
		return w.Charge(ctx, order, c.Fence)
	})
	var busy *ledger.InProgressError
	if errors.As(err, &busy) {
		return Answer{Wait: busy.Wait}, nil
	}
	return Answer{Receipt: res.Value}, err
}
