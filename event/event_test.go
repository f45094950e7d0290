package event_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

var noon = time.Date(2026, 3, 29, 12, 0, 0, 123_456_789, time.UTC)

func ExampleNew() {
	sentAt := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	ev, err := event.New(sentAt, "telegram", "-100123", "42")
	if err != nil {
		panic(err)
	}
	again, _ := event.New(sentAt, "telegram", "-100123", "42")

	fmt.Println(ev)
	fmt.Println(ev.Time())
	fmt.Println("the redelivery is the same event:", ev == again)
	// Output:
	// 01KMWQE6G0HNVQ0AK04X3N2M81
	// 2026-03-29 12:00:00 +0000 UTC
	// the redelivery is the same event: true
}

func ExampleEvent_Nth() {
	ev, err := event.New(time.UnixMilli(1774785600000), "telegram", "-100123", "42")
	if err != nil {
		panic(err)
	}
	second, err := ev.Nth(2)
	if err != nil {
		panic(err)
	}
	fmt.Println(ev.N(), second.N(), ev.Same(second), ev == second)
	// Output: 1 2 true false
}

func ExampleInputError() {
	_, err := event.New(time.UnixMilli(1774785600000), "telegram", "")
	var bad *event.InputError
	fmt.Println(errors.As(err, &bad), err)
	// Output: true event: parts[1] must not be empty: all events in which it is empty would be the same event
}

// The layout is the format on disk: 48 bits of time, 72 bits of the hash over
// parts that are each preceded by their length, and n.
func TestLayout(t *testing.T) {
	ev := recordtest.Event(t, noon, "a", "bc")
	sum := sha256.Sum256([]byte("\x00\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x00\x00\x00\x00\x00\x02bc"))
	var want ulid.ULID
	if err := want.SetTime(uint64(noon.UnixMilli())); err != nil {
		t.Fatal(err)
	}
	copy(want[6:15], sum[:9])
	want[15] = 1
	if ulid.ULID(ev) != want {
		t.Errorf("layout: got %v want %v", ev, want)
	}
	if got := ev.Time(); !got.Equal(noon.Truncate(time.Millisecond)) || got.Location() != time.UTC {
		t.Errorf("Time() = %v", got)
	}
	if ev.UnixMilli() != noon.UnixMilli() {
		t.Errorf("UnixMilli() = %d", ev.UnixMilli())
	}
}

func TestNewRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		at    time.Time
		parts []string
		field string
	}{
		"zero time":   {time.Time{}, []string{"a"}, "at"},
		"before 1970": {time.UnixMilli(-1), []string{"a"}, "at"},
		"after 10889": {time.UnixMilli(int64(ulid.MaxTime()) + 1), []string{"a"}, "at"},
		"far ahead":   {time.Unix(1<<62, 0), []string{"a"}, "at"},                   // whose milliseconds are those of 1970
		"far behind":  {time.Unix(-18_446_742_299_000_000, 0), []string{"a"}, "at"}, // and here of 2026
		"last second": {time.Unix(1<<63-1, 0), []string{"a"}, "at"},
		"no parts":    {noon, nil, "parts"},
		"empty part":  {noon, []string{"a", "", "c"}, "parts[1]"},
	} {
		ev, err := event.New(tc.at, tc.parts...)
		recordtest.WantBad(t, err, "event", tc.field, name)
		if !ev.IsZero() {
			t.Errorf("%s: an event came back with the error", name)
		}
	}
}

// The first and the last instant that an event can have.
func TestNewAtTheEndsOfTime(t *testing.T) {
	first := recordtest.Event(t, time.UnixMilli(0), "a")
	if first.UnixMilli() != 0 {
		t.Errorf("the first: %d", first.UnixMilli())
	}
	last := recordtest.Event(t, time.UnixMilli(int64(ulid.MaxTime())).Add(time.Millisecond-1), "a")
	if last.UnixMilli() != int64(ulid.MaxTime()) {
		t.Errorf("the last: %d", last.UnixMilli())
	}
}

func TestDifferentPartsDifferentEvents(t *testing.T) {
	seen := map[event.Event]string{}
	for _, parts := range [][]string{{"ab", "c"}, {"a", "bc"}, {"abc"}, {"a", "b", "c"}, {"a\x00b", "c"}, {"c", "ab"}} {
		ev := recordtest.Event(t, noon, parts...)
		if other, ok := seen[ev]; ok {
			t.Errorf("%q and %q are one event", parts, other)
		}
		seen[ev] = strings.Join(parts, "|")
	}
}

