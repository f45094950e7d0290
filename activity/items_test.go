package activity_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// transact sends the items of a set behind other actions, and returns the
// outcome of the set.
func transact(t testing.TB, db *dynamotest.DB, r *activity.RecordItems, others ...types.TransactWriteItem) (event.Outcome, error) {
	t.Helper()
	_, err := db.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: append(slices.Clone(others), r.Items...)})
	if err == nil {
		return event.Created, nil
	}
	reasons, ok := ddb.Cancelled(err)
	if !ok {
		t.Fatal(err)
	}
	return r.Outcome(reasons[len(others):])
}

// checkTable is a condition check on the table.
func checkTable(acts *activity.Store, condition string) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(acts.Table().Name), Key: ddb.Item{"chatId": item.S("-1"), "activityId": item.S("x")},
		ConditionExpression: aws.String(condition + "(activityId)"),
	}}
}

// The set answers as RecordAll does, in its caller's own transaction.
func TestRecordItems(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	three := setOf(t, 7, 3)
	items := func(set ...activity.Activity) *activity.RecordItems {
		r, err := acts.RecordItems(set)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	two := items(three[:2]...)
	if out, err := transact(t, db, two, checkTable(acts, "attribute_exists")); out != 0 || err != nil {
		t.Errorf("refused for another action: %v, %v", out, err)
	}
	wantSame(t, "what stands", everything(t, acts), nil)
	for _, want := range []event.Outcome{event.Created, event.Duplicate} { // sent again as it is
		if out, err := transact(t, db, two, checkTable(acts, "attribute_not_exists")); out != want || err != nil {
			t.Errorf("%v, %v, want %v", out, err, want)
		}
	}
	if out, err := transact(t, db, items(three[1], three[0])); out != event.Duplicate || err != nil {
		t.Errorf("another delivery: %v, %v", out, err)
	}
	if out, err := transact(t, db, items(three[0]), checkTable(acts, "attribute_exists")); out != event.Duplicate || err != nil {
		t.Errorf("a part of it, beside another refusal: %v, %v", out, err)
	}
	other := three[0]
	other.Name = "städning"
	for name, set := range map[string][]activity.Activity{"another": {other}, "one more": three, "another beside it": {other, three[2]}} {
		_, err := transact(t, db, items(set...))
		conflict, ok := errors.AsType[*activity.ConflictError](err)
		if !ok {
			t.Errorf("%s: %v, want a ConflictError", name, err)
			continue
		}
		wantSame(t, name, conflict.Stored, three[:min(len(conflict.Stored), 2)])
	}
	retract(t, acts, three[1].Event, false, event.Created)
	for name, set := range map[string][]activity.Activity{"the set": three[:2], "and more": three, "another with it": {other, three[1]}} {
		if out, err := transact(t, db, items(set...)); out != 0 || !errors.Is(err, activity.ErrRetracted) {
			t.Errorf("%s: %v, %v, want ErrRetracted", name, out, err)
		}
	}
	wantSame(t, "what stands", everything(t, acts), three[:1])
}

// Input that is refused before a transaction is made, and invalid reasons.
func TestRecordItemsRefuses(t *testing.T) {
	t.Parallel()
	_, acts := open(t, &activity.Config{Retention: 24 * time.Hour})
	_, err := acts.RecordItems(nil)
	wantInputError(t, err, "activities must have 1 to 100 elements")
	if _, err := acts.RecordItems(setOf(t, 7, 2)); !errors.Is(err, event.ErrTooOld) || !strings.HasPrefix(err.Error(), "activity: RecordItems on table ") {
		t.Errorf("too old: %v", err)
	}
	_, acts = open(t, nil)
	set := setOf(t, 7, 2)
	set[0].Data = map[string]any{"cents": 1}
	r, err := acts.RecordItems(set)
	if err != nil {
		t.Fatal(err)
	}
	set[0].Name, set[0].Data["cents"] = "changed by its owner", 2
	given := setOf(t, 7, 2)[0]
	given.Data = map[string]any{"cents": 1}
	stands, err := acts.Encode(given)
	if err != nil {
		t.Fatal(err)
	}
	none, refused := types.CancellationReason{Code: aws.String("None")}, types.CancellationReason{Code: aws.String("ConditionalCheckFailed"), Item: stands}
	for _, reasons := range [][]types.CancellationReason{nil, {none}, {none, none, none}} {
		_, err := r.Outcome(reasons)
		wantInputError(t, err, "reasons must have one element for each of the 2 Items")
	}
	if out, err := r.Outcome([]types.CancellationReason{none, {}}); out != 0 || err != nil {
		t.Errorf("not at fault: %v, %v", out, err)
	}
	for _, code := range []string{"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"} {
		out, err := r.Outcome([]types.CancellationReason{refused, {Code: &code}})
		if out != 0 || err == nil || !strings.HasPrefix(err.Error(), "activity: RecordItems on table ") || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, %v", code, out, err)
		}
	}
	second, err := acts.Encode(setOf(t, 7, 2)[1])
	if err != nil {
		t.Fatal(err)
	}
	both := []types.CancellationReason{refused, {Code: refused.Code, Item: second}}
	if out, err := r.Outcome(both); out != event.Duplicate || err != nil {
		t.Errorf("the set as it was given: %v, %v", out, err)
	}
	second["effort"] = item.S("high")
	if out, err := r.Outcome(both); out != 0 || err == nil || !strings.Contains(err.Error(), "RecordItems on table") {
		t.Errorf("a damaged row: %v, %v", out, err)
	}
}

// The actions belong to the caller, who may add to them: they share nothing
// with each other, with other handles or with the store.
func TestRecordItemsAreTheCallers(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	r, err := acts.RecordItems(setOf(t, 7, 2))
	if err != nil {
		t.Fatal(err)
	}
	put := r.Items[0].Put
	put.ExpressionAttributeNames["#chat"], put.ExpressionAttributeValues[":chat"] = "chatId", item.S("-1")
	*put.ConditionExpression += " AND NOT #chat = :chat"
	if out, err := transact(t, db, r); out != event.Created || err != nil {
		t.Errorf("with a further condition: %v, %v", out, err)
	}
	*put.TableName = "another"
	mustRecord(t, acts, setOf(t, 8, 1)...)
	other, err := acts.RecordItems(setOf(t, 9, 2))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := transact(t, db, other); out != event.Created || err != nil {
		t.Errorf("another set: %v, %v", out, err)
	}
}
