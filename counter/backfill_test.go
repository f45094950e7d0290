package counter_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
)

// A row without a TTL that comes gets the one that Take gives, and nothing else.
func TestBackfill(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	row := func(ttl types.AttributeValue) ddb.Item {
		it := golden.Item(t, "testdata/typescript.json")
		if it["ttl"] = ttl; ttl == nil {
			delete(it, "ttl")
		}
		return it
	}
	given := ddb.Item{"ttl": golden.Item(t, "testdata/row.json")["ttl"]}
	for name, tc := range map[string]struct{ row, want ddb.Item }{
		"without":               {row(nil), given},
		"text":                  {row(item.S("2026-04-05")), given},
		"zero":                  {row(item.N(0)), given},
		"not whole":             {row(item.F(1775426400.5)), given},
		"milliseconds":          {row(item.N(1775426400000)), given},
		"midnight UTC":          {row(item.N(1775347200)), nil},
		"the end of the world":  {row(item.N(253402300799)), nil},
		"the older system's":    {golden.Item(t, "testdata/typescript.json"), nil},
		"of this package":       {golden.Item(t, "testdata/row.json"), nil},
		"a refund's tombstone":  {golden.Item(t, "testdata/tombstone.json"), nil},
		"taken from since then": {golden.Item(t, "testdata/typescript-taken.json"), nil},
	} {
		t.Run(name, func(t *testing.T) { golden.Backfill(t, e.db.Client(), e.Backfill, tc.row, tc.want, "ttl") })
	}
	for name, it := range map[string]ddb.Item{
		"no day":   {"chatId": item.S(chat), "date": item.S("PROFILE")},
		"a month":  {"chatId": item.S(chat), "date": item.S("2026-03")},
		"no count": {"chatId": item.S(chat), "date": item.S("2026-03-29"), "count": item.S("two")},
	} {
		if in, lacks, err := e.Backfill(it); err == nil || lacks || in != nil {
			t.Errorf("%s: %v, %v", name, lacks, err)
		}
	}
	monthly := ddb.Item{"chatId": item.S(chat), "date": item.S("2026-03"), "count": item.N(1), "ttl": item.N(1775426400)}
	if in, lacks, err := e.Backfill(monthly); in != nil || lacks || err != nil {
		t.Errorf("a row of another Window: %v, %v", lacks, err)
	}
	months := open(t, counter.Config{Window: counter.Month})
	_, _, err := months.Backfill(row(nil))
	wantBad(t, err, "Config.Window")

	longer := open(t, counter.Config{Retention: 30 * 24 * time.Hour, Names: map[string]string{"ttl": "expires"}})
	it := row(nil)
	it["expires"] = item.S("never")
	golden.Backfill(t, longer.db.Client(), longer.Backfill, it, ddb.Item{"expires": item.N(1775426400 + 23*24*60*60)}, "expires")
}
