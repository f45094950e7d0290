package message_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
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

// A transaction whose replies were all lost is sent again, and found.
func TestSaveItemLostReplies(t *testing.T) {
	t.Parallel()
	for _, lose := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
		e := open(t, message.Config{})
		i := e.saveItem(t, said(1, anna, 0))
		e.db.Inject(dynamotest.Fault{Do: lose, Op: "TransactWriteItems", Times: 10})
		if _, err := recordtest.Impatient(e.db.Client()).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{i.Item}}); err == nil {
			t.Error("no error")
		}
		want := event.Duplicate
		if lose == dynamotest.LoseRequest {
			want = event.Created
		}
		if out, err := e.transact(t, i, "attribute_not_exists"); out != want || err != nil {
			t.Errorf("again: %v, %v, want %v", out, err, want)
		}
	}
}

// In place of an expired row it is saved; what is too old is refused at once.
func TestSaveItemRetention(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{Retention: time.Hour})
	old := said(1, anna, 0)
	e.save(t, old)
	e.now = noon.Add(2 * time.Hour)
	if i, err := e.SaveItem(old); i != nil || !errors.Is(err, event.ErrTooOld) || !strings.HasPrefix(err.Error(), "message: SaveItem on table ") {
		t.Errorf("%v, %v", i, err)
	}
	anew := said(1, bo, 0)
	anew.At = e.now
	if out, err := e.transact(t, e.saveItem(t, anew), "attribute_not_exists"); out != event.Created || err != nil {
		t.Errorf("%v, %v", out, err)
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
