package catalog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// Expiry can be switched on only once, and off only for the same attribute.
func TestExpiring(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ current, specification, want, err string }{
		{"", `"AttributeName":"until","Enabled":true`, "until", ""},
		{"until", `"AttributeName":"until","Enabled":true`, "until", "TimeToLive is already enabled"},
		{"until", `"AttributeName":"other","Enabled":true`, "until", "current AttributeName is until"},
		{"", `"AttributeName":"until","Enabled":false`, "", "TimeToLive is already disabled"},
		{"until", `"AttributeName":"other","Enabled":false`, "until", "current AttributeName is until"},
		{"until", `"AttributeName":"until","Enabled":false`, "", ""},
	} {
		table := create(t, plain)
		table.TTL = tt.current
		got, err := table.Expiring(decode(t, `{"TableName":"plain","TimeToLiveSpecification":{`+tt.specification+`}}`, new(api.UpdateTimeToLive)))
		if refused(t, err, tt.err); got.TTL != tt.want || table.TTL != tt.current {
			t.Errorf("%s: %q becomes %q, want %q", tt.specification, tt.current, got.TTL, tt.want)
		}
		want := `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`
		if tt.want != "" {
			want = `{"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"until"}}`
		}
		if text := object(got.DescribeTimeToLive); text != want {
			t.Errorf("described as %s, want %s", text, want)
		}
	}
}

// Backups reach back to the time when they were switched on, or as far as they
// are kept.
func TestBackedUp(t *testing.T) {
	t.Parallel()
	backup := func(table catalog.Table, specification string, at time.Time) catalog.Table {
		return table.BackedUp(decode(t, `{"TableName":"plain","PointInTimeRecoverySpecification":{`+specification+`}}`, new(api.UpdateContinuousBackups)), at)
	}
	const day = 24 * time.Hour
	off := create(t, plain)
	on := backup(off, `"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":7`, made)
	kept := backup(on, `"PointInTimeRecoveryEnabled":true`, made.Add(day))
	for name, tt := range map[string]struct {
		table catalog.Table
		at    time.Time
		want  string
	}{
		"off":           {off, made, `"PointInTimeRecoveryStatus":"DISABLED"`},
		"on":            {on, made.Add(day), `"PointInTimeRecoveryStatus":"ENABLED","RecoveryPeriodInDays":7,"EarliestRestorableDateTime":1774785600.000,"LatestRestorableDateTime":1774872000.000`},
		"for ten days":  {on, made.Add(10 * day), `"PointInTimeRecoveryStatus":"ENABLED","RecoveryPeriodInDays":7,"EarliestRestorableDateTime":1775044800.000,"LatestRestorableDateTime":1775649600.000`},
		"on once more":  {kept, made.Add(day), `"PointInTimeRecoveryStatus":"ENABLED","RecoveryPeriodInDays":35,"EarliestRestorableDateTime":1774785600.000,"LatestRestorableDateTime":1774872000.000`},
		"off once more": {backup(on, `"PointInTimeRecoveryEnabled":false`, made.Add(day)), made.Add(day), `"PointInTimeRecoveryStatus":"DISABLED"`},
	} {
		want := `{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":{` + tt.want + `}}}`
		if diff := cmp.Diff(want, object(func(w *api.Writer) { tt.table.DescribeBackups(w, tt.at) })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Tags are added, replaced and removed, up to fifty. The original table keeps its
// tags.
func TestTags(t *testing.T) {
	t.Parallel()
	table := create(t, orders)
	two, err := table.Tagged([]api.Tag{{Key: "team", Value: "web"}, {Key: "cost", Value: "7"}})
	refused(t, err, "")
	one, err := two.Untagged([]string{"team", "unknown"})
	refused(t, err, "")
	for _, tt := range []struct {
		of   catalog.Table
		want string
	}{
		{table, `{"Tags":[{"Key":"team","Value":"shop"}]}`},
		{two, `{"Tags":[{"Key":"team","Value":"web"},{"Key":"cost","Value":"7"}]}`},
		{one, `{"Tags":[{"Key":"cost","Value":"7"}]}`},
		{create(t, plain), `{"Tags":[]}`},
	} {
		if got := object(tt.of.WriteTags); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	var fifty []api.Tag
	for i := range api.MaxTags {
		fifty = append(fifty, api.Tag{Key: strings.Repeat("x", i+1)})
	}
	_, err = table.Tagged(fifty)
	refused(t, err, "Number of Tags exceed the current limit")
	_, err = table.Tagged(nil)
	refused(t, err, "Atleast one Tag needs")
	_, err = table.Untagged(nil)
	refused(t, err, "Atleast one Tag Key needs")
}

// An item may lack the key of an index, but its attributes must not have
// another type.
func TestCheckItem(t *testing.T) {
	t.Parallel()
	table := create(t, orders)
	for item, want := range map[string]string{
		`{}`:                     "",
		`{"city":{"S":"Berne"}}`: "",
		`{"city":{"N":"3000"}}`:  "Type mismatch for Index Key city Expected: S Actual: N IndexName: by-city",
		`{"city":{"S":""}}`:      "cannot contain an empty string value. IndexName: by-city, IndexKey: city",
		`{"city":{"S":"` + strings.Repeat("x", 2049) + `"}}`: "Size of hashkey has exceeded",
	} {
		m, err := attr.DecodeMap(jsonx.NewReader([]byte(item)))
		if err != nil {
			t.Fatal(err)
		}
		refused(t, table.Index("by-city").CheckItem(m), want)
	}
	if x := table.Index("unknown"); x != nil {
		t.Errorf("the table has an index that it has not: %+v", x)
	}
}

// An index has the keys and the included attributes, or all attributes.
func TestHolds(t *testing.T) {
	t.Parallel()
	table := create(t, orders)
	for name, want := range map[string]bool{"city": true, "customer": true, "number": true, "total": true, "day": false} {
		if got := table.Index("by-city").Holds(name); got != want {
			t.Errorf("by-city holds %s: %v", name, got)
		}
		if !table.Index("by-day").Holds(name) {
			t.Errorf("by-day does not hold %s", name)
		}
	}
}

// A path must not lead into a key.
func TestCheckScalars(t *testing.T) {
	t.Parallel()
	table := create(t, orders)
	for _, tt := range []struct{ nested, want string }{
		{"", ""}, {"note", ""}, {"note number", "Key: number"}, {"city", "IndexKey: city"}, {"day", "IndexKey: day"},
	} {
		refused(t, table.CheckScalars(strings.Fields(tt.nested)), tt.want)
	}
}
