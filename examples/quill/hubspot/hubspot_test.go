package hubspot_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
)

// These payloads are also in the other packages' tests and in the demonstration.
const (
	classic = `[{"eventId":4108526299,"subscriptionId":25,"portalId":62515,"appId":54321,"occurredAt":1795240800123,"subscriptionType":"contact.propertyChange","attemptNumber":0,"objectId":123,"propertyName":"lifecyclestage","propertyValue":"customer","changeSource":"CRM_UI","sourceId":"userId:7","isSensitive":false},{"eventId":4108526300,"subscriptionId":22,"portalId":62515,"appId":54321,"occurredAt":1795240800100,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":124,"changeFlag":"CREATED","changeSource":"IMPORT","sourceId":"userId:7"}]`
	generic = `[{"eventId":2145459286,"subscriptionId":31,"portalId":62515,"appId":54321,"occurredAt":1795240801000,"subscriptionType":"object.deletion","attemptNumber":2,"objectId":180584432881,"objectTypeId":"0-3","changeFlag":"DELETED","changeSource":"CRM_UI_BULK_ACTION","sourceId":"userId:7"}]`
	merge   = `[{"eventId":9,"subscriptionId":40,"portalId":62515,"appId":54321,"occurredAt":1795240802000,"subscriptionType":"contact.merge","attemptNumber":0,"primaryObjectId":123,"mergedObjectIds":[124],"newObjectId":900,"numberOfPropertiesMoved":4,"changeSource":"CRM_UI"}]`
	related = `[{"eventId":10,"subscriptionId":41,"portalId":62515,"appId":54321,"occurredAt":1795240803000,"subscriptionType":"contact.associationChange","attemptNumber":0,"associationType":"CONTACT_TO_COMPANY","fromObjectId":123,"toObjectId":55,"associationRemoved":false,"isPrimaryAssociation":true,"changeSource":"CRM_UI"}]`
)

// read returns events without the raw event.
func read(t *testing.T, body string) []fact.Event {
	t.Helper()
	events := hubspot.Events([]byte(body))
	for i := range events {
		if events[i].Err != nil {
			t.Errorf("[%d]: %v", i, events[i].Err)
		}
		if !json.Valid(events[i].Raw) || !strings.Contains(body, string(events[i].Raw)) {
			t.Errorf("[%d].Raw = %s", i, events[i].Raw)
		}
		events[i].Raw = nil
	}
	return events
}

func TestEventsOfABatch(t *testing.T) {
	t.Parallel()
	changed, created := time.UnixMilli(1795240800123).UTC(), time.UnixMilli(1795240800100).UTC()
	const changedKey = "HUBSPOT:62515:25:contact.propertyChange:123:lifecyclestage:1795240800123:4108526299"
	const createdKey = "HUBSPOT:62515:22:contact.creation:124:-:1795240800100:4108526300"
	want := []fact.Event{
		{
			Source: fact.HubSpot, Delivery: changedKey, At: changed,
			Old: []string{"HUBSPOT:0-1:123:contact.propertyChange", "HUBSPOT:0-1:123:contact.propertyChange:1795240800123"},
			Fact: &fact.Fact{
				Key: changedKey, Table: fact.Changes, At: changed,
				Row: fact.Row{
					"portal": "62515", "type": "contact.propertyChange", "object": "HUBSPOT:62515:CONTACT:123",
					"property": "lifecyclestage", "value": "customer", "changeSource": "CRM_UI",
				},
				Dimension: &fact.Dimension{Key: "HUBSPOT:62515:CONTACT:123", Table: fact.Contacts, Row: fact.Row{"stage": "customer"}},
			},
		},
		{
			Source: fact.HubSpot, Delivery: createdKey, At: created,
			Old: []string{"HUBSPOT:0-1:124:contact.creation", "HUBSPOT:0-1:124:contact.creation:1795240800100"},
			Fact: &fact.Fact{
				Key: createdKey, Table: fact.Changes, At: created,
				Row: fact.Row{"portal": "62515", "type": "contact.creation", "object": "HUBSPOT:62515:CONTACT:124", "changeSource": "IMPORT"},
			},
		},
	}
	if diff := cmp.Diff(want, read(t, classic)); diff != "" {
		t.Error(diff)
	}
}

