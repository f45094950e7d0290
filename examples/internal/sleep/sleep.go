// Package sleep waits for a duration, or until a context ends.
package sleep

import (
	"context"
	"time"
)

// For waits for the duration, or until the context ends. Then it returns the
// context's error.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
