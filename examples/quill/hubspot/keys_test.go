package hubspot_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
)

// nasty are texts that give two events the same key if its parts are joined
// carelessly.
var nasty = []string{
	"a", "A", "-", "--", "---", "%", "%3A", "%253A", ":", "a:b", "a%3Ab", "::", "+", " ", "\x00", "a\x00", "é", "e\u0301", "null", "1", "1-2",
}

// objects are the ways to name an event's object, each with its meaning, for types
// that end in .merge and for others.
var objects = []struct {
	fields map[string]any
	merge  bool
	says   string
}{
	{map[string]any{"objectId": 1}, false, "1"},
	{map[string]any{"objectId": "1"}, true, "1"},
	{map[string]any{"objectId": 12}, false, "12"},
	{map[string]any{"objectId": 1, "fromObjectId": 1, "toObjectId": 2}, false, "1, from 1 to 2"},
	{map[string]any{"objectId": 1, "fromObjectId": 2, "toObjectId": 1}, false, "1, from 2 to 1"},
	{map[string]any{"objectId": 1, "objectTypeId": "0-1"}, false, "1 of 0-1"},
	{map[string]any{"objectId": 1, "objectTypeId": "0-3"}, false, "1 of 0-3"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2, "associationRemoved": false, "isPrimaryAssociation": nil}, false, "from 1 to 2"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2, "associationRemoved": true}, false, "no more from 1 to 2"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2, "isPrimaryAssociation": true}, false, "first from 1 to 2"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2, "associationType": "a&isPrimaryAssociation=true"}, false, "a& from 1 to 2"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2, "associationType": "a", "isPrimaryAssociation": true}, false, "a, first from 1 to 2"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2, "toObjectTypeId": "0-2"}, false, "from 1 to 2 of 0-2"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2}, false, "from 1 to 2"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2, "objectId": nil}, false, "from 1 to 2"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2, "objectId": ""}, false, "from 1 to 2"},
	{map[string]any{"fromObjectId": 1, "toObjectId": 2, "primaryObjectId": 9}, false, "from 1 to 2, and 9"},
	{map[string]any{"fromObjectId": 2, "toObjectId": 1}, false, "from 2 to 1"},
	{map[string]any{"fromObjectId": 11, "toObjectId": 2}, false, "from 11 to 2"},
	{map[string]any{"primaryObjectId": 1, "newObjectId": 2}, true, "1 made 2"},
	{map[string]any{"primaryObjectId": 1, "newObjectIds": []any{2}}, true, "1 made 2"},
	{map[string]any{"primaryObjectId": 1, "newObjectIds": []any{"2"}, "newObjectId": nil}, true, "1 made 2"},
	{map[string]any{"primaryObjectId": 1, "newObjectIds": []any{2, 3}}, true, "1 made 2, 3"},
	{map[string]any{"primaryObjectId": 1, "newObjectIds": []any{23}}, true, "1 made 23"},
	{map[string]any{"primaryObjectId": 1, "newObjectIds": []any{3, 2}}, true, "1 made 3, 2"},
	{map[string]any{"primaryObjectId": 1, "newObjectIds": []any{}}, true, "1 made nothing"},
	{map[string]any{"primaryObjectId": 1, "fromObjectId": 1, "toObjectId": 2}, true, "1 made nothing, from 1 to 2"},
	{map[string]any{"primaryObjectId": 1, "mergedObjectIds": []any{4}, "newObjectId": 2}, true, "1 and 4 made 2"},
	{map[string]any{"primaryObjectId": 1, "mergedObjectIds": []any{"5"}, "newObjectId": 2}, true, "1 and 5 made 2"},
}

// Random events have the same key if and only if they say the same. Absent, null
// and empty are the same, and so are attempts.
func TestEventsThatDifferHaveDifferentKeys(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(12, 12))
	pick := func(of []string) string { return of[random.IntN(len(of))] }
	byKey, byWhat := map[string]string{}, map[string]string{}
	for range 15_000 {
		on := objects[random.IntN(len(objects))]
		kind := pick([]string{"object.change", "p1.x", "-", "%", pick(nasty)})
		if on.merge {
			kind += ".merge"
		}
		numbers := [4]int{random.IntN(2), random.IntN(2) * 11, 1 + random.IntN(2), random.IntN(2)}
		e := map[string]any{
			"portalId": numbers[0], "subscriptionId": numbers[1], "occurredAt": numbers[2], "eventId": numbers[3],
			"subscriptionType": kind, "attemptNumber": random.IntN(11),
		}
		maps.Copy(e, on.fields)
		property := pick(append(nasty, ""))
		switch e["propertyName"] = property; random.IntN(3) {
		case 0:
			property, e["propertyName"] = "", nil
		case 1:
			if property == "" {
				delete(e, "propertyName")
			}
		}
		raw, err := json.Marshal([]any{e})
		if err != nil {
			t.Fatal(err)
		}
		read := hubspot.Events(raw)[0]
		what := fmt.Sprintf("%v %q %s %q", numbers, kind, on.says, property)
		if read.Err != nil || read.Fact.Key != read.Delivery {
			t.Fatalf("%s: %+v", raw, read)
		}
		if other, ok := byKey[read.Delivery]; ok && other != what {
			t.Fatalf("%s is %s, and %s", read.Delivery, other, what)
		}
		if other, ok := byWhat[what]; ok && other != read.Delivery {
			t.Fatalf("%s is %s, and %s", what, other, read.Delivery)
		}
		byKey[read.Delivery], byWhat[what] = what, read.Delivery
	}
	if len(byKey) < 5_000 || len(byKey) > 14_000 {
		t.Errorf("%d keys of 15,000 events: too few that differ, or that are the same", len(byKey))
	}
}

func FuzzEvents(f *testing.F) {
	for _, body := range []string{
		classic, generic, merge, related, signed, "", "null", "[]", "[null]", `[{"eventId":1,"eventId":2}]`,
		`[{"eventId":"1","subscriptionId":2,"portalId":3,"occurredAt":4,"eventType":"object.propertyChange","objectTypeId":"0-3","objectId":5,"propertyName":"amount","propertyValue":"1.50"}]`,
		`[{"eventId":1,"subscriptionId":2,"portalId":3,"occurredAt":4,"subscriptionType":"\ud800.merge","primaryObjectId":1,"newObjectIds":[1,"2"]}]`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		facts := map[string]string{} // deliveries by the key of the fact
		for _, e := range hubspot.Events(body) {
			if (e.Err != nil) == (e.Delivery != "") || e.Source != fact.HubSpot || e.Waiting != "" {
				t.Fatalf("%+v", e)
			}
			if e.Err != nil {
				if bad := (*event.InputError)(nil); !errors.As(e.Err, &bad) || e.Fact != nil {
					t.Fatalf("%+v", e)
				}
				continue
			}
			if e.Fact == nil || e.Fact.At != e.At || !utf8.ValidString(e.Delivery) || len(e.Delivery) > 2048 {
				t.Fatalf("%+v", e)
			}
			if other, ok := facts[e.Fact.Key]; ok && other != e.Delivery {
				t.Fatalf("%s is the fact of %s and of %s", e.Fact.Key, e.Delivery, other)
			}
			facts[e.Fact.Key] = e.Delivery
			if raw, err := json.Marshal(e.Fact); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			for _, old := range e.Old {
				if len(old) > 2048 {
					t.Fatalf("an old key of %d bytes", len(old))
				}
			}
		}
	})
}
