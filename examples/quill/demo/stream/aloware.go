package stream

import (
	"encoding/json"
	"fmt"
	"time"
)

// These are Aloware's numbers for types of communication.
const (
	typeCall = 1
	typeText = 2
)

// communication is a call or a text message.
type communication struct {
	id      int
	kind    int
	created time.Time
	contact int
	seconds int
	fact    *fact
	old     bool
}

func (m *maker) newCall() communication {
	id := 985_000_000 + m.next()
	c := communication{id: id, kind: typeCall, created: m.ago(90), contact: 44_500 + m.below(400), seconds: 5 + m.below(900)}
	c.fact = &fact{key: fmt.Sprintf("ALOWARE:CALL:%d", id)}
	return c
}

// ago returns a whole second, at most so many seconds before now.
func (m *maker) ago(seconds int) time.Time {
	return m.now.Add(-time.Duration(m.below(seconds)) * time.Second).Truncate(time.Second)
}

// call sends the webhooks of a call that rings and ends. Either webhook may
// come first, come again, or not come at all, and some calls end twice. Some are
// followed by what was said.
func (m *maker) call() {
	c := m.newCall()
	name := of(&m.dice, "OutboundPhoneCall-DispositionCompleted", "InboundPhoneCall-DispositionCompleted", "OutboundPhoneCall-DispositionCompleted", "InboundSMS-DispositionCompleted", "Call: 100% done")
	var old []OldRow
	if m.chance(8) {
		old = m.beforeCutover(&c)
	}
	ended := of(&m.dice, "completed", "completed", "completed", "voicemail", "missed", "no-answer", "NO_ANSWER", "failed", "busy", "canceled")
	events := []*happening{m.status(c, name, of(&m.dice, "ringing", "in-progress", "In Progress"), "in-progress"), m.status(c, name, ended, "completed")}
	if m.chance(15) {
		events[0], events[1] = events[1], events[0]
	}
	if m.chance(12) {
		events = append(events, m.status(c, name, "abandoned", "-"))
	}
	for i, e := range events {
		r := Request{Path: AlowarePath, Body: e.json}
		if i == 0 {
			m.send(Request{Path: r.Path, Body: r.Body, Old: old}, e) // the rows existed before
		} else {
			m.later = append(m.later, func() { m.send(r, e) })
		}
		m.again(func() { m.send(r, e) })
	}
	if m.chance(15) {
		body := fmt.Sprintf(`{"event":"transcription.call.summarized","body":{"summary":"Yes, call me","communication":{"id":%d,"type":1}}}`, c.id)
		m.later = append(m.later, func() { m.send(Request{Path: AlowarePath, Body: body}, &happening{none: true}) })
	}
}

// again sends something again later, sometimes twice.
func (m *maker) again(send func()) {
	for range of(&m.dice, 0, 0, 0, 0, 1, 2) {
		m.later = append(m.later, send)
	}
}

// beforeCutover dates a call before the cutover. Either the older service had it,
// or did not, or had it so long ago that its row has expired.
func (m *maker) beforeCutover(c *communication) []OldRow {
	c.created = Cutover.Add(-time.Duration(1+m.below(7*24*3600)) * time.Second)
	row := OldRow{Key: fmt.Sprintf("ALOWARE:%d", c.id)}
	switch p := m.below(100); {
	case p < 60:
		c.old = true
	case p < 80:
		row.Expired = true
	default:
		return nil
	}
	return []OldRow{row}
}

// text sends a text message.
func (m *maker) text() {
	c := m.newCall()
	c.kind, c.fact = typeText, &fact{key: fmt.Sprintf("ALOWARE:SMS:%d", c.id)}
	e := m.status(c, of(&m.dice, "InboundSMS-DispositionCompleted", "OutboundSMS-DispositionCompleted"), "completed", "completed")
	r := Request{Path: AlowarePath, Body: e.json}
	m.send(r, e)
	m.again(func() { m.send(r, e) })
}

// status is an event of a communication.
func (m *maker) status(c communication, name, current, disposition string) *happening {
	e := &happening{json: c.body(name, current, disposition), old: c.old}
	switch current {
	case "ringing", "in-progress", "In Progress":
	default:
		e.fact = c.fact
		key := fmt.Sprintf("ALOWARE:CONTACT:%d", c.contact)
		e.known = []Known{
			{key, "firstName", c.first(), c.created},
			{key, "phone", c.phone(), c.created},
		}
	}
	return e
}

// first returns the contact's first name, which changes now and then.
func (c communication) first() string {
	names := []string{"Dee", "Ann", "Zoë", "李"}
	return names[(c.contact+int(c.created.Unix()/7200))%len(names)]
}

func (c communication) phone() string { return fmt.Sprintf("+1555%07d", c.contact) }

// body is Aloware's envelope.
func (c communication) body(name, current, disposition string) string {
	type contact struct {
		ID        int     `json:"id"`
		FirstName string  `json:"first_name"`
		LastName  *string `json:"last_name"`
		Phone     string  `json:"phone_number"`
	}
	inner := map[string]any{
		"id": c.id, "type": c.kind, "direction": 1 + c.id%2, "created_at": c.created.Format(time.DateTime),
		"contact_id": c.contact, "campaign_id": 65345, "user_id": nil,
		"lead_number": c.phone(), "incoming_number": "+15550100002",
		"current_status": current, "disposition_status": disposition,
		"contact": contact{ID: c.contact, FirstName: c.first(), Phone: c.phone()},
	}
	if c.kind == typeCall {
		inner["duration"], inner["talk_time"] = c.seconds, c.seconds/2
	} else {
		inner["body"] = "Yes, call me 👋"
	}
	return asJSON(map[string]any{"event": name, "body": inner})
}

// badAloware sends an unreadable body, sometimes twice. It is refused each time.
func (m *maker) badAloware() {
	c := m.newCall()
	good := c.body("InboundPhoneCall-DispositionCompleted", "completed", "completed")
	c.kind = 3
	body := of(&m.dice,
		good[:len(good)/2], // torn off
		"not JSON",
		"[]",
		`{"event":"InboundPhoneCall-DispositionCompleted","body":{"type":1,"current_status":"completed","disposition_status":"completed","created_at":"2026-11-21 06:00:00"}}`, // no id
		c.body("InboundPhoneCall-DispositionCompleted", "completed", "completed"),
		func() string {
			c.kind = typeCall
			return c.body("InboundPhoneCall-DispositionCompleted", "levitating", "completed")
		}(),
	)
	e := &happening{bad: true}
	m.send(Request{Path: AlowarePath, Body: body}, e)
	if m.chance(30) {
		m.later = append(m.later, func() { m.send(Request{Path: AlowarePath, Body: body}, e) })
	}
}

// asJSON writes a value that JSON can always represent.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
