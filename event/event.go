package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"
)

// Size is the length of an Event in bytes.
const Size = 16

// MaxAhead is how far an event may lie ahead of a store's clock. An event
// further ahead is bad input. If a store accepted such an event, a row that
// keeps its latest event would keep this event, and refuse all events with a
// true time until the time of this event has come.
//
// If the senders' clocks are often wrong, as the clocks of devices are, use the
// time of receipt instead. Take it once, where the message comes in, and keep
// it with the message, so that every delivery has the same time.
//
// If the device itself sends the message again, use ledger.Claim.Event. The time of
// that event is when a key, made of the device and its number for the message, was
// first seen. If the row itself keeps that number, as in docs/status.md, the time of
// receipt is enough.
const MaxAhead = time.Hour

// Event is the identity of something that happened, and a valid ULID. Events
// are comparable with == and can be map keys. The zero Event is not an event. Stores
// refuse it, except Take of package limit: there it means a request without identity.
type Event [Size]byte

// New returns the event that happened at the given time and that the parts
// identify. Its N is 1. Give the most general part first: the system that sends
// the event, then the conversation or account, then the id within that
// conversation or account. Use only parts that the sender repeats on a
// redelivery, such as a message id. Never use a delivery id or an attempt
// number.
//
// The time must be the event's own. New truncates it to milliseconds. New
// returns an [*InputError] for a zero time, a time before 1970 or from
// 10889-08-02T05:31:50.656Z on (too late for a ULID), no parts, or an empty
// part.
func New(at time.Time, parts ...string) (Event, error) {
	if at.IsZero() {
		return Event{}, BadInput("event", "at", "must not be the zero time")
	}
	// The times are compared, not their milliseconds, which overflow.
	if at.Before(time.UnixMilli(0)) || !at.Before(time.UnixMilli(int64(ulid.MaxTime())+1)) {
		return Event{}, BadInput("event", "at", "must lie between 1970 and 10889, is "+at.UTC().Format(time.RFC3339))
	}
	if len(parts) == 0 {
		return Event{}, BadInput("event", "parts", "must have at least one part, which names the event")
	}

	hash := sha256.New()
	for i, part := range parts {
		if part == "" {
			return Event{}, BadInput("event", fmt.Sprintf("parts[%d]", i), "must not be empty: all events in which it is empty would be the same event")
		}
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write([]byte(part))
	}

	var id ulid.ULID
	if err := id.SetTime(uint64(at.UnixMilli())); err != nil {
		return Event{}, BadInput("event", "at", err.Error())
	}

	copy(id[6:15], hash.Sum(nil))
	id[15] = 1
	return Event(id), nil
}

// Parse reads the text form: 26 characters of Crockford's Base32, in upper or
// lower case, of which the first is 0 to 7.
func Parse(text string) (Event, error) {
	id, err := ulid.ParseStrict(text)
	if err != nil {
		return Event{}, BadInput("event", "text", "must be 26 characters of Crockford's Base32, the first 0 to 7")
	}
	return Event(id), nil
}

// String returns the 26 characters of the ULID. The texts of events sort as the
// events do.
func (e Event) String() string { return ulid.ULID(e).String() }

// Time returns when the event happened, to the millisecond, in UTC.
func (e Event) Time() time.Time { return time.UnixMilli(int64(ulid.ULID(e).Time())).UTC() }

// N returns the number that [Event.Nth] has given to the event. It is 1 for the
// event that [New] returned. An Event whose N is 0 is only a lower bound: it
// sorts before all that Nth makes of the event. Stores refuse it.
func (e Event) N() int { return int(e[Size-1]) }

// Nth returns an event for the n-th thing that follows from e, with n from 1 to
// 255. That event has the time of e. Something that happens much later, such as a
// return or a departure, needs an event of its own from [New]. If it had the time
// of e, it would sort before all events that happened in between, and rows that
// have counted those events might refuse it as too old.
//
// Nothing follows from the zero Event, so Nth of the zero Event returns an
// [*InputError].
func (e Event) Nth(n int) (Event, error) {
	if e.IsZero() {
		return Event{}, BadInput("event", "event", "must not be the zero Event: nothing follows from it")
	}
	if n < 1 || n > 255 {
		return Event{}, BadInput("event", "n", "must be 1 to 255, is "+strconv.Itoa(n))
	}
	e[Size-1] = byte(n)
	return e, nil
}

// Compare orders events by time, then by identity, then by N: -1, 0 or +1.
func (e Event) Compare(other Event) int { return bytes.Compare(e[:], other[:]) }

// IsZero reports whether e is the zero Event, which is not an event.
func (e Event) IsZero() bool { return e == Event{} }

// MarshalText returns the text form.
func (e Event) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the text form.
func (e *Event) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*e = parsed
	return nil
}

// Check returns an [*InputError] of the given package and field if a store must
// refuse e: if e is the zero Event, if its N is 0, or if it lies more than
// [MaxAhead] after now, the time of the store's clock.
func (e Event) Check(pkg, field string, now time.Time) error {
	switch {
	case e.IsZero():
		return BadInput(pkg, field, "must be set to the event that causes the write")
	case e.N() == 0:
		return BadInput(pkg, field, "has N = 0, which makes it a bound of a key range and not an event")
	case e.Time().After(now.Add(MaxAhead)):
		return BadInput(pkg, field, "lies more than "+MaxAhead.String()+" ahead of the clock, at "+e.Time().Format(time.RFC3339))
	}
	return nil
}
