package counter

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

// localDay is a day in the store's zone, with the values that every request
// about it has.
type localDay struct {
	day        tzclock.Date
	start, end time.Time
	expiry     time.Time            // of the day's rows
	date, ttl  types.AttributeValue // the day and the expiry, as they are stored
}

// dayOf returns the local day of an instant. The last day is kept, because most
// events are of the same day as the event before them.
func (s *Store) dayOf(at time.Time) *localDay {
	if last := s.last.Load(); last != nil && !at.Before(last.start) && at.Before(last.end) {
		return last
	}
	day := s.zone.Date(at)
	end := s.zone.End(day)
	expiry := end.Add(s.cfg.Retention)
	d := &localDay{
		day: day, start: s.zone.Start(day), end: end, expiry: expiry,
		date: item.S(day.String()), ttl: item.N(expiry.Unix()),
	}
	s.last.Store(d)
	return d
}
