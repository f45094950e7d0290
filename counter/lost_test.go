package counter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

// The reply is lost after the write took effect and the SDK sends again: the
// call reads Created, from two requests and no read.
func TestOwnLostReplyIsNoRedelivery(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	if _, err := e.Add(t.Context(), counter.Add{Key: "refund", Event: ev, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() (event.Outcome, int64, error){
		"take": func() (event.Outcome, int64, error) {
			grant, err := e.Take(t.Context(), counter.Take{Key: "take", Event: ev, Weight: 1, Cap: 1})
			return grant.Outcome, grant.Used, err
		},
		"add": func() (event.Outcome, int64, error) {
			total, err := e.Add(t.Context(), counter.Add{Key: "add", Event: ev, Weight: 1})
			return total.Outcome, total.Used, err
		},
		"refund": func() (event.Outcome, int64, error) {
			total, err := e.Refund(t.Context(), counter.Refund{Key: "refund", Event: ev, Weight: 1})
			return total.Outcome, total.Used + 1, err
		},
	} {
		e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
		var outcome event.Outcome
		var used int64
		var err error
		cost := e.db.Meter(func() { outcome, used, err = call() })
		if err != nil || outcome != event.Created || used != 1 {
			t.Errorf("%s: %v, %d used, %v, want created", name, outcome, used, err)
		}
		if cost.Requests != 2 || cost.ByOp["UpdateItem"] != 2 {
			t.Errorf("%s: %v", name, cost)
		}
	}
}

// The same where another system left a count that is not a whole number: what
// this call's own attempt did is not denied.
func TestOwnLostReplyWithAnUnreadableCount(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	e.put(t, map[string]types.AttributeValue{"chatId": item.S(chat), "date": item.S(day.String()), "count": item.Digits("0.5")})
	take := func() error {
		_, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3})
		return err
	}
	refund := func() error {
		_, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1})
		return err
	}
	for _, call := range []struct {
		name  string
		write func() error
		lose  bool
		count string
	}{
		{"Take", take, true, "1.5"},
		{"Take of another call", take, false, "1.5"},
		{"Refund", refund, true, "0.5"},
		{"Refund of another call", refund, false, "0.5"},
	} {
		if call.lose {
			e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
		}
		err := call.write()
		if err == nil || errors.Is(err, event.ErrUnknownOutcome) != call.lose {
			t.Errorf("%s: %v, want unknown %v", call.name, err, call.lose)
		}
		wantEffect(t, err, call.lose)
		if count := e.row(t, day)["count"].(*types.AttributeValueMemberN).Value; count != call.count {
			t.Errorf("%s: the count is %s, want %s", call.name, count, call.count)
		}
	}
}

// When the whole call fails and is made again, the second is a redelivery: it
// cannot know whether the first has been acted upon.
func TestRepeatedCallIsADuplicate(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Times: -1})
	if _, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3}); err == nil {
		t.Fatal("no reply, no error")
	}
	e.db.Heal()
	if grant := e.take(t, ev, 3); !grant.OK || grant.Outcome != event.Duplicate || grant.Used != 1 {
		t.Errorf("again: %+v", grant)
	}
}

// Between the lost reply and the SDK's second attempt another caller may have
// given the room back: then it is gone.
func TestLostReplyThenRefunded(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	e.meanwhile(func() {
		if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1}); err != nil {
			t.Error(err)
		}
	})
	grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3})
	if err != nil || grant.OK || !grant.Refunded || grant.Outcome != event.Duplicate || grant.Used != 0 {
		t.Errorf("Take = %+v, %v", grant, err)
	}
}

