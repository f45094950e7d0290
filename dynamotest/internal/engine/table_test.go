package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

func TestATableFromItsCreationToItsEnd(t *testing.T) {
	t.Parallel()
	clock := newClock()
	db := connect(newEngine(t, engine.Options{Now: clock.Now}))
	seedMusic(t, db, 4)
	out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: musicT})
	if err != nil {
		t.Fatal(err)
	}
	d := out.Table
	if d.TableStatus != "ACTIVE" || *d.ItemCount != 8 || *d.TableSizeBytes == 0 || !d.CreationDateTime.Equal(clock.Now()) ||
		*d.TableArn != "arn:aws:dynamodb:us-east-1:123456789012:table/music" || d.BillingModeSummary.BillingMode != "PAY_PER_REQUEST" {
		t.Errorf("described as %+v", d)
	}
	if n := len(d.LocalSecondaryIndexes) + len(d.GlobalSecondaryIndexes); n != 3 {
		t.Errorf("%d indexes are described", n)
	}
	if x := d.GlobalSecondaryIndexes[0]; *x.IndexName != "genre-year" || *x.ItemCount != 6 || x.IndexStatus != "ACTIVE" || len(x.KeySchema) != 2 {
		t.Errorf("the index is described as %+v", x)
	}
	if _, err := db.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: musicT}); err != nil {
		t.Fatal(err)
	}
	var gone *types.ResourceNotFoundException
	if _, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: musicT}); !errors.As(err, &gone) || !strings.Contains(*gone.Message, "Table: music not found") {
		t.Errorf("after it was deleted: %v", err)
	}
}

func TestListTables(t *testing.T) {
	t.Parallel()
	eng := engine.New(engine.Options{})
	var want []string
	for i := range 7 {
		name := fmt.Sprintf("table-%d", i)
		want = append(want, name)
		do(t, eng, "CreateTable", strings.ReplaceAll(plainTable, `"plain"`, `"`+name+`"`))
	}
	db := connect(eng)
	in := &dynamodb.ListTablesInput{Limit: aws.Int32(3)}
	var got []string
	for {
		out, err := db.ListTables(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, out.TableNames...)
		if in.ExclusiveStartTableName = out.LastEvaluatedTableName; in.ExclusiveStartTableName == nil {
			break
		}
	}
	if !slices.Equal(got, want) || !slices.Equal(eng.Tables(), want) {
		t.Errorf("got %v", got)
	}
}

