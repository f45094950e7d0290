package dynamotest_test

import (
	"context"
	"fmt"
	"log"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

func ExampleServer_HoldIndex() {
	ctx := context.Background()
	srv := seeded(ctx, 1)
	release, err := srv.HoldIndex("orders", "by-day")
	if err != nil {
		log.Fatal(err)
	}
	if err := put(ctx, srv.Client(), "orders", order("bo", 1)); err != nil {
		log.Fatal(err)
	}
	look := func() {
		table, _ := srv.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders")})
		index, _ := srv.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders"), IndexName: aws.String("by-day")})
		fmt.Println(table.Count, index.Count)
	}
	look()
	release()
	look()
	// Output:
	// 2 1
	// 2 2
}

// seen counts the orders by every kind of read.
func seen(t *testing.T, client *dynamodb.Client, table string, keys ...map[string]types.AttributeValue) (consistent, eventual, index, got, batch int) {
	t.Helper()
	scan := func(in dynamodb.ScanInput) int {
		in.TableName = &table
		out, err := client.Scan(t.Context(), &in)
		if err != nil {
			t.Fatal(err)
		}
		return int(out.Count)
	}
	for _, key := range keys {
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if out.Item != nil {
			got++
		}
	}
	read, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys}}})
	if err != nil {
		t.Fatal(err)
	}
	return scan(dynamodb.ScanInput{ConsistentRead: aws.Bool(true)}), scan(dynamodb.ScanInput{}), scan(dynamodb.ScanInput{IndexName: aws.String("by-day")}), got, len(read.Responses[table])
}

func TestLagsOfTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, &dynamotest.Config{IndexLag: 3 * time.Second, ReadLag: time.Second})
		table := create(t, db)
		for i, want := range []string{"1 0 0 0 0", "2 1 0 1 1", "3 2 0 2 2", "4 3 1 3 3", "5 4 2 4 4"} {
			if err := put(t.Context(), db.Client(), table, order("ann", i)); err != nil {
				t.Fatal(err)
			}
			var keys []map[string]types.AttributeValue
			for j := range i + 1 {
				keys = append(keys, orderKey("ann", j))
			}
			if got := fmt.Sprintln(seen(t, db.Client(), table, keys...)); got != want+"\n" {
				t.Errorf("after %d writes: got %s, want %s", i+1, got, want)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(2 * time.Second)
		if got := fmt.Sprintln(seen(t, db.Client(), table, orderKey("ann", 4))); got != "5 5 5 1 1\n" {
			t.Errorf("at last: %s", got)
		}
	})
}

func TestHoldReads(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	if err := put(t.Context(), db.Client(), table, order("ann", 1)); err != nil {
		t.Fatal(err)
	}
	release, err := db.Server().HoldReads(table)
	if err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context(), db.Client(), table, order("ann", 2)); err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context(), db.Client(), table, order("ann", 1)); errorCode(err) != "ConditionalCheckFailedException" {
		t.Errorf("conditions see what is there: %v", err)
	}
	keys := []map[string]types.AttributeValue{orderKey("ann", 1), orderKey("ann", 2)}
	if got := fmt.Sprintln(seen(t, db.Client(), table, keys...)); got != "2 1 2 1 1\n" {
		t.Errorf("held: %s", got)
	}
	release()
	if got := fmt.Sprintln(seen(t, db.Client(), table, keys...)); got != "2 2 2 2 2\n" {
		t.Errorf("released: %s", got)
	}
	for _, hold := range [][2]string{{"another", "by-day"}, {table, "another"}, {table, ""}} {
		if _, err := db.Server().HoldIndex(hold[0], hold[1]); err == nil {
			t.Errorf("held %q", hold)
		}
	}
}

// A local index that lacks an attribute fetches it from the same version of the
// table, so that an item deleted since is no trouble.
func TestAHeldLocalIndexFetchesFromItsTable(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	_, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("local"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("customer"), AttributeType: "S"}, {AttributeName: aws.String("number"), AttributeType: "N"}, {AttributeName: aws.String("day"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("customer"), KeyType: "HASH"}, {AttributeName: aws.String("number"), KeyType: "RANGE"}},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
			IndexName: aws.String("by-day"), Projection: &types.Projection{ProjectionType: "KEYS_ONLY"},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("customer"), KeyType: "HASH"}, {AttributeName: aws.String("day"), KeyType: "RANGE"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context(), db.Client(), "local", order("ann", 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Server().HoldReads("local"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("local"), Key: orderKey("ann", 1)}); err != nil {
		t.Fatal(err)
	}
	out, err := db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("local"), IndexName: aws.String("by-day"), Select: types.SelectAllAttributes})
	if err != nil || out.Count != 1 {
		t.Errorf("%v: %v", err, out)
	}
}

func TestTTLDelay(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }, TTLDelay: 48 * time.Hour})
	if err := schema.Create(t.Context(), db.Client(), orders("orders")); err != nil {
		t.Fatal(err)
	}
	item := order("ann", 1)
	item["expiresAt"] = &types.AttributeValueMemberN{Value: "1800000000"}
	if err := put(t.Context(), db.Client(), "orders", item); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{0, 0, 1} {
		now = now.Add(16*time.Hour + time.Second)
		if n := db.Server().ExpireTTL(); n != want {
			t.Errorf("%d deleted, want %d", n, want)
		}
	}
}
