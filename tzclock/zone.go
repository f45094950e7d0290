package tzclock

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// Zone is a time zone. Zones that [Load] returns for one name are equal, and so
// are those that [In] returns for one *time.Location; a location that was loaded
// twice makes two zones that differ. The zero Zone is not a zone: stores refuse
// it, and the methods that need a zone panic.
type Zone struct {
	name string
	loc  *time.Location // nil: to be found under the name, so that a Zone can be a package variable
}

var (
	// UTC needs no zone data.
	UTC = Zone{name: "UTC"}

	// Stockholm is Europe/Stockholm. Its data is read on first use; a store
	// that is given it without data on the machine refuses it by Check.
	Stockholm = Zone{name: "Europe/Stockholm"}
)

// loaded holds each *time.Location by its name, so that a name is read once
// and means one location throughout the program.
var loaded sync.Map

// ofMachine holds the names under which each machine keeps a zone of its own
// choice.
var ofMachine = []string{"Local", "localtime", "posixrules"}

const elsewhere = ", which is another zone on another machine"

// Load returns the zone of an IANA name such as "Europe/Stockholm". The empty
// name, "Local", "localtime" and "posixrules", which mean another zone on
// another machine, are an [*event.InputError], and so is a name there is no
// data for.
func Load(name string) (Zone, error) {
	switch {
	case name == "":
		return Zone{}, event.BadInput("tzclock", "name", "must not be empty: a zone is never assumed")
	case slices.Contains(ofMachine, name):
		return Zone{}, event.BadInput("tzclock", "name", fmt.Sprintf("must not be %q", name)+elsewhere)
	}
	if _, err := locate(name); err != nil {
		return Zone{}, event.BadInput("tzclock", "name", noData(name, err))
	}
	return Zone{name: name}, nil
}

// MustLoad is [Load] for names written in the program. It panics where Load
// returns an error.
func MustLoad(name string) Zone {
	z, err := Load(name)
	if err != nil {
		panic(err)
	}
	return z
}

// In returns the zone of a location that the program already has, such as one
// read by [time.LoadLocationFromTZData]. A nil location, [time.Local] and others
// of a name that Load refuses, and one without a name are an
// [*event.InputError]: the last is what [time.Parse] makes of "+02:00", an offset
// that knows nothing of the winter.
func In(loc *time.Location) (Zone, error) {
	switch {
	case loc == nil:
		return Zone{}, event.BadInput("tzclock", "loc", "must not be nil: a zone is never assumed")
	case loc == time.Local:
		return Zone{}, event.BadInput("tzclock", "loc", "must not be time.Local"+elsewhere)
	case slices.Contains(ofMachine, loc.String()):
		return Zone{}, event.BadInput("tzclock", "loc", fmt.Sprintf("must not be %q", loc)+elsewhere)
	case loc.String() == "":
		return Zone{}, event.BadInput("tzclock", "loc", "must have a name: the offset of a parsed time is no zone")
	case loc == time.UTC:
		return UTC, nil
	}
	if known, ok := loaded.Load(loc.String()); ok && known == loc {
		return Zone{name: loc.String()}, nil
	}
	return Zone{name: loc.String(), loc: loc}, nil
}

// Check reports, as an [*event.InputError] of the given package and field, why
// a store must refuse z: it is the zero Zone, or there is no data for it.
func (z Zone) Check(pkg, field string) error {
	if z.IsZero() {
		return event.BadInput(pkg, field, "must be given: a zone is never assumed")
	}
	if _, err := z.find(); err != nil {
		return event.BadInput(pkg, field, noData(z.name, err))
	}
	return nil
}

// IsZero reports whether z is the zero Zone, which is none.
func (z Zone) IsZero() bool { return z == Zone{} }

// String returns the name, or "no zone".
func (z Zone) String() string {
	if z.IsZero() {
		return "no zone"
	}
	return z.name
}

// MarshalText returns the name, and of the zero Zone nothing. A zone that [In]
// made of the program's own location has no text that another program could read.
func (z Zone) MarshalText() ([]byte, error) {
	if z.loc != nil {
		return nil, event.BadInput("tzclock", "zone", fmt.Sprintf("has no text: %.64q is a location of the program's own", z.name))
	}
	return []byte(z.name), nil
}

// UnmarshalText reads what MarshalText wrote, and refuses what [Load] does.
func (z *Zone) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*z = Zone{}
		return nil
	}
	loaded, err := Load(string(text))
	if err != nil {
		return err
	}
	*z = loaded
	return nil
}

// Location returns the location, for formatting and for package time. It
// panics where [Zone.Check] returns an error.
func (z Zone) Location() *time.Location {
	if z.IsZero() {
		panic("tzclock: the zero Zone is no zone")
	}
	loc, err := z.find()
	if err != nil {
		panic("tzclock: the zone " + noData(z.name, err))
	}
	return loc
}

func (z Zone) find() (*time.Location, error) {
	if z.loc != nil {
		return z.loc, nil
	}
	return locate(z.name)
}

func locate(name string) (*time.Location, error) {
	if known, ok := loaded.Load(name); ok {
		return known.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	first, _ := loaded.LoadOrStore(name, loc)
	return first.(*time.Location), nil
}

// noData reads on from a field's name. The name may come from anywhere, so no
// more of it is shown than a zone's name can have.
func noData(name string, err error) string {
	return fmt.Sprintf("is %.64q, for which there is no zone data (%.120s); if the name is right, import _ \"time/tzdata\" in main", name, err)
}