func TestNth(t *testing.T) {
	ev := recordtest.Event(t, noon, "a")
	for _, n := range []int{1, 2, 255} {
		got, err := ev.Nth(n)
		if err != nil || got.N() != n || !got.Same(ev) || got.Time() != ev.Time() {
			t.Errorf("Nth(%d) = %v, %v", n, got, err)
		}
		if got.Compare(ev.First()) <= 0 || got.Compare(ev.Last()) > 0 {
			t.Errorf("Nth(%d) is outside First..Last", n)
		}
	}
	for _, n := range []int{-1, 0, 256, 257} {
		got, err := ev.Nth(n)
		recordtest.WantBad(t, err, "event", "n", got)
	}
	// An error of New that was dropped must not make all events one.
	got, err := (event.Event{}).Nth(2)
	recordtest.WantBad(t, err, "event", "Event", got)
}

func TestCheck(t *testing.T) {
	now := noon
	for name, tc := range map[string]struct {
		ev event.Event
		ok bool
	}{
		"now":                  {recordtest.Event(t, now, "a"), true},
		"long ago":             {recordtest.Event(t, time.UnixMilli(1), "a"), true},
		"zero":                 {event.Event{}, false},
		"the bound of a range": {recordtest.Event(t, now, "a").First(), false},
	} {
		err := tc.ev.Check("counter", "Event", now)
		if !tc.ok {
			recordtest.WantBad(t, err, "counter", "Event", name)
		} else if err != nil {
			t.Errorf("%s: Check = %v", name, err)
		}
	}
}

// An hour ahead is not too far, and a millisecond more is.
func TestCheckAtAnHourAhead(t *testing.T) {
	now := noon.Truncate(time.Millisecond)
	if err := recordtest.Event(t, now.Add(event.MaxAhead), "a").Check("counter", "Event", now); err != nil {
		t.Errorf("an hour: %v", err)
	}
	if err := recordtest.Event(t, now.Add(event.MaxAhead+time.Millisecond), "a").Check("counter", "Event", now); err == nil {
		t.Error("an hour and a millisecond: no error")
	}
}

func TestOutcomeZeroIsNeither(t *testing.T) {
	var dropped event.Outcome
	if dropped == event.Created || dropped == event.Duplicate {
		t.Error("the zero Outcome reads as an answer")
	}
	got := []string{dropped.String(), event.Created.String(), event.Duplicate.String()}
	if want := []string{"no outcome", "created", "duplicate"}; !slices.Equal(got, want) {
		t.Errorf("got %q want %q", got, want)
	}
}

// Law: text, bytes and JSON all give the event back.
func FuzzRoundTrip(f *testing.F) {
	f.Add(int64(1774785600000), "telegram", "42")
	f.Add(int64(0), "å", "\x00")
	f.Fuzz(func(t *testing.T, ms int64, a, b string) {
		ev, err := event.New(time.UnixMilli(ms), a, b)
		if err != nil {
			t.Skip() // refused input has no event to bring back
		}
		fromText, err := event.Parse(strings.ToLower(ev.String()))
		if err != nil || fromText != ev {
			t.Errorf("Parse(%s) = %v, %v", ev, fromText, err)
		}
		doc, err := json.Marshal(map[string]event.Event{"e": ev})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]event.Event
		if err := json.Unmarshal(doc, &back); err != nil || back["e"] != ev {
			t.Errorf("JSON %s = %v, %v", doc, back, err)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "01", strings.Repeat("U", 26), "81KMWFT1M0" + strings.Repeat("0", 16)} {
		var bad *event.InputError
		if _, err := event.Parse(text); !errors.As(err, &bad) {
			t.Errorf("Parse(%q) = %v, want an InputError", text, err)
		}
	}
}

// What is left over is told by number, and never by key.
func TestLeftoverError(t *testing.T) {
	down, busy := errors.New("down"), errors.New("busy")
	for want, left := range map[string][]event.Leftover{
		"event: nothing is left over":     nil,
		"down (1 left over)":              {{Key: "secret", Err: down}},
		"busy (the first of 2 left over)": {{Index: 1, Err: busy}, {Index: 4, Err: down}},
	} {
		err := error(&event.LeftoverError{Leftovers: left})
		if got := err.Error(); got != want {
			t.Errorf("Error = %q, want %q", got, want)
		}
		for _, l := range left {
			if !errors.Is(err, l.Err) {
				t.Errorf("%v is not %v", err, l.Err)
			}
		}
	}
}
