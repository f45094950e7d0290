package api_test

import (
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// All violations are reported together, in the order of the members. Only a bad
// table name is reported alone.
func TestViolations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		req  api.Request
		body string
		want string // the whole text; empty if the request is accepted
	}{
		{"accepted", new(api.GetItem), `{"TableName":"abc","Key":{"id":{"S":"x"}}}`, ""},
		{"a null is no member", new(api.GetItem), `{"TableName":"abc","Key":{"id":{"S":"x"}},"ProjectionExpression":null,"ReturnConsumedCapacity":null}`, ""},
		{"an unknown member is ignored", new(api.GetItem), `{"TableName":"abc","Key":{"id":{"S":"x"}},"Colour":{"red":[1]}}`, ""},
		{"no name", new(api.GetItem), `{"Key":{}}`, "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null"},
		{
			"a bad name", new(api.GetItem), `{"TableName":"a b","Key":{}}`,
			"1 validation error detected: Value 'a b' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
		},
		{
			"two at once", new(api.GetItem), `{"TableName":"abc","ReturnConsumedCapacity":"x"}`,
			"2 validation errors detected: Value 'x' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; " +
				"Value null at 'key' failed to satisfy constraint: Member must not be null",
		},
		{
			"limits of a scan", new(api.Scan), `{"TableName":"abc","Limit":0,"Segment":-1,"TotalSegments":1000001}`,
			"3 validation errors detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1; " +
				"Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater than or equal to 0; " +
				"Value '1000001' at 'totalSegments' failed to satisfy constraint: Member must have value less than or equal to 1000000",
		},
		{
			"no more than ten", new(api.CreateTable), `{"TableName":"abc","KeySchema":[],"AttributeDefinitions":[` + strings.Repeat(`{"AttributeName":"a","AttributeType":"x"},`, 11) + `{}]}`,
			"10 validation errors detected: ",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := api.Decode([]byte(tt.body), tt.req); err != nil {
				got = err.Message
			}
			if got != tt.want && (tt.want == "" || !strings.HasSuffix(tt.want, ": ") || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSerializationErrors(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		``:                               "",
		`{`:                              "",
		`[]`:                             "Unrecognized collection type java.util.Map",
		`"x"`:                            "Unexpected field type",
		`{"TableName":true}`:             "TRUE_VALUE cannot be converted to String",
		`{"TableName":{}}`:               "Start of structure or map found where not expected",
		`{"Limit":"many"}`:               "STRING_VALUE cannot be converted to Long",
		`{"ConsistentRead":1}`:           "NUMBER_VALUE cannot be converted to Boolean",
		`{"ExclusiveStartKey":[]}`:       "Unrecognized collection type java.util.Map",
		`{"TableName":"a"} and more`:     "",
		`{"TableName":"a","Limit":1e99}`: "NUMBER_VALUE cannot be converted to Long",
	} {
		err := api.Decode([]byte(body), new(api.Query))
		if err == nil || err.Code != api.SerializationException || err.Message != want {
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
}

// Two payloads are equal if they have the same meaning, even if they are
// written differently.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	fingerprint := func(action string) api.Fingerprint {
		t.Helper()
		var req api.TransactWriteItems
		if err := api.Decode([]byte(`{"TransactItems":[`+action+`]}`), &req); err != nil {
			t.Fatal(err)
		}
		return req.Fingerprint()
	}
	base := `{"Update":{"TableName":"t","Key":{"a":{"S":"x"},"b":{"N":"1"}},"UpdateExpression":"SET #v = :v","ExpressionAttributeNames":{"#v":"v"},"ExpressionAttributeValues":{":v":{"SS":["p","q"]}}}}`
	if other := ` { "Update" : {"ExpressionAttributeNames":{"#v":"v"},"ExpressionAttributeValues":{":v":{"SS":["q","p"]}},"Key":{"b":{"N":"1.0"},"a":{"S":"x"}},"UpdateExpression":"SET #v = :v","TableName":"t"}}`; fingerprint(base) != fingerprint(other) {
		t.Error("another order of the members is another payload")
	}
	for _, change := range [][2]string{
		{`"TableName":"t"`, `"TableName":"u"`},
		{`"S":"x"`, `"S":"y"`},
		{`"N":"1"`, `"N":"2"`},
		{"SET #v = :v", "SET #v=:v"},
		{`"#v":"v"`, `"#v":"w"`},
		{`["p","q"]`, `["p"]`},
		{`"UpdateExpression"`, `"ConditionExpression":"attribute_exists(a)","UpdateExpression"`},
	} {
		if fingerprint(strings.Replace(base, change[0], change[1], 1)) == fingerprint(base) {
			t.Errorf("%s for %s is the same payload", change[1], change[0])
		}
	}
}

func TestTableNameOf(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"orders": "orders", "arn:aws:dynamodb:eu-north-1:123456789012:table/orders": "orders", "arn:aws:s3:::bucket": "arn:aws:s3:::bucket",
	} {
		if got := api.TableNameOf(s); got != want {
			t.Errorf("TableNameOf(%q) = %q, want %q", s, got, want)
		}
	}
}

// FuzzDecode looks for a body that breaks a decoder.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"TableName":"t","Key":{"a":{"S":"x"}},"Item":{"m":{"M":{"l":{"L":[{"N":"1"}]}}}},"RequestItems":{"t":[{"PutRequest":{"Item":{}}}]}}`))
	f.Add([]byte(`{"TransactItems":[{"Put":{"TableName":"t","Item":{"a":{"NULL":true}}}}],"KeySchema":[{"KeyType":"HASH"}]}`))
	f.Add([]byte(`{"RequestItems":{"t":{"Keys":[{"a":{"B":"AA=="}}]}},"GlobalSecondaryIndexUpdates":[{"Create":{}}],"TimeToLiveSpecification":{"Enabled":true}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, req := range []api.Request{
			new(api.PutItem), new(api.UpdateItem), new(api.GetItem), new(api.Query), new(api.Scan), new(api.BatchGetItem), new(api.BatchWriteItem),
			new(api.TransactWriteItems), new(api.TransactGetItems), new(api.CreateTable), new(api.UpdateTable), new(api.UpdateTimeToLive), new(api.TagResource),
		} {
			if err := api.Decode(body, req); err != nil && err.Code != api.ValidationException && err.Code != api.SerializationException {
				t.Errorf("%T: %v", req, err)
			}
		}
	})
}
