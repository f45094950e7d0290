package dynamotest_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// A server on a port, for programs in other languages, with any region and any
// credentials.
func ExampleServer_Handler() {
	ctx := context.Background()
	srv := dynamotest.NewServer(nil)
	if err := schema.Create(ctx, srv.Client(), orders("orders")); err != nil {
		log.Fatal(err)
	}
	port := httptest.NewServer(srv.Handler())
	defer port.Close()

	request := `{"TableName": "orders", "Key": {"customer": {"S": "ann"}, "number": {"N": "1"}}}`
	call, err := http.NewRequestWithContext(ctx, http.MethodPost, port.URL, strings.NewReader(request))
	if err != nil {
		log.Fatal(err)
	}
	call.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	reply, err := http.DefaultClient.Do(call)
	if err != nil {
		log.Fatal(err)
	}
	body, err := io.ReadAll(reply.Body)
	_ = reply.Body.Close() // what it held is read
	fmt.Println(reply.Status, string(body), err)
	// Output: 200 OK {} <nil>
}

// A Tap meters and disturbs the client of any endpoint: DynamoDB Local, a
// container, DynamoDB itself.
func ExampleNewTap() {
	ctx := context.Background()
	endpoint := httptest.NewServer(dynamotest.NewServer(nil).Handler())
	defer endpoint.Close()

	tap := dynamotest.NewTap()
	db := dynamotest.Connect(endpoint.URL, tap.Attach) // or dynamodb.NewFromConfig(cfg, tap.Attach)
	if err := schema.Create(ctx, db, orders("orders")); err != nil {
		log.Fatal(err)
	}
	tap.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem"})
	cost := tap.Meter(func() { _ = put(ctx, db, "orders", order("ann", 1)) })
	fmt.Println(cost)
	// Output:
	// 2 requests, 2 WCU, 2 deep, 1 unpriced
	//   PutItem ×2
	//   table orders: 0 RCU, 2 WCU
	//   index orders/by-day: 0 RCU, 1 WCU
}

// An expired item stays until the sweep: code must not treat it as existing.
func ExampleServer_ExpireTTL() {
	ctx := context.Background()
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	srv := dynamotest.NewServer(&dynamotest.Config{Now: func() time.Time { return now }})
	if err := schema.Create(ctx, srv.Client(), orders("orders")); err != nil {
		log.Fatal(err)
	}
	item := order("ann", 1)
	item["expiresAt"] = &types.AttributeValueMemberN{Value: fmt.Sprint(now.Add(time.Hour).Unix())}
	if err := put(ctx, srv.Client(), "orders", item); err != nil {
		log.Fatal(err)
	}
	look := func() {
		out, err := srv.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders")})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out.Count)
	}
	now = now.Add(2 * time.Hour)
	look()
	fmt.Println(srv.ExpireTTL(), "expired")
	look()
	// Output:
	// 1
	// 1 expired
	// 0
}

// An eventually consistent read may miss the write of a moment ago.
func ExampleServer_HoldReads() {
	ctx := context.Background()
	srv := seeded(ctx, 1)
	release, err := srv.HoldReads("orders")
	if err != nil {
		log.Fatal(err)
	}
	defer release()
	if err := put(ctx, srv.Client(), "orders", order("bo", 1)); err != nil {
		log.Fatal(err)
	}
	for _, consistent := range []bool{false, true} {
		out, err := srv.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders"), ConsistentRead: &consistent})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out.Count)
	}
	// Output:
	// 1
	// 2
}

// A global index is a moment behind its table: code that writes and then asks the
// index does not find what it wrote.
func ExampleConfig_indexLag() {
	ctx := context.Background()
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	srv := dynamotest.NewServer(&dynamotest.Config{Now: func() time.Time { return now }, IndexLag: time.Second})
	if err := schema.Create(ctx, srv.Client(), orders("orders")); err != nil {
		log.Fatal(err)
	}
	if err := put(ctx, srv.Client(), "orders", order("ann", 1)); err != nil {
		log.Fatal(err)
	}
	ofTheDay := func() {
		out, err := srv.Client().Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("orders"), IndexName: aws.String("by-day"), KeyConditionExpression: aws.String("#day = :day"),
			ExpressionAttributeNames:  map[string]string{"#day": "day"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":day": &types.AttributeValueMemberS{Value: "2026-03-29"}},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out.Count)
	}
	ofTheDay()
	now = now.Add(time.Second)
	ofTheDay()
	// Output:
	// 0
	// 1
}

// Acknowledged writes are in the file, even if the process is killed: a copy of
// the file of an open server is what a killed process leaves.
func ExampleOpenServer_killed() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "orders")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	srv, err := dynamotest.OpenServer(filepath.Join(folder, "data"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	if err := schema.Create(ctx, srv.Client(), orders("orders")); err != nil {
		log.Fatal(err)
	}
	if err := put(ctx, srv.Client(), "orders", order("ann", 1)); err != nil {
		log.Fatal(err)
	}

	left, err := os.ReadFile(filepath.Join(folder, "data")) // no Close before it
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "left"), left, 0o600); err != nil {
		log.Fatal(err)
	}
	again, err := dynamotest.OpenServer(filepath.Join(folder, "left"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	out, err := again.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Tables(), out.Count)
	// Output: [orders] 1
}

// Items as DynamoDB's export writes them to S3.
func ExampleServer_LoadItems() {
	ctx := context.Background()
	srv := dynamotest.NewServer(nil)
	if err := schema.Create(ctx, srv.Client(), orders("orders")); err != nil {
		log.Fatal(err)
	}
	exported := `{"Item": {"customer": {"S": "ann"}, "number": {"N": "1"}, "day": {"S": "2026-03-29"}}}
{"Item": {"customer": {"S": "bo"}, "number": {"N": "7"}}}
`
	if err := srv.LoadItems("orders", strings.NewReader(exported)); err != nil {
		log.Fatal(err)
	}
	index, err := srv.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders"), IndexName: aws.String("by-day")})
	fmt.Println(index.Count, err)
	// Output: 1 <nil>
}

// Each test gets a copy of a server that was filled once.
func ExampleUse() {
	ctx := context.Background()
	filled := seeded(ctx, 1000)
	t := new(testing.T) // that of the test
	db := dynamotest.Use(t, filled.Fork())
	fmt.Println(put(ctx, db.Client(), "orders", order("bo", 1)), len(db.Items("orders")))
	// Output: <nil> 1001
}
