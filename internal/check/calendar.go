package check

import (
	"errors"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Zone refuses the zero Zone, and a zone whose data is missing, such as
// tzclock.Stockholm in a program without zone data.
func Zone(pkg, field string, z tzclock.Zone) error {
	if z == (tzclock.Zone{}) {
		return event.BadInput(pkg, field, "must be given: a zone is never assumed")
	}
	name, err := z.MarshalText()
	if err != nil {
		return nil // it has no name to write, because it holds its location
	}
	_, err = tzclock.Load(string(name))
	return from(pkg, field, err)
}

// Date refuses what is not a day of the calendar, in the years 1 to 9999.
func Date(pkg, field string, d tzclock.Date) error {
	if d == (tzclock.Date{}) {
		return event.BadInput(pkg, field, "must be given")
	}
	_, err := d.MarshalText()
	return from(pkg, field, err)
}

// from gives tzclock's bad input the package and the field that were asked.
func from(pkg, field string, err error) error {
	if bad, ok := errors.AsType[*event.InputError](err); ok {
		return event.BadInput(pkg, field, bad.Reason)
	}
	return err
}
