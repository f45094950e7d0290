package counter_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// transact sends the actions, and returns the reasons when they are cancelled.
func (e *env) transact(t testing.TB, items ...types.TransactWriteItem) []types.CancellationReason {
	t.Helper()
	_, err := recordtest.Impatient(e.db.Client()).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: items})
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return cancelled.CancellationReasons
	}
	if err != nil {
		t.Fatal(err)
	}
	return nil
}

// refusal sends an item that is refused.
func (e *env) refusal(t testing.TB, i *record.Action[counter.Grant]) (counter.Grant, error) {
	t.Helper()
	reasons := e.transact(t, i.Item, e.order("refused"))
	if reasons == nil {
		t.Fatal("it was not refused")
	}
	return i.Outcome(reasons[0])
}

// order is an action of the caller's own, which fails the second time.
func (e *env) order(id string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &e.table, Item: map[string]types.AttributeValue{"chatId": item.S("order " + id), "date": item.S("placed")},
		ConditionExpression: aws.String("attribute_not_exists(chatId)"),
	}}
}

// outcome reads the item's, or fails the test.
func outcome[T any](t testing.TB, read func(types.CancellationReason) (T, error), reason types.CancellationReason) T {
	t.Helper()
	got, err := read(reason)
	if err != nil {
		t.Error(err)
	}
	return got
}

func TestTakeItem(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	take := counter.Take{Key: chat, Event: message(t, noon, 1), Cap: 3, Weight: 2}
	i := must(e.TakeItem(take))
	if reasons := e.transact(t, i.Item, e.order("1")); reasons != nil {
		t.Fatal(reasons)
	}
	want := counter.Grant{
		OK: true, Total: counter.Total{Outcome: event.Created, Used: counter.Unknown, StartsAt: tzclock.Stockholm.Start(day), ResetsAt: tzclock.Stockholm.End(day)}, Cap: 3, Remaining: counter.Unknown,
	}
	if diff := cmp.Diff(want, i.Committed()); diff != "" || !i.Committed().First() {
		t.Errorf("Committed (-want +got):\n%s", diff)
	}
	if count := e.get(t, day); count.Used != 2 || count.Recorded != 1 {
		t.Errorf("Get = %+v", count)
	}

	// Sent again with its reply lost: its own, though another delivery reads Duplicate.
	want.Used, want.Remaining = 2, 1
	reasons := e.transact(t, e.order("1"), i.Item)
	if diff := cmp.Diff(want, outcome(t, i.Outcome, reasons[1])); diff != "" {
		t.Errorf("its own (-want +got):\n%s", diff)
	}
	want.Outcome = event.Duplicate
	another := must(e.TakeItem(take))
	reasons = e.transact(t, another.Item)
	if diff := cmp.Diff(want, outcome(t, another.Outcome, reasons[0])); diff != "" {
		t.Errorf("another delivery (-want +got):\n%s", diff)
	}
	// And is the same event to Take.
	if grant, err := e.Take(t.Context(), take); err != nil || grant.Outcome != event.Duplicate {
		t.Errorf("Take = %+v, %v", grant, err)
	}

	// No room: nothing of the transaction is written.
	take.Event = message(t, noon, 2)
	i = must(e.TakeItem(take))
	reasons = e.transact(t, i.Item, e.order("2"))
	want.OK, want.Outcome = false, 0
	if diff := cmp.Diff(want, outcome(t, i.Outcome, reasons[0])); diff != "" {
		t.Errorf("no room (-want +got):\n%s", diff)
	}
	if reasons := e.transact(t, e.order("2")); reasons != nil {
		t.Errorf("a part was written: %v", reasons)
	}
}

