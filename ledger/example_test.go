package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

// open creates a ledger in a server of its own.
func open(cfg *ledger.Config) (*dynamodb.Client, *ledger.Store) {
	db := dynamotest.NewServer(nil).Client()
	store, err := ledger.New(db, "seen", cfg)
	check(err)
	check(schema.Create(context.Background(), db, store.Table()))
	return db, store
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func ExampleNew() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client() // or dynamodb.NewFromConfig
	seen, err := ledger.New(db, "seen", nil)
	check(err)
	check(schema.Create(ctx, db, seen.Table()))

	key, err := ledger.Key("SHOP", "1001")
	check(err)
	for range 2 { // the webhook delivers twice
		out, err := seen.MarkSeen(ctx, key)
		check(err)
		if out == event.Created {
			fmt.Println("handle", key)
		} else {
			fmt.Println("skip", key)
		}
	}
	// Output:
	// handle SHOP:1001
	// skip SHOP:1001
}

func ExampleStore_MarkSeen() {
	ctx := context.Background()
	_, seen := open(nil)
	for _, id := range []string{"1001", "1002", "1001"} { // one comes twice
		key, err := ledger.Key("SHOP", id)
		check(err)
		out, err := seen.MarkSeen(ctx, key)
		fmt.Println(key, out, err)
	}
	// Output:
	// SHOP:1001 created <nil>
	// SHOP:1002 created <nil>
	// SHOP:1001 duplicate <nil>
}

func ExampleDo() {
	ctx := context.Background()
	_, seen := open(nil)
	key, err := ledger.Key("ORDER", "17")
	check(err)
	type Receipt struct{ ID string }
	charge := func(ctx context.Context, c *ledger.Claim) (Receipt, error) {
		fmt.Println("charging, attempt", c.Attempt)
		return Receipt{ID: "r-1"}, nil
	}

	for range 2 {
		res, err := ledger.Do(ctx, seen, ledger.Request{Key: key, Payload: []byte(`{"cents":1200}`)}, charge)
		var busy *ledger.InProgressError
		switch {
		case errors.As(err, &busy):
			fmt.Println("retry after", busy.Wait)
		case err != nil:
			fmt.Println("failed:", err)
		default:
			fmt.Println(res.Value.ID, "replayed:", res.Replayed)
		}
	}
	_, err = ledger.Do(ctx, seen, ledger.Request{Key: key, Payload: []byte(`{"cents":9900}`)}, charge)
	fmt.Println(err)
	// Output:
	// charging, attempt 1
	// r-1 replayed: false
	// r-1 replayed: true
	// ledger: the key was claimed with another payload
}

// Errors are tried again, up to Config.MaxAttempts; a permanent one is not.
func ExamplePermanent() {
	ctx := context.Background()
	_, seen := open(nil)
	key, err := ledger.Key("ORDER", "17")
	check(err)
	answers := []error{errors.New("connection reset"), ledger.Permanent(errors.New("card declined"))}
	for range 3 {
		res, err := ledger.Do(ctx, seen, ledger.Request{Key: key}, func(_ context.Context, c *ledger.Claim) (string, error) {
			return "", answers[c.Attempt-1]
		})
		var permanent *ledger.PermanentError
		fmt.Printf("%v (permanent %v, replayed %v)\n", err, errors.As(err, &permanent), res.Replayed)
	}
	// Output:
	// connection reset (permanent false, replayed false)
	// card declined (permanent true, replayed false)
	// card declined (permanent true, replayed true)
}

// The worked example of the package's page: a worker dies, another takes over,
// and the first wakes up.
func ExampleStore_Claim() {
	ctx := context.Background()
	start := time.UnixMilli(1_800_000_000_000)
	now := start
	_, seen := open(&ledger.Config{
		Now: func() time.Time { return now }, Lease: time.Minute, MaxSkew: 10 * time.Second,
	})
	at := func(second int) { now = start.Add(time.Duration(second) * time.Second) }
	key, err := ledger.Key("ORDER", "17")
	check(err)

	req := ledger.Request{Key: key}
	a, err := seen.Claim(ctx, req)
	check(err)
	fmt.Println(" 0 A claims, fence", a.Fence)
	at(10)
	check(a.Renew(ctx))
	fmt.Println("10 A renews, lease until", a.LeaseUntil().Sub(start))

	at(20) // A has died
	_, err = seen.Claim(ctx, req)
	var busy *ledger.InProgressError
	if errors.As(err, &busy) {
		fmt.Println("20 B is to wait", busy.Wait)
	}
	at(80)
	b, err := seen.Claim(ctx, req)
	check(err)
	fmt.Println("80 B claims, fence", b.Fence, "attempt", b.Attempt)

	at(85) // A was not dead
	fmt.Println("85 A completes:", a.Complete(ctx, "from A"))
	at(90)
	fmt.Println("90 B completes:", b.Complete(ctx, "from B"))
	at(95)
	_, err = seen.Claim(ctx, req)
	var done *ledger.DoneError
	if errors.As(err, &done) {
		fmt.Println("95 done:", string(done.Record.Result))
	}
	// Output:
	//  0 A claims, fence 1800000000001
	// 10 A renews, lease until 1m10s
	// 20 B is to wait 1m0s
	// 80 B claims, fence 1800000000002 attempt 2
	// 85 A completes: ledger: lease lost
	// 90 B completes: <nil>
	// 95 done: "from B"
}

func ExampleClaim_Fail() {
	ctx := context.Background()
	_, seen := open(&ledger.Config{MaxAttempts: 2})
	key, err := ledger.Key("ORDER", "17")
	check(err)
	req := ledger.Request{Key: key}
	for {
		c, err := seen.Claim(ctx, req)
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println("attempt", c.Attempt)
		check(c.Fail(ctx, errors.New("no connection")))
	}
	// Output:
	// attempt 1
	// attempt 2
	// ledger: too many attempts; the last failure: no connection
}

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

// The order and the end of its claim are one transaction.
func ExampleClaim_CompleteItem() {
	ctx := context.Background()
	db, seen := open(nil)
	check(schema.Create(ctx, db, schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("id")}}))
	c, err := seen.Claim(ctx, ledger.Request{Key: "ORDER:17"})
	check(err)
	done, err := c.CompleteItem("accepted")
	check(err)
	order := &types.Put{TableName: aws.String("orders"), Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "17"}}}
	_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{done.Item, {Put: order}}})
	fmt.Println(done.Committed(), err) // if it is cancelled, done.Outcome says why
	r, _, err := seen.Get(ctx, "ORDER:17")
	fmt.Println(r.State, string(r.Result), err)
	// Output:
	// created <nil>
	// done "accepted" <nil>
}

// Before an effect that cannot be undone: can the longest result be stored?
func ExampleClaim_Check() {
	ctx := context.Background()
	_, seen := open(&ledger.Config{MaxResult: 1 << 10})
	c, err := seen.Claim(ctx, ledger.Request{Key: "EXPORT:17"})
	check(err)
	fmt.Println(c.Check(make([]int, 500)), c.Check(make([]int, 1000)))
	// Output: <nil> ledger: result must be at most 1024 bytes of JSON (Config.MaxResult), is 2001
}