// A first attempt that the network holds back, while the second is refused,
// takes room when it arrives at last. It takes none above the cap.
func TestFirstAttemptThatArrivesLate(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	other, late := message(t, noon, 1), message(t, noon, 2)
	e.take(t, other, 1)
	held := &holding{Client: e.db.Client()}
	s, err := counter.New(held, e.table, tzclock.Stockholm, &counter.Config{Now: recordtest.Clock(noon)})
	if err != nil {
		t.Fatal(err)
	}
	if grant, err := s.Take(t.Context(), counter.Take{Key: chat, Event: late, Weight: 1, Cap: 1}); err != nil || grant.OK {
		t.Fatalf("above the cap: %+v, %v", grant, err)
	}
	if err := held.arrive(t.Context()); err == nil {
		t.Error("it arrives where there is no room, and takes some")
	}
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: other, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	if err := held.arrive(t.Context()); err != nil {
		t.Errorf("it arrives where there is room: %v", err)
	}
	if grant := e.take(t, late, 1); !grant.OK || grant.Outcome != event.Duplicate || grant.Used != 1 {
		t.Errorf("the event again: %+v", grant)
	}
}

// holding keeps the last write, so that it can arrive once more.
type holding struct {
	*dynamodb.Client
	kept *dynamodb.UpdateItemInput
}

func (h *holding) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	h.kept = in
	return h.Client.UpdateItem(ctx, in, options...)
}

func (h *holding) arrive(ctx context.Context) error {
	_, err := h.Client.UpdateItem(ctx, h.kept)
	return err
}

// A lost reply still reads Created when nothing else became of the event. One
// that was settled or refunded meanwhile says so.
func TestOwnLostReplyAfterAnother(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		between func(*env, event.Event) error
		want    counter.Grant // except what it says of the cap and the day
	}{
		"nothing": {func(*env, event.Event) error { return nil }, counter.Grant{OK: true, Outcome: event.Created, Used: 5}},
		"settled": {func(e *env, ev event.Event) error {
			_, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: ev, From: 5, To: 3})
			return err
		}, counter.Grant{OK: true, Outcome: event.Duplicate, Used: 3}},
		"refunded": {func(e *env, ev event.Event) error {
			_, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 5})
			return err
		}, counter.Grant{Outcome: event.Duplicate, Refunded: true}},
	} {
		e := open(t, counter.Config{})
		ev := message(t, noon, 1)
		e.meanwhile(func() {
			if err := tc.between(e, ev); err != nil {
				t.Error(name, err)
			}
		})
		grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Cap: 9, Weight: 5})
		want := tc.want
		want.Cap, want.Remaining, want.Day, want.ResetsAt = 9, 9-want.Used, day, tzclock.Stockholm.End(day)
		if err != nil || grant != want {
			t.Errorf("%s: Take = %+v, %v, want %+v", name, grant, err, want)
		}
	}
}

func TestAddUnkeyed(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for i := range int64(3) {
		total, err := e.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: noon, Weight: 2})
		want := counter.Total{Outcome: event.Created, Used: 2 * (i + 1), Day: day, ResetsAt: tzclock.Stockholm.End(day)}
		if err != nil || total != want {
			t.Errorf("AddUnkeyed = %+v, %v, want %+v", total, err, want)
		}
	}
	if count := e.get(t, day); count.Used != 6 || count.Recorded != 0 {
		t.Errorf("Get = %v: the row must not grow", count)
	}
}

// One attempt, and the truth about it.
func TestAddUnkeyedIsNeverRepeated(t *testing.T) {
	t.Parallel()
	for do, counted := range map[dynamotest.Effect]int64{dynamotest.LoseReply: 1, dynamotest.LoseRequest: 0} {
		e := open(t, counter.Config{})
		e.db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem"})
		var err error
		cost := e.db.Meter(func() { _, err = e.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: noon, Weight: 1}) })
		if !errors.Is(err, event.ErrUnknownOutcome) || cost.Requests != 1 {
			t.Errorf("%v: %v after %v, want ErrUnknownOutcome after one request", do, err, cost)
		}
		if count := e.get(t, day); count.Used != counted {
			t.Errorf("%v: Get = %v, want %d", do, count, counted)
		}
	}
}

