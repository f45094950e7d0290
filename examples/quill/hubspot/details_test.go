package hubspot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What happened beside a property is in the columns of a property.
func TestWhatHappened(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		related: "CONTACT_TO_COMPANY added, primary",
		strings.Replace(related, `"isPrimaryAssociation":true`, `"isPrimaryAssociation":null`, 1):         "CONTACT_TO_COMPANY added",
		strings.Replace(related, `"associationRemoved":false`, `"associationRemoved":true`, 1):            "CONTACT_TO_COMPANY removed, primary",
		strings.Replace(related, `"associationType":"CONTACT_TO_COMPANY",`, "", 1):                        "<nil> added, primary",
		strings.Replace(related, `"toObjectId"`, `"objectId":123,"toObjectTypeId":"0-2","toObjectId"`, 1): "CONTACT_TO_COMPANY added, primary, 123-0-2/55",
		merge: "merged 124",
		strings.NewReplacer("[124]", "[124,125]", `"newObjectId":900`, `"newObjectId":900,"objectId":123`).Replace(merge):                   "merged 124+125 into 123, now 900",
		strings.NewReplacer("object.deletion", "conversation.newMessage", `"changeFlag"`, `"messageId":"m7","changeFlag"`).Replace(generic): "message m7",
		generic: "<nil> <nil>",
	} {
		row := read(t, body)[0].Fact.Row
		if got := fmt.Sprint(row["property"], " ", row["value"]); got != want {
			t.Errorf("%s, want %s, of %s", got, want, body)
		}
	}
}

// A wrong column is left out, and the fact stands. A value that may be sensitive is
// left out, too.
func TestWrongColumnsAreLeftOut(t *testing.T) {
	t.Parallel()
	whole := read(t, change(t, map[string]string{"propertyName": `"amount"`, "propertyValue": "1"}))[0].Fact
	for field, wrong := range map[string][]string{
		"propertyValue": {"{}", "[]", `"` + strings.Repeat("x", 192<<10+1) + `"`},
		"changeSource":  {"{}", "7"},
		"isSensitive":   {"1", `"true"`},
	} {
		for _, raw := range wrong {
			changes := map[string]string{"propertyName": `"amount"`, "propertyValue": "1"}
			changes[field] = raw
			e := read(t, change(t, changes))[0]
			if e.Fact.Key != whole.Key || !slices.Equal(e.LeftOut, []string{"[0]." + field}) {
				t.Fatalf("%s = %.40s: %+v leaves out %v", field, raw, e.Fact, e.LeftOut)
			}
			if _, has := e.Fact.Row["value"]; has != (field == "changeSource") || (e.Fact.Dimension != nil) != has {
				t.Errorf("%s = %.40s: the row is %v", field, raw, e.Fact.Row)
			}
			if _, has := e.Fact.Row["changeSource"]; has != (field != "changeSource") {
				t.Errorf("%s = %.40s: the row is %v", field, raw, e.Fact.Row)
			}
		}
	}
}

// However many objects a merge has, it has a key.
func TestALargeMergeHasAKey(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, last := range []string{"1", "2"} {
		e := read(t, strings.Replace(merge, "[124]", "[124"+strings.Repeat(",7000", 900)+","+last+"]", 1))[0]
		if keys[e.Delivery] = true; !strings.HasPrefix(e.Delivery, e.Earlier+":sha256=") {
			t.Errorf("the key is %s, earlier %s", e.Delivery, e.Earlier)
		}
	}
	if len(keys) != 2 {
		t.Errorf("two merges have the keys %v", keys)
	}
}
