package replay

import (
	"sync/atomic"
	"time"
)

// clock is the updates' clock: it shows when the update at hand came in, and
// never goes back.
type clock struct{ at atomic.Pointer[time.Time] }

// newClock shows the time at which the updates begin, or the Unix epoch if they
// have no dates.
func newClock(at time.Time) *clock {
	if at.IsZero() {
		at = time.Unix(0, 0).UTC()
	}
	c := new(clock)
	c.at.Store(&at)
	return c
}

func (c *clock) now() time.Time { return *c.at.Load() }

// until moves the clock forward to the given time, if that is later.
func (c *clock) until(at time.Time) {
	if at.After(c.now()) {
		c.at.Store(&at)
	}
}

func (c *clock) advance(d time.Duration) { c.until(c.now().Add(d)) }