func TestRefusedTables(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	// table returns a table with its name and the given members.
	table := func(members string) string { return `{"TableName":"table",` + members + `}` }
	const onDemand, hash = `"BillingMode":"PAY_PER_REQUEST",`, `"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]`
	attrs := func(names string) string {
		var defs []string
		for _, name := range strings.Fields(names) {
			defs = append(defs, `{"AttributeName":"`+name+`","AttributeType":"S"}`)
		}
		return `"AttributeDefinitions":[` + strings.Join(defs, ",") + `],`
	}
	local := func(key, projection string) string {
		return table(onDemand + attrs("a b c") + `"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}],
			"LocalSecondaryIndexes":[{"IndexName":"index","KeySchema":[` + key + `],"Projection":{` + projection + `}}]`)
	}
	global := func(key, projection string) string {
		return table(onDemand + attrs("a b") + hash + `,"GlobalSecondaryIndexes":[{"IndexName":"index","KeySchema":[` + key + `],"Projection":{` + projection + `}}]`)
	}
	const all = `"ProjectionType":"ALL"`
	el := func(name, kind string) string { return `{"AttributeName":"` + name + `","KeyType":"` + kind + `"}` }
	testRefusals(t, eng, []refusal{
		{"name taken", "CreateTable", plainTable, "ResourceInUse", "Table already exists: plain"},
		{"no name", "CreateTable", `{` + onDemand + attrs("a") + hash + `}`, "Validation", "The parameter 'TableName' is required"},
		{"short name", "CreateTable", `{"TableName":"ab",` + onDemand + attrs("a") + hash + `}`, "Validation", "length greater than or equal to 3"},
		{"bad name", "CreateTable", `{"TableName":"a b c",` + onDemand + attrs("a") + hash + `}`, "Validation", "regular expression pattern"},
		{"no throughput", "CreateTable", table(attrs("a") + hash), "Validation", "must both be specified when BillingMode is PROVISIONED"},
		{"throughput on demand", "CreateTable", table(onDemand + attrs("a") + hash + `,"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`), "Validation", "Neither ReadCapacityUnits nor"},
		{"throughput of nothing", "CreateTable", table(attrs("a") + hash + `,"ProvisionedThroughput":{"ReadCapacityUnits":0,"WriteCapacityUnits":1}`), "Validation", "greater than or equal to 1"},
		{"undefined key", "CreateTable", table(onDemand + attrs("b") + hash), "Validation", "not defined in AttributeDefinitions"},
		{"unused definition", "CreateTable", table(onDemand + attrs("a b") + hash), "Validation", "Number of attributes in KeySchema does not exactly match"},
		{"range first", "CreateTable", table(onDemand + attrs("a") + `"KeySchema":[` + el("a", "RANGE") + `]`), "Validation", "The first KeySchemaElement is not a HASH"},
		{"hash twice", "CreateTable", table(onDemand + attrs("a b") + `"KeySchema":[` + el("a", "HASH") + `,` + el("b", "HASH") + `]`), "Validation", "The second KeySchemaElement is not a RANGE"},
		{"three key elements", "CreateTable", table(onDemand + attrs("a b c") + `"KeySchema":[` + el("a", "HASH") + `,` + el("b", "RANGE") + `,` + el("c", "RANGE") + `]`), "Validation", "less than or equal to 2"},
		{"unknown types", "CreateTable", table(onDemand + `"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"X"}],"KeySchema":[` + el("a", "Y") + `]`), "Validation", "2 validation errors detected"},
		{
			"local index of a table without a sort key", "CreateTable", table(onDemand + attrs("a b") + hash + `,"LocalSecondaryIndexes":[{"IndexName":"index","KeySchema":[` + el("a", "HASH") + `,` + el("b", "RANGE") + `],"Projection":{` + all + `}}]`),
			"Validation", "Table KeySchema does not have a range key",
		},
		{"local index without a sort key", "CreateTable", local(el("a", "HASH"), all), "Validation", "Index KeySchema does not have a range key for index: index"},
		{"local index of another partition key", "CreateTable", local(el("b", "HASH")+","+el("c", "RANGE"), all), "Validation", "same leading hash key"},
		{"no projection", "CreateTable", global(el("b", "HASH"), ``), "Validation", "Unknown ProjectionType: null"},
		{"include of nothing", "CreateTable", global(el("b", "HASH"), `"ProjectionType":"INCLUDE"`), "Validation", "NonKeyAttributes is not specified"},
		{"include of a long name", "CreateTable", global(el("b", "HASH"), `"ProjectionType":"INCLUDE","NonKeyAttributes":["x","`+strings.Repeat("y", 256)+`"]`), "Validation", "at 'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy constraint: Member must satisfy constraint: [Member must have length less than or equal to 255, "},
		{"include of one twice", "CreateTable", global(el("b", "HASH"), `"ProjectionType":"INCLUDE","NonKeyAttributes":["x","y","x"]`), "Validation", "Duplicate element in NonKeyAttributes: x"},
		{"include with all", "CreateTable", global(el("b", "HASH"), all+`,"NonKeyAttributes":["x"]`), "Validation", "NonKeyAttributes is specified"},
		{"five hash parts", "CreateTable", table(onDemand + attrs("a b c d e") + hash + `,"GlobalSecondaryIndexes":[{"IndexName":"index","KeySchema":[` +
			el("a", "HASH") + `,` + el("b", "HASH") + `,` + el("c", "HASH") + `,` + el("d", "HASH") + `,` + el("e", "HASH") + `],"Projection":{` + all + `}}]`), "Validation", "The KeySchema exceeds the maximum allowed number of HASH key attributes"},
		{"describe nothing", "DescribeTable", `{"TableName":"nowhere"}`, "ResourceNotFound", "Table: nowhere not found"},
		{"delete nothing", "DeleteTable", `{"TableName":"nowhere"}`, "ResourceNotFound", "Table: nowhere not found"},
		{"change nothing", "UpdateTable", `{"TableName":"plain"}`, "Validation", "At least one of"},
		{"change of a table that is not there", "UpdateTable", `{"TableName":"nowhere","BillingMode":"PAY_PER_REQUEST"}`, "ResourceNotFound", "Table: nowhere not found"},
		{"provisioned without throughput", "UpdateTable", `{"TableName":"plain","BillingMode":"PROVISIONED"}`, "Validation", "must both be specified"},
		{"delete an index that is not there", "UpdateTable", `{"TableName":"plain","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"none"}}]}`, "ResourceNotFound", "Index: none not found"},
		{"limit too high", "ListTables", `{"Limit":101}`, "Validation", "less than or equal to 100"},
		{"TTL on nothing", "UpdateTimeToLive", `{"TableName":"plain"}`, "Validation", "timeToLiveSpecification"},
		{"TTL off twice", "UpdateTimeToLive", `{"TableName":"plain","TimeToLiveSpecification":{"AttributeName":"x","Enabled":false}}`, "Validation", "TimeToLive is already disabled"},
		{"backups of nothing", "DescribeContinuousBackups", `{"TableName":"nowhere"}`, "TableNotFound", "Table not found: nowhere"},
		{"tags of no ARN", "ListTagsOfResource", `{"ResourceArn":"plain"}`, "Validation", "ARNs must start with 'arn:': plain"},
		{"tags of another service", "ListTagsOfResource", `{"ResourceArn":"arn:aws:sqs:us-east-1:123456789012:table/plain"}`, "Validation", "Provided Arn is not a DynamoDB resource arn: arn"},
		{"tags of half an ARN", "ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb"}`, "Validation", "Provided Arn is not a DynamoDB resource arn: arn"},
		{"tags of an index", "TagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/music/index/by-year","Tags":[{"Key":"a","Value":"b"}]}`, "Validation", "only table or stream is accepted"},
		{"tags of another region", "ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb:eu-west-1:123456789012:table/plain"}`, "Validation", "Invalid ResourceArn provided as input arn"},
		{"tags of another account", "ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/plain"}`, "AccessDenied", "not authorized"},
		{"tags of no table", "ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/nowhere"}`, "ResourceNotFound", "not found"},
	})
}

func TestDeletionProtection(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "UpdateTable", `{"TableName":"plain","DeletionProtectionEnabled":true}`)
	if res := eng.Do(t.Context(), "DeleteTable", []byte(`{"TableName":"plain"}`)); res.Err == nil || !strings.Contains(res.Err.Message, "protected against deletion") {
		t.Errorf("got %v", res.Err)
	}
	do(t, eng, "UpdateTable", `{"TableName":"plain","DeletionProtectionEnabled":false}`)
	do(t, eng, "DeleteTable", `{"TableName":"plain"}`)
}

func TestABillingModeComesAndGoes(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	billing := func() string {
		d := do(t, eng, "DescribeTable", `{"TableName":"plain"}`)["Table"].(map[string]any)
		return fmt.Sprint(d["BillingModeSummary"].(map[string]any)["BillingMode"], " ", d["ProvisionedThroughput"].(map[string]any)["WriteCapacityUnits"])
	}
	do(t, eng, "UpdateTable", `{"TableName":"plain","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":4}}`)
	if got := billing(); got != "PROVISIONED 4" {
		t.Errorf("got %q", got)
	}
	same := []byte(`{"TableName":"plain","ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":4}}`)
	if res := eng.Do(t.Context(), "UpdateTable", same); res.Err == nil || !strings.Contains(res.Err.Message, "will not change") {
		t.Errorf("the same throughput again: %v", res.Err)
	}
	do(t, eng, "UpdateTable", `{"TableName":"plain","BillingMode":"PAY_PER_REQUEST"}`)
	if got := billing(); got != "PAY_PER_REQUEST 0" {
		t.Errorf("got %q", got)
	}
}

// Some changes of global indexes cannot go together, and some change nothing.
func TestIndexUpdatesThatAreRefused(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	const (
		five = `"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}`
		six  = `"ProvisionedThroughput":{"ReadCapacityUnits":6,"WriteCapacityUnits":5}`
	)
	index := func(name string) string {
		return `{"IndexName":"` + name + `","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"},` + five + `}`
	}
	do(t, eng, "CreateTable", `{"TableName":"paid",`+five+`,"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"GlobalSecondaryIndexes":[`+index("one")+`,`+index("two")+`]}`)
	change := func(updates string) string {
		return `{"TableName":"paid","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[` + updates + `]}`
	}
	const (
		drop   = `{"Delete":{"IndexName":"%s"}}`
		update = `{"Update":{"IndexName":"%s",%s}}`
	)
	testRefusals(t, eng, []refusal{
		{"two deletes", "UpdateTable", change(fmt.Sprintf(drop+","+drop, "one", "two")), "LimitExceeded", "Only 1 online index can be created or deleted"},
		{"a delete and a new one", "UpdateTable", change(fmt.Sprintf(drop, "one") + `,{"Create":` + index("new") + `}`), "LimitExceeded", "Only 1 online index"},
		{"one index twice", "UpdateTable", change(fmt.Sprintf(update+","+drop, "one", six, "one")), "Validation", "Only one global secondary index update per index is allowed simultaneously. Index: one"},
		{"two actions in one", "UpdateTable", change(`{"Delete":{"IndexName":"one"},"Create":` + index("new") + `}`), "Validation", "Only one global secondary index action is allowed"},
		{"no action", "UpdateTable", change(`{}`), "Validation", "GlobalSecondaryIndexUpdate.Delete must not be null"},
		{"no settings", "UpdateTable", change(`{"Update":{"IndexName":"one"}}`), "Validation", "ProvisionedThroughput must be specified for index: one"},
		{"what an index has", "UpdateTable", change(fmt.Sprintf(update, "one", five)), "Validation", "The provisioned throughput for the index one will not change."},
		{"what the table has", "UpdateTable", strings.Replace(change(fmt.Sprintf(update, "one", six)), "{", "{"+five+",", 1), "Validation", "The provisioned throughput for the table will not change."},
	})
}

