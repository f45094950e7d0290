package ledger_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

// One process at a time writes the prices. CheckItem refuses the write of one that has
// lost the lock.
func ExampleHold() {
	ctx := context.Background()
	db, locks := open(nil)
	check(schema.Create(ctx, db, schema.Table{Name: "prices", Key: schema.Key{Partition: schema.String("id")}}))

	lock := ledger.Request{Key: "LOCK:prices", Holder: "worker-1"}
	err := ledger.Hold(ctx, locks, lock, func(ctx context.Context, c *ledger.Claim) error {
		var busy *ledger.InProgressError
		if err := ledger.Hold(ctx, locks, lock, nobody); errors.As(err, &busy) {
			fmt.Println("held by", busy.Holder)
		}
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			c.CheckItem().Item,
			{Put: &types.Put{TableName: aws.String("prices"), Item: map[string]types.AttributeValue{
				"id": &types.AttributeValueMemberS{Value: "lamp"},
			}}},
		}})
		return err
	})
	fmt.Println(err)

	r, _, err := locks.Get(ctx, lock.Key)
	fmt.Println(r.State, err)
	// Output:
	// held by worker-1
	// <nil>
	// failed <nil>
}

func nobody(context.Context, *ledger.Claim) error { panic("two hold the lock") }

// The event of a request that has no time of its own is the same in each attempt.
func ExampleClaim_Event() {
	ctx := context.Background()
	_, seen := open(nil)
	var first string
	for attempt := range 2 {
		_, err := ledger.Do(ctx, seen, ledger.Request{Key: "RESET:ann"}, func(_ context.Context, c *ledger.Claim) (string, error) {
			ev, err := c.Event("mail")
			check(err)
			if attempt == 0 {
				first = ev.String()
				return "", errors.New("no reply from the mail server")
			}
			fmt.Println("the same event:", ev.String() == first)
			return "sent", nil
		})
		fmt.Println(err)
	}
	// Output:
	// no reply from the mail server
	// the same event: true
	// <nil>
}
