package catalog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

// indexes returns the member that changes global indexes.
func indexes(updates string) string { return `"GlobalSecondaryIndexUpdates":[` + updates + `]` }

const (
	provisioned = `"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":2}`
	attrNote    = `"AttributeDefinitions":[{"AttributeName":"note","AttributeType":"S"}],`
	byNote      = `"IndexName":"by-note","KeySchema":[{"AttributeName":"note","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}`
	addNote     = `{"Create":{` + byNote + `,` + provisioned + `}}`
)

// An UpdateTable returns another table, or is refused. In both cases the original
// table does not change.
func TestUpdated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		table, members string
		streaming      bool
		want           string // a part of the description, or of the error
		refused        bool
	}{
		"throughput":              {orders, provisioned, false, `"ReadCapacityUnits":1,"WriteCapacityUnits":2},"DeletionProtectionEnabled"`, false},
		"the same throughput":     {orders, `"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6}`, false, "for the table will not change", true},
		"throughput on demand":    {plain, provisioned, false, "can be specified when BillingMode is PAY_PER_REQUEST", true},
		"to on demand":            {orders, `"BillingMode":"PAY_PER_REQUEST"`, false, `"ReadCapacityUnits":0,"WriteCapacityUnits":0},"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST"`, false},
		"to provisioned":          {plain, `"BillingMode":"PROVISIONED",` + provisioned, false, `"BillingModeSummary":{"BillingMode":"PROVISIONED"}`, false},
		"to provisioned, without": {plain, `"BillingMode":"PROVISIONED"`, false, "must both be specified when BillingMode is PROVISIONED", true},
		"limits":                  {plain, `"OnDemandThroughput":{"MaxReadRequestUnits":7},"WarmThroughput":{"WriteUnitsPerSecond":9}`, false, `"OnDemandThroughput":{"MaxReadRequestUnits":7},"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":9,"Status":"ACTIVE"}`, false},
		"protection":              {orders, `"DeletionProtectionEnabled":false`, false, `"DeletionProtectionEnabled":false`, false},
		"class":                   {orders, `"TableClass":"STANDARD"`, false, `"TableClassSummary":{"TableClass":"STANDARD"}`, false},
		"encryption":              {orders, `"SSESpecification":{"Enabled":true,"SSEType":"AES256"}`, false, `"SSEDescription":{"Status":"ENABLED","SSEType":"AES256"}`, false},
		"a stream":                {orders, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`, false, "", false},
		"a second stream":         {orders, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`, true, "Table already has an enabled stream: TableName: orders", true},
		"no stream":               {orders, `"StreamSpecification":{"StreamEnabled":false}`, true, "", false},
		"no stream, twice":        {orders, `"StreamSpecification":{"StreamEnabled":false}`, false, "Table has no stream to disable", true},

		"an index more":            {orders, attrNote + indexes(addNote), false, `{"IndexName":"by-note","IndexArn":"` + arn + `/index/by-note"`, false},
		"its attribute":            {orders, attrNote + indexes(addNote), false, `{"AttributeName":"note","AttributeType":"S"}]`, false},
		"without its attribute":    {orders, indexes(addNote), false, "Keys: [note], AttributeDefinitions: []", true},
		"an attribute's type":      {orders, `"AttributeDefinitions":[{"AttributeName":"city","AttributeType":"N"}],` + indexes(addNote), false, "One or more parameter values were invalid: Some index key attributes are not defined", true},
		"a known attribute":        {orders, `"AttributeDefinitions":[{"AttributeName":"city","AttributeType":"N"},{"AttributeName":"note","AttributeType":"S"}],` + indexes(addNote), false, `{"AttributeName":"city","AttributeType":"S"},{"AttributeName":"note","AttributeType":"S"}]`, false},
		"an attribute redefined":   {orders, `"AttributeDefinitions":[{"AttributeName":"city","AttributeType":"N"}],` + indexes(strings.ReplaceAll(addNote, `"note"`, `"city"`)), false, "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: Schema:[SchemaElement: key{city:S:HASH}] New schema: Schema:[SchemaElement: key{city:N:HASH}]", true},
		"an attribute twice":       {orders, `"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"N"},{"AttributeName":"a","AttributeType":"N"}],` + indexes(addNote), false, "Attribute Name is duplicated: a", true},
		"an index without units":   {orders, attrNote + indexes(`{"Create":{`+byNote+`}}`), false, "ProvisionedThroughput is not specified for index: by-note", true},
		"a name that is taken":     {orders, attrNote + indexes(strings.Replace(addNote, "by-note", "by-day", 1)), false, "Attempting to create an index which already exists", true},
		"an index less":            {orders, indexes(`{"Delete":{"IndexName":"by-city"}}`), false, `{"AttributeName":"day","AttributeType":"S"}],"ProvisionedThroughput"`, false},
		"a local index less":       {orders, indexes(`{"Delete":{"IndexName":"by-day"}}`), false, "Index: by-day not found in table: orders", true},
		"two at once":              {orders, attrNote + indexes(addNote+`,{"Delete":{"IndexName":"by-city"}}`), false, "Only 1 online index can be created or deleted simultaneously", true},
		"an index's units":         {orders, indexes(`{"Update":{"IndexName":"by-city","ProvisionedThroughput":{"ReadCapacityUnits":8,"WriteCapacityUnits":9}}}`), false, `"ReadCapacityUnits":8,"WriteCapacityUnits":9},"WarmThroughput":{"ReadUnitsPerSecond":12000`, false},
		"an index's limits":        {orders, indexes(`{"Update":{"IndexName":"by-city","OnDemandThroughput":{"MaxReadRequestUnits":7},"WarmThroughput":{"WriteUnitsPerSecond":9}}}`), false, `"WriteCapacityUnits":2},"OnDemandThroughput":{"MaxReadRequestUnits":7},"WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":9`, false},
		"the same units":           {orders, indexes(`{"Update":{"IndexName":"by-city",` + provisioned + `}}`), false, "for the index by-city will not change", true},
		"no units":                 {orders, indexes(`{"Update":{"IndexName":"by-city"}}`), false, "ProvisionedThroughput must be specified for index: by-city", true},
		"units of an unknown one":  {orders, indexes(`{"Update":{"IndexName":"by-x",` + provisioned + `}}`), false, "Index: by-x not found in table: orders", true},
		"units of one on demand":   {orders, `"BillingMode":"PAY_PER_REQUEST",` + indexes(`{"Update":{"IndexName":"by-city",`+provisioned+`}}`), false, "can be specified for index: by-city when BillingMode", true},
		"an index on demand":       {orders, `"BillingMode":"PAY_PER_REQUEST"`, false, `"IndexStatus":"ACTIVE","ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0`, false},
		"settings before indexes":  {orders, `"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},` + indexes(`{"Delete":{"IndexName":"x12"}}`), false, "for the table will not change", true},
		"indexes before streams":   {orders, indexes(`{"Delete":{"IndexName":"x12"}}`) + `,"StreamSpecification":{"StreamEnabled":false}`, false, "Index: x12 not found", true},
		"too many before the rest": {orders, provisioned + `,` + indexes(`{"Delete":{"IndexName":"x12"}},{"Delete":{"IndexName":"x13"}}`), false, "Only 1 online index", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := create(t, tt.table)
			body := fmt.Sprintf(`{"TableName":"%s",%s}`, table.Name, tt.members)
			updated, err := table.Updated(decode(t, strings.Replace(body, ",}", "}", 1), new(api.UpdateTable)), tt.streaming)
			switch {
			case tt.refused:
				refused(t, err, tt.want)
			case err != nil:
				t.Errorf("refused: %v", err)
			case !strings.Contains(described(&updated), tt.want):
				t.Errorf("%s, want in it %s", described(&updated), tt.want)
			}
			if diff := cmp.Diff(create(t, tt.table), table); diff != "" {
				t.Errorf("the table itself has changed: %s", diff)
			}
		})
	}
}

