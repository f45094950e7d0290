// Package fact has the types that quill makes of a webhook: events, the facts among
// them (rows that a report counts), and what they disclose about contacts and
// deals.
package fact

import (
	"encoding/json"
	"time"
)

// These are the sources of webhooks, the first part of every key.
const (
	Aloware = "ALOWARE"
	HubSpot = "HUBSPOT"
)

// Event is one event of a webhook's request, with its key.
type Event struct {
	Source string
	Raw    json.RawMessage // as it came

	// Since is when a refused event that is read again was first received.
	Since time.Time

	// Err says why the event is refused, an *event.InputError. Nothing below is
	// set then.
	Err error
	// Ignored is the kind of a delivery that carries no fact, such as
	// transcription.call.summarized. It is counted and not kept, whatever Err is.
	// Nothing below is set then.
	Ignored string

	// Delivery is the ledger's key: the same when the sender sends the event again.
	Delivery string
	// At is when it happened, by the sender's clock.
	At time.Time
	// Old are the keys that the pipeline before quill may have marked for it.
	Old []string
	// Earlier is the key that an earlier version of quill may have marked for it,
	// "" if that is the Delivery.
	Earlier string

	// Fact is nil for an event that is not a fact, such as a call that still
	// rings. Then Waiting says what the event waits for.
	Fact    *Fact
	Waiting string
	// LeftOut are the fields of the Fact's columns that were wrong. Those columns
	// are absent.
	LeftOut []string
}

// Fact is a row that a report counts.
type Fact struct {
	// Key identifies the fact, which is written once, whatever other events
	// follow.
	Key   string
	Table string // Communications or Changes
	At    time.Time
	// Row has the columns of the table, except those that are added when it is
	// posted: key, batch, at and receivedAt.
	Row Row
	// Dimension is what the event disclosed about a contact or a deal, or nil.
	Dimension *Dimension
}

// Dimension is what an event disclosed about the contact or the deal of its fact.
// Its time is that of the fact.
type Dimension struct {
	Key   string // such as ALOWARE:CONTACT:44500
	Table string // Contacts or Deals
	// Row has the columns that the event named. All others stay as they are. A
	// column that the event emptied is "".
	Row Row
}

// Row is the columns of a row: text is a string, numbers are a json.Number, so that
// money keeps its digits, and times are text in the form of Time. An absent column
// is blank.
type Row map[string]any

// Time formats a time for a column: RFC 3339 in UTC with three decimals, so
// that text sorts as time does.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
