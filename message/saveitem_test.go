package message_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/record"
)

// transact sends the item behind a check that holds or is refused, and reads
// what came of the item.
func (e *env) transact(t testing.TB, i *record.Action[event.Outcome], condition string) (event.Outcome, error) {
	t.Helper()
	beside := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(e.table), Key: ddb.Item{"chatId": item.S("x"), "messageId": item.N(1)},
		ConditionExpression: aws.String(condition + "(chatId)"),
	}}
	_, err := e.db.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{beside, i.Item}})
	if err == nil {
		return i.Committed(), nil
	}
	reasons, ok := ddb.Cancelled(err)
	if !ok {
		t.Fatal(err)
	}
	return i.Outcome(reasons[1])
}

func (e *env) saveItem(t testing.TB, m message.Message) *record.Action[event.Outcome] {
	t.Helper()
	i, err := e.SaveItem(m)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestSaveItem(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	m := said(1, anna, 0)
	m.Data = map[string]any{"cents": 1250}
	first := e.saveItem(t, m)
	if out, err := e.transact(t, first, "attribute_exists"); out != 0 || err != nil {
		t.Errorf("refused for another action: %v, %v", out, err)
	}
	if _, ok, err := e.Get(t.Context(), chat, 1); ok || err != nil {
		t.Errorf("it was saved: %v", err)
	}
	for _, want := range []event.Outcome{event.Created, event.Duplicate} { // sent again as it is
		if out, err := e.transact(t, first, "attribute_not_exists"); out != want || err != nil {
			t.Errorf("%v, %v, want %v", out, err, want)
		}
	}
	if out, err := e.transact(t, e.saveItem(t, said(1, bo, 0)), "attribute_exists"); out != event.Duplicate || err != nil {
		t.Errorf("another under the number, beside another refusal: %v, %v", out, err)
	}
	if out, err := e.Save(t.Context(), m); out != event.Duplicate || err != nil {
		t.Errorf("Save of it: %v, %v", out, err)
	}
	for _, code := range []string{"TransactionConflict", "ProvisionedThroughputExceeded"} {
		out, err := first.Outcome(types.CancellationReason{Code: &code})
		if out != 0 || err == nil || !strings.HasPrefix(err.Error(), "message: SaveItem on table ") || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, %v", code, out, err)
		}
	}
	if first.Item.Put.ReturnValuesOnConditionCheckFailure != types.ReturnValuesOnConditionCheckFailureAllOld {
		t.Error("a refusal does not show what stands")
	}
}

// The action is the caller's, who may add to it: it shares nothing with the store.
func TestSaveItemIsTheCallers(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	first := e.saveItem(t, said(1, anna, 0))
	put := first.Item.Put
	put.ExpressionAttributeNames["#chat"], put.ExpressionAttributeValues[":chat"] = "chatId", item.S("-1")
	*put.ConditionExpression += " AND NOT #chat = :chat"
	if out, err := e.transact(t, first, "attribute_not_exists"); out != event.Created || err != nil {
		t.Errorf("with a further condition: %v, %v", out, err)
	}
	e.save(t, said(2, anna, 0))
	if out, err := e.transact(t, e.saveItem(t, said(3, anna, 0)), "attribute_not_exists"); out != event.Created || err != nil {
		t.Errorf("another message: %v, %v", out, err)
	}
}
