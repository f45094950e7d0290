// Package hubspot reads HubSpot's webhooks: their signatures, and the events of a
// batch, each of which is a fact.
//
// The key of an event, both of its delivery and of its fact, is
//
//	HUBSPOT:<portalId>:<subscriptionId>:<subscriptionType>:<object>:<propertyName, or ->:<occurredAt>:<eventId>
//
// because eventId alone may not be unique. The key does not have the attempt
// number, which differs for each delivery. The object is objectId, or else
// fromObjectId-toObjectId, or else, for types that end in .merge, primaryObjectId
// and the ids that it became, joined by +.
package hubspot

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/fields"
	"github.com/homeops/ddbpatterns/ledger"
)

const pkg = "hubspot"

// lastMilli is the end of the year 9999: later times do not sort as text.
const lastMilli = 253402300799999

// mostEvents is how many events a body may have. HubSpot sends 100 at most.
const mostEvents = 10_000

// Events returns the events of a body, in its order. An empty array has no events.
// A body that is not an array, or has over 10,000 events, becomes one refused
// event. An unreadable event is refused with the name of the field that is wrong,
// such as [2].occurredAt; the others are still valid.
//
// A field that is null or empty counts as absent, in keys too. The value of a
// property that HubSpot calls sensitive is left out everywhere except in Raw.
func Events(body []byte) []fact.Event {
	elements, err := fields.Array(pkg, body)
	if len(elements) > mostEvents {
		err = event.BadInput(pkg, "body", fmt.Sprintf("must have at most %d events, has %d", mostEvents, len(elements)))
	}
	if err != nil {
		return []fact.Event{{Source: fact.HubSpot, Raw: body, Err: err}}
	}
	events := make([]fact.Event, len(elements))
	for i, raw := range elements {
		events[i] = read(fields.Open(pkg, fmt.Sprintf("[%d]", i), raw))
		events[i].Source, events[i].Raw = fact.HubSpot, raw
	}
	return events
}

func read(o *fields.Object) fact.Event {
	portal, subscription, id := o.MustDigits("portalId"), o.MustDigits("subscriptionId"), o.MustDigits("eventId")
	kind := kindOf(o)
	on := objectOf(o, portal, kind)
	property := o.Name("propertyName")
	ms, at := occurred(o)
	row := fact.Row{"portal": portal, "type": kind, "object": on.column()}
	if property != "" {
		row["property"] = property
	} else {
		relate(row, o)
	}
	if source := o.Text("changeSource"); source != "" {
		row["changeSource"] = source
	}
	value, sensitive := o.Value("propertyValue"), o.Bool("isSensitive")
	shown := o.Named("propertyValue") && !sensitive
	if shown {
		row["value"] = value
	}
	if o.Err() != nil {
		return fact.Event{Err: o.Err()}
	}
	key, err := ledger.Key(fact.HubSpot, portal, subscription, kind, on.ids, fields.Part(property), ms, id)
	if err != nil {
		o.Refuse("", "makes a key that is too long")
		return fact.Event{Err: o.Err()}
	}
	f := &fact.Fact{Key: key, Table: fact.Changes, At: at, Row: row}
	if shown {
		f.Dimension = on.disclosed(property, value)
	}
	return fact.Event{Delivery: key, At: at, Old: on.old(kind, ms), Fact: f}
}

// relate writes into the columns of a property which association it was, and what
// happened to it.
func relate(row fact.Row, o *fields.Object) {
	removed := o.Bool("associationRemoved")
	if kind := o.Text("associationType"); kind != "" {
		row["property"], row["value"] = kind, "added"
		if removed {
			row["value"] = "removed"
		}
	}
}

// kindOf returns the type. HubSpot's documentation has another name for this field
// than its requests.
func kindOf(o *fields.Object) string {
	if o.Text("subscriptionType") == "" && o.Has("eventType") {
		return o.MustName("eventType")
	}
	return o.MustName("subscriptionType")
}

func occurred(o *fields.Object) (string, time.Time) {
	const name = "occurredAt"
	ms := o.MustDigits(name)
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || n > lastMilli {
		o.Refuse(name, "must be milliseconds since 1970, up to the year 9999")
	}
	return ms, time.UnixMilli(n).UTC()
}

// object is what an event is about.
type object struct {
	ids    string // as in the key
	id     string // objectId; "" if it has none
	typeID string // such as 0-1; "" if it is unknown
	of     dimension
	key    string // in that dimension; "" without one
}

// typeIDs are the ids of the classic types.
var typeIDs = map[string]string{
	"contact": "0-1", "company": "0-2", "deal": "0-3", "ticket": "0-5", "product": "0-7", "line_item": "0-8",
}

func objectOf(o *fields.Object, portal, kind string) object {
	class, _, _ := strings.Cut(kind, ".")
	on := object{id: o.Digits("objectId"), typeID: o.Text("objectTypeId")}
	if on.typeID == "" {
		on.typeID = typeIDs[class]
	}
	switch {
	case on.id != "":
		on.ids = on.id
	case strings.HasSuffix(kind, ".merge"):
		on.ids = o.MustDigits("primaryObjectId") + "-" + merged(o)
	case o.Has("fromObjectId"), o.Has("toObjectId"):
		on.ids = o.MustDigits("fromObjectId") + "-" + o.MustDigits("toObjectId")
	default:
		o.Refuse("objectId", "must be present unless fromObjectId and toObjectId are")
	}
	if class == "object" {
		class = map[string]string{"0-1": "contact", "0-3": "deal"}[on.typeID]
	}
	if d, ok := dimensions[class]; ok && on.id != "" {
		on.of, on.key = d, fact.HubSpot+":"+portal+":"+d.name+":"+on.id // digits need no escaping
	}
	return on
}

// merged returns the ids of a merge.
func merged(o *fields.Object) string {
	if id := o.Digits("newObjectId"); id != "" {
		return id
	}
	return fields.Part(strings.Join(o.AllDigits("newObjectIds"), "+"))
}

// column is how the fact names the object.
func (on object) column() string {
	if on.key != "" {
		return on.key
	}
	return on.ids
}

// old returns the keys of the earlier pipeline, which escaped nothing.
func (on object) old(kind, ms string) []string {
	if on.id == "" || on.typeID == "" {
		return nil
	}
	key := strings.Join([]string{fact.HubSpot, on.typeID, on.id, kind}, ":")
	return []string{key, key + ":" + ms}
}