// What follows the space in a key is what the earlier version of quill left out.
func TestKeysOfEveryKind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body, key, object string
		old               []string
	}{
		{
			generic, "HUBSPOT:62515:31:object.deletion:180584432881:-:1795240801000:2145459286 objectTypeId=0-3", "HUBSPOT:62515:DEAL:180584432881",
			[]string{"HUBSPOT:0-3:180584432881:object.deletion", "HUBSPOT:0-3:180584432881:object.deletion:1795240801000"},
		},
		{merge, "HUBSPOT:62515:40:contact.merge:123-900:-:1795240802000:9 mergedObjectIds=124", "123-900", nil},
		{
			related, "HUBSPOT:62515:41:contact.associationChange:123-55:-:1795240803000:10 associationType=CONTACT_TO_COMPANY&isPrimaryAssociation=true",
			"123-55", nil,
		},
		{
			strings.NewReplacer("contact.", "object.", "CONTACT_TO_COMPANY", "a:b&%", `"toObjectId"`, `"fromObjectTypeId":"0-1","toObjectTypeId":"2-7","toObjectId"`, ":true", ":false").Replace(related),
			"HUBSPOT:62515:41:object.associationChange:123-55:-:1795240803000:10 associationType=a%3Ab%2526%2525&fromObjectTypeId=0-1&toObjectTypeId=2-7",
			"0-1/123-2-7/55", nil,
		},
		{ // a type that is not in the kind of the event
			strings.Replace(generic, "0-3", "2-7", 1),
			"HUBSPOT:62515:31:object.deletion:180584432881:-:1795240801000:2145459286 objectTypeId=2-7", "2-7/180584432881",
			[]string{"HUBSPOT:2-7:180584432881:object.deletion", "HUBSPOT:2-7:180584432881:object.deletion:1795240801000"},
		},
		{ // a type that is in it
			strings.Replace(generic, "object.", "deal.", 1),
			"HUBSPOT:62515:31:deal.deletion:180584432881:-:1795240801000:2145459286", "HUBSPOT:62515:DEAL:180584432881",
			[]string{"HUBSPOT:0-3:180584432881:deal.deletion", "HUBSPOT:0-3:180584432881:deal.deletion:1795240801000"},
		},
		{
			strings.Replace(merge, `"newObjectId":900`, `"newObjectIds":[900,"901"]`, 1),
			"HUBSPOT:62515:40:contact.merge:123-900+901:-:1795240802000:9 mergedObjectIds=124", "123-900+901", nil,
		},
		{
			strings.Replace(merge, `"newObjectId":900`, `"newObjectIds":[],"fromObjectId":5,"toObjectId":6`, 1),
			"HUBSPOT:62515:40:contact.merge:123--:-:1795240802000:9 fromObjectId=5&mergedObjectIds=124&toObjectId=6", "123--", nil,
		},
		{ // an unknown type without a type id has no key of the earlier pipeline
			strings.NewReplacer("object.", "p1_thing.", `"objectTypeId"`, `"other"`).Replace(generic),
			"HUBSPOT:62515:31:p1_thing.deletion:180584432881:-:1795240801000:2145459286", "180584432881", nil,
		},
		{ // an empty field counts as absent
			strings.Replace(generic, `"subscriptionType":`, `"subscriptionType":"","eventType":`, 1),
			"HUBSPOT:62515:31:object.deletion:180584432881:-:1795240801000:2145459286 objectTypeId=0-3", "HUBSPOT:62515:DEAL:180584432881",
			[]string{"HUBSPOT:0-3:180584432881:object.deletion", "HUBSPOT:0-3:180584432881:object.deletion:1795240801000"},
		},
		{ // the type under its name in HubSpot's documentation
			strings.NewReplacer("subscriptionType", "eventType", "object.deletion", "company.creation", "0-3", "").Replace(generic),
			"HUBSPOT:62515:31:company.creation:180584432881:-:1795240801000:2145459286", "180584432881",
			[]string{"HUBSPOT:0-2:180584432881:company.creation", "HUBSPOT:0-2:180584432881:company.creation:1795240801000"},
		},
	} {
		earlier, details, more := strings.Cut(test.key, " ")
		if test.key = earlier; more {
			test.key = earlier + ":" + details
		} else {
			earlier = ""
		}
		for _, e := range read(t, test.body) {
			if e.Delivery != test.key || e.Fact.Key != test.key || e.Fact.Row["object"] != test.object || e.Earlier != earlier {
				t.Errorf("%s\nhas the keys %s and %s, earlier %s, the object %s", test.body, e.Delivery, e.Fact.Key, e.Earlier, e.Fact.Row["object"])
			}
			if diff := cmp.Diff(test.old, e.Old); diff != "" {
				t.Errorf("%s: %s", test.key, diff)
			}
			if e.Fact.Dimension != nil {
				t.Errorf("%s disclosed %v", test.key, e.Fact.Dimension)
			}
		}
	}
}

