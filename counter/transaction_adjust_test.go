package counter_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

func (e *env) adjustItem(t testing.TB, adjust counter.Adjust) *record.Action[counter.Grant] {
	t.Helper()
	i, err := e.AdjustItem(adjust)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// A hold is settled in a transaction, whether it falls, stays or rises.
func TestAdjustItem(t *testing.T) {
	t.Parallel()
	for _, to := range []int64{7, 10, 12} {
		e := open(t, counter.Config{})
		ev := message(t, noon, 1)
		adjust := counter.Adjust{Key: chat, Event: ev, From: 10, To: to, Cap: 20}
		i := e.adjustItem(t, adjust)
		reasons := e.transact(t, i.Item, e.order("1"))
		if grant, err := i.Outcome(reasons[0]); !errors.Is(err, counter.ErrNotFound) || grant != (counter.Grant{}) {
			t.Errorf("not recorded: %+v, %v", grant, err)
		}
		e.hold(t, ev, 10)
		if reasons := e.transact(t, i.Item, e.order("1")); reasons != nil {
			t.Fatal(reasons)
		}
		want := counter.Grant{
			OK: true, Total: counter.Total{Outcome: event.Created, Used: counter.Unknown, Day: day, ResetsAt: tzclock.Stockholm.End(day)}, Cap: 20, Remaining: counter.Unknown,
		}
		if diff := cmp.Diff(want, i.Committed()); diff != "" || !i.Committed().First() {
			t.Errorf("Committed (-want +got):\n%s", diff)
		}
		if count := e.get(t, day); count.Used != to || count.Recorded != 1 {
			t.Errorf("Get = %+v", count)
		}
		want.Used, want.Remaining = to, 20-to
		if diff := cmp.Diff(want, outcome(t, i.Outcome, e.transact(t, e.order("1"), i.Item)[1])); diff != "" {
			t.Errorf("its own (-want +got):\n%s", diff)
		}
		want.Outcome = event.Duplicate
		another := e.adjustItem(t, adjust)
		if diff := cmp.Diff(want, outcome(t, another.Outcome, e.transact(t, another.Item)[0])); diff != "" {
			t.Errorf("another delivery (-want +got):\n%s", diff)
		}
		if grant, err := e.Adjust(t.Context(), adjust); err != nil || grant.Outcome != event.Duplicate {
			t.Errorf("Adjust = %+v, %v", grant, err)
		}
	}
}

// An item answers what Adjust would have, and nothing of the transaction is written.
func TestAdjustItemRefused(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev, back := message(t, noon, 1), message(t, noon, 2)
	e.hold(t, ev, 10)
	e.hold(t, back, 1)
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: back, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	refused := func(adjust counter.Adjust) (counter.Grant, error) {
		t.Helper()
		i := e.adjustItem(t, adjust)
		reasons := e.transact(t, i.Item, e.order("1"))
		if reasons == nil {
			t.Fatal("it was not refused")
		}
		return i.Outcome(reasons[0])
	}
	if grant, err := refused(counter.Adjust{Key: chat, Event: ev, From: 10, To: 13, Cap: 12}); err != nil || grant.OK || grant.Outcome != 0 || grant.Used != 10 || grant.Remaining != 2 {
		t.Errorf("no room: %+v, %v", grant, err)
	}
	var differs *counter.WeightError
	if grant, err := refused(counter.Adjust{Key: chat, Event: ev, From: 1, To: 2, Cap: 20}); !errors.As(err, &differs) || *differs != (counter.WeightError{Recorded: 10, Given: 1}) {
		t.Errorf("another weight: %+v, %v", grant, err)
	}
	if grant, err := refused(counter.Adjust{Key: chat, Event: back, From: 1, To: 2, Cap: 20}); err != nil || grant.OK || !grant.Refunded || grant.Used != 10 {
		t.Errorf("a refunded event: %+v, %v", grant, err)
	}
	if reasons := e.transact(t, e.order("1")); reasons != nil {
		t.Errorf("a part was written: %v", reasons)
	}
	if count := e.get(t, day); count.Used != 10 {
		t.Errorf("Get = %+v", count)
	}
}

// What needs no request is said before there is an item.
func TestAdjustItemOfBadInput(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for field, spoil := range map[string]func(*counter.Adjust){
		"To":    func(a *counter.Adjust) { a.To = 0 },
		"From":  func(a *counter.Adjust) { a.From = 0 },
		"Cap":   func(a *counter.Adjust) { a.Cap = -1 },
		"Key":   func(a *counter.Adjust) { a.Key = "" },
		"Event": func(a *counter.Adjust) { a.Event = event.Event{} },
	} {
		adjust := counter.Adjust{Key: chat, Event: message(t, noon, 1), From: 10, To: 7}
		spoil(&adjust)
		i, err := e.AdjustItem(adjust)
		wantBad(t, err, field)
		if i != nil {
			t.Errorf("%s: an item came back with the error", field)
		}
	}
}

func TestAdjustItemThatWasNotAtFault(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	i := e.adjustItem(t, counter.Adjust{Key: chat, Event: message(t, noon, 1), From: 10, To: 7})
	if got := outcome(t, i.Outcome, types.CancellationReason{Code: aws.String("None")}); got != (counter.Grant{}) {
		t.Errorf("another is at fault: %+v", got)
	}
	grant, err := i.Outcome(types.CancellationReason{Code: aws.String("TransactionConflict"), Message: aws.String("under way")})
	var coded smithy.APIError
	want := "counter: AdjustItem on table " + e.table + ": "
	if !errors.As(err, &coded) || coded.ErrorCode() != "TransactionConflict" || err.Error()[:len(want)] != want || grant != (counter.Grant{}) {
		t.Errorf("a conflict: %+v, %v", grant, err)
	}
}

// All replies of a transaction are lost. The same handle reads its own, and one
// that is made anew a Duplicate.
func TestAdjustItemWhoseReplyIsLost(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
		e := open(t, counter.Config{})
		ev := message(t, noon, 1)
		e.hold(t, ev, 10)
		adjust := counter.Adjust{Key: chat, Event: ev, From: 10, To: 7, Cap: 20}
		i := e.adjustItem(t, adjust)
		send := func() error {
			_, err := recordtest.Impatient(e.db.Client()).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{i.Item, e.order("1")}})
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
		case do == dynamotest.LoseReply && errors.As(err, &cancelled):
			if grant := outcome(t, i.Outcome, cancelled.CancellationReasons[0]); !grant.First() || grant.Used != 7 {
				t.Errorf("its own: %+v", grant)
			}
		default:
			t.Errorf("%v, sent again: %v", do, err)
		}
		if grant, err := e.Adjust(t.Context(), adjust); err != nil || grant.First() || !grant.OK || grant.Used != 7 {
			t.Errorf("another call: %+v, %v", grant, err)
		}
	}
}

