package tzclock

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// Zone is a time zone. [Load] returns equal zones for the same name, and [In]
// returns equal zones for the same *time.Location. If a program loads a location
// twice, it has two pointers, and In makes two different zones of them. The zero
// Zone is not a zone: stores refuse it, and the methods that need a zone panic.
type Zone struct {
	name string
	loc  *time.Location // nil: to be found under the name, so that a Zone can be a package variable
}

var (
	// UTC needs no zone data.
	UTC = Zone{name: "UTC"}

	// Stockholm is Europe/Stockholm. Its data is read on first use. If neither
	// the machine nor the program has the data, stores refuse the zone, and the
	// methods that need the data panic.
	Stockholm = Zone{name: "Europe/Stockholm"}
)

// loaded holds each *time.Location by its name, so that a name is read once
// and means one location throughout the program.
var loaded sync.Map

// ofMachine holds the names under which each machine keeps a zone of its own
// choice.
var ofMachine = []string{"Local", "localtime", "posixrules"}

const elsewhere = ", which means different zones on different machines"

// Load returns the zone with an IANA name such as "Europe/Stockholm". It
// returns an [*event.InputError] for the empty name, for a name without data,
// and for "Local", "localtime" and "posixrules", which mean different zones on
// different machines.
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

// MustLoad is [Load] for names written in the program. It panics if Load
// returns an error.
func MustLoad(name string) Zone {
	z, err := Load(name)
	if err != nil {
		panic(err)
	}
	return z
}

// In returns the zone of a location that the program already has, such as one
// read by [time.LoadLocationFromTZData]. It returns an [*event.InputError] for
// nil, for [time.Local], for a location named "Local", "localtime" or
// "posixrules", and for a location without a name. [time.Parse] gives such
// locations: of a text with the offset "+02:00", it takes [time.Local] if that has
// the offset, and otherwise makes a location without a name.
func In(loc *time.Location) (Zone, error) {
	switch {
	case loc == nil:
		return Zone{}, event.BadInput("tzclock", "loc", "must not be nil: a zone is never assumed")
	case loc == time.Local:
		return Zone{}, event.BadInput("tzclock", "loc", "must not be time.Local"+elsewhere)
	case slices.Contains(ofMachine, loc.String()):
		return Zone{}, event.BadInput("tzclock", "loc", fmt.Sprintf("must not be %q", loc)+elsewhere)
	case loc.String() == "":
		return Zone{}, event.BadInput("tzclock", "loc", "must have a name: the offset of a parsed time is not a zone")
	case loc == time.UTC:
		return UTC, nil
	}

	if known, ok := loaded.Load(loc.String()); ok && known == loc {
		return Zone{name: loc.String()}, nil
	}
	return Zone{name: loc.String(), loc: loc}, nil
}

// String returns the name, or "no zone" for the zero Zone.
func (z Zone) String() string {
	if z == (Zone{}) {
		return "no zone"
	}
	return z.name
}

// MarshalText returns the name, and an empty text for the zero Zone. If [In]
// made the zone of a location of the program's own, MarshalText returns an
// error, because another program could not read the text.
func (z Zone) MarshalText() ([]byte, error) {
	if z.loc != nil {
		return nil, event.BadInput("tzclock", "zone", fmt.Sprintf("cannot be written as text: %.64q is a location of the program's own", z.name))
	}
	return []byte(z.name), nil
}

// UnmarshalText reads what MarshalText wrote, and otherwise refuses what [Load]
// refuses.
func (z *Zone) UnmarshalText(text []byte) error { return unmarshal(z, text, Load) }

// Location returns the zone's *time.Location, for formatting and for package
// time. It panics for the zero Zone, and if the data of the zone is missing.
func (z Zone) Location() *time.Location {
	if z == (Zone{}) {
		panic("tzclock: the zero Zone is not a zone")
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

// locate returns the location of the name, read on first use. Callers that read it at
// the same time all get the location that was stored first.
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
