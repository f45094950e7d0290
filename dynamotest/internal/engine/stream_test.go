package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// streaming creates a table with a stream and returns the stream's ARN.
func streaming(t *testing.T, eng *engine.Engine, name, view string) string {
	t.Helper()
	reply := do(t, eng, "CreateTable", `{"TableName":"`+name+`","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
		"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"`+view+`"}}`)
	return reply["TableDescription"].(map[string]any)["LatestStreamArn"].(string)
}

func describeStream(t *testing.T, eng *engine.Engine, arn string) map[string]any {
	t.Helper()
	return do(t, eng, "DescribeStream", `{"StreamArn":"`+arn+`"}`)["StreamDescription"].(map[string]any)
}

func shardOf(t *testing.T, eng *engine.Engine, arn string) string {
	t.Helper()
	return describeStream(t, eng, arn)["Shards"].([]any)[0].(map[string]any)["ShardId"].(string)
}

// iteratorAt returns an iterator; place is its type and further parameters.
func iteratorAt(t *testing.T, eng *engine.Engine, arn, place string) string {
	t.Helper()
	body := fmt.Sprintf(`{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":%s}`, arn, shardOf(t, eng, arn), place)
	return do(t, eng, "GetShardIterator", body)["ShardIterator"].(string)
}

// records reads from an iterator, and returns where it ended.
func records(t *testing.T, eng *engine.Engine, iterator, rest string) (recs []map[string]any, next string) {
	t.Helper()
	reply := do(t, eng, "GetRecords", `{"ShardIterator":"`+iterator+`"`+rest+`}`)
	for _, r := range reply["Records"].([]any) {
		recs = append(recs, r.(map[string]any))
	}
	next, _ = reply["NextShardIterator"].(string)
	return recs, next
}

// told returns records in short form: event, key, old n, new n.
func told(recs []map[string]any) []string {
	n := func(image any) string {
		if image == nil {
			return "-"
		}
		if v, ok := image.(map[string]any)["n"].(map[string]any); ok {
			return v["N"].(string)
		}
		return "none"
	}
	out := []string{}
	for _, r := range recs {
		change := r["dynamodb"].(map[string]any)
		id := change["Keys"].(map[string]any)["id"].(map[string]any)["S"]
		line := fmt.Sprint(r["eventName"], " ", id, " ", n(change["OldImage"]), " ", n(change["NewImage"]))
		if r["userIdentity"] != nil {
			line += " by " + r["userIdentity"].(map[string]any)["PrincipalId"].(string)
		}
		out = append(out, line)
	}
	return out
}

