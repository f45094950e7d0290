package hubspot

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// dimension says which properties become which columns.
type dimension struct {
	name, table string
	columns     map[string]string
}

// dimensions are by class of object.
var dimensions = map[string]dimension{
	"contact": {"CONTACT", fact.Contacts, map[string]string{
		"firstname": "firstName", "lastname": "lastName", "phone": "phone", "email": "email", "lifecyclestage": "stage",
	}},
	"deal": {"DEAL", fact.Deals, map[string]string{
		"dealname": "name", "dealstage": "stage", "pipeline": "pipeline", "amount": "amount",
		"hubspot_owner_id": "owner", "closedate": "closes",
	}},
}

// maxColumn is the longest text of a column, in bytes: all that is known about an
// object is one row of a table, which has at most 400 KB.
const maxColumn = 32 << 10

// disclosed returns what the value says about the object. It is nil for a property
// without a column, for an amount that is not a plain number, and for a text over
// 32 KB. Only the fact has these.
func (on object) disclosed(property, value string) *fact.Dimension {
	column := on.of.columns[property]
	if column == "" || len(value) > maxColumn {
		return nil
	}
	content := any(value)
	switch {
	case value == "": // emptied
	case column == "amount" && !isPlain(value):
		return nil
	case column == "amount":
		content = json.Number(value)
	case column == "closes":
		content = instant(value)
	}
	return &fact.Dimension{Key: on.key, Table: on.of.table, Row: fact.Row{column: content}}
}

var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// isPlain reports whether the text is a decimal number of up to 30 digits, in
// JSON's form.
func isPlain(text string) bool {
	digits := len(text) - strings.Count(text, "-") - strings.Count(text, ".")
	return digits <= 30 && decimal.MatchString(text)
}

// instant converts a time in milliseconds, HubSpot's form of dates, to the form
// of times in columns. Any other text stays as it is.
func instant(value string) string {
	ms, err := strconv.ParseInt(value, 10, 64)
	if err != nil || ms < 0 || ms > lastMilli {
		return value
	}
	return fact.Time(time.UnixMilli(ms))
}
