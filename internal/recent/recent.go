// Package recent remembers the greatest events that a row has counted, so that
// each counts once: 32 events of 16 bytes, sorted, in one binary attribute.
//
// Events sort by time. So one that is less than the least of a full ring is
// older than all the ring can tell of: it may have been counted and dropped,
// or not, and is refused rather than guessed.
package recent

import (
	"fmt"
	"slices"

	"github.com/homeops/ddbpatterns/event"
)

// Size is how many events a ring holds.
const Size = 32

// Add returns the ring with the event in it and [event.Created]; the ring as
// it is and [event.Duplicate] if the event stands there; or
// [event.ErrTooOld] if the ring is full of greater ones. The empty ring is
// nil. A ring that Add cannot have written is another error.
func Add(ring []byte, ev event.Event) ([]byte, event.Outcome, error) {
	events, err := decode(ring)
	if err != nil {
		return nil, 0, err
	}
	at, found := slices.BinarySearchFunc(events, ev, event.Event.Compare)
	switch {
	case found:
		return ring, event.Duplicate, nil
	case at == 0 && len(events) == Size:
		return nil, 0, event.ErrTooOld
	}
	events = slices.Insert(events, at, ev)
	return encode(events[max(0, len(events)-Size):]), event.Created, nil
}

// decode refuses a ring whose answers could not be trusted.
func decode(ring []byte) ([]event.Event, error) {
	if len(ring)%event.Size != 0 || len(ring) > Size*event.Size {
		return nil, fmt.Errorf("the ring of recent events has %d bytes, not 0 to %d times %d", len(ring), Size, event.Size)
	}
	events := make([]event.Event, 0, Size+1)
	for slot := range slices.Chunk(ring, event.Size) {
		ev := event.Event(slot)
		if n := len(events); n > 0 && events[n-1].Compare(ev) >= 0 {
			return nil, fmt.Errorf("the ring of recent events is out of order at event %d", n)
		}
		events = append(events, ev)
	}
	return events, nil
}

func encode(events []event.Event) []byte {
	ring := make([]byte, 0, len(events)*event.Size)
	for _, ev := range events {
		ring = append(ring, ev[:]...)
	}
	return ring
}
