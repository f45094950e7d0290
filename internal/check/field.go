package check

import (
	"errors"
	"strings"

	"github.com/homeops/ddbpatterns/event"
)

// Positional renames the field of bad input to the parameter: "Scope", a field's
// name in a struct, becomes the parameter "scope". A field of another argument,
// which has the name of its type and a dot, stays as it is.
func Positional(err error) error { return rename(err, strings.ToLower) }

// Within adds the name of a struct that several methods take to the field of
// bad input: Scope of a Filter becomes "Filter.Scope".
func Within(structure string, err error) error {
	return rename(err, func(field string) string { return structure + "." + field })
}

func rename(err error, name func(field string) string) error {
	bad, ok := errors.AsType[*event.InputError](err)
	if !ok || strings.Contains(bad.Field, ".") {
		return err
	}
	return event.BadInput(bad.Package, name(bad.Field), bad.Reason)
}