// A change of one index and the deletion of another can go together. A billing
// mode that was never changed is not described.
func TestIndexUpdatesThatGoTogether(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	const throughput = `"ProvisionedThroughput":{"ReadCapacityUnits":%d,"WriteCapacityUnits":5}`
	index := func(name string) string {
		return `{"IndexName":"` + name + `","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"},` + fmt.Sprintf(throughput, 5) + `}`
	}
	do(t, eng, "CreateTable", `{"TableName":"paid",`+fmt.Sprintf(throughput, 5)+`,"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"GlobalSecondaryIndexes":[`+index("one")+`,`+index("two")+`]}`)
	do(t, eng, "UpdateTable", `{"TableName":"paid","BillingMode":"PROVISIONED",
		"GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"one",`+fmt.Sprintf(throughput, 6)+`}},{"Delete":{"IndexName":"two"}}]}`)
	got := do(t, eng, "DescribeTable", `{"TableName":"paid"}`)["Table"].(map[string]any)
	indexes := got["GlobalSecondaryIndexes"].([]any)
	if len(indexes) != 1 || indexes[0].(map[string]any)["ProvisionedThroughput"].(map[string]any)["ReadCapacityUnits"] != 6.0 {
		t.Errorf("the indexes are %v", indexes)
	}
	if summary := got["BillingModeSummary"]; summary != nil {
		t.Errorf("the billing mode is described as %v", summary)
	}
}

