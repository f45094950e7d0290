package tzclock_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/tzclock"
)

func wantBadInput(t *testing.T, what string, err error, pkg, field, reason string) {
	t.Helper()
	var bad *event.InputError
	if !errors.As(err, &bad) || bad.Package != pkg || bad.Field != field || !strings.Contains(bad.Reason, reason) {
		t.Errorf("%s: got %v, want an InputError of %s: %s with %q", what, err, pkg, field, reason)
	}
}

func TestZonesOfOneNameAreEqual(t *testing.T) {
	t.Parallel()
	zone, err := tzclock.Load("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	if zone != tzclock.Stockholm || zone == tzclock.UTC || zone.String() != "Europe/Stockholm" {
		t.Errorf("Load = %v", zone)
	}
	if back, err := tzclock.In(zone.Location()); err != nil || back != zone {
		t.Errorf("In(%v.Location()) = %v, %v", zone, back, err)
	}
	if utc, err := tzclock.Load("UTC"); err != nil || utc != tzclock.UTC || utc.Location() != time.UTC || check.Zone("counter", "zone", utc) != nil {
		t.Errorf("Load(UTC) = %v, %v", utc, err)
	}
}

// A location that merely has the name of a zone is another zone.
func TestInKeepsTheLocation(t *testing.T) {
	t.Parallel()
	tzclock.Stockholm.Location() // the name is taken
	loc := time.FixedZone("Europe/Stockholm", 7*3600)
	zone, err := tzclock.In(loc)
	if err != nil {
		t.Fatal(err)
	}
	if zone == tzclock.Stockholm || zone.Location() != loc || check.Zone("counter", "zone", zone) != nil {
		t.Errorf("In = %v with %v", zone, zone.Location())
	}
	if again, _ := tzclock.In(loc); again != zone {
		t.Error("In of one location gives two zones")
	}
	if got := zone.Hour(time.Unix(0, 0)); got != 7 {
		t.Errorf("Hour = %d, want 7", got)
	}
}

func TestZoneRefusals(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]string{
		"":                      "never assumed",
		"Local":                 "different machines",
		"localtime":             "different machines",
		"posixrules":            "different machines",
		"Mars/Olympus_Mons":     `"Mars/Olympus_Mons", for which there is no zone data`,
		"Europe/Stockholm ":     `import _ "time/tzdata" in main`,
		strings.Repeat("x", 99): `"` + strings.Repeat("x", 64) + `"`,
	} {
		zone, err := tzclock.Load(name)
		wantBadInput(t, name, err, "tzclock", "name", reason)
		if zone != (tzclock.Zone{}) {
			t.Errorf("%q: a zone came back with the error", name)
		}
	}

	parsed, err := time.Parse(time.RFC3339, "2026-03-29T12:00:00+11:30")
	if err != nil {
		t.Fatal(err)
	}
	for reason, loc := range map[string]*time.Location{
		"nil":              nil,
		"time.Local":       time.Local,
		`"localtime"`:      time.FixedZone("localtime", 3600),
		"must have a name": parsed.Location(),
	} {
		zone, err := tzclock.In(loc)
		wantBadInput(t, "In", err, "tzclock", "loc", reason)
		if zone != (tzclock.Zone{}) {
			t.Errorf("%v: a zone came back with the error", loc)
		}
	}
}

func TestZeroZonePanics(t *testing.T) {
	t.Parallel()
	var none tzclock.Zone
	if none.String() != "no zone" {
		t.Errorf("IsZero or String: %v, %v", none, tzclock.Stockholm)
	}
	for name, use := range map[string]func(){
		"Location": func() { none.Location() },
		"Date":     func() { none.Date(time.Unix(0, 0)) },
		"Contains": func() { tzclock.Quiet{}.Contains(none, time.Unix(0, 0)) },
		"MustLoad": func() { tzclock.MustLoad("") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s worked without a zone", name)
				}
			}()
			use()
		}()
	}
}

// A package value such as Stockholm is there before its data is: what is
// missing shows when the zone is checked, and again whenever it is used.
func TestZoneWithoutData(t *testing.T) {
	t.Parallel()
	zone := tzclock.Named("Europe/Atlantis")
	for range 2 {
		wantBadInput(t, "no data", check.Zone("counter", "zone", zone), "counter", "zone", `import _ "time/tzdata" in main`)
	}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, `"Europe/Atlantis"`) {
			t.Errorf("Location panics with %q", text)
		}
	}()
	zone.Location()
}

// First use may come from many goroutines: they all get one location.
func TestFirstUseIsConcurrent(t *testing.T) {
	t.Parallel()
	const name = "Asia/Ulaanbaatar"
	locations := make(chan *time.Location, 16)
	for range cap(locations) {
		go func() { locations <- tzclock.Named(name).Location() }()
	}
	first := <-locations
	for range cap(locations) - 1 {
		if loc := <-locations; loc != first {
			t.Errorf("two locations of %s", name)
		}
	}
}
