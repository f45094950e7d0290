package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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

// The action is the caller's own: what the caller adds to it shows nowhere else.
func TestItemsMayBeExtended(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	c := mustClaim(t, store, order)
	for range 2 {
		done, err := c.CompleteItem("paid")
		must(t, err)
		for _, names := range []map[string]string{done.Item.Update.ExpressionAttributeNames, mustMark(t, store, "k").Item.Put.ExpressionAttributeNames} {
			if names["#hint"] != "" {
				t.Error("the next action has the name that was added to the first")
			}
			names["#hint"] = "hint"
		}
	}
}

// The transaction of the work is this claim's own, whatever the work heard of it: no
// replay. Work that returns another result is told so, and neither is the answer.
func TestDoWithATransaction(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stored   any
		returned string
		heard    error // what the work makes of the transaction
		want     error
	}{
		"heard":                 {"booked", "booked", nil, nil},
		"its reply is lost":     {"booked", "", errors.New("connection reset"), nil},
		"taken for permanent":   {"booked", "", ledger.Permanent(errors.New("reset")), nil},
		"another result":        {"booked", "else", nil, ledger.ErrResultDiffers},
		"of another type":       {receipt{ID: "r-1"}, "else", nil, ledger.ErrResultDiffers},
		"that cannot be stored": {"booked", strings.Repeat("x", 101), nil, ledger.ErrResultDiffers},
	} {
		b, store := opened(t, ledger.Config{MaxResult: 100})
		res, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (string, error) {
			must(t, b.book(t, c, tc.stored))
			return tc.returned, tc.heard
		})
		want := ledger.Result[string]{Value: "booked"}
		if tc.want != nil {
			want.Value = ""
		}
		if res != want || !errors.Is(err, tc.want) || isPermanent(err) {
			t.Errorf("%s: Do = %+v, %v", name, res, err)
		}
		text, err := json.Marshal(tc.stored)
		must(t, err)
		wantDone(t, store, order, string(text))
	}
}
