package ledger_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

// An older row without an expiry that comes gets the one of its time, without the
// grace, as the older system wrote it.
func TestBackfill(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	row := func(attrs ddb.Item) ddb.Item {
		it := golden.Item(t, "testdata/typescript.json")
		delete(it, "expiresAt")
		for name, value := range attrs {
			it[name] = value
		}
		return it
	}
	given := ddb.Item{"expiresAt": golden.Item(t, "testdata/typescript.json")["expiresAt"]}
	for name, tc := range map[string]struct{ row, want ddb.Item }{
		"without":             {row(nil), given},
		"milliseconds":        {row(ddb.Item{"expiresAt": item.N(1774785601000)}), given},
		"a part of a second":  {row(ddb.Item{"seenAt": item.S("2026-03-15T12:00:00.001Z")}), given},
		"the older system's":  {golden.Item(t, "testdata/typescript.json"), nil},
		"of this package":     {golden.Item(t, "testdata/marked.json"), nil},
		"claimed, no expiry":  {row(ddb.Item{"claim": item.S("c"), "state": item.S("done")}), nil},
		"erased by operators": {golden.Item(t, "testdata/erased.json"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			golden.Backfill(t, b.client, b.ops(t, store).Backfill, tc.row, tc.want, "expiresAt", "seenAt", "claim")
		})
	}
	for name, it := range map[string]ddb.Item{
		"no time":       {"pk": item.S("k")},
		"not a time":    {"pk": item.S("k"), "seenAt": item.S("yesterday")},
		"before a time": {"pk": item.S("k"), "seenAt": item.S("1970-01-01T00:00:00Z")},
	} {
		if in, lacks, err := b.ops(t, store).Backfill(it); err == nil || lacks || in != nil {
			t.Errorf("%s: %v, %v", name, lacks, err)
		}
	}
}