func TestANewIndexIsFilled(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	db := connect(eng)
	put(t, db, "plain", item("id", "a", "colour", "red", "size", 1))
	put(t, db, "plain", item("id", "b", "colour", "red", "size", "large")) // not of the index's type: left out
	put(t, db, "plain", item("id", "c", "colour", "red"))                  // no sort key: left out
	put(t, db, "plain", item("id", "e", "colour", "", "size", 1))          // empty: left out
	do(t, eng, "UpdateTable", `{"TableName":"plain","AttributeDefinitions":[{"AttributeName":"colour","AttributeType":"S"},{"AttributeName":"size","AttributeType":"N"}],
		"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"colours","Projection":{"ProjectionType":"KEYS_ONLY"},
		"KeySchema":[{"AttributeName":"colour","KeyType":"HASH"},{"AttributeName":"size","KeyType":"RANGE"}]}}]}`)
	put(t, db, "plain", item("id", "d", "colour", "red", "size", 0))
	red := dynamodb.QueryInput{TableName: plain, IndexName: aws.String("colours"), KeyConditionExpression: aws.String("colour = :c"), ExpressionAttributeValues: item(":c", "red")}
	all, _ := pages(t, db, red)
	if got := column(all, "id"); !slices.Equal(got, []string{"d", "a"}) {
		t.Errorf("the index has %v", got)
	}
	if n := do(t, eng, "Scan", `{"TableName":"plain","IndexName":"colours"}`)["Count"]; n != 2.0 {
		t.Errorf("the index has %v entries, want 2", n)
	}
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: plain, Item: item("id", "b", "colour", "red", "size", "small")}); code(err) != "ValidationException" {
		t.Errorf("an item that the index cannot take: %v", err)
	}
	do(t, eng, "UpdateTable", `{"TableName":"plain","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"colours"}}]}`)
	if _, err := db.Query(t.Context(), &red); code(err) != "ValidationException" {
		t.Errorf("a query of a deleted index: %v", err)
	}
	if defs := do(t, eng, "DescribeTable", `{"TableName":"plain"}`)["Table"].(map[string]any)["AttributeDefinitions"].([]any); len(defs) != 1 {
		t.Errorf("the definitions of a deleted index stay: %v", defs)
	}
	put(t, db, "plain", item("id", "b", "colour", "red", "size", "small"))
}

