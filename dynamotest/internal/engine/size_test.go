package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// The largest item that each way of writing accepts, and one that is a byte
// larger. For UpdateItem the charge of its expression counts in addition to the
// resulting item.
func TestTheLargestItem(t *testing.T) {
	t.Parallel()
	const most = 400 << 10
	const updating = "Item size to update has exceeded the maximum allowed size"
	eng := newEngine(t, engine.Options{})
	do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"full"},"u":{"S":"`+strings.Repeat("x", 1000)+`"}}}`)
	do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"s"}}}`)
	for _, tt := range []struct {
		name, op, body string
		largest        int // bytes of the value that %s stands for
		code, message  string
	}{
		{"put", "PutItem", `{"TableName":"plain","Item":{"id":{"S":"p"},"v":{"S":"%s"}}}`, most - 4, "Validation", "Item size has exceeded the maximum allowed size"},
		{"batch", "BatchWriteItem", `{"RequestItems":{"plain":[{"PutRequest":{"Item":{"id":{"S":"b"},"v":{"S":"%s"}}}}]}}`, most - 4, "Validation", "Item size has exceeded the maximum allowed size"},
		{"transacted put", "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"plain","Item":{"id":{"S":"t"},"v":{"S":"%s"}}}}]}`, most - 4, "Validation", "Item size has exceeded the maximum allowed size"},
		{"update, charged", "UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"u"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"%s"}}}`, most - 23, "Validation", updating},
		{"update of what is there", "UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"full"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"%s"}}}`, most - 6 - 1001 - 1, "Validation", updating},
		{"update before its condition", "UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"c"}},"UpdateExpression":"SET v = if_not_exists(v, :v)","ExpressionAttributeValues":{":v":{"S":"%s"}},"ConditionExpression":"attribute_not_exists(id)"}`, most - 23 - 39 - 16, "Validation", updating},
		{"older update", "UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"o"}},"AttributeUpdates":{"v":{"Value":{"S":"%s"}}}}`, most - 4, "Validation", updating},
		{"transacted update, charged", "TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"plain","Key":{"id":{"S":"v"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"%s"}}}}]}`, most - 23, "Validation", updating},
		{"transacted update of what is there", "TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"plain","Key":{"id":{"S":"full"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"%s"}}}}]}`, most - 6 - 1001 - 1, "TransactionCanceled", "[ValidationError]"},
		{"statement", "ExecuteStatement", `{"Statement":"UPDATE plain SET v = ? WHERE id = 's'","Parameters":[{"S":"%s"}]}`, most - 4, "Validation", updating},
	} {
		do(t, eng, tt.op, fmt.Sprintf(tt.body, strings.Repeat("x", tt.largest)))
		res := eng.Do(t.Context(), tt.op, []byte(fmt.Sprintf(tt.body, strings.Repeat("x", tt.largest+1))))
		if res.Err == nil || res.Err.Code != tt.code+"Exception" || !strings.Contains(res.Err.Message, tt.message) {
			t.Errorf("%s, a byte more: %v, want %sException: %s", tt.name, res.Err, tt.code, tt.message)
		}
	}
	testRefusals(t, eng, []refusal{
		{"a large item of no table", "BatchWriteItem", `{"RequestItems":{"nowhere":[{"PutRequest":{"Item":{"id":{"S":"b"},"v":{"S":"` + strings.Repeat("x", most-3) + `"}}}}]}}`, "Validation", "Item size has exceeded"},
		{"a failed condition", "UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"full"}},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"` + strings.Repeat("x", most) + `"}},"ConditionExpression":"attribute_exists(nope)"}`, "Validation", updating},
	})
}

// An attribute's name of 65,536 bytes is too long in every place, and one of a
// byte less is not.
func TestTheLongestName(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	const id = `"TableName":"plain","Key":{"id":{"S":"x"}}`
	for _, tt := range []struct{ name, op, body string }{
		{"item", "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"},"%s":{"N":"1"}}}`},
		{"map", "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"},"m":{"L":[{"M":{"%s":{"N":"1"}}}]}}}`},
		{"projection", "GetItem", `{` + id + `,"ProjectionExpression":"#n","ExpressionAttributeNames":{"#n":"%s"}}`},
		{"older projection", "GetItem", `{` + id + `,"AttributesToGet":["%s"]}`},
		{"update", "UpdateItem", `{` + id + `,"UpdateExpression":"SET #n = :v","ExpressionAttributeNames":{"#n":"%s"},"ExpressionAttributeValues":{":v":{"N":"1"}}}`},
		{"older update", "UpdateItem", `{` + id + `,"AttributeUpdates":{"%s":{"Value":{"N":"1"}}}}`},
		{"older condition", "PutItem", `{"TableName":"plain","Item":{"id":{"S":"y"}},"Expected":{"%s":{"Exists":false}}}`},
	} {
		longest := strings.Repeat("n", 65535)
		do(t, eng, tt.op, fmt.Sprintf(tt.body, longest))
		res := eng.Do(t.Context(), tt.op, fmt.Appendf(nil, tt.body, longest+"n"))
		if res.Err == nil || !strings.Contains(res.Err.Message, "Attribute name is too large, must be less than 65536 bytes") {
			t.Errorf("%s: %v", tt.name, res.Err)
		}
	}
}
