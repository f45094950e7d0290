package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

// An older row without an expiry that comes gets the one of its time, without the
// grace, as the older system wrote it.
func TestBackfill(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
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
		"text":                {row(ddb.Item{"expiresAt": item.S("2026-03-29")}), given},
		"milliseconds":        {row(ddb.Item{"expiresAt": item.N(1774785601000)}), given},
		"zero":                {row(ddb.Item{"expiresAt": item.N(0)}), given},
		"a part of a second":  {row(ddb.Item{"seenAt": item.S("2026-03-15T12:00:00.001Z")}), given},
		"the older system's":  {golden.Item(t, "testdata/typescript.json"), nil},
		"of this package":     {golden.Item(t, "testdata/marked.json"), nil},
		"claimed, no expiry":  {row(ddb.Item{"claim": item.S("c"), "state": item.S("done")}), nil},
		"done with a result":  {golden.Item(t, "testdata/done.json"), nil},
		"erased by operators": {golden.Item(t, "testdata/erased.json"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			golden.Backfill(t, b.client, b.ops(t, store).Backfill, tc.row, tc.want, "expiresAt", "seenAt", "claim")
		})
	}
	for name, it := range map[string]ddb.Item{
		"no time":       {"pk": item.S("k")},
		"not a time":    {"pk": item.S("k"), "seenAt": item.S("yesterday")},
		"a number":      {"pk": item.S("k"), "seenAt": item.N(1774785601)},
		"before all":    {"pk": item.S("k"), "seenAt": item.S("0001-01-01T00:00:00Z")},
		"before a time": {"pk": item.S("k"), "seenAt": item.S("1970-01-01T00:00:00Z")},
	} {
		if in, lacks, err := b.ops(t, store).Backfill(it); err == nil || lacks || in != nil {
			t.Errorf("%s: %v, %v", name, lacks, err)
		}
	}
}

// A key that was seen as long ago as keys are kept is forgotten; a younger one is
// known until then, to the second.
func TestBackfilledKeysExpire(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{Retention: 20 * 24 * time.Hour})
	for key, ago := range map[string]time.Duration{"young": 20*24*time.Hour - time.Second, "old": 20 * 24 * time.Hour} {
		it := ddb.Item{"pk": item.S(key), "seenAt": item.S(b.clock.Now().Add(-ago).UTC().Format(time.RFC3339))}
		b.put(t, it)
		in, _, err := b.ops(t, store).Backfill(it)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.client.UpdateItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	wantMark(t, store, "young", event.Duplicate)
	wantMark(t, store, "old", event.Created)
	b.clock.Add(time.Second)
	wantMark(t, store, "young", event.Created)
}

// Whether the row has room is a question about the row in the table, with its names.
func TestBackfillMeasuresTheRowInTheTable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ops := b.ops(t, b.store(t, ledger.Config{Names: map[string]string{"expiresAt": strings.Repeat("e", 200), "result": "ourResult"}}))
	for name, row := range map[string]ddb.Item{
		"a longer name": {"notes": item.S("")},
		"another's":     {"notes": item.S(""), "result": item.S(strings.Repeat("x", 1000))},
	} {
		row["pk"], row["seenAt"] = item.S("k"), item.S("2026-03-15T12:00:00.000Z")
		row["notes"] = item.S(strings.Repeat("x", item.MaxSize-item.Size(row)-30)) // room for "expiresAt" alone
		if in, lacks, err := ops.Backfill(row); err == nil || lacks || in != nil {
			t.Errorf("%s: an update that DynamoDB would not take: %v, %v", name, lacks, err)
		}
	}
}
