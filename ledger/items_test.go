package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
)

// transact sends the actions in one transaction, and returns why it was
// cancelled, if it was.
func (b *bench) transact(t *testing.T, actions ...types.TransactWriteItem) []types.CancellationReason {
	t.Helper()
	_, err := b.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	reasons, ok := ddb.Cancelled(err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	return reasons
}

func mustMark(t *testing.T, store *ledger.Store, key string) *record.Action[event.Outcome] {
	t.Helper()
	mark, err := store.MarkItem(key)
	must(t, err)
	return mark
}

func wantOutcome(t *testing.T, what string, outcome func(types.CancellationReason) (event.Outcome, error), reason types.CancellationReason, want event.Outcome) {
	t.Helper()
	if got, err := outcome(reason); got != want || err != nil {
		t.Errorf("%s: %v, %v, want %v", what, got, err, want)
	}
}

// The same transaction twice is one mark, also without a token to know it by;
// that of another delivery writes nothing at all.
func TestMarkItem(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Retention: 24 * time.Hour})
	effect := types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(b.table), Key: ddb.Item{"pk": item.S("effect")},
		UpdateExpression: aws.String("ADD times :one"), ExpressionAttributeValues: ddb.Item{":one": item.N(1)},
	}}
	mark, other := mustMark(t, store, "k"), mustMark(t, store, "k")
	if reasons := b.transact(t, mark.Item, effect); reasons != nil {
		t.Fatalf("the first: %v", reasons)
	}
	if out := mark.Committed(); out != event.Created {
		t.Errorf("Committed = %v", out)
	}
	again := b.transact(t, mark.Item, effect)
	wantOutcome(t, "again", mark.Outcome, again[0], event.Created)
	wantOutcome(t, "again, the effect", mark.Outcome, again[1], 0)
	wantOutcome(t, "another delivery", other.Outcome, b.transact(t, other.Item, effect)[0], event.Duplicate)
	wantMark(t, store, "k", event.Duplicate)
	if times := number(t, b.row(t, "effect"), "times"); times != 1 {
		t.Errorf("the effect happened %d times", times)
	}
	b.clock.Add(24 * time.Hour)
	if reasons := b.transact(t, mustMark(t, store, "k").Item); reasons != nil {
		t.Errorf("an expired key: %v", reasons)
	}
}

// Outcome tells how the completion fared, as Complete would.
func TestCompleteItemOutcome(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	complete := func(c *ledger.Claim, result any) *record.Action[event.Outcome] {
		done, err := c.CompleteItem(result)
		must(t, err)
		return done
	}
	c := mustClaim(t, store, order)
	done := complete(c, "paid")
	refused := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(b.table), Key: ddb.Item{"pk": item.S("nothing")}, ConditionExpression: aws.String("attribute_exists(pk)"),
	}}
	wantOutcome(t, "not at fault", done.Outcome, b.transact(t, done.Item, refused)[0], 0)
	if reasons := b.transact(t, done.Item); reasons != nil {
		t.Fatalf("completion: %v", reasons)
	}
	wantOutcome(t, "again", done.Outcome, b.transact(t, done.Item)[0], event.Created)
	other := complete(c, "else")
	var ended *ledger.DoneError
	if out, err := other.Outcome(b.transact(t, other.Item)[0]); out != 0 || !errors.As(err, &ended) || string(ended.Record.Result) != `"paid"` {
		t.Errorf("another result: %v, %v", out, err)
	}

	dead := mustClaim(t, store, ledger.Request{Key: "taken over"})
	b.clock.Add(time.Hour)
	mustClaim(t, store, ledger.Request{Key: "taken over"})
	late := complete(dead, "late")
	out, err := late.Outcome(b.transact(t, late.Item)[0])
	if out != 0 {
		t.Errorf("taken over: %v", out)
	}
	wantErr(t, "taken over", err, ledger.ErrLeaseLost)
}

// Other reasons than a condition are errors with their codes.
func TestOutcomesOfOtherReasons(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	done, err := mustClaim(t, store, order).CompleteItem(1)
	must(t, err)
	mark := mustMark(t, store, "k")
	for name, outcome := range map[string]func(types.CancellationReason) (event.Outcome, error){"CompleteItem": done.Outcome, "MarkItem": mark.Outcome} {
		wantOutcome(t, name, outcome, types.CancellationReason{Code: aws.String("None")}, 0)
		out, err := outcome(types.CancellationReason{Code: aws.String("TransactionConflict")})
		var apiErr smithy.APIError
		if out != 0 || !errors.As(err, &apiErr) || apiErr.ErrorCode() != "TransactionConflict" || !strings.HasPrefix(err.Error(), "ledger: "+name+" on table ") {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}
