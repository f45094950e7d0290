// Package stream makes any number of webhooks of Aloware and HubSpot, and says
// what a service must do with each. It knows this because it made them: it reads
// no body, and shares nothing with the packages that do.
//
//	stream.go   the order in which requests come, and what is expected
//	aloware.go  calls and text messages
//	hubspot.go  batches of events
package stream

import (
	"iter"
	"time"
)

// Cutover is when the service took over from an older one. Start is when the
// first request comes.
var (
	Cutover = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	Start   = Cutover.Add(time.Hour)
)

// These are the paths of the webhooks.
const (
	AlowarePath = "/aloware"
	HubSpotPath = "/hubspot"
)

// Proof says how the sender proves who it is.
type Proof string

// These are the proofs. All except Right must be refused with 401.
const (
	Right   Proof = ""
	Missing Proof = "missing" // no header at all
	Wrong   Proof = "wrong"   // with another secret or password
	Changed Proof = "changed" // for a body that differs by a byte
	Stale   Proof = "stale"   // was right six minutes ago
)

// Request is one request of a webhook. The caller proves it with its own secrets.
type Request struct {
	At    time.Time `json:"at"`
	Path  string    `json:"path"`
	Proof Proof     `json:"proof,omitempty"`
	Body  string    `json:"body"`
	Old   []OldRow  `json:"old,omitempty"`
	Want  Want      `json:"want"`
}

// OldRow is a row that the older service wrote before the cutover, into the same
// table.
type OldRow struct {
	Key     string `json:"key"`
	Expired bool   `json:"expired,omitempty"` // before the request comes
}

// Want is what is right if requests come in this order. The sums are right in
// any order.
type Want struct {
	Received  int `json:"received"`
	New       int `json:"new"`
	Duplicate int `json:"duplicate"`
	Refused   int `json:"refused"`
	Waiting   int `json:"waiting"`
	Ignored   int `json:"ignored,omitempty"`

	Old   int `json:"old,omitempty"`   // duplicates of events that the older service had
	Later int `json:"later,omitempty"` // duplicates that are a later status of a call

	Facts []string `json:"facts,omitempty"` // keys of the new ones
	Known []Known  `json:"known,omitempty"` // what the new ones disclose
}

// Known is the value of a column of a contact or a deal since a time. The latest
// counts.
type Known struct {
	Key    string    `json:"key"`
	Column string    `json:"column"`
	Value  string    `json:"value"`
	At     time.Time `json:"at"`
}

// Of returns requests that together have so many events. The same seed always
// makes the same requests. Of remembers nothing that grows with them.
func Of(seed uint64, events int) iter.Seq[Request] {
	return func(yield func(Request) bool) {
		m := &maker{dice: dice(seed), now: Start, left: events, yield: yield}
		for m.left > 0 && !m.stopped {
			m.step()
		}
	}
}

// These tune the stream.
const (
	remembered = 200 // events that may come again in another batch
	mostLater  = 60  // requests that will come later
)

// maker is the state of making a stream.
type maker struct {
	dice
	now     time.Time
	left    int // events still to make
	made    int // things, each of which has a number
	recent  []*happening
	later   []func()
	yield   func(Request) bool
	stopped bool
}

// happening is one event, which may be sent several times.
type happening struct {
	json  string // for HubSpot, with %d for the attempt
	fact  *fact  // nil for an event that is not a fact, such as a call that rings
	known []Known
	bad   bool
	none  bool // carries no fact
	old   bool // the older service had it
	sent  bool
}

// fact is what must be counted once, even if several events report it.
type fact struct {
	key  string
	made bool
}

// step sends an earlier event again, or something new.
func (m *maker) step() {
	if n := len(m.later); n > 0 && (m.chance(45) || n > mostLater) {
		i := m.below(n)
		send := m.later[i]
		m.later[i] = m.later[n-1]
		m.later = m.later[:n-1]
		send()
		return
	}
	switch p := m.below(100); {
	case p < 40:
		m.call()
	case p < 52:
		m.text()
	case p < 55:
		m.badAloware()
	case p < 58:
		m.forged()
	case p < 60:
		m.badHubSpot()
	default:
		m.batch()
	}
}

// next returns a number that nothing else has.
func (m *maker) next() int {
	m.made++
	return m.made
}

// send sends the request with these events.
func (m *maker) send(r Request, events ...*happening) {
	if m.stopped || len(events) > m.left {
		return
	}
	m.now = m.now.Add(time.Duration(200+m.below(3000)) * time.Millisecond)
	r.At = m.now
	for _, e := range events {
		r.Want.add(e)
	}
	m.left -= len(events)
	m.stopped = !m.yield(r)
}

// add counts an event that is sent.
func (w *Want) add(e *happening) {
	w.Received++
	switch {
	case e.bad:
		w.Refused++
	case e.none:
		w.Ignored++
	case e.sent:
		w.Duplicate++
	case e.old:
		w.Duplicate++
		w.Old++
	case e.fact == nil:
		w.Waiting++
	case e.fact.made:
		w.Duplicate++
		w.Later++
	default:
		w.New++
		w.Facts = append(w.Facts, e.fact.key)
		w.Known = append(w.Known, e.known...)
		e.fact.made = true
	}
	e.sent = true
}

// Add adds what is expected of another request, without its lists.
func (w *Want) Add(v Want) {
	w.Received, w.New, w.Duplicate = w.Received+v.Received, w.New+v.New, w.Duplicate+v.Duplicate
	w.Refused, w.Waiting, w.Ignored = w.Refused+v.Refused, w.Waiting+v.Waiting, w.Ignored+v.Ignored
	w.Old, w.Later = w.Old+v.Old, w.Later+v.Later
}

// forged sends a request that must not be read. Its events come in no other
// way, so that the report would show each that is read.
func (m *maker) forged() {
	proof := []Proof{Missing, Wrong, Changed, Stale}[m.below(4)]
	if m.chance(50) && (proof == Missing || proof == Wrong) {
		c := m.newCall()
		m.send(Request{Path: AlowarePath, Proof: proof, Body: c.body("OutboundPhoneCall-DispositionCompleted", "completed", "completed")})
		return
	}
	m.send(Request{Path: HubSpotPath, Proof: proof, Body: inBatch([]*happening{m.hubSpot()}, 0)})
}

// dice are splitmix64: small, and the same everywhere.
type dice uint64

func (d *dice) next64() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns one of 0 … n-1.
func (d *dice) below(n int) int { return int(d.next64() % uint64(n)) }

// chance is true in so many of 100 cases.
func (d *dice) chance(percent int) bool { return d.below(100) < percent }

// of returns one of the values.
func of[T any](d *dice, all ...T) T { return all[d.below(len(all))] }