func TestAnIndexWithSeveralAttributesInItsKey(t *testing.T) {
	t.Parallel()
	eng := engine.New(engine.Options{})
	do(t, eng, "CreateTable", `{"TableName":"trips","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"from","AttributeType":"S"},{"AttributeName":"to","AttributeType":"S"},
			{"AttributeName":"year","AttributeType":"N"},{"AttributeName":"day","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
		"GlobalSecondaryIndexes":[{"IndexName":"routes","Projection":{"ProjectionType":"ALL"},"KeySchema":[
			{"AttributeName":"from","KeyType":"HASH"},{"AttributeName":"to","KeyType":"HASH"},
			{"AttributeName":"year","KeyType":"RANGE"},{"AttributeName":"day","KeyType":"RANGE"}]}]}`)
	db := connect(eng)
	for i := range 12 {
		put(t, db, "trips", item("id", fmt.Sprint(i), "from", "Lund", "to", "Ystad", "year", 2020+i/4, "day", 10-i%4))
	}
	put(t, db, "trips", item("id", "back", "from", "Ystad", "to", "Lund", "year", 2021, "day", 8))
	for _, tt := range []struct {
		more   string
		values []any
		want   string // the ids, in order
	}{
		{"", nil, "3 2 1 0 7 6 5 4 11 10 9 8"},
		{" AND #y = :y", []any{":y", 2021}, "7 6 5 4"},
		{" AND #y > :y", []any{":y", 2021}, "11 10 9 8"},
		{" AND #y = :y AND #d BETWEEN :d AND :e", []any{":y", 2021, ":d", 8, ":e", 9}, "6 5"},
		{" AND #y = :y AND #d >= :d", []any{":y", 2022, ":d", 9}, "9 8"},
	} {
		named := map[string]string{"#f": "from", "#t": "to", "#y": "year", "#d": "day"}
		maps.DeleteFunc(named, func(placeholder, _ string) bool { return !strings.Contains("#f #t"+tt.more, placeholder) })
		all, _ := pages(t, db, dynamodb.QueryInput{
			TableName: aws.String("trips"), IndexName: aws.String("routes"), Limit: aws.Int32(2),
			KeyConditionExpression:    aws.String("#f = :f AND #t = :t" + tt.more),
			ExpressionAttributeNames:  named,
			ExpressionAttributeValues: item(append(tt.values, ":f", "Lund", ":t", "Ystad")...),
		})
		if got := column(all, "id"); !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%q: got %v, want %s", tt.more, got, tt.want)
		}
	}
}

