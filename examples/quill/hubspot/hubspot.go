// Package hubspot reads HubSpot's webhooks: their signatures, and the events of a
// batch, each of which is a fact.
//
// The key of an event, both of its delivery and of its fact, is
//
//	HUBSPOT:<portalId>:<subscriptionId>:<subscriptionType>:<object>:<propertyName, or ->:<occurredAt>:<eventId>[:<details>]
//
// because HubSpot says that eventId is not unique. The key does not have the attempt
// number, which differs for each delivery. The object is objectId, or else
// fromObjectId-toObjectId, or else, for types that end in .merge, primaryObjectId
// and the ids that it became, joined by +. The details are the other fields that say
// what happened: see details.go.
package hubspot

import (
	"cmp"
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
	details := detailsOf(o)
	on := objectOf(o, details, portal, kind)
	property := o.Name("propertyName")
	ms, at := occurred(o)
	row := fact.Row{"portal": portal, "type": kind, "object": on.column()}
	if property != "" {
		row["property"] = property
	} else {
		details.tell(row, on)
	}
	may := o.Optional()
	if source := may.Text("changeSource"); source != "" {
		row["changeSource"] = source
	}
	value, shown := shownOf(o, may)
	if shown {
		row["value"] = value
	}
	if o.Err() != nil {
		return fact.Event{Err: o.Err()}
	}
	parts := []string{fact.HubSpot, portal, subscription, kind, on.ids, fields.Part(property), ms, id}
	key, err := ledger.Key(parts...)
	earlier := ""
	if said := details.key(on); said != "" && err == nil {
		earlier = key
		key, err = ledger.Key(append(parts, said)...)
	}
	if err != nil {
		o.Refuse("", "makes a key that is too long")
		return fact.Event{Err: o.Err()}
	}
	f := &fact.Fact{Key: key, Table: fact.Changes, At: at, Row: row}
	if shown {
		f.Dimension = on.disclosed(property, value)
	}
	return fact.Event{Delivery: key, At: at, Old: on.old(kind, ms), Earlier: earlier, Fact: f, LeftOut: may.LeftOut()}
}

// shownOf returns the value of a property, and false if the event has none that may
// be shown. An unreadable isSensitive counts as true.
func shownOf(o, may *fields.Object) (value string, shown bool) {
	known := len(may.LeftOut())
	value, sensitive := may.Value("propertyValue"), may.Bool("isSensitive")
	return value, o.Named("propertyValue") && !sensitive && len(may.LeftOut()) == known
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
	ids    string   // as in the key
	from   []string // the fields of which ids is made, and what the kind of event says
	name   string   // in a column, unless it has a key
	id     string   // objectId; "" if it has none
	typeID string   // such as 0-1; "" if it is unknown
	of     dimension
	key    string // in that dimension; "" without one
}

// typeIDs are the ids of the classic types.
var typeIDs = map[string]string{
	"contact": "0-1", "company": "0-2", "deal": "0-3", "ticket": "0-5", "product": "0-7", "line_item": "0-8",
}

func objectOf(o *fields.Object, d details, portal, kind string) object {
	class, _, _ := strings.Cut(kind, ".")
	on := object{id: o.Digits("objectId"), typeID: o.Text("objectTypeId")}
	switch {
	case on.id != "":
		on.ids, on.name = on.id, on.id
	case strings.HasSuffix(kind, ".merge"):
		field, into := merged(d)
		on.ids, on.from = o.MustDigits("primaryObjectId")+"-"+into, []string{"primaryObjectId", field}
		on.name = on.ids
	case o.Has("fromObjectId"), o.Has("toObjectId"):
		on.ids, on.from = o.MustDigits("fromObjectId")+"-"+o.MustDigits("toObjectId"), []string{"fromObjectId", "toObjectId"}
		on.name = d.ends()
	default:
		o.Refuse("objectId", "must be present unless fromObjectId and toObjectId are")
	}
	if classic := typeIDs[class]; classic != "" {
		on.typeID = cmp.Or(on.typeID, classic)
		on.from = append(on.from, "objectTypeId")
	} else if on.id != "" {
		on.name = ofType(on.typeID, on.id)
	}
	if class == "object" {
		class = map[string]string{"0-1": "contact", "0-3": "deal"}[on.typeID]
	}
	if d, ok := dimensions[class]; ok && on.id != "" {
		on.of, on.key = d, fact.HubSpot+":"+portal+":"+d.name+":"+on.id // digits need no escaping
	}
	return on
}

// merged returns the ids of what a merge made, and their field.
func merged(d details) (field, ids string) {
	if id := d["newObjectId"]; id != "" {
		return "newObjectId", id
	}
	return "newObjectIds", fields.Part(d["newObjectIds"])
}

// column is how the fact names the object.
func (on object) column() string {
	if on.key != "" {
		return on.key
	}
	return on.name
}

// old returns the keys of the earlier pipeline, which escaped nothing.
func (on object) old(kind, ms string) []string {
	if on.id == "" || on.typeID == "" {
		return nil
	}
	key := strings.Join([]string{fact.HubSpot, on.typeID, on.id, kind}, ":")
	return []string{key, key + ":" + ms}
}
