package stream

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

const (
	portal = 62515
	app    = 54321
	// beyond is an id that a float64 would round to another one.
	beyond = 9007199254740993
)

// hubSpot makes an event.
func (m *maker) hubSpot() *happening {
	n := m.next()
	at := m.now.Add(-time.Duration(m.below(20)) * time.Second).Truncate(time.Second).Add(time.Duration(n%1000) * time.Millisecond)
	switch p := m.below(100); {
	case p < 8:
		return m.creation(n, at)
	case p < 30:
		return m.change(n, at, "contact", 1000+int64(m.below(500)), of(&m.dice, contactProperties...))
	case p < 80:
		return m.change(n, at, "deal", 5000+int64(m.below(300)), of(&m.dice, dealProperties...))
	case p < 84:
		return m.change(n, at, "contact", beyond-int64(m.below(2)), contactProperties[0])
	case p < 88:
		return m.change(n, at, "contact", 1000+int64(m.below(500)), "-") // a property of that name is not the same as no property
	case p < 92:
		return m.merge(n, at)
	case p < 96:
		return m.association(n, at)
	}
	id := 180584432000 + int64(n)
	return m.event(n, at, 31, "object.deletion", fmt.Sprint(id), "-", `"objectId":%d,"objectTypeId":"0-3","changeFlag":"DELETED"`, id).in("objectTypeId=0-3")
}

// property is HubSpot's name for a column, with possible values.
type property struct {
	name, column string
	values       []string
}

var (
	contactStages = []string{"lead", "opportunity", "customer", "evangelist"}
	dealStages    = []string{"appointmentscheduled", "qualifiedtobuy", "contractsent", "closedwon", "closedlost"}
	amounts       = []string{"100", "1500.50", "0.1", "123456789012.34", ""}

	contactProperties = []string{"lifecyclestage", "firstname", "lastname", "email", "phone"}
	dealProperties    = []string{"dealstage", "amount", "dealstage", "amount", "dealname", "pipeline"}

	properties = map[string]property{
		"lifecyclestage": {"lifecyclestage", "stage", contactStages},
		"firstname":      {"firstname", "firstName", []string{"Dee", "Ann", "Zoë"}},
		"lastname":       {"lastname", "lastName", []string{"Ek", "O'Neil", "Ng", ""}},
		"email":          {"email", "email", []string{"dee@example.com", "ann@example.com"}},
		"phone":          {"phone", "phone", []string{"+15550100001", "+15550100003"}},
		"dealstage":      {"dealstage", "stage", dealStages},
		"amount":         {"amount", "amount", amounts},
		"dealname":       {"dealname", "name", []string{"Solar roof", "Heat pump", "\"Big\" one"}},
		"pipeline":       {"pipeline", "pipeline", []string{"default", "renewals"}},
		"-":              {"-", "", []string{"x"}},
	}
)

// change is a change of a property.
func (m *maker) change(n int, at time.Time, object string, id int64, name string) *happening {
	p := properties[name]
	value := of(&m.dice, p.values...)
	part := name
	if name == "-" {
		part = "--" // "-" alone is an absent name
	}
	e := m.event(n, at, 25, object+".propertyChange", fmt.Sprint(id), part,
		`"objectId":%d,"propertyName":%s,"propertyValue":%s`, id, asJSON(name), asJSON(value))
	if p.column != "" {
		e.known = []Known{{fmt.Sprintf("HUBSPOT:%d:%s:%d", portal, strings.ToUpper(object), id), p.column, value, at}}
	}
	return e
}

func (m *maker) creation(n int, at time.Time) *happening {
	id := 20_000 + n
	if m.chance(50) { // ids may come as text
		return m.event(n, at, 22, "contact.creation", fmt.Sprint(id), "-", `"objectId":"%d","changeFlag":"CREATED"`, id)
	}
	return m.event(n, at, 23, "deal.creation", fmt.Sprint(id), "-", `"objectId":%d,"changeFlag":"CREATED"`, id)
}

func (m *maker) merge(n int, at time.Time) *happening {
	one, other, merged := 20_000+n, 30_000_000+n, 40_000_000+n
	if m.chance(50) {
		return m.event(n, at, 40, "contact.merge", fmt.Sprintf("%d-%d", one, merged), "-",
			`"primaryObjectId":%d,"mergedObjectIds":[%d],"newObjectId":%d,"numberOfPropertiesMoved":4`, one, other, merged).in("mergedObjectIds=%d", other)
	}
	return m.event(n, at, 40, "deal.merge", fmt.Sprintf("%d-%d+%d", one, merged, merged+1), "-",
		`"primaryObjectId":%d,"mergedObjectIds":[%d],"newObjectIds":[%d,%d]`, one, other, merged, merged+1).in("mergedObjectIds=%d", other)
}

func (m *maker) association(n int, at time.Time) *happening {
	from, to := 1000+m.below(500), 70+m.below(30)
	return m.event(n, at, 41, "contact.associationChange", fmt.Sprintf("%d-%d", from, to), "-",
		`"associationType":"CONTACT_TO_COMPANY","fromObjectId":%d,"toObjectId":%d,"associationRemoved":false`, from, to).in("associationType=CONTACT_TO_COMPANY")
}

