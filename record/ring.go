package record

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/homeops/ddbpatterns/event"
)

// RingSize is how many events a [Ring] holds at most.
const RingSize = 32

// Ring remembers the latest events that a row has counted, so that each event
// counts once. It is the value of one binary attribute, with up to 32 events of
// 16 bytes, sorted. The empty ring is nil.
//
// Events sort by time. If a ring is full, it cannot judge an event that is
// earlier than all events in it: the event may have been counted and then
// dropped from the ring. Add refuses such an event.
//
// [Rows.Apply] keeps the ring of its row. If you write rows with requests of your
// own, store the ring that Add returns. Make the request conditional: the row must
// still hold the ring that you read.
type Ring []byte

// Add returns the ring with the event in it, and [event.Created]. If the event
// is in the ring already, Add returns the ring unchanged, and
// [event.Duplicate]. If the ring is full of later events, the error is
// [event.ErrTooOld]. Any other error means that the bytes of r are not a ring
// that Add made.
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

// drops reports whether the next event makes the ring forget ev.
func (r Ring) drops(ev event.Event) bool {
	return len(r) == RingSize*event.Size && bytes.HasPrefix(r, ev[:])
}

// events refuses a ring whose answers could not be trusted.
func (r Ring) events() ([]event.Event, error) {
	if len(r)%event.Size != 0 || len(r) > RingSize*event.Size {
		return nil, fmt.Errorf("the ring of recent events has %d bytes, and must have %d for each of at most %d events", len(r), event.Size, RingSize)
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