// Every operation makes one record for each change, and no other records.
func TestStreamTellsEveryChange(t *testing.T) {
	t.Parallel()
	clk := newClock()
	eng := engine.New(engine.Options{Now: clk.Now})
	arn := streaming(t, eng, "tab", "NEW_AND_OLD_IMAGES")
	do(t, eng, "UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}}`)
	put := func(id string, n int) string { return fmt.Sprintf(`{"id":{"S":"%s"},"n":{"N":"%d"}}`, id, n) }
	for _, step := range []struct{ op, body string }{
		{"PutItem", `{"TableName":"tab","Item":` + put("a", 1) + `}`},
		{"PutItem", `{"TableName":"tab","Item":` + put("a", 1) + `}`}, // identical
		{"UpdateItem", `{"TableName":"tab","Key":{"id":{"S":"a"}},"UpdateExpression":"SET n = n"}`},
		{"UpdateItem", `{"TableName":"tab","Key":{"id":{"S":"a"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":{"N":"1"}}}`},
		{"UpdateItem", `{"TableName":"tab","Key":{"id":{"S":"b"}},"UpdateExpression":"REMOVE q"}`}, // the item does not exist
		{"UpdateItem", `{"TableName":"tab","Key":{"id":{"S":"b"}}}`},
		{"DeleteItem", `{"TableName":"tab","Key":{"id":{"S":"b"}}}`},
		{"DeleteItem", `{"TableName":"tab","Key":{"id":{"S":"b"}}}`}, // the item does not exist
		{"BatchWriteItem", `{"RequestItems":{"tab":[{"PutRequest":{"Item":` + put("c", 3) + `}},{"DeleteRequest":{"Key":{"id":{"S":"a"}}}}]}}`},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":` + put("d", 4) + `}},
			{"ConditionCheck":{"TableName":"tab","Key":{"id":{"S":"c"}},"ConditionExpression":"attribute_exists(n)"}}]}`},
		{"PutItem", `{"TableName":"tab","Item":{"id":{"S":"e"},"ttl":{"N":"` + fmt.Sprint(clk.Now().Unix()) + `"}}}`},
	} {
		do(t, eng, step.op, step.body)
	}
	for op, refused := range map[string]string{
		"PutItem":            `{"TableName":"tab","Item":` + put("c", 9) + `,"ConditionExpression":"attribute_not_exists(id)"}`,
		"TransactWriteItems": `{"TransactItems":[{"Put":{"TableName":"tab","Item":` + put("x", 9) + `}},{"ConditionCheck":{"TableName":"tab","Key":{"id":{"S":"y"}},"ConditionExpression":"attribute_exists(id)"}}]}`,
	} {
		if res := eng.Do(t.Context(), op, []byte(refused)); res.Err == nil {
			t.Fatalf("%s is accepted", op)
		}
	}
	clk.Advance(time.Hour)
	eng.ExpireTTL()

	recs, _ := records(t, eng, iteratorAt(t, eng, arn, `"TRIM_HORIZON"`), "")
	want := []string{
		"INSERT a - 1", "MODIFY a 1 2", "INSERT b - none", "REMOVE b none -", "INSERT c - 3", "REMOVE a 2 -", "INSERT d - 4",
		"INSERT e - none", "REMOVE e none - by dynamodb.amazonaws.com",
	}
	if diff := cmp.Diff(want, told(recs)); diff != "" {
		t.Error(diff)
	}
	var ids, numbers []string
	for _, r := range recs {
		ids = append(ids, r["eventID"].(string))
		numbers = append(numbers, r["dynamodb"].(map[string]any)["SequenceNumber"].(string))
	}
	if !slices.IsSorted(numbers) || len(slices.Compact(numbers)) != len(recs) || len(numbers[0]) < 21 {
		t.Errorf("sequence numbers %v", numbers)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(recs) {
		t.Errorf("event ids %v", ids)
	}
}

func TestStreamRecord(t *testing.T) {
	t.Parallel()
	for view, want := range map[string]struct {
		members string
		size    float64
	}{
		"KEYS_ONLY":          {"", 3},
		"NEW_IMAGE":          {"NewImage", 3 + 6},
		"OLD_IMAGE":          {"OldImage", 3 + 6},
		"NEW_AND_OLD_IMAGES": {"NewImage OldImage", 3 + 6 + 6},
	} {
		clk := newClock()
		eng := engine.New(engine.Options{Now: clk.Now, Region: "eu-north-1"})
		arn := streaming(t, eng, "tab", view)
		for _, n := range []string{"1", "2"} {
			do(t, eng, "PutItem", `{"TableName":"tab","Item":{"id":{"S":"a"},"n":{"N":"`+n+`"}}}`)
		}
		recs, _ := records(t, eng, iteratorAt(t, eng, arn, `"TRIM_HORIZON"`), "")
		modified := recs[1]
		change := modified["dynamodb"].(map[string]any)
		var members []string
		for _, name := range []string{"NewImage", "OldImage"} {
			if change[name] != nil {
				members = append(members, name)
			}
		}
		if got := strings.Join(members, " "); got != want.members || change["SizeBytes"] != want.size || change["StreamViewType"] != view {
			t.Errorf("%s: %q, %v", view, got, change)
		}
		for name, want := range map[string]any{"eventName": "MODIFY", "eventVersion": "1.1", "eventSource": "aws:dynamodb", "awsRegion": "eu-north-1"} {
			if modified[name] != want {
				t.Errorf("%s: %s is %v", view, name, modified[name])
			}
		}
		if got := change["ApproximateCreationDateTime"]; got != float64(clk.Now().Unix()) {
			t.Errorf("%s: created at %v", view, got)
		}
	}
}

func TestStreamIterators(t *testing.T) {
	t.Parallel()
	clk := newClock()
	eng := engine.New(engine.Options{Now: clk.Now})
	arn := streaming(t, eng, "tab", "NEW_IMAGE")
	write := func(id string) {
		t.Helper()
		do(t, eng, "PutItem", `{"TableName":"tab","Item":{"id":{"S":"`+id+`"}}}`)
	}
	latest := iteratorAt(t, eng, arn, `"LATEST"`)
	for _, id := range []string{"a", "b", "c"} {
		write(id)
	}
	all, end := records(t, eng, iteratorAt(t, eng, arn, `"TRIM_HORIZON"`), "")
	second := all[1]["dynamodb"].(map[string]any)["SequenceNumber"].(string)
	for _, test := range []struct{ name, iterator, want string }{
		{"from the beginning", iteratorAt(t, eng, arn, `"TRIM_HORIZON"`), "abc"},
		{"latest, taken before the writes", latest, "abc"},
		{"latest", iteratorAt(t, eng, arn, `"LATEST"`), ""},
		{"at", iteratorAt(t, eng, arn, `"AT_SEQUENCE_NUMBER","SequenceNumber":"`+second+`"`), "bc"},
		{"after", iteratorAt(t, eng, arn, `"AFTER_SEQUENCE_NUMBER","SequenceNumber":"`+second+`"`), "c"},
		{"the end", end, ""},
	} {
		// Pages of any size have together the same records.
		for _, limit := range []string{"", `,"Limit":1`, `,"Limit":2`} {
			got := ""
			for it := test.iterator; ; {
				recs, next := records(t, eng, it, limit)
				if len(recs) == 0 {
					break
				}
				for _, line := range told(recs) {
					got += strings.Fields(line)[1]
				}
				it = next
			}
			if got != test.want {
				t.Errorf("%s%s: %q, want %q", test.name, limit, got, test.want)
			}
		}
	}
	write("d")
	if recs, _ := records(t, eng, end, ""); len(recs) != 1 {
		t.Errorf("%d records after one more write", len(recs))
	}

	// An iterator is valid for 15 minutes, and a record is kept for a day.
	clk.Advance(16 * time.Minute)
	expired := eng.Do(t.Context(), "GetRecords", []byte(`{"ShardIterator":"`+end+`"}`))
	if expired.Err == nil || expired.Err.Code != "ExpiredIteratorException" {
		t.Errorf("an old iterator: %v", expired.Err)
	}
	clk.Advance(24*time.Hour - 10*time.Minute)
	beginning := iteratorAt(t, eng, arn, `"TRIM_HORIZON"`)
	if recs, _ := records(t, eng, beginning, ""); len(recs) != 0 {
		t.Errorf("after a day there are %v", told(recs))
	}
	write("e")
	if recs, _ := records(t, eng, beginning, ""); len(recs) != 1 {
		t.Errorf("trimmed to %v", told(recs))
	}
	trimmed := eng.Do(t.Context(), "GetShardIterator", fmt.Appendf(nil, `{"StreamArn":"%s","ShardId":"%s","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"%s"}`, arn, shardOf(t, eng, arn), second))
	if trimmed.Err == nil || trimmed.Err.Code != "TrimmedDataAccessException" {
		t.Errorf("a trimmed place: %v", trimmed.Err)
	}
}

// A closed stream can be read to its end for a day. So can that of a deleted
// table.
func TestStreamsOpenAndClose(t *testing.T) {
	t.Parallel()
	clk := newClock()
	eng := engine.New(engine.Options{Now: clk.Now})
	first := streaming(t, eng, "tab", "KEYS_ONLY")
	do(t, eng, "PutItem", `{"TableName":"tab","Item":{"id":{"S":"a"}}}`)
	do(t, eng, "UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":false}}`)
	do(t, eng, "PutItem", `{"TableName":"tab","Item":{"id":{"S":"b"}}}`)
	table := do(t, eng, "DescribeTable", `{"TableName":"tab"}`)["Table"].(map[string]any)
	if table["StreamSpecification"] != nil || table["LatestStreamArn"] != first {
		t.Errorf("closed, but described as %v, %v", table["StreamSpecification"], table["LatestStreamArn"])
	}
	stream := describeStream(t, eng, first)
	shard := stream["Shards"].([]any)[0].(map[string]any)["SequenceNumberRange"].(map[string]any)
	if stream["StreamStatus"] != "DISABLED" || shard["EndingSequenceNumber"] != shard["StartingSequenceNumber"] {
		t.Errorf("closed: %v", stream)
	}
	recs, next := records(t, eng, iteratorAt(t, eng, first, `"TRIM_HORIZON"`), "")
	if diff := cmp.Diff([]string{"INSERT a - -"}, told(recs)); diff != "" || next != "" {
		t.Errorf("closed: %s, next %q", diff, next)
	}

	// The new stream is another one, although the clock stands still.
	reply := do(t, eng, "UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}}`)
	second := reply["TableDescription"].(map[string]any)["LatestStreamArn"].(string)
	do(t, eng, "PutItem", `{"TableName":"tab","Item":{"id":{"S":"c"}}}`)
	do(t, eng, "DeleteTable", `{"TableName":"tab"}`)
	if recs, _ := records(t, eng, iteratorAt(t, eng, second, `"TRIM_HORIZON"`), ""); len(recs) != 1 {
		t.Errorf("the second stream: %v", told(recs))
	}
	third := streaming(t, eng, "tab", "KEYS_ONLY")
	other := streaming(t, eng, "other", "KEYS_ONLY")
	if diff := cmp.Diff([]string{other, first, second, third}, listStreams(t, eng, "")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{first, second, third}, listStreams(t, eng, `"TableName":"tab",`)); diff != "" {
		t.Error(diff)
	}
	clk.Advance(25 * time.Hour)
	if diff := cmp.Diff([]string{other, third}, listStreams(t, eng, "")); diff != "" {
		t.Error(diff)
	}
}

