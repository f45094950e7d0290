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

func TestAddUnkeyed(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for i := range int64(3) {
		total, err := e.AddUnkeyed(t.Context(), counter.AddUnkeyed{Key: chat, At: noon, Weight: 2})
		want := counter.Total{Outcome: event.Created, Used: 2 * (i + 1), StartsAt: tzclock.Stockholm.Start(day), ResetsAt: tzclock.Stockholm.End(day)}
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
