package aloware_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

const (
	sms       = `{"event":"InboundSMS-DispositionCompleted","body":{"id":985097001,"type":2,"direction":1,"body":"Yes, call me","created_at":"2026-11-21 06:00:00","contact_id":44500,"campaign_id":65345,"lead_number":"+15550100001","incoming_number":"+15550100002","current_status":"completed","disposition_status":"completed","user_id":null,"contact":{"id":44500,"first_name":"Dee","last_name":null,"phone_number":"+15550100001","uuid_v4":null}}}`
	ringing   = `{"event":"OutboundPhoneCall-DispositionCompleted","body":{"id":985097163,"type":1,"direction":2,"created_at":"2026-11-21 06:01:00","contact_id":44500,"campaign_id":65345,"lead_number":"+15550100001","incoming_number":"+15550100002","current_status":"ringing","disposition_status":"in-progress","duration":0,"talk_time":0}}`
	completed = `{"event":"OutboundPhoneCall-DispositionCompleted","body":{"id":985097163,"type":1,"direction":2,"created_at":"2026-11-21 06:01:00","contact_id":44500,"campaign_id":65345,"lead_number":"+15550100001","incoming_number":"+15550100002","current_status":"completed","disposition_status":"completed","duration":33,"talk_time":8}}`
)

// only returns the event of a valid body, without the raw event.
func only(t *testing.T, body string) fact.Event {
	t.Helper()
	e := one(t, body)
	if e.Err != nil {
		t.Fatalf("%s: %v", body, e.Err)
	}
	if string(e.Raw) != body {
		t.Errorf("Raw = %s", e.Raw)
	}
	e.Raw = nil
	return e
}

func one(t *testing.T, body string) fact.Event {
	t.Helper()
	events := aloware.Reader{}.Events([]byte(body))
	if len(events) != 1 {
		t.Fatalf("%s: %d events", body, len(events))
	}
	return events[0]
}

func TestATextMessage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	want := fact.Event{
		Source: fact.Aloware, At: at, Old: []string{"ALOWARE:985097001"},
		Delivery: "ALOWARE:InboundSMS-DispositionCompleted:985097001:completed:completed",
		Fact: &fact.Fact{
			Key: "ALOWARE:SMS:985097001", Table: fact.Communications, At: at,
			Row: fact.Row{
				"kind": "SMS", "id": "985097001", "event": "InboundSMS-DispositionCompleted", "direction": "in",
				"status": "completed", "disposition": "completed", "contact": "ALOWARE:CONTACT:44500", "campaign": "65345",
			},
			Dimension: &fact.Dimension{
				Key: "ALOWARE:CONTACT:44500", Table: fact.Contacts,
				Row: fact.Row{"firstName": "Dee", "lastName": "", "phone": "+15550100001"},
			},
		},
	}
	if diff := cmp.Diff(want, only(t, sms)); diff != "" {
		t.Error(diff)
	}
}

// The earlier pipeline had one key for both, and so lost the call.
func TestACallThatRingsIsNoFactYet(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 6, 1, 0, 0, time.UTC)
	rings := fact.Event{
		Source: fact.Aloware, At: at, Old: []string{"ALOWARE:985097163"}, Waiting: "ringing",
		Delivery: "ALOWARE:OutboundPhoneCall-DispositionCompleted:985097163:ringing:in-progress",
	}
	if diff := cmp.Diff(rings, only(t, ringing)); diff != "" {
		t.Error(diff)
	}
	ended := fact.Event{
		Source: fact.Aloware, At: at, Old: []string{"ALOWARE:985097163"},
		Delivery: "ALOWARE:OutboundPhoneCall-DispositionCompleted:985097163:completed:completed",
		Fact: &fact.Fact{
			Key: "ALOWARE:CALL:985097163", Table: fact.Communications, At: at,
			Row: fact.Row{
				"kind": "CALL", "id": "985097163", "event": "OutboundPhoneCall-DispositionCompleted", "direction": "out",
				"status": "completed", "disposition": "completed", "seconds": json.Number("33"), "talkSeconds": json.Number("8"),
				"contact": "ALOWARE:CONTACT:44500", "campaign": "65345",
			},
			Dimension: &fact.Dimension{Key: "ALOWARE:CONTACT:44500", Table: fact.Contacts, Row: fact.Row{"phone": "+15550100001"}},
		},
	}
	if diff := cmp.Diff(ended, only(t, completed)); diff != "" {
		t.Error(diff)
	}
}