// A shard without records can be read from its own starting sequence number.
func TestAnEmptyShardIsReadFromItsBeginning(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{Now: newClock().Now})
	arn := streaming(t, eng, "tab", "KEYS_ONLY")
	shards := do(t, eng, "DescribeStream", `{"StreamArn":"`+arn+`"}`)["StreamDescription"].(map[string]any)["Shards"].([]any)
	begin := shards[0].(map[string]any)["SequenceNumberRange"].(map[string]any)["StartingSequenceNumber"].(string)
	var iterators []string
	for _, kind := range []string{"AT", "AFTER"} {
		iterators = append(iterators, iteratorAt(t, eng, arn, `"`+kind+`_SEQUENCE_NUMBER","SequenceNumber":"`+begin+`"`))
	}
	do(t, eng, "PutItem", `{"TableName":"tab","Item":{"id":{"S":"a"}}}`)
	for _, iterator := range iterators {
		if recs, _ := records(t, eng, iterator, ""); len(recs) != 1 {
			t.Errorf("%v", told(recs))
		}
	}
}

// listStreams reads pages of one stream each, to the end.
func listStreams(t *testing.T, eng *engine.Engine, rest string) (arns []string) {
	t.Helper()
	for start := ""; ; {
		reply := do(t, eng, "ListStreams", `{`+rest+start+`"Limit":1}`)
		for _, s := range reply["Streams"].([]any) {
			arns = append(arns, s.(map[string]any)["StreamArn"].(string))
		}
		last, ok := reply["LastEvaluatedStreamArn"].(string)
		if !ok {
			return arns
		}
		start = `"ExclusiveStartStreamArn":"` + last + `",`
	}
}

