package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// A transaction that reads shows an item without any of the attributes asked for
// like one that does not exist. GetItem shows it empty.
func TestATransactionReadsNoAttributes(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"}}}`)
	const get = `"TableName":"plain","Key":{"id":{"S":"x"}},"ProjectionExpression":"v"`
	for op, want := range map[string]string{
		"TransactGetItems": `{"Responses":[{},{}]}`,
		"GetItem":          `{"Item":{}}`,
	} {
		body := `{` + get + `}`
		if op == "TransactGetItems" {
			body = `{"TransactItems":[{"Get":{` + get + `}},{"Get":{"TableName":"plain","Key":{"id":{"S":"y"}}}}]}`
		}
		if got := answer(t, eng, op, body); got != want {
			t.Errorf("%s: %s, want %s", op, got, want)
		}
	}
}

func TestClientRequestToken(t *testing.T) {
	t.Parallel()
	clock := newClock()
	db := connect(newEngine(t, engine.Options{Now: clock.Now}))
	send := func(amount int) error {
		_, err := db.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: plain, Key: item("id", "n"), UpdateExpression: aws.String("ADD v :n"), ExpressionAttributeValues: item(":n", amount)}},
		}})
		return err
	}
	value := func() string {
		out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: plain, Key: item("id", "n")})
		if err != nil {
			t.Fatal(err)
		}
		return text(out.Item["v"])
	}
	for _, step := range []struct {
		after  time.Duration
		amount int
		code   string
		want   string
	}{
		{0, 1, "", "1"},
		{time.Minute, 1, "", "1"}, // the same again: done already
		{time.Minute, 2, "IdempotentParameterMismatchException", "1"},
		{8*time.Minute - 1, 1, "", "1"},
		{1, 1, "", "2"}, // ten minutes after the first
	} {
		clock.Advance(step.after)
		if got := code(send(step.amount)); got != step.code {
			t.Errorf("after %v: %q, want %q", step.after, got, step.code)
		}
		if got := value(); got != step.want {
			t.Errorf("after %v: the value is %s, want %s", step.after, got, step.want)
		}
	}
}