func TestTimeToLiveSettings(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	ttl := func(attribute string, on bool) string {
		return fmt.Sprintf(`{"TableName":"plain","TimeToLiveSpecification":{"AttributeName":%q,"Enabled":%v}}`, attribute, on)
	}
	do(t, eng, "UpdateTimeToLive", ttl("expires", true))
	for body, want := range map[string]string{
		ttl("expires", true): "already enabled",
		ttl("other", true):   "active on a different AttributeName",
		ttl("other", false):  "active on a different AttributeName",
	} {
		if res := eng.Do(t.Context(), "UpdateTimeToLive", []byte(body)); res.Err == nil || !strings.Contains(res.Err.Message, want) {
			t.Errorf("%s: %v", body, res.Err)
		}
	}
	if d := do(t, eng, "DescribeTimeToLive", `{"TableName":"plain"}`)["TimeToLiveDescription"].(map[string]any); d["AttributeName"] != "expires" || d["TimeToLiveStatus"] != "ENABLED" {
		t.Errorf("described as %v", d)
	}
	do(t, eng, "UpdateTimeToLive", ttl("expires", false))
	if d := do(t, eng, "DescribeTimeToLive", `{"TableName":"plain"}`)["TimeToLiveDescription"].(map[string]any); d["TimeToLiveStatus"] != "DISABLED" {
		t.Errorf("described as %v", d)
	}
}

