package pattern

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
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

func TestCount(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_774_785_600_000).UTC()
	row := ddb.Item{
		attrDays:  item.M(ddb.Item{"mon": item.N(2), "sun": item.N(3), "unknown": item.S("kept")}),
		attrHours: item.M(ddb.Item{"1": item.N(4), "unknown": item.S("kept")}), attrLastSeen: item.Time(at),
	}
	for _, late := range []time.Duration{-time.Millisecond, time.Millisecond} {
		values, err := count(row, time.Sunday, 13, at.Add(late))
		if err != nil {
			t.Fatal(err)
		}
		want := ddb.Item{
			attrDays:     item.M(ddb.Item{"mon": item.N(2), "sun": item.N(4), "unknown": item.S("kept")}),
			attrHours:    item.M(ddb.Item{"1": item.N(4), "13": item.N(1), "unknown": item.S("kept")}),
			attrLastSeen: item.Time(at.Add(max(late, 0))),
		}
		if diff := cmp.Diff(golden.Format(want), golden.Format(values)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", late, diff)
		}
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
