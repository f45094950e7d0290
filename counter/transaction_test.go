package counter_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
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
	i := e.takeItem(t, take)
	if reasons := e.transact(t, i.Item, e.order("1")); reasons != nil {
		t.Fatal(reasons)
	}
	want := counter.Grant{
		OK: true, Total: counter.Total{Outcome: event.Created, Used: counter.Unknown, Day: day, ResetsAt: tzclock.Stockholm.End(day)}, Cap: 3, Remaining: counter.Unknown,
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
	another := e.takeItem(t, take)
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
	i = e.takeItem(t, take)
	reasons = e.transact(t, i.Item, e.order("2"))
	want.OK, want.Outcome = false, 0
	if diff := cmp.Diff(want, outcome(t, i.Outcome, reasons[0])); diff != "" {
		t.Errorf("no room (-want +got):\n%s", diff)
	}
	if reasons := e.transact(t, e.order("2")); reasons != nil {
		t.Errorf("a part was written: %v", reasons)
	}
}

// What another action's failure, or nothing at all, says of an item: nothing. A
// conflict is an error with its code.
func TestItemThatWasNotAtFault(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	if reasons := e.transact(t, e.order("1")); reasons != nil {
		t.Fatal(reasons)
	}
	ev := message(t, noon, 1)
	i := e.takeItem(t, counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3})
	reasons := e.transact(t, i.Item, e.order("1"))
	if got := outcome(t, i.Outcome, reasons[0]); got != (counter.Grant{}) {
		t.Errorf("another is at fault: %+v", got)
	}
	back := e.refundItem(t, counter.Refund{Key: chat, Event: ev, Weight: 1})
	if got := outcome(t, back.Outcome, types.CancellationReason{Code: aws.String("None")}); got != (counter.Total{}) {
		t.Errorf("another is at fault: %+v", got)
	}
	conflict := types.CancellationReason{Code: aws.String("TransactionConflict"), Message: aws.String("under way")}
	grant, err1 := i.Outcome(conflict)
	total, err2 := back.Outcome(conflict)
	for method, err := range map[string]error{"TakeItem": err1, "RefundItem": err2} {
		var coded smithy.APIError
		want := "counter: " + method + " on table " + e.table + ": "
		if !errors.As(err, &coded) || coded.ErrorCode() != "TransactionConflict" || err.Error()[:len(want)] != want {
			t.Errorf("a conflict: %v", err)
		}
	}
	if grant != (counter.Grant{}) || total != (counter.Total{}) {
		t.Errorf("a conflict: %+v, %+v", grant, total)
	}
	if count := e.get(t, day); count.Recorded != 0 {
		t.Errorf("Get = %+v", count)
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
		i := e.takeItem(t, take)
		reasons := e.transact(t, i.Item)
		if reasons == nil {
			t.Fatal("it was not refused")
		}
		return i.Outcome(reasons[0])
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
	if grant, err := refused(counter.Take{Key: "another", Event: first, Weight: 1}); err != nil || !grant.Refused() || grant.Used != 0 || grant.Day != day {
		t.Errorf("cap 0: %+v, %v", grant, err)
	}
}

func TestRefundItem(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	refund := counter.Refund{Key: chat, Event: ev, Weight: 3}
	i := e.refundItem(t, refund)
	reasons := e.transact(t, i.Item, e.order("1"))
	if total, err := i.Outcome(reasons[0]); !errors.Is(err, counter.ErrNotFound) || total != (counter.Total{}) {
		t.Errorf("not recorded: %+v, %v", total, err)
	}
	e.hold(t, ev, 3)
	if reasons := e.transact(t, i.Item, e.order("1")); reasons != nil {
		t.Fatal(reasons)
	}
	want := counter.Total{Outcome: event.Created, Refunded: true, Used: counter.Unknown, Day: day, ResetsAt: tzclock.Stockholm.End(day)}
	if diff := cmp.Diff(want, i.Committed()); diff != "" {
		t.Errorf("Committed (-want +got):\n%s", diff)
	}
	want.Used = 0
	if diff := cmp.Diff(want, outcome(t, i.Outcome, e.transact(t, i.Item)[0])); diff != "" {
		t.Errorf("its own (-want +got):\n%s", diff)
	}
	want.Outcome = event.Duplicate
	another := e.refundItem(t, refund)
	if diff := cmp.Diff(want, outcome(t, another.Outcome, e.transact(t, another.Item)[0])); diff != "" {
		t.Errorf("another delivery (-want +got):\n%s", diff)
	}
	if grant := e.take(t, ev, 9); !grant.Refunded {
		t.Errorf("Take = %+v", grant)
	}
}

