// Package aloware reads Aloware's webhooks: it checks who sent them, reads what
// they say, and decides which of them are facts.
//
// A call comes several times under one id: while it rings and when it has ended.
// Each of these is a delivery of its own,
//
//	ALOWARE:<event>:<id>:<current_status>:<disposition_status, or ->
//
// and all of them are one fact, ALOWARE:CALL:<id>. The first status that ends the
// call makes the fact. The type says that it is a call, not the name of the event:
// calls have come with the event name of a text message. In the same way a text
// message is a fact, ALOWARE:SMS:<id>.
package aloware

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/fields"
	"github.com/homeops/ddbpatterns/ledger"
)

const pkg = "aloware"

// Reader reads bodies. The zero Reader knows the usual statuses.
type Reader struct {
	// Terminal are further statuses that end a call. They come before those that
	// quill knows.
	Terminal []string
}

// These are statuses, as plain writes them. A text message's status may stop at
// "sent": not every carrier reports more.
var (
	ends = []string{
		"abandoned", "busy", "canceled", "cancelled", "completed", "deadend", "failed", "missed", "noanswer", "voicemail",
		"delivered", "received", "sent", "undelivered",
	}
	goesOn = []string{
		"answered", "connecting", "dialing", "hold", "initiated", "inprogress", "onhold", "queued", "ringing",
		"transferring", "wrapup", "accepted", "receiving", "scheduled", "sending",
	}
)

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// plain removes what does not matter in comparing statuses.
func plain(status string) string { return strings.ToLower(separators.Replace(status)) }

// Events returns the one event of a body. A refused event names the field that is
// wrong. If nobody has said whether a status ends the call, the event is refused,
// too, because it must be neither lost nor counted wrong.
//
// A field that is null or empty counts as absent, in keys too. Times are UTC, as
// 2006-01-02 15:04:05, or RFC 3339.
func (r Reader) Events(body []byte) []fact.Event {
	e := fact.Event{Source: fact.Aloware, Raw: body}
	top := fields.Open(pkg, "", body)
	if e.Ignored = ignored(top); e.Ignored != "" {
		return []fact.Event{e}
	}
	name := top.MustName("event")
	call := top.Object("body")
	may := call.Optional()
	id := call.MustDigits("id")
	status, ended := r.status(call)
	disposition := may.Name("disposition_status")
	at := created(call)
	f := factOf(call, may, name, id, at)
	delivery, err := ledger.Key(fact.Aloware, name, id, status, fields.Part(disposition))
	if err != nil {
		call.Refuse("", "makes a key that is too long")
	}
	if e.Err = top.Err(); e.Err != nil {
		return []fact.Event{e}
	}
	e.Delivery, e.At, e.Old = delivery, at, []string{fact.Aloware + ":" + id}
	if ended {
		e.Fact, e.LeftOut = f, may.LeftOut()
		f.Row["status"] = status
		if disposition != "" {
			f.Row["disposition"] = disposition
		}
	} else {
		e.Waiting = status
	}
	return []fact.Event{e}
}

// codes are what the numbers in current_status2 mean, as far as they have been seen.
var codes = map[string]string{"1": "initiated", "2": "ringing", "9": "completed", "19": "failed"}

// status returns the status, and whether it ends the call. The first delivery of a
// call has only current_status2.
func (r Reader) status(call *fields.Object) (status string, ended bool) {
	field := "current_status"
	if status = call.Name(field); status == "" && call.Has("current_status2") {
		field = "current_status2"
		code := call.MustDigits(field)
		status = cmp.Or(codes[code], code)
	}
	is := plain(status)
	switch {
	case status == "":
		call.Refuse(field, "must be a text that is not empty")
	case slices.Contains(ends, is), slices.ContainsFunc(r.Terminal, func(other string) bool { return plain(other) == is }):
		return status, true
	case !slices.Contains(goesOn, is):
		call.Refuse(field, fmt.Sprintf("is %.40q, which quill does not know: if it ends a call, add it to ALOWARE_TERMINAL_STATUSES", status))
	}
	return status, false
}

func created(call *fields.Object) time.Time {
	const name = "created_at"
	text := call.Text(name)
	at, err := time.Parse(time.DateTime, text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	at = at.UTC()
	if err != nil || at.Year() < 1970 || at.Year() > 9999 {
		call.Refuse(name, "must be a time such as 2026-11-21 06:00:00 in UTC, or RFC 3339")
	}
	return at
}

// factOf returns the fact that the call makes when it ends. A column that is wrong is
// left out, because the call has ended all the same.
func factOf(call, may *fields.Object, name, id string, at time.Time) *fact.Fact {
	kind := oneOf(call, "type", "CALL", "SMS")
	if kind == "" {
		call.Refuse("type", "must be 1, a call, or 2, a text message")
	}
	row := fact.Row{"kind": kind, "id": id, "event": name}
	if direction := oneOf(may, "direction", "in", "out"); direction != "" {
		row["direction"] = direction
	}
	for column, field := range map[string]string{"seconds": "duration", "talkSeconds": "talk_time"} {
		if n, ok := may.Whole(field); ok {
			row[column] = n
		}
	}
	for column, field := range map[string]string{"campaign": "campaign_id", "user": "user_id"} {
		if id := may.Digits(field); id != "" {
			row[column] = id
		}
	}
	contact, disclosed := contactOf(may)
	if contact != "" {
		row["contact"] = contact
	}
	return &fact.Fact{
		Key:   fact.Aloware + ":" + kind + ":" + id, // words and digits need no escaping
		Table: fact.Communications, At: at, Row: row, Dimension: disclosed,
	}
}

// oneOf returns what 1 and 2 stand for.
func oneOf(call *fields.Object, name, one, two string) string {
	switch call.Digits(name) {
	case "":
		return ""
	case "1":
		return one
	case "2":
		return two
	}
	call.Refuse(name, "must be 1 or 2")
	return ""
}

// contactOf returns the key of the contact, and what the call disclosed about it.
// Null in a contact empties the column. If the contact does not name its phone, the
// lead's number is its phone.
func contactOf(call *fields.Object) (string, *fact.Dimension) {
	id := call.Digits("contact_id")
	row := fact.Row{}
	if call.Has("contact") {
		contact := call.Object("contact")
		inner := contact.Digits("id")
		if id != "" && inner != "" && id != inner {
			contact.Refuse("id", "must be the call's contact_id")
			return "", nil // nobody knows whose call it is
		}
		id = cmp.Or(id, inner)
		for column, field := range map[string]string{"firstName": "first_name", "lastName": "last_name", "phone": "phone_number"} {
			if contact.Named(field) {
				row[column] = contact.Text(field)
			}
		}
	}
	lead := call.Text("lead_number")
	if _, named := row["phone"]; !named && lead != "" {
		row["phone"] = lead
	}
	switch {
	case id == "":
		return "", nil
	case len(row) == 0:
		return contactKey(id), nil
	}
	return contactKey(id), &fact.Dimension{Key: contactKey(id), Table: fact.Contacts, Row: row}
}

func contactKey(id string) string { return fact.Aloware + ":CONTACT:" + id }