func TestRefusedTransactionsAndBatches(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	repeat := func(n int, format string) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(format, i))
		}
		return strings.Join(out, ",")
	}
	const putX, putN = `{"Put":{"TableName":"plain","Item":{"id":{"S":"x"}}}}`, `{"Put":{"TableName":"plain","Item":{"id":{"S":"%d"}}}}`
	const getN = `{"Get":{"TableName":"plain","Key":{"id":{"S":"%d"}}}}`
	large := `{"Put":{"TableName":"plain","Item":{"id":{"S":"%d"},"v":{"S":"` + strings.Repeat("x", 390<<10) + `"}}}}`
	testRefusals(t, eng, []refusal{
		{"no actions", "TransactWriteItems", `{"TransactItems":[]}`, "Validation", "Member must have length greater than or equal to 1"},
		{"101 actions", "TransactWriteItems", `{"TransactItems":[` + repeat(101, putN) + `]}`, "Validation", "Member must have length less than or equal to 100"},
		{"one item twice", "TransactWriteItems", `{"TransactItems":[` + putX + `,` + putX + `]}`, "Validation", "cannot include multiple operations on one item"},
		{"no table", "TransactWriteItems", `{"TransactItems":[` + putX + `,{"Put":{"TableName":"nowhere","Item":{"id":{"S":"x"}}}}]}`, "ResourceNotFound", "Requested resource not found"},
		{"two kinds in one action", "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"plain","Item":{"id":{"S":"x"}}},"Delete":{"TableName":"plain","Key":{"id":{"S":"x"}}}}]}`, "Validation", "can only contain one of"},
		{"check without a condition", "TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"plain","Key":{"id":{"S":"x"}}}}]}`, "Validation", "conditionExpression' failed to satisfy constraint: Member must not be null"},
		{"update without an expression", "TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"plain","Key":{"id":{"S":"x"}}}}]}`, "Validation", "updateExpression' failed"},
		{"wrong key", "TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"plain","Key":{"no":{"S":"x"}}}}]}`, "TransactionCanceled", "[ValidationError]"},
		{"path into a key", "TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"plain","Key":{"id":{"S":"x"}},"ConditionExpression":"attribute_exists(id.x)"}}]}`, "Validation", "not allowed: Key: id"},
		{"path into a key", "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"plain","Key":{"id":{"S":"x"}},"ProjectionExpression":"id.x"}}]}`, "Validation", "not allowed: Key: id"},
		{"syntax error", "TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"plain","Key":{"id":{"S":"x"}},"ConditionExpression":"a ="}}]}`, "Validation", "Syntax error"},
		{"over 4 MB", "TransactWriteItems", `{"TransactItems":[` + repeat(11, large) + `]}`, "Validation", "4 MB"},
		{"over 4 MB of no table", "TransactWriteItems", `{"TransactItems":[` + strings.ReplaceAll(repeat(11, large), `"plain"`, `"nowhere"`) + `]}`, "Validation", "4 MB"},
		{"an empty key to put", "TransactWriteItems", `{"TransactItems":[` + putX + `,{"Put":{"TableName":"plain","Item":{"id":{"S":""}}}}]}`, "Validation", "empty string value. Key: id"},
		{"an empty key to check", "TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"plain","Key":{"id":{"S":""}},"ConditionExpression":"attribute_exists(id)"}}]}`, "Validation", "empty string value. Key: id"},
		{"an empty key to get", "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"plain","Key":{"id":{"S":""}}}}]}`, "Validation", "empty string value. Key: id"},
		{"two invalid actions", "TransactWriteItems", `{"TransactItems":[` + putX + `,{"Delete":{"TableName":"plain","Key":{"no":{"S":"x"}}}},{"Delete":{"TableName":"plain","Key":{"no":{"S":"y"}}}}]}`, "TransactionCanceled", "[None, ValidationError, None]"},
		{"a condition after an invalid action", "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"plain","Item":{"id":{"N":"1"}}}},{"Delete":{"TableName":"plain","Key":{"id":{"S":"x"}},"ConditionExpression":"attribute_exists(id)"}}]}`, "TransactionCanceled", "[ValidationError, None]"},
		{"two invalid gets", "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"plain","Key":{"no":{"S":"x"}}}},{"Get":{"TableName":"plain","Key":{"no":{"S":"y"}}}}]}`, "TransactionCanceled", "[ValidationError, None]"},
		{"two conditions", "TransactWriteItems", `{"TransactItems":[` + repeat(2, `{"Delete":{"TableName":"plain","Key":{"id":{"S":"%d"}},"ConditionExpression":"attribute_exists(id)"}}`) + `]}`, "TransactionCanceled", "[ConditionalCheckFailed, ConditionalCheckFailed]"},
		{"long token", "TransactWriteItems", `{"ClientRequestToken":"` + strings.Repeat("x", 37) + `","TransactItems":[` + putX + `]}`, "Validation", "'ClientRequestToken'"},
		{"101 gets", "TransactGetItems", `{"TransactItems":[` + repeat(101, getN) + `]}`, "Validation", "Member must have length less than or equal to 100"},
		{"an element without a get", "TransactGetItems", `{"TransactItems":[{}]}`, "Validation", "Member must not be null"},
		{"one item twice", "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"plain","Key":{"id":{"S":"x"}}}},{"Get":{"TableName":"plain","Key":{"id":{"S":"x"}}}}]}`, "Validation", "multiple operations on one item"},

		{"empty batch", "BatchGetItem", `{"RequestItems":{}}`, "Validation", "Value at 'RequestItems'"},
		{"a table that is null", "BatchGetItem", `{"RequestItems":{"plain":{"Keys":[{"id":{"S":"x"}}]},"music":null}}`, "Validation", "Value null at 'requestItems.music.member.keys'"},
		{"writes that are null", "BatchWriteItem", `{"RequestItems":{"plain":[{"DeleteRequest":{"Key":{"id":{"S":"x"}}}}],"music":null}}`, "Validation", "Member must have length greater than or equal to 1"},
		{"101 keys", "BatchGetItem", `{"RequestItems":{"plain":{"Keys":[` + repeat(101, `{"id":{"S":"%d"}}`) + `]}}}`, "Validation", "less than or equal to 100"},
		{"a key twice", "BatchGetItem", `{"RequestItems":{"plain":{"Keys":[{"id":{"S":"x"}},{"id":{"S":"x"}}]}}}`, "Validation", "Provided list of item keys contains duplicates"},
		{"a key twice of no table", "BatchGetItem", `{"RequestItems":{"nowhere":{"Keys":[{"id":{"S":"x"}},{"id":{"S":"y"}},{"id":{"S":"x"}}]}}}`, "Validation", "Provided list of item keys contains duplicates"},
		{"no such table", "BatchGetItem", `{"RequestItems":{"nowhere":{"Keys":[{"id":{"S":"x"}}]}}}`, "ResourceNotFound", "Requested resource not found"},
		{"26 writes", "BatchWriteItem", `{"RequestItems":{"plain":[` + repeat(26, `{"PutRequest":{"Item":{"id":{"S":"%d"}}}}`) + `]}}`, "Validation", "less than or equal to 25"},
		{"26 writes to two tables", "BatchWriteItem", `{"RequestItems":{"plain":[` + repeat(20, `{"PutRequest":{"Item":{"id":{"S":"%d"}}}}`) + `],
			"music":[` + repeat(6, `{"PutRequest":{"Item":{"artist":{"S":"a"},"song":{"N":"%d"}}}}`) + `]}}`, "Validation", "Too many items requested for the BatchWriteItem call"},
		{"put and delete of one item", "BatchWriteItem", `{"RequestItems":{"plain":[{"PutRequest":{"Item":{"id":{"S":"x"}}}},{"DeleteRequest":{"Key":{"id":{"S":"x"}}}}]}}`, "Validation", "contains duplicates"},
		{"neither put nor delete", "BatchWriteItem", `{"RequestItems":{"plain":[{}]}}`, "Validation", "exactly one of PutRequest or DeleteRequest"},
		{"one bad write of two", "BatchWriteItem", `{"RequestItems":{"plain":[{"PutRequest":{"Item":{"id":{"S":"good"}}}},{"PutRequest":{"Item":{"id":{"S":""}}}}]}}`, "Validation", "empty string value"},
	})
	t.Cleanup(func() {
		if n := do(t, eng, "Scan", `{"TableName":"plain"}`)["Count"]; n != 0.0 {
			t.Errorf("refused requests have written %v items", n)
		}
	})
}

// Stored items do not count in the size of a transaction.
func TestATransactionMayDeleteMoreThanItMaySay(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	var puts, updates, deletes []string
	for i := range 12 {
		key := fmt.Sprintf(`"TableName":"plain","Key":{"id":{"S":"%d"}}`, i)
		do(t, eng, "PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"S":"%d"},"v":{"S":"%s"}}}`, i, strings.Repeat("x", 390<<10)))
		updates = append(updates, `{"Update":{`+key+`,"UpdateExpression":"SET n = :n","ExpressionAttributeValues":{":n":{"N":"1"}}}}`)
		puts = append(puts, `{"Update":{`+key+`,"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":{"S":"`+strings.Repeat("x", 390<<10)+`"}}}}`)
		deletes = append(deletes, `{"Delete":{`+key+`}}`)
	}
	do(t, eng, "TransactWriteItems", `{"TransactItems":[`+strings.Join(updates, ",")+`]}`)
	testRefusals(t, eng, []refusal{{"values", "TransactWriteItems", `{"TransactItems":[` + strings.Join(puts, ",") + `]}`, "Validation", "4 MB"}})
	do(t, eng, "TransactWriteItems", `{"TransactItems":[`+strings.Join(deletes, ",")+`]}`)
}

func TestABatchReturnsWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	var keys []map[string]types.AttributeValue
	for i := range 50 { // 50 × 380 KB are more than 16 MB
		id := fmt.Sprint(i)
		put(t, db, "plain", item("id", id, "v", strings.Repeat("x", 380<<10)))
		keys = append(keys, item("id", id))
	}
	ask := map[string]types.KeysAndAttributes{"plain": {Keys: keys, ConsistentRead: aws.Bool(true)}}
	seen, rounds := map[string]bool{}, 0
	for len(ask) > 0 {
		out, err := db.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: ask})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range column(out.Responses["plain"], "id") {
			seen[id] = true
		}
		if ask = out.UnprocessedKeys; len(ask) > 0 && !*ask["plain"].ConsistentRead {
			t.Error("what is left has lost its ConsistentRead")
		}
		rounds++
	}
	if len(seen) != 50 || rounds != 2 {
		t.Errorf("%d items in %d rounds", len(seen), rounds)
	}
}
