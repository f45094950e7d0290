package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// songs fills music with five songs of one artist.
func songs(t *testing.T, eng *engine.Engine) {
	t.Helper()
	for i, title := range []string{"alpha", "beta", "gamma", "delta", "alphabet"} {
		do(t, eng, "PutItem", fmt.Sprintf(`{"TableName":"music","Item":{"artist":{"S":"a"},"song":{"N":"%d"},"title":{"S":"%s"},"genre":{"S":"g"},"year":{"N":"%d"}}}`, i, title, 2000-i))
	}
}

// values returns a column of the items of a reply, in the form of JSON.
func values(reply map[string]any, name string) string {
	var out []string
	for _, it := range reply["Items"].([]any) {
		if v, ok := it.(map[string]any)[name].(map[string]any); ok {
			for _, text := range v {
				out = append(out, fmt.Sprint(text))
			}
		}
	}
	return strings.Join(out, " ")
}

const ofArtist = `"artist":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}`

// KeyConditions support keys of several attributes, too.
func TestLegacyKeyOfManyAttributes(t *testing.T) {
	t.Parallel()
	eng := engine.New(engine.Options{})
	do(t, eng, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
		"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"S"},
			{"AttributeName":"c","AttributeType":"N"},{"AttributeName":"d","AttributeType":"N"}],
		"GlobalSecondaryIndexes":[{"IndexName":"many","Projection":{"ProjectionType":"ALL"},"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},
			{"AttributeName":"b","KeyType":"HASH"},{"AttributeName":"c","KeyType":"RANGE"},{"AttributeName":"d","KeyType":"RANGE"}]}]}`)
	for i := range 4 {
		do(t, eng, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"id":{"S":"%d"},"a":{"S":"x"},"b":{"S":"y"},"c":{"N":"%d"},"d":{"N":"%d"}}}`, i, i/2, i))
	}
	const hash = `"a":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]},"b":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"y"}]}`
	query := func(conditions string) string {
		return `{"TableName":"tab","IndexName":"many","KeyConditions":{` + conditions + `}}`
	}
	for conditions, want := range map[string]string{
		hash: "0 1 2 3",
		hash + `,"c":{"ComparisonOperator":"GE","AttributeValueList":[{"N":"1"}]}`:                                                                                 "2 3",
		hash + `,"c":{"ComparisonOperator":"EQ","AttributeValueList":[{"N":"1"}]},"d":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"3"},{"N":"9"}]}`: "3",
	} {
		if got := values(do(t, eng, "Query", query(conditions)), "id"); got != want {
			t.Errorf("%s: %s, want %s", conditions, got, want)
		}
	}
	testRefusals(t, eng, []refusal{
		{"half a partition key", "Query", query(`"a":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}`), "Validation", "HASH key attributes b must have equality"},
		{"a gap", "Query", query(hash + `,"d":{"ComparisonOperator":"EQ","AttributeValueList":[{"N":"1"}]}`), "Validation", "RANGE key attributes c must have equality conditions specified in the query because a condition is present on key attribute d"},
		{"no condition", "Query", query(""), "Validation", "Conditions can be of length 1 or 2 only"},
	})
}