func TestExpiredItemsStayUntilTheSweep(t *testing.T) {
	t.Parallel()
	clock := newClock()
	eng := newEngine(t, engine.Options{Now: clock.Now})
	db := connect(eng)
	do(t, eng, "UpdateTimeToLive", `{"TableName":"plain","TimeToLiveSpecification":{"AttributeName":"expires","Enabled":true}}`)
	do(t, eng, "UpdateTimeToLive", `{"TableName":"music","TimeToLiveSpecification":{"AttributeName":"expires","Enabled":true}}`)
	now := int(clock.Now().Unix())
	const fiveYears = 5 * 365 * 24 * 3600
	for id, expires := range map[string]any{
		"past": now - 1, "now": now, "future": now + 1, "five years": now - fiveYears, "ancient": now - fiveYears - 1,
		"milliseconds": now * 1000, "a text": fmt.Sprint(now - 1), "decimal": &types.AttributeValueMemberN{Value: fmt.Sprintf("%d.75", now-1)},
	} {
		put(t, db, "plain", item("id", id, "expires", expires))
	}
	put(t, db, "plain", item("id", "none"))
	put(t, db, "music", item("artist", "abba", "song", 1, "genre", "pop", "expires", now-1))
	if n := do(t, eng, "Scan", `{"TableName":"plain"}`)["Count"]; n != 9.0 {
		t.Errorf("%v items before the sweep", n)
	}
	if n := eng.ExpireTTL(); n != 4 {
		t.Errorf("the sweep deleted %d items, want 4", n)
	}
	left := column(scanAll(t.Context(), t, db, dynamodb.ScanInput{TableName: plain}), "id")
	slices.Sort(left)
	if want := []string{"a text", "ancient", "future", "milliseconds", "none", "now"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if n := do(t, eng, "Scan", `{"TableName":"music","IndexName":"genre-title"}`)["Count"]; n != 0.0 {
		t.Errorf("the index still has %v entries", n)
	}
	clock.Advance(2 * time.Second)
	if n := eng.ExpireTTL(); n != 2 {
		t.Errorf("the next sweep deleted %d items, want 2", n)
	}
}

func TestBackupsAndTagsAndLimits(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "UpdateContinuousBackups", `{"TableName":"plain","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`)
	d := do(t, eng, "DescribeContinuousBackups", `{"TableName":"plain"}`)["ContinuousBackupsDescription"].(map[string]any)
	if s := d["PointInTimeRecoveryDescription"].(map[string]any)["PointInTimeRecoveryStatus"]; s != "ENABLED" {
		t.Errorf("recovery is %v", s)
	}
	const arn = `"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/plain"`
	do(t, eng, "TagResource", `{`+arn+`,"Tags":[{"Key":"a","Value":"1"},{"Key":"b","Value":"2"}]}`)
	do(t, eng, "TagResource", `{`+arn+`,"Tags":[{"Key":"a","Value":"3"}]}`)
	do(t, eng, "UntagResource", `{`+arn+`,"TagKeys":["b"]}`)
	if tags := fmt.Sprint(do(t, eng, "ListTagsOfResource", `{`+arn+`}`)["Tags"]); tags != "[map[Key:a Value:3]]" {
		t.Errorf("tags are %s", tags)
	}
	if n := do(t, eng, "DescribeLimits", `{}`)["TableMaxWriteCapacityUnits"]; n != 40000.0 {
		t.Errorf("the limit is %v", n)
	}
	if all := do(t, eng, "DescribeEndpoints", `{}`)["Endpoints"].([]any); len(all) != 1 {
		t.Errorf("endpoints are %v", all)
	}
}

