package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// surfaces are the places of values in requests, by operation.
var surfaces = map[string][]string{
	"PutItem": {
		`{"TableName":"plain","Item":{"id":{"S":"x"},"v":%s}}`,
		`{"TableName":"plain","Item":{"id":{"S":"x"}},"Expected":{"v":{"Value":%s}}}`,
		`{"TableName":"plain","Item":{"id":{"S":"x"}},"ConditionExpression":"v = :v","ExpressionAttributeValues":{":v":%s}}`,
	},
	"UpdateItem": {
		`{"TableName":"plain","Key":{"id":%s}}`,
		`{"TableName":"plain","Key":{"id":{"S":"x"}},"AttributeUpdates":{"v":{"Value":%s}}}`,
		`{"TableName":"plain","Key":{"id":{"S":"x"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":%s}}`,
	},
	"DeleteItem": {
		`{"TableName":"plain","Key":{"id":%s}}`,
		`{"TableName":"plain","Key":{"id":{"S":"x"}},"ConditionExpression":"v = :v","ExpressionAttributeValues":{":v":%s}}`,
	},
	"GetItem":      {`{"TableName":"plain","Key":{"id":%s}}`},
	"BatchGetItem": {`{"RequestItems":{"plain":{"Keys":[{"id":%s}]}}}`},
	"Query": {
		`{"TableName":"plain","KeyConditionExpression":"id = :v","ExpressionAttributeValues":{":v":%s}}`,
		`{"TableName":"nowhere","KeyConditionExpression":"id = :k","ExpressionAttributeValues":{":k":{"S":"x"}},"ExclusiveStartKey":{"id":%s}}`,
	},
	"Scan": {
		`{"TableName":"plain","FilterExpression":"v = :v","ExpressionAttributeValues":{":v":%s}}`,
		`{"TableName":"plain","ExclusiveStartKey":{"id":%s}}`,
	},
	"TransactGetItems": {`{"TransactItems":[{"Get":{"TableName":"plain","Key":{"id":%s}}}]}`},
	"TransactWriteItems": {
		`{"TransactItems":[{"Put":{"TableName":"plain","Item":{"id":{"S":"x"},"v":%s}}}]}`,
		`{"TransactItems":[{"Update":{"TableName":"plain","Key":{"id":{"S":"x"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":%s}}}]}`,
	},
	"BatchWriteItem": {
		`{"RequestItems":{"plain":[{"PutRequest":{"Item":{"id":{"S":"x"},"v":%s}}}]}}`,
		`{"RequestItems":{"plain":[{"DeleteRequest":{"Key":{"id":%s}}}]}}`,
	},
	"ExecuteStatement":      {`{"Statement":"SELECT * FROM plain WHERE id = ?","Parameters":[%s]}`},
	"BatchExecuteStatement": {`{"Statements":[{"Statement":"SELECT * FROM plain WHERE id = ?","Parameters":[%s]}]}`},
	"ExecuteTransaction":    {`{"TransactStatements":[{"Statement":"INSERT INTO plain VALUE {'id':'x','v':?}","Parameters":[%s]}]}`},
}

// Every operation refuses a value with the text of its reader of values. The
// three that write one item put the text into an envelope, for every place of
// the value.
func TestValuesByOperation(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	const invalid, over, under = "One or more parameter values were invalid: ",
		"Number overflow. Attempting to store a number with magnitude larger than supported range",
		"Number underflow. Attempting to store a number with magnitude smaller than supported range"
	for value, told := range map[string]struct{ newer, older string }{
		`{"N":"abc"}`:             {"The parameter cannot be converted to a numeric value: abc", ""},
		`{"N":""}`:                {"The parameter cannot be converted to a numeric value: ", "The parameter cannot be converted to a numeric value"},
		`{"N":"1e126"}`:           {over, ""},
		`{"N":"1e2147483647"}`:    {over, under},
		`{"N":"-1e-99999999999"}`: {under, "The parameter cannot be converted to a numeric value: -1e-99999999999"},
		`{"SS":["b","a","b"]}`:    {invalid + `Input collection ["a", "b", "b"] contains duplicates.`, invalid + "Input collection [b, a, b] contains duplicates."},
		`{"NS":["1","1.0"]}`:      {invalid + "Input collection contains duplicates.", "Input collection contains duplicates"},
		`{"SS":[]}`:               {invalid + "An string set  may not be empty", ""},
		`{"NULL":false}`:          {invalid + "Null attribute value types must have the value of true", ""},
	} {
		for op, bodies := range surfaces {
			want := told.newer
			switch {
			case op == "PutItem", op == "UpdateItem", op == "DeleteItem":
				want = "1 validation error detected: " + want
			case op == "BatchWriteItem" || strings.Contains(op, "Execute"):
				if told.older != "" {
					want = told.older
				}
			}
			for _, body := range bodies {
				body = fmt.Sprintf(body, value)
				res := eng.Do(t.Context(), op, []byte(body))
				if op == "BatchExecuteStatement" { // a bad value spoils its own statement only
					if text, _ := json.Marshal(want); !bytes.Contains(res.Body, []byte(`{"Error":{"Code":"ValidationError","Message":`+string(text)+`}}`)) {
						t.Errorf("%s %s:\n%v %s, want\n%s", op, body, res.Err, res.Body, want)
					}
					continue
				}
				if res.Err == nil || res.Err.Code != api.ValidationException || res.Err.Message != want {
					t.Errorf("%s %s:\n%v, want\n%s", op, body, res.Err, want)
				}
			}
		}
	}
}

