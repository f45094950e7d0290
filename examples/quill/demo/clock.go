package demo

import (
	"context"
	"sync"
	"time"
)

// Clock is the time of a replay, which is the time of its requests. Waiting
// moves it.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that shows the time.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Until moves the clock on to a time, never back.
func (c *Clock) Until(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.at) {
		c.at = at
	}
}

// Sleep moves the clock on.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Until(c.Now().Add(max(d, 0)))
	return nil
}
