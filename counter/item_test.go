package counter

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Law: what parseEntry reads, String writes back: there is one form. An entry begins
// with what is asked of its state and weight, and with nothing that is asked of
// another's.
func FuzzParseEntry(f *testing.F) {
	for _, text := range []string{
		"1~kQ0hF3vbl2E", "-2~Zm9vYmFyYmE", "=7~Zm9vYmFyYmE", "=-2~Zm9vYmFyYmE", "", "-", "~", "1~", "01~kQ0hF3vbl2E", "+1~kQ0hF3vbl2E", "0~kQ0hF3vbl2E",
		"--1~kQ0hF3vbl2E", "1000000000001~kQ0hF3vbl2E", "1~kQ0hF3vbl2F", "1~kQ0hF3vbl2E=", "1~kQ0h\nF3vbl2E", "1~kQ0hF3vbl2E~",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseEntry(text)
		if err != nil {
			return
		}
		if e.String() != text {
			t.Errorf("parseEntry(%q) = %+v, which is written %q", text, e, e)
		}
		for _, other := range []state{held, settled, refunded} {
			for _, w := range []int64{e.weight, e.weight + 1, e.weight * 10, e.weight / 10} {
				same := other == e.state && w == e.weight
				if begins := strings.HasPrefix(text, entryStart(other, w)); begins != same {
					t.Errorf("%q begins with %q: %v", text, entryStart(other, w), begins)
				}
			}
		}
	})
}

func TestParseEntryRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "-", "1", "~kQ0hF3vbl2E", "1~", "1~short", "1~kQ0hF3vbl2EA", "0~kQ0hF3vbl2E", "01~kQ0hF3vbl2E",
		"+1~kQ0hF3vbl2E", "--1~kQ0hF3vbl2E", "==1~kQ0hF3vbl2E", "-=1~kQ0hF3vbl2E", "=-1~kQ0hF3vbl2E", "=0~kQ0hF3vbl2E", "1.0~kQ0hF3vbl2E", "1000000000001~kQ0hF3vbl2E", "1~kQ0h+3vbl2E",
		"1~kQ0h\nF3vbl2E", "1~kQ0h\nF3vbl2", // base64 skips line breaks
	} {
		if e, err := parseEntry(text); err == nil {
			t.Errorf("parseEntry(%q) = %+v", text, e)
		}
	}
}

// What the documentation says of sizes: an entry of weight 1 is 41 bytes, 25
// to a KB, and a row of the most and longest entries is below 400 KB.
func TestSizes(t *testing.T) {
	t.Parallel()
	ev, err := event.New(time.UnixMilli(1774785600000), "a")
	if err != nil {
		t.Fatal(err)
	}
	nonce := strings.Repeat("A", nonceText)
	size := func(e entry) int { return item.Size(ddb.Item{entryName(ev): item.S(e.String())}) }
	if got := size(entry{weight: 1, nonce: nonce}); got != 41 {
		t.Errorf("an entry is %d bytes", got)
	}
	const base = 2048 + 1024 + 1024 // the longest keys and names, and the figures
	if got := mostRecorded*size(entry{state: refunded, weight: mostWeight, nonce: nonce}) + base; got > item.MaxSize {
		t.Errorf("the longest row is %d bytes", got)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	type args struct {
		api   record.API
		table string
		zone  tzclock.Zone
		cfg   Config
	}
	named := func(name, as string) func(*args) {
		return func(a *args) { a.cfg.Names = map[string]string{name: as} }
	}
	good := func() args { return args{api: noAPI{}, table: "limits", zone: tzclock.UTC} }
	for field, spoil := range map[string][]func(*args){
		"api":                    {func(a *args) { a.api = nil }},
		"table":                  {func(a *args) { a.table = "" }, func(a *args) { a.table = "a b c" }},
		"zone":                   {func(a *args) { a.zone = tzclock.Zone{} }},
		`Config.Names["chatId"]`: {named("chatId", "updatedAt"), named("chatId", "e_x"), named("chatId", "\xff"), named("chatId", "")},
		`Config.Names["count"]`:  {named("count", "ttl"), named("count", "e_")},
		`Config.Names["tenant"]`: {named("tenant", "chatId")},
		"Config.MaxRecorded":     {func(a *args) { a.cfg.MaxRecorded = -1 }, func(a *args) { a.cfg.MaxRecorded = 7001 }},
		"Config.Retention": {
			func(a *args) { a.cfg.Retention = -1 }, func(a *args) { a.cfg.Retention = Retention - time.Second },
			func(a *args) { a.cfg.Retention = Retention + time.Millisecond },
		},
		"Config.Window":  {func(a *args) { a.cfg.Window = -1 }, func(a *args) { a.cfg.Window = Month + 1 }},
		"Config.MaxSkew": {func(a *args) { a.cfg.MaxSkew = -1 }, func(a *args) { a.cfg.MaxSkew = 25 * time.Hour }},
	} {
		for i, change := range spoil {
			a := good()
			change(&a)
			s, err := New(a.api, a.table, a.zone, &a.cfg)
			recordtest.WantBad(t, err, "counter", field, "change", i)
			if s != nil {
				t.Errorf("%s %d: a store came back with the error", field, i)
			}
		}
	}
	cfg := Config{}
	if _, err := New(noAPI{}, "limits", tzclock.UTC, &cfg); err != nil || cfg.MaxSkew != 0 {
		t.Errorf("the caller's Config has changed: %+v, %v", cfg, err)
	}
}

type noAPI struct{ record.API }

func TestNoRandomness(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1774785600000)
	s, err := New(noAPI{}, "limits", tzclock.UTC, &Config{
		Now: func() time.Time { return now }, Rand: iotest.ErrReader(errors.New("dry")),
	})
	if err != nil {
		t.Fatal(err)
	}
	ev, err := event.New(now, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take(t.Context(), Take{Key: "k", Event: ev, Weight: 1, Cap: 1}); err == nil {
		t.Error("Take has no nonce and goes on")
	}
}

func TestReadingStrangeRows(t *testing.T) {
	t.Parallel()
	ev, err := event.New(time.UnixMilli(1774785600000), "a")
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{table: "limits"}
	s.cfg.fill()
	w := keyed{event: ev, entry: entry{weight: 1, nonce: strings.Repeat("A", nonceText)}}
	for name, row := range map[string]ddb.Item{
		"count is text":      {"count": item.S("3")},
		"count is a half":    {"count": item.F(0.5)},
		"recorded is text":   {attrRecorded: item.S("3")},
		"entry is a number":  {entryName(ev): item.N(1)},
		"entry has no nonce": {entryName(ev): item.S("1~")},
	} {
		if got, err := s.judge(w, row); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
