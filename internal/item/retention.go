package item

import (
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// mostSkew bounds Retention.MaxSkew.
const mostSkew = 24 * time.Hour

// Retention is how long rows are kept after what they tell of, by a TTL. The
// zero Retention keeps them for ever.
type Retention struct {
	For     time.Duration
	MaxSkew time.Duration // how far the clocks of two callers may differ
}

// Check refuses, in the name of the package's Config, what cannot serve.
func (r Retention) Check(pkg string) error {
	if r.MaxSkew < 0 || r.MaxSkew > mostSkew {
		return event.BadInput(pkg, "Config.MaxSkew", "must not be negative, and at most a day")
	}
	if r.For != 0 && r.For <= r.MaxSkew {
		return event.BadInput(pkg, "Config.Retention", "must be longer than MaxSkew, or 0 to keep for ever")
	}
	return nil
}

// Limited reports whether rows expire at all.
func (r Retention) Limited() bool { return r.For > 0 }

// Expiry is the TTL of what was at the given time, in whole seconds.
func (r Retention) Expiry(at time.Time) time.Time { return at.Add(r.For).Truncate(time.Second) }

// TooOld reports whether what was at the given time may have expired by any
// clock.
func (r Retention) TooOld(at, now time.Time) bool {
	return r.Limited() && !now.Before(r.Expiry(at).Add(-r.MaxSkew))
}