// event makes an event with these fields, and a key with these parts. HubSpot's
// event ids are not unique: here ten consecutive events have the same id.
func (m *maker) event(n int, at time.Time, subscription int, kind, object, part, fields string, args ...any) *happening {
	id := 4_108_526_000 + int64(n/10)
	named := "subscriptionType"
	if n%50 == 0 {
		named = "eventType" // the former name
	}
	head := fmt.Sprintf(`{"eventId":%d,"subscriptionId":%d,"portalId":%d,"appId":%d,"occurredAt":%d,%q:%q,`, id, subscription, portal, app, at.UnixMilli(), named, kind)
	rest := fmt.Sprintf(fields, args...)
	return &happening{
		json: head + rest + `,"changeSource":"CRM_UI","attemptNumber":@}`,
		fact: &fact{key: fmt.Sprintf("HUBSPOT:%d:%d:%s:%s:%s:%d:%d", portal, subscription, kind, object, part, at.UnixMilli(), id)},
	}
}

// in adds details to the key of the fact.
func (h *happening) in(details string, args ...any) *happening {
	h.fact.key += ":" + fmt.Sprintf(details, args...)
	return h
}

// taken makes an event dated before the cutover, and the row that the older
// service wrote for it, in either form. Instead it may make no row, or an expired
// row. Or it dates the event after the cutover, with the row of an earlier event
// like it: the older service cannot have had the event itself.
func (m *maker) taken() (*happening, []OldRow) {
	n := m.next()
	at := Cutover.Add(-time.Duration(1+m.below(7*24*3600)) * time.Second)
	id := 50_000_000 + int64(n)
	row := OldRow{Key: fmt.Sprintf("HUBSPOT:0-3:%d:deal.propertyChange", id)}
	if m.chance(50) {
		row.Key += fmt.Sprintf(":%d", at.UnixMilli())
	}
	p := m.below(100)
	if p >= 85 {
		at = m.now.Truncate(time.Second)
	}
	e := m.change(n, at, "deal", id, "dealstage")
	switch {
	case p < 55:
		e.old = true
	case p < 70:
		row.Expired = true
	case p < 85:
		return e, nil
	}
	return e, []OldRow{row}
}

// batch sends some events at once. Some of them came before, and all of them
// may come again.
func (m *maker) batch() {
	size := 1 + m.below(4)
	switch p := m.below(100); {
	case p < 2:
		size = 100
	case p < 30:
		size = 5 + m.below(16)
	}
	size = min(size, m.left)
	var events []*happening
	var old []OldRow
	for range size {
		switch p := m.below(100); {
		case p < 9 && len(m.recent) > 0:
			events = append(events, of(&m.dice, m.recent...))
		case p < 11:
			e, rows := m.taken()
			events, old = append(events, e), append(old, rows...)
		case p < 13:
			events = append(events, m.badEvent())
		default:
			e := m.hubSpot()
			events = append(events, e)
			m.remember(e)
		}
	}
	r := Request{Path: HubSpotPath, Body: inBatch(events, 0), Old: old}
	m.send(r, events...)
	for attempt := range of(&m.dice, 0, 0, 0, 0, 0, 1, 2) {
		if m.chance(50) {
			m.shuffle(events)
		}
		r := Request{Path: HubSpotPath, Body: inBatch(events, attempt+1)}
		sent := append([]*happening(nil), events...)
		m.later = append(m.later, func() { m.send(r, sent...) })
	}
}

func (m *maker) remember(e *happening) {
	if len(m.recent) < remembered {
		m.recent = append(m.recent, e)
		return
	}
	m.recent[m.below(remembered)] = e
}

func (m *maker) shuffle(events []*happening) {
	for i := len(events) - 1; i > 0; i-- {
		j := m.below(i + 1)
		events[i], events[j] = events[j], events[i]
	}
}

// inBatch returns the body of a batch.
func inBatch(events []*happening, attempt int) string {
	texts := make([]string, len(events))
	for i, e := range events {
		texts[i] = strings.Replace(e.json, `"attemptNumber":@`, fmt.Sprintf(`"attemptNumber":%d`, attempt), 1)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// badEvent makes an unreadable event among readable ones.
func (m *maker) badEvent() *happening {
	good := map[string]any{
		"eventId": 1, "subscriptionId": 25, "portalId": portal, "occurredAt": m.now.UnixMilli(),
		"subscriptionType": "contact.propertyChange", "objectId": 77, "propertyName": "lifecyclestage", "attemptNumber": 0,
	}
	switch field := of(&m.dice, "occurredAt", "objectId", "subscriptionType", "eventId", "portalId", "all", "half", "text"); field {
	case "all":
		return &happening{bad: true, json: "17"}
	case "half":
		good["objectId"] = json.Number("77.5")
	case "text":
		good["occurredAt"] = "yesterday"
	default:
		delete(good, field)
	}
	return &happening{bad: true, json: asJSON(good)}
}

// badHubSpot sends a body that is not a batch. It counts as one refused event.
func (m *maker) badHubSpot() {
	good := inBatch([]*happening{m.hubSpot()}, 0)
	m.send(Request{Path: HubSpotPath, Body: of(&m.dice, good[:len(good)-9], "not JSON", good+"]", `{"eventId":1}`)}, &happening{bad: true})
}