// A value that is nested almost too deep to be read is refused as a value. In a
// batch of statements it only spoils its own statement.
func TestDepthByOperation(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for _, levels := range []int{33, 63, 100, 300} {
		deep := strings.Repeat(`{"M":{"n":`, levels) + `{"S":"x"}` + strings.Repeat(`}}`, levels)
		for op, bodies := range surfaces {
			for i, body := range bodies {
				res := eng.Do(t.Context(), op, []byte(fmt.Sprintf(body, deep)))
				reply := string(res.Body)
				if res.Err != nil && res.Err.Code == api.ValidationException && op != "BatchExecuteStatement" {
					reply = res.Err.Message
				}
				if !strings.Contains(reply, "Nesting Levels have exceeded supported limits") {
					t.Errorf("%d levels in %s, %d: %v %s", levels, op, i, res.Err, res.Body)
				}
			}
		}
	}
}

// A fault of the request itself is reported in an envelope. A fault that depends
// on the table or on stored items is reported without one.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"stored"},"s":{"S":"x"}}}`)
	const envelope = "1 validation error detected: "
	write := func(members string) string {
		return `{"TableName":"plain","Key":{"id":{"S":"stored"}},` + members + `}`
	}
	const names = `"ExpressionAttributeNames":{"#a":"a"}`
	for _, tt := range []struct{ op, body, want string }{
		{"UpdateItem", write(names), envelope + "ExpressionAttributeNames can only be specified when using expressions"},
		{"UpdateItem", write(`"ExpressionAttributeValues":{":a":{"N":"1"}}`), envelope + "ExpressionAttributeValues can only be specified when using expressions"},
		{"TransactWriteItems", `{"TransactItems":[{"Delete":` + write(`"ExpressionAttributeValues":{":a":{"N":"1"}}`) + `}]}`, "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null"},
		{"Scan", `{"TableName":"plain","ProjectionExpression":"a","ExpressionAttributeValues":{":a":{"N":"1"}}}`, "ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null"},
		{"UpdateItem", write(`"UpdateExpression":""`), envelope + "Invalid UpdateExpression: The expression can not be empty;"},
		{"UpdateItem", write(`"UpdateExpression":"SET a = :a"`), envelope + "Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute value: :a"},
		{"UpdateItem", write(`"UpdateExpression":"` + strings.Repeat(" ", 4097) + `"`), envelope + "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;"},
		{"DeleteItem", write(`"ConditionExpression":"` + strings.Repeat(" ", 4097) + `"`), envelope + "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: 4097"},
		{"DeleteItem", write(`"ReturnValues":"ALL_NEW"`), envelope + "ReturnValues can only be ALL_OLD or NONE"},
		{"DeleteItem", write(`"Expected":{"a":{"Exists":true}}`), envelope + "One or more parameter values were invalid: Value must be provided when Exists is true for Attribute: a"},
		{"DeleteItem", write(`"ConditionalOperator":"OR"`), envelope + "ConditionalOperator cannot be used without Filter or Expected"},
		{"UpdateItem", write(`"AttributeUpdates":{"a":{"Action":"ADD","Value":{"S":"x"}}}`), envelope + "One or more parameter values were invalid: ADD action is not supported for the type STRING"},
		{"GetItem", write(names), "ExpressionAttributeNames can only be specified when using expressions"},
		{"Scan", `{"TableName":"plain",` + names + `}`, "ExpressionAttributeNames can only be specified when using expressions"},

		{"UpdateItem", write(`"UpdateExpression":"SET id = s"`), "One or more parameter values were invalid: Cannot update attribute id. This attribute is part of the key"},
		{"UpdateItem", write(`"UpdateExpression":"SET a = s + s"`), "An operand in the update expression has an incorrect data type"},
		{"UpdateItem", write(`"UpdateExpression":"SET a.b = s"`), "The document path provided in the update expression is invalid for update"},
		{"DeleteItem", `{"TableName":"plain","Key":{"id":{"S":""}}}`, "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: id"},
		{"DeleteItem", `{"TableName":"plain","Key":{"id":{"N":"1"}}}`, "The provided key element does not match the schema"},
		{"PutItem", `{"TableName":"plain","Item":{"id":{"N":"1"}}}`, "One or more parameter values were invalid: Type mismatch for key id expected: S actual: N"},
		{"BatchWriteItem", `{"RequestItems":{"plain":[{"PutRequest":{"Item":{"id":{"N":"1"},"v":{"N":"1"}}}}]}}`, "The provided key element does not match the schema"},
		{"BatchWriteItem", `{"RequestItems":{"plain":[{"PutRequest":{"Item":{"v":{"N":"1"}}}}]}}`, "The provided key element does not match the schema"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"plain","Item":{"id":{"S":""}}}}]}`, "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: id"},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"plain","Key":{"id":{"S":""}}}}]}`, "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: id"},
	} {
		res := eng.Do(t.Context(), tt.op, []byte(tt.body))
		if res.Err == nil || res.Err.Code != api.ValidationException || res.Err.Message != tt.want {
			t.Errorf("%s %.200s:\n%v, want\n%s", tt.op, tt.body, res.Err, tt.want)
		}
	}
}