// Several settle one hold at once, each to another weight and by an item: one of
// them does, and the others read what it was settled to.
func TestAdjustItemUnderContention(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for round := range 6 {
		ev := message(t, noon, round)
		e.hold(t, ev, 3)
		var mu sync.Mutex // guards what follows
		var settled []int64
		var wg sync.WaitGroup
		for to := int64(1); to <= 3; to++ {
			wg.Go(func() {
				i, err := e.AdjustItem(counter.Adjust{Key: chat, Event: ev, From: 3, To: to, Cap: 20})
				if err != nil {
					t.Error(err)
					return
				}
				for {
					grant, err := e.inTransaction(t, i.Item, i.Outcome, i.Committed)
					var busy smithy.APIError
					if errors.As(err, &busy) && busy.ErrorCode() == "TransactionConflict" {
						continue
					}
					var differs *counter.WeightError
					switch {
					case grant.First():
						mu.Lock()
						settled = append(settled, to)
						mu.Unlock()
					case !errors.As(err, &differs) || differs.Given != to:
						t.Errorf("to %d: %+v, %v", to, grant, err)
					}
					return
				}
			})
		}
		wg.Wait()
		if len(settled) != 1 {
			t.Fatalf("settled to %v", settled)
		}
		if total, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: settled[0]}); err != nil || total.Used != 0 {
			t.Errorf("Refund of what it was settled to: %+v, %v", total, err)
		}
	}
}