// An item answers what Take would have.
func TestTakeItemRefused(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{MaxRecorded: 2})
	first, second, third := message(t, noon, 1), message(t, noon, 2), message(t, noon, 3)
	e.hold(t, first, 5)
	e.hold(t, second, 1)
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: second, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	refused := func(take counter.Take) (counter.Grant, error) {
		t.Helper()
		return e.refusal(t, must(e.TakeItem(take)))
	}
	var differs *counter.WeightError
	if grant, err := refused(counter.Take{Key: chat, Event: first, Cap: 9, Weight: 4}); !errors.As(err, &differs) || grant.OK {
		t.Errorf("another weight: %+v, %v", grant, err)
	}
	if grant, err := refused(counter.Take{Key: chat, Event: third, Weight: 1, Cap: 9}); !errors.Is(err, counter.ErrFull) {
		t.Errorf("a full row: %+v, %v", grant, err)
	}
	if grant, err := refused(counter.Take{Key: chat, Event: second, Weight: 1, Cap: 9}); err != nil || !grant.Refunded || grant.OK || grant.Used != 5 {
		t.Errorf("a refunded event: %+v, %v", grant, err)
	}
	// No row: DynamoDB shows none, and there is no cap for it.
	if grant, err := refused(counter.Take{Key: "another", Event: first, Weight: 1}); err != nil || !grant.Refused() || grant.Used != 0 || !grant.StartsAt.Equal(tzclock.Stockholm.Start(day)) {
		t.Errorf("cap 0: %+v, %v", grant, err)
	}
}

func TestRefundItem(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	refund := counter.Refund{Key: chat, Event: ev, Weight: 3}
	i := must(e.RefundItem(refund))
	reasons := e.transact(t, i.Item, e.order("1"))
	if total, err := i.Outcome(reasons[0]); !errors.Is(err, counter.ErrNotFound) || total != (counter.Total{}) {
		t.Errorf("not recorded: %+v, %v", total, err)
	}
	e.hold(t, ev, 3)
	if reasons := e.transact(t, i.Item, e.order("1")); reasons != nil {
		t.Fatal(reasons)
	}
	want := counter.Total{Outcome: event.Created, Refunded: true, Used: counter.Unknown, StartsAt: tzclock.Stockholm.Start(day), ResetsAt: tzclock.Stockholm.End(day)}
	if diff := cmp.Diff(want, i.Committed()); diff != "" {
		t.Errorf("Committed (-want +got):\n%s", diff)
	}
	want.Used = 0
	if diff := cmp.Diff(want, outcome(t, i.Outcome, e.transact(t, i.Item)[0])); diff != "" {
		t.Errorf("its own (-want +got):\n%s", diff)
	}
	want.Outcome = event.Duplicate
	another := must(e.RefundItem(refund))
	if diff := cmp.Diff(want, outcome(t, another.Outcome, e.transact(t, another.Item)[0])); diff != "" {
		t.Errorf("another delivery (-want +got):\n%s", diff)
	}
	if grant := e.take(t, ev, 9); !grant.Refunded {
		t.Errorf("Take = %+v", grant)
	}
}

// What another action's failure, or nothing at all, says of an item: nothing. A
// conflict is an error with its code.
func TestItemThatWasNotAtFault(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	take := must(e.TakeItem(counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3}))
	adjust := must(e.AdjustItem(counter.Adjust{Key: chat, Event: ev, From: 10, To: 7}))
	back := must(e.RefundItem(counter.Refund{Key: chat, Event: ev, Weight: 1}))
	for method, read := range map[string]func(types.CancellationReason) (any, error){
		"TakeItem":   func(r types.CancellationReason) (any, error) { return take.Outcome(r) },
		"AdjustItem": func(r types.CancellationReason) (any, error) { return adjust.Outcome(r) },
		"RefundItem": func(r types.CancellationReason) (any, error) { return back.Outcome(r) },
	} {
		got, err := read(types.CancellationReason{Code: aws.String("None")})
		if err != nil || !reflect.ValueOf(got).IsZero() {
			t.Errorf("%s, another is at fault: %+v, %v", method, got, err)
		}
		got, err = read(types.CancellationReason{Code: aws.String("TransactionConflict"), Message: aws.String("under way")})
		coded, _ := errors.AsType[smithy.APIError](err)
		if coded == nil || coded.ErrorCode() != "TransactionConflict" || !strings.HasPrefix(err.Error(), "counter: "+method+" on table "+e.table+": ") || !reflect.ValueOf(got).IsZero() {
			t.Errorf("%s, a conflict: %+v, %v", method, got, err)
		}
	}
}