func TestLegacyReads(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	songs(t, eng)
	for _, test := range []struct{ op, rest, want string }{
		{"Query", `"KeyConditions":{` + ofArtist + `}`, "alpha beta gamma delta alphabet"},
		{"Query", `"KeyConditions":{` + ofArtist + `},"ScanIndexForward":false,"Limit":2`, "alphabet delta"},
		{"Query", `"KeyConditions":{` + ofArtist + `,"song":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"1"},{"N":"3"}]}}`, "beta gamma delta"},
		{"Query", `"KeyConditions":{` + ofArtist + `,"song":{"ComparisonOperator":"GT","AttributeValueList":[{"N":"3"}]}}`, "alphabet"},
		{"Query", `"KeyConditions":{` + ofArtist + `},"QueryFilter":{"title":{"ComparisonOperator":"BEGINS_WITH","AttributeValueList":[{"S":"alpha"}]}}`, "alpha alphabet"},
		{"Query", `"KeyConditions":{` + ofArtist + `},"ConditionalOperator":"OR","QueryFilter":{
			"title":{"ComparisonOperator":"IN","AttributeValueList":[{"S":"beta"}]},"year":{"ComparisonOperator":"LE","AttributeValueList":[{"N":"1997"}]}}`, "beta delta alphabet"},
		{"Query", `"KeyConditions":{` + ofArtist + `},"FilterExpression":"title > :t","ExpressionAttributeValues":{":t":{"S":"c"}}`, "gamma delta"},
		{"Query", `"KeyConditions":{` + ofArtist + `},"ProjectionExpression":"title"`, "alpha beta gamma delta alphabet"},
		{"Query", `"IndexName":"genre-year","KeyConditions":{"genre":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"g"}]}},"Limit":1`, "alphabet"},
		{"Query", `"IndexName":"by-year","KeyConditions":{` + ofArtist + `},"AttributesToGet":["title"],"Limit":1`, "alphabet"},
		{"Scan", `"ScanFilter":{"title":{"ComparisonOperator":"CONTAINS","AttributeValueList":[{"S":"et"}]}}`, "beta alphabet"},
		{"Scan", `"ScanFilter":{"artist":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}},"Limit":1`, "alpha"},
		{"Scan", `"ScanFilter":{}`, "alpha beta gamma delta alphabet"},
		{"Scan", `"Select":"SPECIFIC_ATTRIBUTES","AttributesToGet":["title"]`, "alpha beta gamma delta alphabet"},
		{"Scan", `"AttributesToGet":["song"]`, ""},
		{"Scan", `"QueryFilter":{"title":{"ComparisonOperator":"NULL"}}`, "alpha beta gamma delta alphabet"}, // not a parameter of Scan
	} {
		if got := values(do(t, eng, test.op, `{"TableName":"music",`+test.rest+`}`), "title"); got != test.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", test.op, test.rest, got, test.want)
		}
	}
	for op, body := range map[string]string{
		"GetItem":      `{"TableName":"music","Key":{"artist":{"S":"a"},"song":{"N":"1"}},"AttributesToGet":["title","none"]}`,
		"BatchGetItem": `{"RequestItems":{"music":{"Keys":[{"artist":{"S":"a"},"song":{"N":"1"}}],"AttributesToGet":["title","none"]}}}`,
	} {
		res := eng.Do(t.Context(), op, []byte(body))
		if want := `{"title":{"S":"beta"}}`; res.Err != nil || !strings.Contains(string(res.Body), want) {
			t.Errorf("%s: %v %s", op, res.Err, res.Body)
		}
	}
}