// A table has at most fifty tags, with limits for the length of their keys and
// values, for every operation that sets tags.
func TestHowManyTags(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	const arn = `"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/plain"`
	tags := func(from, to int) string {
		var all []string
		for i := from; i < to; i++ {
			all = append(all, fmt.Sprintf(`{"Key":"k%d","Value":"v"}`, i))
		}
		return `"Tags":[` + strings.Join(all, ",") + `]`
	}
	tagged := func(tags string) string {
		return `{"TableName":"tagged","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],` + tags + `}`
	}
	tag := func(key, value int) string {
		return fmt.Sprintf(`"Tags":[{"Key":"%s","Value":"%s"}]`, strings.Repeat("å", key), strings.Repeat("ö", value))
	}
	do(t, eng, "TagResource", `{`+arn+`,`+tags(0, 50)+`}`)
	do(t, eng, "UntagResource", `{`+arn+`,"TagKeys":[`+repeated(50, `"k7"`)+`]}`)
	do(t, eng, "TagResource", `{`+arn+`,`+tag(128, 256)+`}`)
	testRefusals(t, eng, []refusal{
		{"51 new ones", "CreateTable", tagged(tags(0, 51)), "Validation", "Number of Tags exceed the current limit for the provided ResourceArn"},
		{"a key twice", "CreateTable", tagged(`"Tags":[{"Key":"a","Value":"1"},{"Key":"b","Value":"1"},{"Key":"a","Value":"2"}]`), "Validation", "Duplicate Tag Keys provided as input: Duplicate Tag Key found a"},
		{"a new key of 129", "CreateTable", tagged(tag(129, 1)), "Validation", "The Tag Key provided is invalid, Key: å"},
		{"51 at once", "TagResource", `{` + arn + `,` + tags(0, 51) + `}`, "Validation", "Number of Tags exceed the current limit for the provided ResourceArn"},
		{"one too many", "TagResource", `{` + arn + `,` + tags(50, 51) + `}`, "Validation", "Number of Tags exceed the current limit for the provided ResourceArn"},
		{"no key", "TagResource", `{` + arn + `,` + tag(0, 1) + `}`, "Validation", "The Tag Key provided is invalid, Key: "},
		{"no key at all", "TagResource", `{` + arn + `,"Tags":[{"Value":"x"}]}`, "Validation", "The Tag Key provided is invalid, Key: null"},
		{"no value", "TagResource", `{` + arn + `,"Tags":[{"Key":"x"}]}`, "Validation", "The Tag Value provided is invalid, Value: null"},
		{"a sign in a value", "TagResource", `{` + arn + `,"Tags":[{"Key":"x","Value":"50%"}]}`, "Validation", "The Tag Value provided is invalid, Value: 50%"},
		{"a sign in a new key", "CreateTable", tagged(`"Tags":[{"Key":"x!","Value":"1"}]`), "Validation", "The Tag Key provided is invalid, Key: x!"},
		{"AWS's own", "TagResource", `{` + arn + `,"Tags":[{"Key":"aws:x","Value":"1"}]}`, "Validation", "Tag Key cannot be prefixed with aws:, Key: aws:x"},
		{"a key twice at once", "TagResource", `{` + arn + `,"Tags":[{"Key":"x","Value":"1"},{"Key":"x","Value":"2"}]}`, "Validation", "Duplicate Tag Key found x"},
		{"a value of 257", "TagResource", `{` + arn + `,` + tag(1, 257) + `}`, "Validation", "The Tag Value provided is invalid, Value: ö"},
		{"51 keys", "UntagResource", `{` + arn + `,"TagKeys":[` + repeated(51, `"k"`) + `]}`, "Validation", "Number of Tags exceed the current limit for the provided ResourceArn"},
		{"a key of 129", "UntagResource", `{` + arn + `,"TagKeys":["` + strings.Repeat("å", 129) + `"]}`, "Validation", "The Tag Key provided is invalid, Key: å"},
	})
}

func TestATableMayBeNamedByItsARN(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "PutItem", `{"TableName":"arn:aws:dynamodb:us-east-1:123456789012:table/plain","Item":{"id":{"S":"x"}}}`)
	if n := do(t, eng, "Scan", `{"TableName":"plain"}`)["Count"]; n != 1.0 {
		t.Errorf("%v items", n)
	}
}

// Settings that change nothing here are described as they were made.
func TestThroughputIsDescribed(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "UpdateTable", `{"TableName":"plain","WarmThroughput":{"ReadUnitsPerSecond":15000,"WriteUnitsPerSecond":5000},
		"OnDemandThroughput":{"MaxReadRequestUnits":70,"MaxWriteRequestUnits":50},"AttributeDefinitions":[{"AttributeName":"g","AttributeType":"S"}],
		"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"index","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],
			"Projection":{"ProjectionType":"ALL"},"WarmThroughput":{"ReadUnitsPerSecond":13000}}}]}`)
	table := do(t, eng, "DescribeTable", `{"TableName":"plain"}`)["Table"].(map[string]any)
	index := table["GlobalSecondaryIndexes"].([]any)[0].(map[string]any)
	got := []any{table["WarmThroughput"], table["OnDemandThroughput"], index["WarmThroughput"]}
	want := []any{
		map[string]any{"ReadUnitsPerSecond": 15000.0, "WriteUnitsPerSecond": 5000.0, "Status": "ACTIVE"},
		map[string]any{"MaxReadRequestUnits": 70.0, "MaxWriteRequestUnits": 50.0},
		map[string]any{"ReadUnitsPerSecond": 13000.0, "WriteUnitsPerSecond": 4000.0, "Status": "ACTIVE"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
