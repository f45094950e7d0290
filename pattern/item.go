package pattern

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/record"
)

// Attributes of a row. Package record keeps type, version, recent and others.
const (
	attrSK        = "sk"
	attrDays      = "dayOfWeekCounts"
	attrHours     = "hourOfDayCounts"
	attrTotal     = "totalCount"
	attrLastSeen  = "lastSeen"
	attrUpdatedAt = "updatedAt"
)

// attributes are what Config.Names can name.
var attributes = []string{
	"pk", attrSK, "type", attrDays, attrHours, attrTotal, attrLastSeen, attrUpdatedAt, "version", "recent",
}

// rowType is the prefix of the partition key and the attribute type.
const rowType = "PATTERN"

// dayNames are the entries of dayOfWeekCounts by time.Weekday.
var dayNames = [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func partition(scope, actor string) string { return record.Key(rowType, scope, actor) }

// checkActor refuses ids that cannot be part of a partition key.
func checkActor(scope, actor string) error {
	return cmp.Or(
		check.ID(pkg, "Scope", scope),
		check.ID(pkg, "Actor", actor),
		check.PartitionKey(pkg, "Scope and Actor", partition(scope, actor)),
	)
}

// checkRow refuses what cannot be part of a key.
func checkRow(scope, actor, name string) error {
	return cmp.Or(checkActor(scope, actor), check.SortKey(pkg, "Name", name))
}

// decode reads a row. Scope and actor are not read from its key: the caller
// knows them.
func decode(row ddb.Item) (Habit, error) {
	f := record.Read(row)
	h := Habit{Name: f.Text(attrSK), Total: f.Int(attrTotal), LastSeen: f.Time(attrLastSeen)}
	f.Time(attrUpdatedAt) // for its error alone: no write may replace a damaged time unseen

	err := cmp.Or(
		readCounts(h.ByDay[:], row, attrDays, func(day int) string { return dayNames[day] }),
		readCounts(h.ByHour[:], row, attrHours, strconv.Itoa),
		f.Err(),
	)
	return h, err
}

// readCounts reads a histogram, whose entries have these names.
func readCounts(counts []int64, row ddb.Item, attr string, name func(int) string) error {
	entries, err := item.Map(row, attr)
	if err != nil {
		return err
	}
	for i := range counts {
		if counts[i], err = item.Int(entries, name(i)); err != nil {
			return fmt.Errorf("in %s: %w", attr, err)
		}
	}
	return nil
}

// count returns the row's values of the own attributes with one more event in
// them. Other entries of the maps are kept.
func count(row ddb.Item, day time.Weekday, hour int, at time.Time) (ddb.Item, error) {
	h, err := decode(row)
	if err != nil {
		return nil, err
	}
	if h.LastSeen.After(at) {
		at = h.LastSeen
	}
	return ddb.Item{
		attrDays:     plusOne(row, attrDays, dayNames[day], h.ByDay[day]),
		attrHours:    plusOne(row, attrHours, strconv.Itoa(hour), h.ByHour[hour]),
		attrLastSeen: item.Time(at),
	}, nil
}

func plusOne(row ddb.Item, attr, entry string, n int64) types.AttributeValue {
	counts, _ := item.Map(row, attr) // decode has read it
	counts = maps.Clone(counts)
	if counts == nil {
		counts = ddb.Item{}
	}
	counts[entry] = item.N(n + 1)
	return item.M(counts)
}
