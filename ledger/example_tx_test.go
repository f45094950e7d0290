package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

// A payment: the charge and the answer to it are one transaction, so there is
// one charge, even after a crash, and whichever reply is lost.
func ExampleDoTx() {
	ctx := context.Background()
	db, seen := open(nil)
	charges := schema.Table{Name: "charges", Key: schema.Key{Partition: schema.String("order")}}
	check(schema.Create(ctx, db, charges))
	type Receipt struct {
		Order string
		Cents int
	}
	charge := func(_ context.Context, c *ledger.Claim) (Receipt, []types.TransactWriteItem, error) {
		if c.Reasons() != nil { // the condition below, for there is no other
			return Receipt{}, nil, ledger.Permanent(errors.New("order 17 was charged by hand"))
		}
		return Receipt{"17", 1200}, []types.TransactWriteItem{{Put: &types.Put{
			TableName: aws.String(charges.Name),
			Item: map[string]types.AttributeValue{
				"order": &types.AttributeValueMemberS{Value: "17"},
				"cents": &types.AttributeValueMemberN{Value: "1200"},
			},
			ConditionExpression: aws.String("attribute_not_exists(cents)"),
		}}}, nil
	}

	for _, delivery := range []string{"evt-1", "evt-1", "evt-2"} {
		key, err := ledger.Key("PAYMENT", delivery)
		check(err)
		res, err := ledger.DoTx(ctx, seen, ledger.Request{Key: key}, charge)
		fmt.Println(delivery, res.Value, "replayed:", res.Replayed, err)
	}
	// Output:
	// evt-1 {17 1200} replayed: false <nil>
	// evt-1 {17 1200} replayed: true <nil>
	// evt-2 { 0} replayed: false order 17 was charged by hand
}

// A sentinel of the caller's own is the same error when it is replayed, to the
// same program or to another that has the same Config.
func ExampleConfig_errors() {
	ctx := context.Background()
	errSoldOut := errors.New("sold out")
	_, seen := open(&ledger.Config{Errors: map[string]error{"shop.ErrSoldOut": errSoldOut}})
	key, err := ledger.Key("ORDER", "17")
	check(err)
	for range 2 {
		res, err := ledger.Do(ctx, seen, ledger.Request{Key: key}, func(context.Context, *ledger.Claim) (string, error) {
			return "", ledger.Permanent(fmt.Errorf("lamp: %w", errSoldOut))
		})
		fmt.Println(err, errors.Is(err, errSoldOut), "replayed:", res.Replayed)
	}
	// Output:
	// lamp: sold out true replayed: false
	// lamp: sold out true replayed: true
}

// Before a charge that cannot be undone, Check says whether the largest answer to it
// can be stored. The worst text is one of '<', each of which is six bytes of JSON.
func ExampleClaim_Check() {
	ctx := context.Background()
	_, seen := open(&ledger.Config{MaxResult: 500})
	type Receipt struct{ Charge, Memo string }
	for _, most := range []int{70, 80} { // characters of a memo
		res, err := ledger.Do(ctx, seen, ledger.Request{Key: fmt.Sprint(most)}, func(_ context.Context, c *ledger.Claim) (Receipt, error) {
			largest := Receipt{Charge: strings.Repeat("<", 8), Memo: strings.Repeat("<", most)}
			if err := c.Check(largest); err != nil {
				return Receipt{}, ledger.Permanent(err)
			}
			return Receipt{"ch_1", "a lamp"}, nil // charge here
		})
		fmt.Println(res.Value, err)
	}
	// Output:
	// {ch_1 a lamp} <nil>
	// { } ledger: result must be at most 500 bytes of JSON (Config.MaxResult), is 551
}

// A key is marked in the transaction whose effect must happen once. Outcome
// tells another delivery from a reply that was lost.
func ExampleStore_MarkItem() {
	ctx := context.Background()
	db, seen := open(nil)
	totals := schema.Table{Name: "totals", Key: schema.Key{Partition: schema.String("customer")}}
	check(schema.Create(ctx, db, totals))
	add := types.TransactWriteItem{Update: &types.Update{
		TableName:                 aws.String(totals.Name),
		Key:                       map[string]types.AttributeValue{"customer": &types.AttributeValueMemberS{Value: "ann"}},
		UpdateExpression:          aws.String("ADD cents :cents"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":cents": &types.AttributeValueMemberN{Value: "1200"}},
	}}

	key, err := ledger.Key("ORDER", "17")
	check(err)
	for range 2 { // the webhook delivers twice
		mark, err := seen.MarkItem(key)
		check(err)
		_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{mark.Item, add},
		})
		var cancelled *types.TransactionCanceledException
		if errors.As(err, &cancelled) {
			out, err := mark.Outcome(cancelled.CancellationReasons[0])
			fmt.Println(out, err)
			continue
		}
		check(err)
		fmt.Println("added")
	}
	// Output:
	// added
	// duplicate <nil>
}
