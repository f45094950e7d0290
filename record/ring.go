package record

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/homeops/ddbpatterns/event"
)

// RingSize is how many events a [Ring] holds.
const RingSize = 32

// Ring remembers the greatest events that a row has counted, so that each counts
// once: 32 events of 16 bytes, sorted, in one binary attribute. The empty ring is
// nil.
//
// Events sort by time. So one that is less than the least of a full ring is
// older than all the ring can tell of: it may have been counted and dropped,
// or not, and is refused rather than guessed.
//
// [Rows.Apply] keeps it. A row with requests of its own keeps one itself: it
// stores what Add returns, under a condition that the ring still is as it was read.
type Ring []byte

// Add returns the ring with the event in it and [event.Created]; the ring as
// it is and [event.Duplicate] if the event stands there; or
// [event.ErrTooOld] if the ring is full of greater ones. A ring that Add cannot
// have written is another error.
func (r Ring) Add(ev event.Event) (Ring, event.Outcome, error) {
	events, err := r.events()
	if err != nil {
		return nil, 0, err
	}
	at, found := slices.BinarySearchFunc(events, ev, event.Event.Compare)
	switch {
	case found:
		return r, event.Duplicate, nil
	case at == 0 && len(events) == RingSize:
		return nil, 0, event.ErrTooOld
	}
	events = slices.Insert(events, at, ev)
	return ringOf(events[max(0, len(events)-RingSize):]), event.Created, nil
}

// drops reports whether any event that the ring takes makes it forget ev.
func (r Ring) drops(ev event.Event) bool {
	return len(r) == RingSize*event.Size && bytes.HasPrefix(r, ev[:])
}

// events refuses a ring whose answers could not be trusted.
func (r Ring) events() ([]event.Event, error) {
	if len(r)%event.Size != 0 || len(r) > RingSize*event.Size {
		return nil, fmt.Errorf("the ring of recent events has %d bytes, not 0 to %d times %d", len(r), RingSize, event.Size)
	}
	events := make([]event.Event, 0, RingSize+1)
	for slot := range slices.Chunk(r, event.Size) {
		ev := event.Event(slot)
		if n := len(events); n > 0 && events[n-1].Compare(ev) >= 0 {
			return nil, fmt.Errorf("the ring of recent events is out of order at event %d", n)
		}
		events = append(events, ev)
	}
	return events, nil
}

func ringOf(events []event.Event) Ring {
	ring := make(Ring, 0, len(events)*event.Size)
	for _, ev := range events {
		ring = append(ring, ev[:]...)
	}
	return ring
}