func TestOldKeysAreNotEscaped(t *testing.T) {
	t.Parallel()
	e := read(t, strings.Replace(generic, `"object.deletion"`, `"object.a:b%"`, 1))[0]
	want := []string{"HUBSPOT:0-3:180584432881:object.a:b%", "HUBSPOT:0-3:180584432881:object.a:b%:1795240801000"}
	if diff := cmp.Diff(want, e.Old); diff != "" || !strings.Contains(e.Delivery, ":object.a%3Ab%25:") {
		t.Errorf("%s\n%s", diff, e.Delivery)
	}
}

// change returns a deal's property change with some fields replaced by this JSON.
func change(t *testing.T, fields map[string]string) string {
	t.Helper()
	all := map[string]json.RawMessage{}
	base := strings.Trim(strings.Replace(generic, "object.deletion", "object.propertyChange", 1), "[]")
	if err := json.Unmarshal([]byte(base), &all); err != nil {
		t.Fatal(err)
	}
	for name, raw := range fields {
		all[name] = json.RawMessage(raw)
		if raw == "" {
			delete(all, name)
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return "[" + string(raw) + "]"
}

func TestWhatAPropertyDiscloses(t *testing.T) {
	t.Parallel()
	deal := func(row fact.Row) *fact.Dimension {
		return &fact.Dimension{Key: "HUBSPOT:62515:DEAL:180584432881", Table: fact.Deals, Row: row}
	}
	contact := func(row fact.Row) *fact.Dimension {
		return &fact.Dimension{Key: "HUBSPOT:62515:CONTACT:180584432881", Table: fact.Contacts, Row: row}
	}
	long := strings.Repeat("9", 30)
	for _, test := range []struct {
		typeID, property, value string
		dimension               *fact.Dimension
		kept                    any
	}{
		{"0-3", "dealname", `"Roof"`, deal(fact.Row{"name": "Roof"}), "Roof"},
		{"0-3", "dealstage", `"won"`, deal(fact.Row{"stage": "won"}), "won"},
		{"0-3", "pipeline", `"default"`, deal(fact.Row{"pipeline": "default"}), "default"},
		{"0-3", "hubspot_owner_id", `"77"`, deal(fact.Row{"owner": "77"}), "77"},
		{"0-3", "hubspot_owner_id", `77`, deal(fact.Row{"owner": "77"}), "77"},
		{"0-3", "closedate", `"1795240801000"`, deal(fact.Row{"closes": "2026-11-21T06:00:01.000Z"}), "1795240801000"},
		{"0-3", "closedate", `"soon"`, deal(fact.Row{"closes": "soon"}), "soon"},
		{"0-3", "closedate", `"-1"`, deal(fact.Row{"closes": "-1"}), "-1"},
		{"0-3", "closedate", `"253402300800000"`, deal(fact.Row{"closes": "253402300800000"}), "253402300800000"},
		{"0-3", "closedate", `""`, deal(fact.Row{"closes": ""}), ""},
		{"0-3", "amount", `"1234.50"`, deal(fact.Row{"amount": json.Number("1234.50")}), "1234.50"},
		{"0-3", "amount", `0.10`, deal(fact.Row{"amount": json.Number("0.10")}), "0.10"},
		{"0-3", "amount", `"-0.5"`, deal(fact.Row{"amount": json.Number("-0.5")}), "-0.5"},
		{"0-3", "amount", `"` + long + `"`, deal(fact.Row{"amount": json.Number(long)}), long},
		{"0-3", "amount", `"-` + long[1:] + `.9"`, deal(fact.Row{"amount": json.Number("-" + long[1:] + ".9")}), "-" + long[1:] + ".9"},
		{"0-3", "amount", `"` + long + `9"`, nil, long + "9"},
		{"0-3", "amount", `"1.0E7"`, nil, "1.0E7"},
		{"0-3", "amount", `"01"`, nil, "01"},
		{"0-3", "amount", `"1."`, nil, "1."},
		{"0-3", "amount", `"12\n"`, nil, "12\n"},
		{"0-3", "amount", `null`, deal(fact.Row{"amount": ""}), ""},
		{"0-3", "amount", ``, nil, nil},
		{"0-3", "email", `"a@b"`, nil, "a@b"},
		{"0-1", "firstname", `"Dee"`, contact(fact.Row{"firstName": "Dee"}), "Dee"},
		{"0-1", "lastname", `"Dee"`, contact(fact.Row{"lastName": "Dee"}), "Dee"},
		{"0-1", "phone", `"+1"`, contact(fact.Row{"phone": "+1"}), "+1"},
		{"0-1", "email", `"a@b"`, contact(fact.Row{"email": "a@b"}), "a@b"},
		{"0-1", "lifecyclestage", `"lead"`, contact(fact.Row{"stage": "lead"}), "lead"},
		{"0-1", "amount", `"1"`, nil, "1"},
		{"0-2", "email", `"a@b"`, nil, "a@b"},
		{"0-1", "email", `"` + strings.Repeat("x", 32<<10) + `"`, contact(fact.Row{"email": strings.Repeat("x", 32<<10)}), strings.Repeat("x", 32<<10)},
		{"0-1", "email", `"` + strings.Repeat("x", 32<<10+1) + `"`, nil, strings.Repeat("x", 32<<10+1)},
	} {
		body := change(t, map[string]string{"objectTypeId": `"` + test.typeID + `"`, "propertyName": `"` + test.property + `"`, "propertyValue": test.value})
		f := read(t, body)[0].Fact
		if diff := cmp.Diff(test.dimension, f.Dimension); diff != "" {
			t.Errorf("%s = %s: %s", test.property, test.value, diff)
		}
		if f.Row["value"] != test.kept {
			t.Errorf("%s = %s is kept as %#v", test.property, test.value, f.Row["value"])
		}
		if raw, err := json.Marshal(f); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestASensitiveValueIsKeptOut(t *testing.T) {
	t.Parallel()
	body := change(t, map[string]string{"propertyName": `"dealname"`, "propertyValue": `"secret"`, "isSensitive": "true"})
	f := read(t, body)[0].Fact
	if text := fmt.Sprint(*f); f.Dimension != nil || f.Row["value"] != nil || f.Row["property"] != "dealname" || strings.Contains(text, "secret") {
		t.Errorf("%s", text)
	}
}

func TestAnEmptyArrayHasNoEvents(t *testing.T) {
	t.Parallel()
	if events := hubspot.Events([]byte(" [ ] ")); len(events) != 0 {
		t.Error(events)
	}
}

// HubSpot sends 100 events at most, and each of so many is read.
func TestTheLargestBatch(t *testing.T) {
	t.Parallel()
	if events := hubspot.Events([]byte("[1" + strings.Repeat(",1", 9_999) + "]")); len(events) != 10_000 {
		t.Errorf("%d events", len(events))
	}
}

// refused returns the field of the only error.
func refused(t *testing.T, body string) string {
	t.Helper()
	events := hubspot.Events([]byte(body))
	if len(events) != 1 {
		t.Fatalf("%s: %d events", body, len(events))
	}
	e := events[0]
	var bad *event.InputError
	if !errors.As(e.Err, &bad) {
		return ""
	}
	if e.Source != fact.HubSpot || e.Delivery != "" || e.Fact != nil || e.Old != nil || !e.At.IsZero() || bad.Package != "hubspot" {
		t.Errorf("%s: a refused event says %+v", body, e)
	}
	return bad.Field
}

func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "null", "{}", "1", classic + "]", classic + " []", classic[1:], "[{]", "[{\"eventId\":\"\xff\"}]",
		"[1" + strings.Repeat(",1", 10_000) + "]",
	} {
		if field := refused(t, body); field != "body" {
			t.Errorf("%q: the field at fault is %q", body, field)
		}
	}
}

func TestRefusedFields(t *testing.T) {
	t.Parallel()
	for field, wrong := range map[string][]string{
		"portalId":         {"", "null", `"x"`, "1.0", "-1", "1e3", "true", `""`, `"007"`, `"+7"`, "18446744073709551616", "[]", "{}"},
		"subscriptionId":   {"", `"x"`},
		"eventId":          {"", `"x"`},
		"subscriptionType": {"", "null", `""`, "7", "[]", `"contact.\ud800"`, `"` + strings.Repeat("x", 2049) + `"`},
		"objectId":         {"", "null", "1.5", `"12a"`},
		"objectTypeId":     {"7", "[]", `"` + strings.Repeat("x", 2049) + `"`},
		"occurredAt":       {"", "null", "1.5", `"2026-11-21"`, "-1", "253402300800000"},
		"propertyName":     {"7", `"\udc00"`},

		"associationRemoved": {"1", `"true"`}, "isPrimaryAssociation": {"0"}, "associationType": {"[]", `"\ud800"`}, "mergedObjectIds": {"7"},
	} {
		for _, raw := range wrong {
			if got := refused(t, change(t, map[string]string{field: raw})); got != "[0]."+field {
				t.Errorf("%s = %.40s: the field at fault is %q", field, raw, got)
			}
		}
	}
	for body, field := range map[string]string{
		strings.Replace(related, `"toObjectId":55,`, "", 1):                                                  "[0].toObjectId",
		strings.Replace(related, `"fromObjectId":123,`, "", 1):                                               "[0].fromObjectId",
		strings.Replace(merge, `"primaryObjectId":123,`, "", 1):                                              "[0].primaryObjectId",
		strings.Replace(merge, `"newObjectId":900`, `"newObjectIds":7`, 1):                                   "[0].newObjectIds",
		strings.Replace(merge, `"newObjectId":900`, `"newObjectIds":[7,null]`, 1):                            "[0].newObjectIds[1]",
		strings.Replace(merge, `"newObjectId":900`, `"newObjectIds":[7`+strings.Repeat(",7000", 500)+"]", 1): "[0]",
		strings.Replace(merge, `"eventId":9`, `"eventId":9,"eventId":8`, 1):                                  "[0]",
		strings.Replace(generic, `"subscriptionType":"object.deletion"`, `"eventType":"x.\ud800"`, 1):        "[0].eventType",
		change(t, map[string]string{"propertyName": `"` + strings.Repeat(":", 700) + `"`}):                   "[0]",
		`[null]`: "[0]",
		`[[]]`:   "[0]",
		`[7]`:    "[0]",
	} {
		if got := refused(t, body); got != field {
			t.Errorf("%.300s: the field at fault is %q, not %q", body, got, field)
		}
	}
}

func TestTheOthersOfABatchStand(t *testing.T) {
	t.Parallel()
	events := hubspot.Events([]byte(`[7,` + strings.Trim(generic, "[]") + `,{"eventId":1}]`))
	if len(events) != 3 || events[0].Err == nil || events[1].Err != nil || events[2].Err == nil || events[1].Fact == nil {
		t.Fatal(events)
	}
	if got := events[2].Err.Error(); got != "hubspot: [2].portalId must be a whole number" {
		t.Error(got)
	}
	if string(events[0].Raw) != "7" || string(events[2].Raw) != `{"eventId":1}` {
		t.Errorf("%s, %s", events[0].Raw, events[2].Raw)
	}
}

func TestAnotherAttemptHasTheSameKey(t *testing.T) {
	t.Parallel()
	first := read(t, generic)
	again := read(t, strings.Replace(generic, `"attemptNumber":2`, `"attemptNumber":3`, 1))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
}
