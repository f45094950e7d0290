package run

import (
	"context"
	"errors"
	"sync"
	"time"
)

// clock is the poster's clock: the wall clock, but its waits can be ended. The
// poster then stops between two posts, never during one.
type clock struct {
	mu    sync.Mutex
	ended chan struct{}
}

func newClock() *clock { return &clock{ended: make(chan struct{})} }

// end ends all waits from now on, until resume.
func (c *clock) end() { close(c.until()) }

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = make(chan struct{})
}

func (c *clock) until() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// errEnding ends a wait of the poster.
var errEnding = errors.New("the service ends")

// Now returns the time.
func (*clock) Now() time.Time { return time.Now() }

// Sleep waits.
func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	ended := c.until()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-ended:
	}
	select { // the end comes first: otherwise a poster that need not wait would go on
	case <-ended:
		return errEnding
	default:
	}
	return ctx.Err()
}