// A table that was once on demand may become provisioned if its indexes get
// their units in the same request.
func TestUpdatedToProvisioned(t *testing.T) {
	t.Parallel()
	table := create(t, orders)
	demand, err := table.Updated(decode(t, `{"TableName":"orders","BillingMode":"PAY_PER_REQUEST"}`, new(api.UpdateTable)), false)
	refused(t, err, "")
	const back = `{"TableName":"orders","BillingMode":"PROVISIONED",` + provisioned
	_, err = demand.Updated(decode(t, back+`}`, new(api.UpdateTable)), false)
	refused(t, err, "ProvisionedThroughput must be specified for index: by-city")
	again, err := demand.Updated(decode(t, back+`,`+indexes(`{"Update":{"IndexName":"by-city",`+provisioned+`}}`)+`}`, new(api.UpdateTable)), false)
	refused(t, err, "")
	if !again.BillingSet || again.OnDemand || again.Index("by-city").Throughput.Write.Value != 2 {
		t.Errorf("%+v", again)
	}
	later := made.Add(time.Hour)
	if got := demand.Billed(&table, later).BilledSince; got != later {
		t.Errorf("on demand since %v, want %v", got, later)
	}
	if got := demand.Billed(&demand, later).BilledSince; got != made {
		t.Errorf("no change of the mode, and since %v, want %v", got, made)
	}
}