// The layers check in turn: first the model, then each action of a transaction on
// its own: its members and the length of its expressions, then the meaning of its
// expressions, then its key or item. A write of one item checks the key before the
// expressions' meaning.
func TestWhoSpeaksFirst(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	deep := strings.Repeat(`{"L":[`, 40) + `{"S":"x"}` + strings.Repeat(`]}`, 40)
	const enum = " failed to satisfy constraint: Member must satisfy enum value set: "
	const nesting = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
	const syntax = "Invalid ConditionExpression: Syntax error; token: \"=\", near: \"= =\""
	const returns = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
	long := strings.Repeat(" ", 4097)
	for _, tt := range []struct{ op, body, want string }{
		{"UpdateItem", `{"TableName":"plain","Key":{},"ReturnValues":"x","ReturnConsumedCapacity":"y"}`, "1 validation error detected: " + returns},
		{
			"UpdateItem", `{"TableName":"","ReturnConsumedCapacity":"y"}`,
			"3 validation errors detected: Value 'y' at 'returnConsumedCapacity'" + enum + "[INDEXES, TOTAL, NONE]; " +
				"Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1; Value null at 'key' failed to satisfy constraint: Member must not be null",
		},
		{
			"PutItem", `{"TableName":"","Item":{},"ReturnValues":"x"}`,
			"1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1",
		},
		{"DeleteItem", `{"TableName":"nowhere","Key":{"id":` + deep + `},"ReturnValues":"x"}`, "1 validation error detected: " + returns},
		{"PutItem", `{"TableName":"nowhere","Item":{"id":` + deep + `},"Expected":{},"ConditionExpression":"a = b"}`, "1 validation error detected: Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"},
		{"DeleteItem", `{"TableName":"nowhere","Key":{"id":{"N":"x"}},"Expected":{"a":{"Exists":true}},"ExpressionAttributeNames":{}}`, "1 validation error detected: ExpressionAttributeNames can only be specified when using expressions"},
		{"Query", `{"TableName":"nowhere","Select":"x","ConditionalOperator":"XOR"}`, "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"},
		{"Scan", `{"TableName":"plain","Select":"ALL_PROJECTED_ATTRIBUTES","ProjectionExpression":"a"}`, "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES"},
		{"BatchWriteItem", `{"RequestItems":{"a!":[{"PutRequest":{"Item":{}}}]},"ReturnItemCollectionMetrics":"x"}`, "1 validation error detected: Value 'x' at 'returnItemCollectionMetrics'" + enum + "[SIZE, NONE]"},
		{
			"BatchWriteItem", `{"RequestItems":{"a!":[{"PutRequest":{"Item":{"id":{"S":"x"}}}},{"DeleteRequest":{"Key":{}}}],"bb":[{}]}}`,
			`1 validation error detected: Value '{a!=[WriteRequest(putRequest=PutRequest(item={id=AttributeValue({"S":"x"})})), WriteRequest(deleteRequest=DeleteRequest(key={}))], bb=[WriteRequest()]}' at 'requestItems' failed to satisfy constraint: ` +
				"Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]",
		},
		{
			"BatchGetItem", `{ "RequestItems" : {"ab": {"Keys": [{"id": {"S": "x y"}}]}},"ReturnConsumedCapacity":"y"}`,
			`2 validation errors detected: Value '{"ab":{"Keys":[{"id":{"S":"x y"}}]}}' at 'requestItems' failed to satisfy constraint: ` +
				"Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]; " +
				"Value 'y' at 'returnConsumedCapacity'" + enum + "[INDEXES, TOTAL, NONE]",
		},
		{"BatchGetItem", `{}`, "1 validation error detected: Value null at 'requestItems' failed to satisfy constraint: Member must not be null"},
		{"TransactWriteItems", `{"TransactItems":[{}],"ClientRequestToken":"","ReturnConsumedCapacity":"y"}`, "1 validation error detected: Value at 'ClientRequestToken' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		{"TransactWriteItems", `{"TransactItems":[{}]}`, "1 validation error detected: Value '' at 'transactItems' failed to satisfy constraint: TransactWriteRequest should contain Delete or Put or Update or ConditionCheck"},
		{"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"plain","Key":{"id":` + deep + `},"ConditionExpression":"` + long + `"}}]}`, "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: 4097"},
		{"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"plain","Key":{"id":` + deep + `},"ConditionExpression":"= ="}}]}`, syntax},
		{"TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"plain","Key":{"id":` + deep + `},"UpdateExpression":"SET a = :v","ExpressionAttributeValues":{":v":{"N":"1"}}}}]}`, nesting},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"plain","Item":{"id":` + deep + `},"ConditionExpression":"= ="}}]}`, syntax},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"plain","Key":{"id":` + deep + `},"ProjectionExpression":",a"}}]}`, "Invalid ProjectionExpression: Syntax error; token: \",\", near: \",a\""},
		{"DeleteItem", `{"TableName":"plain","Key":{"id":` + deep + `},"ConditionExpression":"= ="}`, "1 validation error detected: " + nesting},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"nowhere","Item":{"m":{"M":{"":{"S":"x"}}},"d":` + deep + `}}}]}`, nesting},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"nowhere","Item":{"d":` + deep + `,"":{"S":"x"}}}}]}`, "Empty attribute name"},
		{"Query", `{"TableName":"plain","KeyConditionExpression":"id = :a AND b = :a AND c = :a","ExpressionAttributeValues":{":a":{"S":"x"}}}`, "The number of query conditions (3) exceeds the number of key attributes defined in the schema (1)"},
	} {
		res := eng.Do(t.Context(), tt.op, []byte(tt.body))
		if res.Err == nil || res.Err.Code != api.ValidationException || res.Err.Message != tt.want {
			t.Errorf("%s %.300s:\n%v, want\n%s", tt.op, tt.body, res.Err, tt.want)
		}
	}
}

// The older reader of values accepts a zero with any exponent; the newer one does
// not.
func TestZerosByOperation(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for op, takes := range map[string]bool{"PutItem": false, "TransactWriteItems": false, "BatchWriteItem": true, "ExecuteTransaction": true} {
		res := eng.Do(t.Context(), op, fmt.Appendf(nil, surfaces[op][0], `{"N":"0e-131"}`))
		if (res.Err == nil) != takes {
			t.Errorf("%s: %v", op, res.Err)
		}
		if got := do(t, eng, "GetItem", `{"TableName":"plain","Key":{"id":{"S":"x"}}}`)["Item"]; takes && fmt.Sprint(got) != "map[id:map[S:x] v:map[N:0]]" {
			t.Errorf("%s: stored is %v", op, got)
		}
		do(t, eng, "DeleteItem", `{"TableName":"plain","Key":{"id":{"S":"x"}}}`)
	}
}