func TestLegacyWrites(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	const key = `"Key":{"id":{"S":"x"}}`
	for _, test := range []struct {
		name, op, rest string
		fails          bool
		want           string // what is stored
	}{
		{"create", "PutItem", `"Item":{"id":{"S":"x"},"n":{"N":"1"}},"Expected":{"id":{"Exists":false}}`, false, `{"id":{"S":"x"},"n":{"N":"1"}}`},
		{"create again", "PutItem", `"Item":{"id":{"S":"x"}},"Expected":{"id":{"Exists":false}}`, true, `{"id":{"S":"x"},"n":{"N":"1"}}`},
		{"by value", "UpdateItem", key + `,"Expected":{"n":{"Value":{"N":"1.0"}}},"AttributeUpdates":{"n":{"Action":"ADD","Value":{"N":"4"}},"s":{"Value":{"S":"y"}}}`, false, `{"id":{"S":"x"},"n":{"N":"5"},"s":{"S":"y"}}`},
		{"by another", "UpdateItem", key + `,"Expected":{"n":{"Exists":true,"Value":{"N":"1"}}},"AttributeUpdates":{"n":{"Action":"DELETE"}}`, true, `{"id":{"S":"x"},"n":{"N":"5"},"s":{"S":"y"}}`},
		{"one of two", "UpdateItem", key + `,"ConditionalOperator":"OR","Expected":{"n":{"ComparisonOperator":"GT","AttributeValueList":[{"N":"9"}]},"s":{"ComparisonOperator":"NOT_NULL"}},
			"AttributeUpdates":{"s":{"Action":"DELETE"}}`, false, `{"id":{"S":"x"},"n":{"N":"5"}}`},
		{"both", "DeleteItem", key + `,"ConditionalOperator":"AND","Expected":{"n":{"ComparisonOperator":"EQ","Value":{"N":"5"}},"s":{"ComparisonOperator":"NOT_NULL"}}`, true, `{"id":{"S":"x"},"n":{"N":"5"}}`},
		{"empty", "PutItem", `"Item":{"id":{"S":"x"}},"Expected":{}`, false, `{"id":{"S":"x"}}`},
		{"delete", "DeleteItem", key + `,"Expected":{"n":{"ComparisonOperator":"NULL","AttributeValueList":[]}}`, false, ``},
		{"nothing to change", "UpdateItem", key + `,"AttributeUpdates":{}`, false, `{"id":{"S":"x"}}`},
	} {
		res := eng.Do(t.Context(), test.op, []byte(`{"TableName":"plain",`+test.rest+`}`))
		switch {
		case test.fails != (res.Err != nil):
			t.Errorf("%s: %v", test.name, res.Err)
		case res.Err != nil && res.Err.Code != "ConditionalCheckFailedException":
			t.Errorf("%s: %v", test.name, res.Err)
		}
		got := string(eng.Do(t.Context(), "GetItem", []byte(`{"TableName":"plain",`+key+`}`)).Body)
		want := `{}`
		if test.want != "" {
			want = `{"Item":` + test.want + `}`
		}
		if got != want {
			t.Errorf("%s: stored %s, want %s", test.name, got, want)
		}
	}
	// An action of a transaction does not have these parameters.
	do(t, eng, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"plain","Item":{"id":{"S":"x"}},"Expected":{"id":{"Exists":false}}}}]}`)
}

func TestLegacyReturnValues(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"},"n":{"N":"1"},"s":{"S":"y"}}}`)
	reply := do(t, eng, "UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"x"}},"ReturnValues":"UPDATED_NEW",
		"AttributeUpdates":{"n":{"Action":"ADD","Value":{"N":"1"}},"s":{"Action":"DELETE"}}}`)
	if diff := cmp.Diff(map[string]any{"n": map[string]any{"N": "2"}}, reply["Attributes"]); diff != "" {
		t.Error(diff)
	}
}

func TestLegacyRefusals(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	del := func(rest string) string { return `{"TableName":"plain","Key":{"id":{"S":"x"}},` + rest + `}` }
	query := func(rest string) string { return `{"TableName":"music",` + rest + `}` }
	keys := `"KeyConditions":{` + ofArtist + `}`
	const mixed = "Can not use both expression and non-expression parameters in the same request: "
	testRefusals(t, eng, []refusal{
		{
			"mixed", "UpdateItem", del(`"AttributeUpdates":{},"Expected":{},"ConditionalOperator":"OR","UpdateExpression":"REMOVE a","ConditionExpression":"a=b"`), "Validation",
			mixed + "Non-expression parameters: {AttributeUpdates, Expected, ConditionalOperator} Expression parameters: {UpdateExpression, ConditionExpression}",
		},
		{
			"mixed query", "Query", query(keys + `,"AttributesToGet":["x"],"QueryFilter":{},"KeyConditionExpression":"a=b"`), "Validation",
			mixed + "Non-expression parameters: {AttributesToGet, QueryFilter, KeyConditions} Expression parameters: {KeyConditionExpression}",
		},
		{"mixed scan", "Scan", query(`"ScanFilter":{},"FilterExpression":"a=b"`), "Validation", mixed + "Non-expression parameters: {ScanFilter} Expression parameters: {FilterExpression}"},
		{"mixed get", "GetItem", del(`"AttributesToGet":["x"],"ProjectionExpression":"x"`), "Validation", mixed},
		{"mixed batch", "BatchGetItem", `{"RequestItems":{"plain":{"Keys":[{"id":{"S":"x"}}],"AttributesToGet":["x"]},
			"music":{"Keys":[{"artist":{"S":"x"},"song":{"N":"1"}}],"ProjectionExpression":"x"}}}`, "Validation", mixed},
		{"names", "GetItem", del(`"AttributesToGet":["x"],"ExpressionAttributeNames":{"#x":"x"}`), "Validation", "ExpressionAttributeNames can only be specified when using expressions"},
		{"no attributes", "GetItem", del(`"AttributesToGet":[]`), "Validation", "Value '[]' at 'attributesToGet' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"attribute twice", "GetItem", del(`"AttributesToGet":["a","a"]`), "Validation", "Duplicate value in attribute name: a"},
		{"not an array", "GetItem", del(`"AttributesToGet":"a"`), "Serialization", ""},
		{"count of attributes", "Scan", query(`"AttributesToGet":["a"],"Select":"COUNT"`), "Validation", "Cannot specify the AttributesToGet when choosing to get only the Count"},
		{"operator alone", "DeleteItem", del(`"ConditionalOperator":"AND"`), "Validation", "ConditionalOperator cannot be used without Filter or Expected"},
		{"operator of one", "DeleteItem", del(`"ConditionalOperator":"AND","Expected":{"a":{"Exists":false}}`), "Validation", "ConditionalOperator can only be used when Filter or Expected has two or more elements"},
		{"unknown operator", "DeleteItem", del(`"ConditionalOperator":"XOR","Expected":{"a":{"Exists":false},"b":{"Exists":false}}`), "Validation", "1 validation error detected: Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"},
		{"unknown comparison", "DeleteItem", del(`"Expected":{"a":{"ComparisonOperator":"eq","Value":{"S":"x"}}}`), "Validation", "Value 'eq' at 'expected.a.member.comparisonOperator' failed to satisfy constraint"},
		{"no comparison", "Scan", query(`"ScanFilter":{"a":{"AttributeValueList":[{"S":"x"}]}}`), "Validation", "Value null at 'scanFilter.a.member.comparisonOperator'"},
		{"null expected", "DeleteItem", del(`"Expected":{"a":null}`), "Validation", "ExpectedAttributeValue must not be null for Attribute: a"},
		{"null update", "UpdateItem", del(`"AttributeUpdates":{"a":null}`), "Validation", "The update of an attribute cannot be null: a"},
		{"null filter", "Scan", query(`"ScanFilter":{"b":{"ComparisonOperator":"NULL"},"a":null}`), "Validation", "The filter condition for an attribute cannot be null: a"},
		{"value and list", "DeleteItem", del(`"Expected":{"a":{"ComparisonOperator":"EQ","Value":{"S":"x"},"AttributeValueList":[{"S":"x"}]}}`), "Validation", "Value and AttributeValueList cannot be used together for Attribute: a"},
		{"exists and operator", "DeleteItem", del(`"Expected":{"a":{"ComparisonOperator":"EQ","Value":{"S":"x"},"Exists":true}}`), "Validation", "Exists and ComparisonOperator cannot be used together for Attribute: a"},
		{"no value", "DeleteItem", del(`"Expected":{"a":{"ComparisonOperator":"EQ"}}`), "Validation", "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a"},
		{"list alone", "DeleteItem", del(`"Expected":{"a":{"AttributeValueList":[{"S":"x"}]}}`), "Validation", "AttributeValueList can only be used with a ComparisonOperator for Attribute: a"},
		{"nothing", "DeleteItem", del(`"Expected":{"a":{}}`), "Validation", "Value must be provided when Exists is null for Attribute: a"},
		{"exists as what", "DeleteItem", del(`"Expected":{"a":{"Exists":true}}`), "Validation", "Value must be provided when Exists is true for Attribute: a"},
		{"absent value", "DeleteItem", del(`"Expected":{"a":{"Exists":false,"Value":{"S":"x"}}}`), "Validation", "Value cannot be used when Exists is false for Attribute: a"},
		{"bad value", "DeleteItem", del(`"Expected":{"a":{"Value":{"NULL":false}}}`), "Validation", "Null attribute value types must have the value of true"},
		{"bad number", "UpdateItem", del(`"AttributeUpdates":{"a":{"Value":{"N":"x"}}}`), "Validation", "cannot be converted to a numeric value"},
		{"unknown action", "UpdateItem", del(`"AttributeUpdates":{"a":{"Action":"put","Value":{"N":"1"}}}`), "Validation", "at 'attributeUpdates.a.member.action'"},
		{"key", "UpdateItem", del(`"AttributeUpdates":{"id":{"Value":{"S":"y"}}}`), "Validation", "Cannot update attribute id. This attribute is part of the key"},
		{"no keys", "Query", query(`"QueryFilter":{"a":{"ComparisonOperator":"NULL"}}`), "Validation", "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."},
		{"empty keys", "Query", query(`"KeyConditions":{}`), "Validation", "Conditions can be of length 1 or 2 only"},
		{"key of another type", "Query", query(`"KeyConditions":{"artist":{"ComparisonOperator":"EQ","AttributeValueList":[{"N":"1"}]}}`), "Validation", "Condition parameter type does not match schema type"},
		{"filter on the key", "Query", query(keys + `,"QueryFilter":{"song":{"ComparisonOperator":"NOT_NULL"}}`), "Validation", "QueryFilter can only contain non-primary key attributes: Primary key attribute: song"},
	})
}
