// Package sleep waits, as long as the context goes on.
package sleep

import (
	"context"
	"time"
)

// For waits for so long, or until the context ends: then it returns its error.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
