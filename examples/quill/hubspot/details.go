package hubspot

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/fields"
)

// details are the fields that say what happened, beside the object and the property,
// by their names. A field that is false is left out.
type details map[string]string

func detailsOf(o *fields.Object) details {
	d := details{}
	for _, name := range []string{
		"objectTypeId", "fromObjectTypeId", "toObjectTypeId", "associationType", "associationTypeId", "associationCategory",
		"messageId", "messageType",
	} {
		d[name] = o.Word(name)
	}
	for _, name := range []string{"fromObjectId", "toObjectId", "primaryObjectId", "newObjectId"} {
		d[name] = o.Digits(name)
	}
	for _, name := range []string{"mergedObjectIds", "newObjectIds"} {
		d[name] = strings.Join(o.AllDigits(name), "+")
	}
	for _, name := range []string{"associationRemoved", "isPrimaryAssociation"} {
		if o.Bool(name) {
			d[name] = "true"
		}
	}
	maps.DeleteFunc(d, func(_, value string) bool { return value == "" })
	return d
}

var inKey = strings.NewReplacer("%", "%25", "&", "%26")

// longest is how long the details in a key may be, in bytes. Longer ones are hashed.
const longest = 256

// key returns the details as a part of the key, such as
// associationRemoved=true&associationType=CONTACT_TO_COMPANY. It has no fields that
// the object has already, and is "" for an event of which nothing else is known.
func (d details) key(on object) string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if !slices.Contains(on.from, name) {
			said = append(said, name+"="+inKey.Replace(d[name]))
		}
	}
	all := strings.Join(said, "&")
	if len(all) > longest {
		all = fmt.Sprintf("sha256=%x", sha256.Sum256([]byte(all)))
	}
	return all
}

// tell writes what happened into the columns of a property. With the object's own id
// that column names no other objects, so they are told here.
func (d details) tell(row fact.Row, on object) {
	property, value := "", ""
	switch {
	case d["fromObjectId"] != "":
		property, value = d["associationType"], "added"
		if d["associationRemoved"] != "" {
			value = "removed"
		}
		if d["isPrimaryAssociation"] != "" {
			value += ", primary"
		}
		if on.id != "" {
			value += ", " + d.ends()
		}
	case d["primaryObjectId"] != "":
		property, value = "merged", d["mergedObjectIds"]
		if on.id != "" {
			value += " into " + d["primaryObjectId"] + ", now " + d["newObjectId"] + d["newObjectIds"]
		}
	case d["messageId"] != "":
		property, value = "message", d["messageId"]
	}
	if property != "" {
		row["property"] = property
	}
	if value != "" {
		row["value"] = value
	}
}

// ends are the two objects of an association.
func (d details) ends() string {
	return ofType(d["fromObjectTypeId"], d["fromObjectId"]) + "-" + ofType(d["toObjectTypeId"], d["toObjectId"])
}

// ofType names an object by its type's id, if that is known, and its own.
func ofType(typeID, id string) string {
	if typeID == "" {
		return id
	}
	return typeID + "/" + id
}
