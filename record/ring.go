package record

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/homeops/ddbpatterns/event"
)

// ringSize is how many events a ring holds at most.
const ringSize = 32

// counted is the ring of the latest events that a row has counted, so that each event
// counts once. It is the value of one binary attribute, with up to 32 events of
// 16 bytes, sorted. The empty ring is nil.
//
// Events sort by time. If a ring is full, it cannot judge an event that is
// earlier than all events in it: the event may have been counted and then
// dropped from the ring. Add refuses such an event.
type counted []byte

// Add returns the ring with the event in it, and [event.Created]. If the event
// is in the ring already, Add returns the ring unchanged, and
// [event.Duplicate]. If the ring is full of later events, the error is
// [event.ErrTooOld]. Any other error means that the bytes of r are not a ring
// that Add made.
func (r counted) Add(ev event.Event) (counted, event.Outcome, error) {
	events, err := r.events()
	if err != nil {
		return nil, 0, err
	}

	at, found := slices.BinarySearchFunc(events, ev, event.Event.Compare)
	switch {
	case found:
		return r, event.Duplicate, nil
	case at == 0 && len(events) == ringSize:
		return nil, 0, event.ErrTooOld
	}

	events = slices.Insert(events, at, ev)
	return ringOf(events[max(0, len(events)-ringSize):]), event.Created, nil
}

// drops reports whether the next event makes the ring forget ev.
func (r counted) drops(ev event.Event) bool {
	return len(r) == ringSize*event.Size && bytes.HasPrefix(r, ev[:])
}

// events reads the ring's events, which ascend. It refuses bytes that Add cannot
// have made.
func (r counted) events() ([]event.Event, error) {
	if len(r)%event.Size != 0 || len(r) > ringSize*event.Size {
		return nil, fmt.Errorf("the ring of recent events has %d bytes, and must have %d for each of at most %d events", len(r), event.Size, ringSize)
	}

	events := make([]event.Event, 0, ringSize+1) // one more for Add
	for slot := range slices.Chunk(r, event.Size) {
		ev := event.Event(slot)
		if n := len(events); n > 0 && events[n-1].Compare(ev) >= 0 {
			return nil, fmt.Errorf("the ring of recent events is out of order at event %d", n)
		}
		events = append(events, ev)
	}

	return events, nil
}

func ringOf(events []event.Event) counted {
	ring := make(counted, 0, len(events)*event.Size)
	for _, ev := range events {
		ring = append(ring, ev[:]...)
	}
	return ring
}
