package aloware_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// nasty are texts that give two events the same key if its parts are joined
// carelessly.
var nasty = []string{
	"a", "A", "-", "--", "---", "%", "%3A", "%253A", ":", "a:b", "a%3Ab", "::", "+", " ", "a ", "\x00", "a\x00", "é", "e\u0301", "null", "ALOWARE", "1",
}

// Deliveries have the same key if and only if they say the same. An absent
// disposition, null and an empty one are the same.
func TestDeliveriesThatDifferHaveDifferentKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	check := func(name, id, status string, disposition any) {
		body := map[string]any{"id": json.Number(id), "type": 1, "created_at": "2026-11-21 06:00:00", "current_status": status}
		if disposition != "absent" {
			body["disposition_status"] = disposition
		}
		raw, err := json.Marshal(map[string]any{"event": name, "body": body})
		if err != nil {
			t.Fatal(err)
		}
		e := aloware.Reader{Terminal: nasty}.Events(raw)[0]
		if e.Err != nil {
			t.Fatalf("%s: %v", raw, e.Err)
		}
		if disposition == nil || disposition == "absent" {
			disposition = ""
		}
		is := fmt.Sprintf("%q %s %q %q", name, id, status, disposition)
		if other, ok := seen[e.Delivery]; ok && other != is {
			t.Errorf("%s is %s, and %s", e.Delivery, other, is)
		}
		seen[e.Delivery] = is
		if want := "ALOWARE:CALL:" + id; e.Fact.Key != want {
			t.Errorf("%s makes the fact %s", is, e.Fact.Key)
		}
	}
	wanted := 0
	for _, name := range nasty {
		for _, status := range nasty {
			for _, id := range []string{"1", "11"} {
				for _, disposition := range nasty {
					check(name, id, status, disposition)
				}
				check(name, id, status, "")
				check(name, id, status, nil)
				check(name, id, status, "absent")
				wanted += len(nasty) + 1
			}
		}
	}
	if len(seen) != wanted {
		t.Errorf("%d keys, not %d: one event has two", len(seen), wanted)
	}
}

func FuzzEvents(f *testing.F) {
	for _, body := range []string{
		sms, ringing, completed, "", "null", "{}", `{"event":"x","body":{}}`, `{"event":"\ud800","body":{"id":1,"id":2}}`,
		`{"event":"x","body":{"id":"7","type":"2","current_status":"Sent","created_at":"2026-11-21T06:00:00Z","contact":{"id":3,"last_name":null}}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		events := aloware.Reader{}.Events(body)
		if len(events) != 1 {
			t.Fatalf("%d events", len(events))
		}
		e := events[0]
		if e.Ignored != "" {
			if e.Err != nil || e.Delivery != "" || e.Fact != nil || e.Waiting != "" {
				t.Fatalf("%+v", e)
			}
			return
		}
		if (e.Err != nil) == (e.Delivery != "") || e.Source != fact.Aloware {
			t.Fatalf("%+v", e)
		}
		if e.Err != nil {
			if bad := (*event.InputError)(nil); !errors.As(e.Err, &bad) || e.Fact != nil || e.Waiting != "" {
				t.Fatalf("%+v", e)
			}
			return
		}
		if (e.Fact == nil) == (e.Waiting == "") || !utf8.ValidString(e.Delivery) || len(e.Delivery) > 2048 || len(e.Old) != 1 {
			t.Fatalf("%+v", e)
		}
		if e.Fact == nil {
			return
		}
		if e.Fact.Key == "" || e.Fact.Key == e.Delivery || e.Fact.At != e.At {
			t.Fatalf("%+v", e.Fact)
		}
		if raw, err := json.Marshal(e.Fact); err != nil || len(raw) > 100<<10 {
			t.Fatalf("%d bytes: %v", len(raw), err)
		}
	})
}
