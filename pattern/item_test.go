package pattern

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Law: different scopes and actors have different partitions, and ids without
// '#' and '%' stand in them as an older system writes them.
func FuzzPartition(f *testing.F) {
	f.Add("-100123", "42", "-100123", "42")
	f.Add("a#b", "c", "a", "b#c")
	f.Add("a%23b", "c", "a#b", "c")
	f.Add("", "a", "a", "")
	f.Fuzz(func(t *testing.T, scope, actor, otherScope, otherActor string) {
		pk, other := partition(scope, actor), partition(otherScope, otherActor)
		if same := scope == otherScope && actor == otherActor; same != (pk == other) {
			t.Errorf("partition(%q, %q) = %q, partition(%q, %q) = %q", scope, actor, pk, otherScope, otherActor, other)
		}
		if plain := "PATTERN#" + scope + "#" + actor; !strings.ContainsAny(scope+actor, "#%") && pk != plain {
			t.Errorf("partition(%q, %q) = %q, want %q", scope, actor, pk, plain)
		}
	})
}

// Law: counting adds one to one day and one hour, leaves every other entry of
// the maps, known or not, as it is, and lastSeen never goes back.
func FuzzCount(f *testing.F) {
	f.Add([]byte{1, 2, 0xff}, int64(1_774_785_600_000), int64(1_774_785_600_001), 2, 13)
	f.Add([]byte{}, int64(5), int64(4), 0, 0)
	f.Fuzz(func(t *testing.T, entries []byte, stood, at int64, day, hour int) {
		const most = 4_102_444_800_000 // the year 2100
		if stood < 0 || at < 0 || stood > most || at > most {
			return
		}
		day, hour = (day%7+7)%7, (hour%24+24)%24
		row := rowOf(entries, stood)
		before, err := decode(row)
		if err != nil {
			t.Fatal(err)
		}
		values, err := count(row, time.Weekday(day), hour, time.UnixMilli(at).UTC())
		if err != nil {
			t.Fatal(err)
		}
		after := rowOf(entries, stood)
		after[attrDays], after[attrHours], after[attrLastSeen] = values[attrDays], values[attrHours], values[attrLastSeen]

		want := before
		want.ByDay[day]++
		want.ByHour[hour]++
		want.LastSeen = time.UnixMilli(max(stood, at)).UTC()
		got, err := decode(after)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, attr := range []string{attrDays, attrHours} {
			old, _ := item.Map(row, attr)
			now, _ := item.Map(after, attr)
			if item.Text(old, "unknown") != item.Text(now, "unknown") {
				t.Errorf("%s lost an entry", attr)
			}
		}
	})
}

// rowOf makes a row whose maps have the entries that the bytes name.
func rowOf(entries []byte, lastSeen int64) ddb.Item {
	days, hours := ddb.Item{}, ddb.Item{}
	for _, b := range entries {
		days[dayNames[b%7]] = item.N(int64(b) + 1)
		hours[strconv.Itoa(int(b%24))] = item.N(int64(b) + 2)
		if b == 0xff {
			days["unknown"], hours["unknown"] = item.S("kept"), item.S("kept")
		}
	}
	return ddb.Item{
		attrSK: item.S("n"), attrDays: item.M(days), attrHours: item.M(hours),
		attrLastSeen: item.Time(time.UnixMilli(lastSeen)), attrTotal: item.N(int64(len(entries))),
	}
}

// What is stored was never touched: a retry starts from it again.
func TestCountDoesNotTouchTheRow(t *testing.T) {
	t.Parallel()
	row := rowOf([]byte{1, 2}, 1_774_785_600_000)
	before := fmt.Sprint(decode(row))
	if _, err := count(row, time.Sunday, 1, time.UnixMilli(1_774_785_600_001)); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprint(decode(row)); after != before {
		t.Errorf("row %s after, %s before", after, before)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for attribute, value := range map[string]ddb.Item{
		attrDays:      {attrDays: item.S("x")},
		"mon":         {attrDays: item.M(ddb.Item{"mon": item.S("x")})},
		attrHours:     {attrHours: item.N(1)},
		"17":          {attrHours: item.M(ddb.Item{"17": item.F(0.5)})},
		attrTotal:     {attrTotal: item.S("1")},
		attrLastSeen:  {attrLastSeen: item.S("yesterday")},
		attrUpdatedAt: {attrUpdatedAt: item.N(1)},
	} {
		if h, err := decode(value); err == nil || !strings.Contains(err.Error(), attribute) {
			t.Errorf("%s: %+v, %v", attribute, h, err)
		}
	}
}