// The twentieth global index is the last.
func TestTwentyIndexes(t *testing.T) {
	t.Parallel()
	full := strings.Replace(plain, `"KeySchema"`, `"GlobalSecondaryIndexes":`+many(20, `{"IndexName":"index#","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}`)+`,"KeySchema"`, 1)
	table := create(t, full)
	more := decode(t, `{"TableName":"plain",`+attrNote+indexes(`{"Create":{`+byNote+`}}`)+`}`, new(api.UpdateTable))
	_, err := table.Updated(more, false)
	refused(t, err, "exceeds the per-table limit of 20")
	less, err := table.Updated(decode(t, `{"TableName":"plain",`+indexes(`{"Delete":{"IndexName":"index7"}}`)+`}`, new(api.UpdateTable)), false)
	refused(t, err, "")
	_, err = less.Updated(more, false)
	refused(t, err, "")
	if got := catalog.Created(more); got == nil || got.Name != "by-note" {
		t.Errorf("creates %v", got)
	}
}

// A request must ask for a change, and for units that a table can have. Each
// change of an index must be one action, and the only one on its index.
func TestCheckUpdate(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]string{
		``: "At least one of ProvisionedThroughput",
		`,"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"N"}]`:                 "At least one of ProvisionedThroughput",
		`,"ProvisionedThroughput":{"ReadCapacityUnits":1000000000000,"WriteCapacityUnits":1}`: "",
		`,"ProvisionedThroughput":{"ReadCapacityUnits":1000000000001,"WriteCapacityUnits":1}`: "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
		`,"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1000000000001}`: "Given value 1000000000001 for WriteCapacityUnits is out of bounds",
	} {
		refused(t, catalog.CheckUpdate(decode(t, `{"TableName":"orders"`+members+`}`, new(api.UpdateTable))), want)
	}
	for updates, want := range map[string]string{
		`{"Delete":{"IndexName":"one"}},{"Delete":{"IndexName":"two"}}`: "",
		`{"Delete":{"IndexName":"one"}},{"Delete":{"IndexName":"one"}}`: "simultaneously. Index: one",
		`{}`: "must not be null",
		`{"Update":{"IndexName":"one"},"Delete":{"IndexName":"one"}}`: "Only one global secondary index action is allowed",
	} {
		refused(t, catalog.CheckUpdate(decode(t, `{"TableName":"orders",`+indexes(updates)+`}`, new(api.UpdateTable))), want)
	}
}