// call returns the completed call with fields of its body replaced, or left out
// for "".
func call(t *testing.T, fields map[string]string) string {
	t.Helper()
	var all struct {
		Event string                     `json:"event"`
		Body  map[string]json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal([]byte(completed), &all); err != nil {
		t.Fatal(err)
	}
	for name, raw := range fields {
		all.Body[name] = json.RawMessage(raw)
		if raw == "" {
			delete(all.Body, name)
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestTheTypeDecidesNotTheName(t *testing.T) {
	t.Parallel()
	e := only(t, strings.Replace(completed, "OutboundPhoneCall", "OutboundSMS", 1))
	if e.Fact.Key != "ALOWARE:CALL:985097163" || e.Fact.Row["event"] != "OutboundSMS-DispositionCompleted" {
		t.Errorf("%+v", e.Fact)
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	for status, ends := range map[string]bool{
		"completed": true, "Completed": true, "missed": true, "abandoned": true, "VOICEMAIL": true, "failed": true, "busy": true,
		"no-answer": true, "No Answer": true, "no_answer": true, "canceled": true, "cancelled": true, "dead-end": true,
		"received": true, "sent": true, "delivered": true, "undelivered": true,
		"ringing": false, "in-progress": false, "In Progress": false, "queued": false, "initiated": false, "on_hold": false,
		"hold": false, "transferring": false, "answered": false, "connecting": false, "dialing": false, "wrap-up": false,
		"accepted": false, "receiving": false, "scheduled": false, "sending": false,
	} {
		e := only(t, call(t, map[string]string{"current_status": `"` + status + `"`}))
		if ends != (e.Fact != nil) || ends != (e.Waiting == "") {
			t.Errorf("%q: the fact is %v, waiting for %q", status, e.Fact, e.Waiting)
		}
		if !ends && e.Waiting != status || ends && e.Fact.Row["status"] != status {
			t.Errorf("%q stands otherwise than it came: %+v", status, e)
		}
		if want := "ALOWARE:OutboundPhoneCall-DispositionCompleted:985097163:" + status + ":completed"; e.Delivery != want {
			t.Errorf("%q has the key %s", status, e.Delivery)
		}
	}
}

func TestAnUnknownStatusIsRefusedUntilItIsSaidToEndACall(t *testing.T) {
	t.Parallel()
	body := call(t, map[string]string{"current_status": `"parked"`})
	const want = `aloware: body.current_status is "parked", which quill does not know: if it ends a call, add it to ALOWARE_TERMINAL_STATUSES`
	if err := one(t, body).Err; err == nil || err.Error() != want {
		t.Error(err)
	}
	if e := (aloware.Reader{Terminal: []string{"x", "PAR-KED"}}).Events([]byte(body))[0]; e.Err != nil || e.Fact == nil {
		t.Errorf("%+v", e)
	}
	if e := (aloware.Reader{Terminal: []string{"hold"}}).Events([]byte(call(t, map[string]string{"current_status": `"hold"`})))[0]; e.Fact == nil {
		t.Errorf("%+v", e)
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		column string
		fields map[string]string
		want   any
	}{
		{"direction", map[string]string{"direction": "1"}, "in"},
		{"direction", map[string]string{"direction": `"2"`}, "out"},
		{"direction", map[string]string{"direction": "null"}, nil},
		{"seconds", map[string]string{"duration": "null"}, nil},
		{"seconds", map[string]string{"duration": `"12"`}, json.Number("12")},
		{"talkSeconds", map[string]string{"talk_time": ""}, nil},
		{"seconds", map[string]string{"duration": "9007199254740993"}, json.Number("9007199254740993")}, // a float would round it
		{"id", map[string]string{"id": "9007199254740993"}, "9007199254740993"},
		{"id", map[string]string{"id": `"985097163"`}, "985097163"},
		{"campaign", map[string]string{"campaign_id": "null"}, nil},
		{"user", map[string]string{"user_id": "7"}, "7"},
		{"contact", map[string]string{"contact_id": "null"}, nil},
		{"contact", map[string]string{"contact_id": "", "contact": `{"id":8}`}, "ALOWARE:CONTACT:8"},
		{"contact", map[string]string{"contact": `{}`}, "ALOWARE:CONTACT:44500"},
		{"disposition", map[string]string{"disposition_status": "null"}, nil},
	} {
		e := only(t, call(t, test.fields))
		if got := e.Fact.Row[test.column]; got != test.want {
			t.Errorf("%v: %s = %#v", test.fields, test.column, got)
		}
	}
}

func TestWhatACallDisclosesOfItsContact(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fields map[string]string
		want   fact.Row
	}{
		{map[string]string{"contact": `{"id":44500,"first_name":"Dee","last_name":"Roe","phone_number":"+1"}`}, fact.Row{"firstName": "Dee", "lastName": "Roe", "phone": "+1"}},
		{map[string]string{"contact": `{"last_name":null,"phone_number":null}`}, fact.Row{"lastName": "", "phone": ""}},
		{map[string]string{"contact": `{"first_name":"Dee"}`}, fact.Row{"firstName": "Dee", "phone": "+15550100001"}},
		{map[string]string{"contact": "null"}, fact.Row{"phone": "+15550100001"}},
		{map[string]string{"lead_number": "null"}, nil},
		{map[string]string{"contact_id": "null"}, nil},
		{map[string]string{"contact_id": "", "contact": `{"first_name":"Dee"}`}, nil},
	} {
		d := only(t, call(t, test.fields)).Fact.Dimension
		if d == nil {
			if test.want != nil {
				t.Errorf("%v discloses nothing", test.fields)
			}
			continue
		}
		if diff := cmp.Diff(&fact.Dimension{Key: "ALOWARE:CONTACT:44500", Table: fact.Contacts, Row: test.want}, d); diff != "" {
			t.Errorf("%v: %s", test.fields, diff)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 21, 6, 1, 0, 0, time.UTC)
	for _, text := range []string{"2026-11-21 06:01:00", "2026-11-21T06:01:00Z", "2026-11-21T08:01:00+02:00"} {
		e := only(t, call(t, map[string]string{"created_at": `"` + text + `"`}))
		if e.At != want || e.Fact.At != want {
			t.Errorf("%s is %s and %s", text, e.At, e.Fact.At)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for body, field := range map[string]string{
		"": "body", "null": "body", "[]": "body", "7": "body", completed + "x": "body", completed + "{}": "body", completed[1:]: "body",
		strings.Replace(completed, "33", "\"\xff\"", 1):                                     "body",
		`{"event":"x","body":[]}`:                                                           "body",
		`{"event":7,"body":{}}`:                                                             "event",
		`{"event":"x","body":{"id":1,"id":2}}`:                                              "body",
		`{"event":"InboundPhoneCall"}`:                                                      "body",
		`{"event":"OutboundSMS","body":{}}`:                                                 "body.id",
		`{"event":"call.ended","body":{"type":2}}`:                                          "body.id",
		`{"event":"x","body":{"current_status2":9}}`:                                        "body.id",
		`{"event":"x","body":{"communication":{}}}`:                                         "body.id",
		`{"id":1,"type":1,"current_status":"failed"}`:                                       "event",
		strings.Replace(completed, `:1,`, `:"call",`, 1):                                    "body.type",
		strings.Replace(completed, `:1,`, `:7,`, 1):                                         "body.type", // an appointment is not a PhoneCall
		strings.Replace(completed, `current_status":"completed"`, `current_status2":12`, 1): "body.current_status2",
		strings.Replace(completed, `"event"`, `"Event"`, 1):                                 "event",
		strings.Replace(completed, `"id"`, `"ID"`, 1):                                       "body.id",
		strings.Replace(completed, `{"event"`, `{"body":{},"event"`, 1):                     "body",
		strings.Replace(completed, `"id"`, `"id":1,"id"`, 1):                                "body",
		strings.Replace(completed, `"Outbound`, `"\ud800`, 1):                               "event",
		strings.Replace(completed, `"Outbound`, `"`+strings.Repeat(":", 800), 1):            "body",
	} {
		if got := refused(t, body); got != field {
			t.Errorf("%.200s: the field at fault is %q", body, got)
		}
	}
	for field, wrong := range map[string][]string{
		"id":             {"", "null", "1.5", "-1", "1e3", `"x"`, `""`, "true", "{}"},
		"type":           {"", "null", "3", `"call"`},
		"current_status": {"", "null", `""`, "7", `"completed\udfff"`},
		"created_at":     {"", "null", `""`, "7", `"0000-00-00 00:00:00"`, `"1969-12-31 23:59:59"`, `"9999-12-31T23:59:59-01:00"`, `"2026-11-21"`},
	} {
		for _, raw := range wrong {
			if got := refused(t, call(t, map[string]string{field: raw})); got != "body."+field {
				t.Errorf("%s = %s: the field at fault is %q", field, raw, got)
			}
		}
	}
}

// A wrong column is left out, and the call has still ended. What is said of a contact
// that may be another's is left out, too.
func TestWrongColumnsAreLeftOut(t *testing.T) {
	t.Parallel()
	whole := only(t, completed).Fact
	for _, test := range []struct {
		field  string
		wrong  []string
		absent string // the column
		phone  any    // what the call discloses
	}{
		{"direction", []string{"3", "0", `"in"`}, "direction", "+15550100001"},
		{"disposition_status", []string{"7", `"\ud800"`}, "disposition", "+15550100001"},
		{"duration", []string{"-1", "63.5", `"x"`, "9223372036854775808"}, "seconds", "+15550100001"},
		{"talk_time", []string{"{}", "63.5"}, "talkSeconds", "+15550100001"},
		{"campaign_id", []string{`"x"`}, "campaign", "+15550100001"},
		{"user_id", []string{"1.5", "-1"}, "user", "+15550100001"},
		{"contact_id", []string{`"x"`}, "contact", nil},
		{"lead_number", []string{"7"}, "", nil},
		{"contact", []string{"7", "[]", `{"id":1,"id":2}`}, "", "+15550100001"},
		{"contact.id", []string{"44501"}, "contact", nil},
		{"contact.id", []string{`"x"`}, "", "+15550100001"},
		{"contact.first_name", []string{"7"}, "", "+15550100001"},
	} {
		for _, raw := range test.wrong {
			fields := map[string]string{test.field: raw}
			if inner, ok := strings.CutPrefix(test.field, "contact."); ok {
				fields = map[string]string{"contact": `{"` + inner + `":` + raw + `}`}
			}
			e := only(t, call(t, fields))
			want := maps.Clone(whole.Row)
			delete(want, test.absent)
			if diff := cmp.Diff(want, e.Fact.Row); diff != "" || e.Fact.Key != whole.Key || !slices.Equal(e.LeftOut, []string{"body." + test.field}) {
				t.Errorf("%s = %s leaves out %v: %s", test.field, raw, e.LeftOut, diff)
			}
			phone := any(nil)
			if d := e.Fact.Dimension; d != nil {
				phone = d.Row["phone"]
			}
			if phone != test.phone {
				t.Errorf("%s = %s: the phone is %v", test.field, raw, phone)
			}
		}
	}
}

// Aloware's first delivery of a call has only the status's number.
func TestStatusesByNumber(t *testing.T) {
	t.Parallel()
	for code, waits := range map[string]string{"1": "initiated", `"2"`: "ringing", "9": "", "19": ""} {
		e := only(t, call(t, map[string]string{"current_status": "", "current_status2": code}))
		if e.Waiting != waits || (e.Fact == nil) == (waits == "") {
			t.Errorf("%s: the fact is %v, waiting for %q", code, e.Fact, e.Waiting)
		}
	}
	both := only(t, call(t, map[string]string{"current_status2": "1"}))
	if diff := cmp.Diff(only(t, completed), both); diff != "" {
		t.Error(diff)
	}
	if e := (aloware.Reader{Terminal: []string{"12"}}).Events([]byte(call(t, map[string]string{"current_status": "null", "current_status2": "12"})))[0]; e.Fact == nil {
		t.Errorf("%+v", e)
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	for body, kind := range map[string]string{
		`{"test_payload":true}`:     "without a name",
		`{}`:                        "without a name",
		`{"event":"x"}`:             "x",
		`{"event":"x","body":null}`: "x",
		`{"event":"x","body":{}}`:   "x",
		`{"event":"Contact-Updated","body":{"id":44500,"first_name":"Dee","phone_number":"+1","created_at":"2026-11-21 06:00:00"}}`: "Contact-Updated",
		`{"event":"transcription.call.summarized","body":{"communication":{"id":7,"type":1,"current_status":"completed"}}}`:         "transcription.call.summarized",
		`{"event":"transcription.sms.saved","body":{"talk_time":63,"communication":{"id":7}}}`:                                      "transcription.sms.saved",
		`{"event":"OutboundAppointment","body":{"id":7,"type":5,"direction":2,"current_status":"scheduled"}}`:                       "OutboundAppointment",
		strings.Replace(strings.Replace(completed, "OutboundPhoneCall", "X", 1), `:1,`, `:"7",`, 1):                                 "X-DispositionCompleted",
	} {
		want := fact.Event{Source: fact.Aloware, Raw: json.RawMessage(body), Ignored: kind}
		if diff := cmp.Diff(want, one(t, body)); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

// refused returns the field of the error.
func refused(t *testing.T, body string) string {
	t.Helper()
	e := one(t, body)
	var bad *event.InputError
	if !errors.As(e.Err, &bad) {
		return ""
	}
	e.Err = nil
	if diff := cmp.Diff(fact.Event{Source: fact.Aloware, Raw: json.RawMessage(body)}, e); diff != "" || bad.Package != "aloware" {
		t.Errorf("a refused event of %s says %s", bad.Package, diff)
	}
	return bad.Field
}
