package counter_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

// The reply is lost after the write took effect and the SDK sends again: the
// call reads Created, from two requests and no read.
func TestOwnLostReplyIsNoRedelivery(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	ev := message(t, noon, 1)
	for key, weight := range map[string]int64{"refund": 1, "adjust": 3} {
		if _, err := e.Add(t.Context(), counter.Add{Key: key, Event: ev, Weight: weight}); err != nil {
			t.Fatal(err)
		}
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
		"adjust": func() (event.Outcome, int64, error) {
			grant, err := e.Adjust(t.Context(), counter.Adjust{Key: "adjust", Event: ev, From: 3, To: 1})
			return grant.Outcome, grant.Used, err
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
	for _, own := range []bool{true, false} {
		if own {
			e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
		}
		_, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: 3})
		if err == nil || errors.Is(err, event.ErrUnknownOutcome) != own {
			t.Errorf("%v, want unknown %v", err, own)
		}
		wantEffect(t, err, own)
		if count := e.row(t, day)["count"].(*types.AttributeValueMemberN).Value; count != "1.5" {
			t.Errorf("the count is %s", count)
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

// Between the lost reply and the SDK's second attempt another caller may have settled
// or refunded the event: the answer says so.
func TestOwnLostReplyAfterAnother(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		between func(*env, event.Event) error
		want    counter.Grant // except what it says of the cap and the day
	}{
		"settled": {func(e *env, ev event.Event) error {
			_, err := e.Adjust(t.Context(), counter.Adjust{Key: chat, Event: ev, From: 5, To: 3})
			return err
		}, counter.Grant{OK: true, Total: counter.Total{Outcome: event.Duplicate, Used: 3}}},
		"refunded": {func(e *env, ev event.Event) error {
			_, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 5})
			return err
		}, counter.Grant{Total: counter.Total{Outcome: event.Duplicate, Refunded: true}}},
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

// A count that is not a whole number, which another system left, cannot be told
// after a write: the write took effect, and the error must not deny it.
func TestUnreadableCount(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for _, write := range writes(t, e.Store, chat, noon)[:4] {
		row := e.row(t, day)
		if row == nil {
			row = ddb.Item{"chatId": item.S(chat), "date": item.S(day.String())}
		}
		row["count"] = item.Digits("1.5")
		e.put(t, row)
		err := write.do()
		if !errors.Is(err, event.ErrUnknownOutcome) {
			t.Errorf("%s: %v, want ErrUnknownOutcome", write.name, err)
		}
		wantEffect(t, err, true)
		want := map[string]string{"Refund": "0.5"}[write.name]
		if count := e.row(t, day)["count"].(*types.AttributeValueMemberN).Value; count != cmp.Or(want, "2.5") {
			t.Errorf("%s: the count is %s", write.name, count)
		}
	}
}
