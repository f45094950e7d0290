package histories_test

import (
	"fmt"
	"sort"
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// ring is what a row of pattern or ema knows about events: the 32 greatest
// numbers. Numbers rise with the events' times.
type ring struct {
	size   int
	events [32]int
}

func (r ring) has(event int) bool {
	at := sort.SearchInts(r.events[:r.size], event)
	return at < r.size && r.events[at] == event
}

// tooOld reports whether the event is too old for the ring to know it.
func (r ring) tooOld(event int) bool { return r.size == len(r.events) && event < r.events[0] }

// plus returns the ring with one more event.
func (r ring) plus(event int) ring {
	all := append(append(make([]int, 0, 33), r.events[:r.size]...), event)
	sort.Ints(all)
	next := ring{size: min(len(all), len(r.events))}
	copy(next.events[:], all[len(all)-next.size:])
	return next
}

// observes is a call of Observe, by pattern and ema.
type observes struct{ event int }

func (o observes) String() string { return fmt.Sprintf("Observe(event %d)", o.event) }

// olderCount is a write of an older system, whose rows have no version.
type olderCount struct{ value float64 }

func (o olderCount) String() string { return fmt.Sprintf("an older system counts %g", o.value) }

// erased is a row that somebody deleted.
type erased struct{}

func (erased) String() string { return "the row is erased" }

// olderBare is an older system's row in which nothing is counted.
type olderBare struct{}

func (olderBare) String() string { return "an older system makes a row" }

// judge returns the answer to an event that the row does not count, nil if it
// would count it.
func (r ring) judge(event int) any {
	switch {
	case r.has(event):
		return duplicate{}
	case r.tooOld(event):
		return tooOld{}
	}
	return nil
}

// when returns the time of an event. Events are ten hours apart, so that days
// and hours differ.
func when(n int) time.Time { return epoch.Add(time.Duration(n-60) * 10 * time.Hour) }

func numbered(n int) event.Event {
	ev, err := event.New(when(n), "event", fmt.Sprint(n))
	if err != nil {
		panic(err)
	}
	return ev
}