func TestStreamRefusals(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{Now: newClock().Now})
	arn := streaming(t, eng, "tab", "KEYS_ONLY")
	shard := shardOf(t, eng, arn)
	iterator := func(rest string) string { return `{"StreamArn":"` + arn + `","ShardId":"` + shard + `",` + rest + `}` }
	none := strings.Replace(arn, "/tab/", "/bat/", 1)
	filter := func(rest string) string { return `{"StreamArn":"` + arn + `","ShardFilter":{` + rest + `}}` }
	long := strings.Repeat("x", 40)
	create := func(spec string) string {
		return strings.Replace(plainTable, `"plain"`, `"new","StreamSpecification":`+spec, 1)
	}
	testRefusals(t, eng, []refusal{
		{"no view", "CreateTable", create(`{"StreamEnabled":true}`), "Validation", "StreamViewType must be specified"},
		{"a view of nothing", "CreateTable", create(`{"StreamEnabled":false,"StreamViewType":"KEYS_ONLY"}`), "Validation", "UpdateViewType should not be specified"},
		{"neither", "CreateTable", create(`{}`), "Validation", "'streamSpecification.streamEnabled' failed to satisfy constraint: Member must not be null"},
		{"unknown view", "CreateTable", create(`{"StreamEnabled":true,"StreamViewType":"X"}`), "Validation", "'streamSpecification.streamViewType' failed to satisfy constraint"},
		{"enabled already", "UpdateTable", `{"TableName":"tab","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}}`, "Validation", "Table already has an enabled stream"},
		{"disabled already", "UpdateTable", `{"TableName":"plain","StreamSpecification":{"StreamEnabled":false}}`, "Validation", "Table has no stream to disable"},
		{"limit", "ListStreams", `{"Limit":0}`, "Validation", "'limit' failed to satisfy constraint"},
		{"high limit", "ListStreams", `{"Limit":101}`, "Validation", "maximum allowed size: 100"},
		{"no ARN", "DescribeStream", `{}`, "Validation", "'streamArn' failed to satisfy constraint: Member must not be null"},
		{"short ARN", "DescribeStream", `{"StreamArn":"x"}`, "Validation", "length greater than or equal to 37"},
		{"no such stream", "DescribeStream", `{"StreamArn":"` + none + `"}`, "ResourceNotFound", none},
		{"no such stream to read", "GetShardIterator", `{"StreamArn":"` + none + `","ShardId":"` + shard + `","ShardIteratorType":"LATEST"}`, "ResourceNotFound", none},
		{"no ARN at all", "DescribeStream", `{"StreamArn":"` + long + `"}`, "Validation", "Invalid StreamArn"},
		{"the ARN of a table", "GetShardIterator", `{"StreamArn":"arn:aws:dynamodb:us-east-1:123456789012:table/tab","ShardId":"` + shard + `","ShardIteratorType":"LATEST"}`, "Validation", "Invalid StreamArn"},
		{"a start that is no ARN", "ListStreams", `{"ExclusiveStartStreamArn":"` + long + `"}`, "Validation", "Invalid StreamArn"},
		{"children of no shard", "DescribeStream", filter(`"Type":"CHILD_SHARDS"`), "Validation", "'shardFilter.shardId' failed to satisfy constraint: Member must not be null"},
		{"a filter of no type", "DescribeStream", filter(`"ShardId":"` + shard + `"`), "Validation", "'shardFilter.type' failed to satisfy constraint: Member must not be null"},
		{"a filter of another type", "DescribeStream", filter(`"ShardId":"` + shard + `","Type":"X"`), "Validation", "Member must satisfy enum value set: [CHILD_SHARDS]"},
		{"no such shard", "GetShardIterator", `{"StreamArn":"` + arn + `","ShardId":"` + strings.Repeat("x", 30) + `","ShardIteratorType":"LATEST"}`, "ResourceNotFound", "Shard"},
		{"no type", "GetShardIterator", iterator(`"x":1`), "Validation", "'shardIteratorType' failed to satisfy constraint: Member must not be null"},
		{"unknown type", "GetShardIterator", iterator(`"ShardIteratorType":"X"`), "Validation", "satisfy enum value set"},
		{"no number", "GetShardIterator", iterator(`"ShardIteratorType":"AT_SEQUENCE_NUMBER"`), "Validation", "Invalid SequenceNumber"},
		{"short number", "GetShardIterator", iterator(`"ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"1"`), "Validation", "length greater than or equal to 21"},
		{"no such number", "GetShardIterator", iterator(`"ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"999999999999999999999"`), "Validation", "Invalid SequenceNumber"},
		{"needless number", "GetShardIterator", iterator(`"ShardIteratorType":"LATEST","SequenceNumber":"100000000000000000001"`), "Validation", "should not be passed"},
		{"garbage", "GetRecords", `{"ShardIterator":"garbage"}`, "Validation", "Invalid ShardIterator"},
		{"garbled", "GetRecords", `{"ShardIterator":"` + arn + `|1|MCAw"}`, "Validation", "Invalid ShardIterator"},
		{"no iterator", "GetRecords", `{}`, "Validation", "'shardIterator' failed to satisfy constraint: Member must not be null"},
		{"many records", "GetRecords", `{"ShardIterator":"x","Limit":1001}`, "Validation", "less than or equal to 1000"},
	})
	if reply := do(t, eng, "DescribeStream", `{"StreamArn":"`+arn+`","ExclusiveStartShardId":"`+shard+`"}`); len(reply["StreamDescription"].(map[string]any)["Shards"].([]any)) != 0 {
		t.Error("there is a shard after the only one")
	}
}