// What DynamoDB refuses is known not to have counted.
func TestAddUnkeyedRefused(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	e.put(t, map[string]types.AttributeValue{"chatId": item.S(chat), "date": item.S(day.String()), "count": item.S("many")})
	_, err := e.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: noon, Weight: 1})
	if err == nil || errors.Is(err, event.ErrUnknownOutcome) {
		t.Errorf("a count that is not a number: %v, want a definite error", err)
	}
	if count, err := e.Get(t.Context(), chat, day); err == nil {
		t.Errorf("a count that is not a number: Get = %v", count)
	}
	if grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: message(t, noon, 1), Weight: 1, Cap: 1}); err == nil || grant.OK {
		t.Errorf("a count that is not a number: Take = %+v, %v", grant, err)
	}
	s, err := counter.New(e.db.Client(), "no-such-table", tzclock.Stockholm, &counter.Config{Now: recordtest.Clock(noon)})
	if err != nil {
		t.Fatal(err)
	}
	var missing *types.ResourceNotFoundException
	if _, err := s.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: noon, Weight: 1}); !errors.As(err, &missing) || errors.Is(err, event.ErrUnknownOutcome) {
		t.Errorf("no table: %v, want a definite error", err)
	}
}

// A count that is not a whole number, which another system left, cannot be told
// after a write: the write took effect, and the error must not deny it.
func TestUnreadableCount(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*env, event.Event) (bool, error){
		"Take": func(e *env, ev event.Event) (bool, error) {
			grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3})
			return grant == counter.Grant{}, err
		},
		"Add": func(e *env, ev event.Event) (bool, error) {
			total, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: 1})
			return total == counter.Total{}, err
		},
		"Refund": func(e *env, ev event.Event) (bool, error) {
			row := e.row(t, day)
			row["count"], row["e_"+ev.String()] = item.Digits("2.5"), item.S("1~kQ0hF3vbl2E")
			e.put(t, row)
			total, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1})
			return total == counter.Total{}, err
		},
		"AddUnkeyed": func(e *env, ev event.Event) (bool, error) {
			total, err := e.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: ev.Time(), Weight: 1})
			return total == counter.Total{}, err
		},
	} {
		e := open(t, counter.Config{})
		e.put(t, map[string]types.AttributeValue{"chatId": item.S(chat), "date": item.S(day.String()), "count": item.Digits("0.5")})
		zero, err := write(e, message(t, noon, 1))
		if !errors.Is(err, event.ErrUnknownOutcome) || !zero {
			t.Errorf("%s: zero %v, %v, want ErrUnknownOutcome", name, zero, err)
		}
		wantEffect(t, err, true)
		if count := e.row(t, day)["count"].(*types.AttributeValueMemberN).Value; count != "1.5" {
			t.Errorf("%s: the count is %s", name, count)
		}
	}
}

// wantEffect wants the error of a write that took effect to say so, and no other.
func wantEffect(t testing.TB, err error, effect bool) {
	t.Helper()
	text := fmt.Sprint(err)
	if says := strings.Contains(text, "the write has taken effect, but the count after it cannot be read: "); says != effect || strings.Contains(text, "may or may not") {
		t.Errorf("it says %q; it took effect: %v", text, effect)
	}
}

// A write that meets a transaction on the row is sent again: with its nonce, or
// because a conflict has counted nothing.
func TestTransactionConflict(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	busy := dynamotest.Answer(400, `{"__type": "TransactionConflictException"}`)
	e.db.Inject(dynamotest.Fault{Do: busy, Op: "UpdateItem", Times: 2})
	ctx, meter := dynamotest.WithMeter(t.Context())
	grant, err := e.Take(ctx, counter.Take{Key: chat, Event: message(t, noon, 1), Weight: 1, Cap: 3})
	if err != nil || grant.Outcome != event.Created || meter.Cost().Requests != 3 {
		t.Errorf("Take = %+v, %v after %v", grant, err, meter.Cost())
	}
	e.db.Inject(dynamotest.Fault{Do: busy, Op: "UpdateItem"})
	ctx, meter = dynamotest.WithMeter(t.Context())
	total, err := e.AddUnkeyed(ctx, counter.AddUnkeyed{Key: chat, At: noon, Weight: 1})
	if err != nil || total.Used != 2 || meter.Cost().Requests != 2 {
		t.Errorf("AddUnkeyed = %+v, %v after %v", total, err, meter.Cost())
	}
}
