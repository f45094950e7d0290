package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

// book writes the effect, a row beside the ledger's, and the completion in one
// transaction.
func (b *bench) book(t *testing.T, c *ledger.Claim, result any) error {
	t.Helper()
	done, err := c.CompleteItem(result)
	must(t, err)
	effect := types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String(b.table), Item: ddb.Item{"pk": item.S("effect"), "fence": item.N(c.Fence)},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
	_, err = b.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{done.Item, effect}})
	return err
}

func TestCompleteItemJoinsATransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	dead := mustClaim(t, store, order)
	b.clock.Add(time.Hour)
	heir := mustClaim(t, store, order)

	err := b.book(t, dead, "dead")
	if reasons, ok := ddb.Cancelled(err); !ok || !ddb.ConditionFailed(reasons[0]) {
		t.Fatalf("transaction of the dead: %v", err)
	}
	if b.row(t, "effect") != nil {
		t.Error("the effect of a lost lease is there")
	}
	must(t, b.book(t, heir, "heir"))
	if b.row(t, "effect") == nil {
		t.Error("the effect is missing")
	}
	wantDone(t, store, order, `"heir"`)
	must(t, heir.Complete(t.Context(), "heir"))
}

// When the effect cannot be written the key is not done either.
func TestCompleteItemIsUndoneWithItsTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	b.put(t, ddb.Item{"pk": item.S("effect")})
	c := mustClaim(t, store, order)
	if err := b.book(t, c, "x"); err == nil {
		t.Fatal("the transaction went through")
	}
	must(t, c.Fail(t.Context(), errors.New("taken")))
	if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Result != nil {
		t.Errorf("record: %+v", r)
	}
}

// The action is the caller's own: what the caller adds to it shows nowhere else.
func TestCompleteItemMayBeExtended(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	c := mustClaim(t, store, order)
	extended, err := c.CompleteItem("paid")
	must(t, err)
	extended.Item.Update.ExpressionAttributeNames["#hint"] = "hint"
	extended.Item.Update.ExpressionAttributeValues[":hint"] = item.S("as an application adds it")
	*extended.Item.Update.UpdateExpression = strings.Replace(*extended.Item.Update.UpdateExpression, "SET ", "SET #hint = :hint, ", 1)

	must(t, mustClaim(t, store, ledger.Request{Key: "another"}).Complete(t.Context(), 1))
	again, err := c.CompleteItem("paid")
	must(t, err)
	if _, ok := again.Item.Update.ExpressionAttributeNames["#hint"]; ok {
		t.Error("the next action has the name that was added to the first")
	}
	_, err = b.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{extended.Item}})
	must(t, err)
	wantDone(t, store, order, `"paid"`)
}

// The transaction of the work is this claim's own, whatever the work heard of
// it: no replay.
func TestDoWithATransaction(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		heard    error // what the work makes of the transaction
		returned string
	}{
		"heard":               {nil, "in the transaction"},
		"its reply is lost":   {errors.New("connection reset"), ""},
		"taken for permanent": {ledger.Permanent(errors.New("reset")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			store := b.store(t, ledger.Config{})
			res, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (string, error) {
				must(t, c.Renew(ctx))
				must(t, b.book(t, c, "in the transaction"))
				return tc.returned, tc.heard
			})
			if diff := cmp.Diff(ledger.Result[string]{Value: "in the transaction"}, res); diff != "" || err != nil {
				t.Errorf("Do: %v\n%s", err, diff)
			}
			wantDone(t, store, order, `"in the transaction"`)
		})
	}
}

// Work that returns another result than its transaction stored is told so: it
// is not a replay, and neither result is the answer.
func TestDoWithAnotherResultThanItsTransaction(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string]any{
		"of its type":    "in the transaction",
		"of another":     receipt{ID: "r-1"},
		"while too long": "in the transaction",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			store := b.store(t, ledger.Config{MaxResult: 100})
			returned := "else"
			if name == "while too long" {
				returned = strings.Repeat("x", 101)
			}
			res, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (string, error) {
				must(t, b.book(t, c, stored))
				return returned, nil
			})
			var permanent *ledger.PermanentError
			if !errors.Is(err, ledger.ErrResultDiffers) || errors.As(err, &permanent) || res.Value != "" || res.Replayed {
				t.Errorf("Do = %+v, %v", res, err)
			}
			text, err := json.Marshal(stored)
			must(t, err)
			wantDone(t, store, order, string(text))
		})
	}
}
