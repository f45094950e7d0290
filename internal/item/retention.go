package item

import (
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// mostSkew bounds Retention.MaxSkew.
const mostSkew = 24 * time.Hour

// Retention is how long a TTL keeps rows after the time that they are about.
// The zero Retention keeps them for ever.
type Retention struct {
	For     time.Duration
	MaxSkew time.Duration // how far the clocks of two callers may differ
}

// Check refuses an unusable Retention, as bad input of the package's Config.
func (r Retention) Check(pkg string) error {
	if r.MaxSkew < 0 || r.MaxSkew > mostSkew {
		return event.BadInput(pkg, "Config.MaxSkew", "must be between 0 and a day")
	}
	if r.For != 0 && r.For <= r.MaxSkew {
		return event.BadInput(pkg, "Config.Retention", "must be longer than MaxSkew, or 0 to keep for ever")
	}
	return nil
}

// Limited reports whether rows expire at all.
func (r Retention) Limited() bool { return r.For > 0 }

// Expiry is the TTL of a row about the given time, in whole seconds.
func (r Retention) Expiry(at time.Time) time.Time { return at.Add(r.For).Truncate(time.Second) }

// TooOld reports whether a row about the given time may have expired by any
// clock.
func (r Retention) TooOld(at, now time.Time) bool {
	return r.Limited() && !now.Before(r.Expiry(at).Add(-r.MaxSkew))
}
