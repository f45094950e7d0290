package check

import (
	"errors"
	"strings"

	"github.com/homeops/ddbpatterns/event"
)

// Positional names the field of bad input as the parameter is named that it came
// by: "Scope", as it is called in a struct, is the parameter scope. A field of
// another argument, which has its type's name and a dot, stays as it is.
func Positional(err error) error { return rename(err, strings.ToLower) }

// Within names the field of bad input as one of a struct that several methods
// take: Scope of a Filter is "Filter.Scope".
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