// A settled event gives back what it was settled to in a transaction, too.
func TestRefundItemOfASettledEvent(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	e.hold(t, ev, 3)
	if _, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: ev, From: 3, To: 2}); err != nil {
		t.Fatal(err)
	}
	if reasons := e.transact(t, e.refundItem(t, counter.Refund{Key: chat, Event: ev, Weight: 2}).Item); reasons != nil {
		t.Fatal(reasons)
	}
	if count := e.get(t, day); count.Used != 0 {
		t.Errorf("Get = %+v", count)
	}
}

// All replies of a transaction are lost. The caller sends the same handle again,
// under another token, and reads its own; one that makes another reads Duplicate.
func TestItemsWhoseRepliesAreLost(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
		e := open(t, counter.Config{})
		taken, back := message(t, noon, 1), message(t, noon, 2)
		if _, err := e.Add(t.Context(), counter.Add{Key: "another", Event: back, Weight: 3}); err != nil {
			t.Fatal(err)
		}
		take := counter.Take{Key: chat, Event: taken, Weight: 1, Cap: 20}
		i, r := e.takeItem(t, take), e.refundItem(t, counter.Refund{Key: "another", Event: back, Weight: 3})
		send := func() error {
			_, err := recordtest.Impatient(e.db.Client()).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{i.Item, r.Item, e.order("1")}})
			return err
		}
		e.db.Inject(dynamotest.Fault{Do: do, Op: "TransactWriteItems", Times: -1})
		if err := send(); err == nil {
			t.Fatal("no reply, no error")
		}
		e.db.Heal()
		err := send()
		var cancelled *types.TransactionCanceledException
		switch {
		case do == dynamotest.LoseRequest && err == nil:
			if !i.Committed().First() {
				t.Errorf("Committed = %+v", i.Committed())
			}
		case do == dynamotest.LoseReply && errors.As(err, &cancelled):
			grant := outcome(t, i.Outcome, cancelled.CancellationReasons[0])
			total := outcome(t, r.Outcome, cancelled.CancellationReasons[1])
			if !grant.First() || grant.Used != 1 || total.Outcome != event.Created || total.Used != 0 {
				t.Errorf("its own: %+v, %+v", grant, total)
			}
		default:
			t.Errorf("%v, sent again: %v", do, err)
		}
		if grant, err := e.Take(t.Context(), take); err != nil || grant.First() || !grant.OK {
			t.Errorf("another call: %+v, %v", grant, err)
		}
		if count := e.get(t, day); count.Used != 1 {
			t.Errorf("Get = %+v", count)
		}
	}
}

// What became of an own earlier try meanwhile hides that it was one, and the
// caller's own action in the transaction has a condition.
func TestTakeItemSettledOrRefundedMeanwhile(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for name, tc := range map[string]struct {
		then func(event.Event) error
		want counter.Grant
	}{
		"settled": {func(ev event.Event) error {
			_, err := e.Adjust(t.Context(), counter.Adjust{Key: "settled", Event: ev, From: 5, To: 3})
			return err
		}, counter.Grant{OK: true, Total: counter.Total{Outcome: event.Duplicate, Used: 3}, Remaining: 6}},
		"refunded": {func(ev event.Event) error {
			_, err := e.Refund(t.Context(), counter.Refund{Key: "refunded", Event: ev, Weight: 5})
			return err
		}, counter.Grant{Total: counter.Total{Outcome: event.Duplicate, Refunded: true}, Remaining: 9}},
	} {
		ev := message(t, noon, 1)
		i := e.takeItem(t, counter.Take{Key: name, Event: ev, Cap: 9, Weight: 5})
		if reasons := e.transact(t, i.Item, e.order(name)); reasons != nil {
			t.Fatal(name, reasons)
		}
		if err := tc.then(ev); err != nil {
			t.Fatal(name, err)
		}
		reasons := e.transact(t, i.Item, e.order(name))
		want := tc.want
		want.Cap, want.Day, want.ResetsAt = 9, day, tzclock.Stockholm.End(day)
		if diff := cmp.Diff(want, outcome(t, i.Outcome, reasons[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if aws.ToString(reasons[1].Code) != "ConditionalCheckFailed" {
			t.Errorf("%s: the order is placed twice", name)
		}
	}
}
