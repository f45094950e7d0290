package dynamotest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

func ExampleOpenServer() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "dynamotest")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for range 2 { // the second time, it is all there
		srv, err := dynamotest.OpenServer(filepath.Join(folder, "orders.data"), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(srv.Tables())
		_ = schema.Create(ctx, srv.Client(), orders("orders"))
		if err := srv.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// []
	// [orders]
}

func open(t *testing.T, file string, cfg *dynamotest.Config) *dynamotest.Server {
	t.Helper()
	srv, err := dynamotest.OpenServer(file, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// busy does one of everything that changes a server.
func busy(t *testing.T, srv *dynamotest.Server) {
	t.Helper()
	ctx, db := t.Context(), srv.Client()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(nil, schema.Create(ctx, db, orders("orders")))
	for i := range 4 {
		must(nil, put(ctx, db, "orders", order("ann", i)))
	}
	must(db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: orderKey("ann", 0)}))
	must(db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("orders"), Key: orderKey("ann", 1), UpdateExpression: aws.String("SET note = :n, expiresAt = :e"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberS{Value: "two\nlines"}, ":e": &types.AttributeValueMemberN{Value: "1800000000"}},
	}))
	must(db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"orders": {
		{PutRequest: &types.PutRequest{Item: order("bo", 1)}}, {DeleteRequest: &types.DeleteRequest{Key: orderKey("ann", 2)}},
	}}}))
	must(db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String("orders"), Item: order("cy", 1)}}, {Put: &types.Put{TableName: aws.String("orders"), Item: order("cy", 2)}},
	}}))
	must(nil, srv.Load(strings.NewReader(everySetting)))
	must(nil, srv.LoadItems("orders", strings.NewReader(`{"Item":{"customer":{"S":"di"},"number":{"N":"1"}}}`)))
	arn := "arn:aws:dynamodb:us-east-1:123456789012:table/orders"
	must(db.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: &arn, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}, {Key: aws.String("l"), Value: aws.String("w")}}}))
	must(db.UntagResource(ctx, &dynamodb.UntagResourceInput{ResourceArn: &arn, TagKeys: []string{"k"}}))
	must(db.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: aws.String("every"), DeletionProtectionEnabled: aws.Bool(false)}))
	must(nil, schema.Create(ctx, db, orders("gone")))
	must(db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("gone")}))
	must(db.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: aws.String("orders"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	}))
}

// described is what DescribeTable says, creation time and id included.
func described(t *testing.T, srv *dynamotest.Server, table string) string {
	t.Helper()
	out, err := srv.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(*out.Table.TableId, *out.Table.CreationDateTime, *out.Table.ItemCount, *out.Table.TableSizeBytes, aws.ToString(out.Table.LatestStreamArn))
}

func TestAServerOpensAsItWasClosed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	now := time.Unix(1_800_000_100, 0)
	cfg := &dynamotest.Config{Now: func() time.Time { return now }}
	srv := open(t, file, cfg)
	busy(t, srv)
	if n := srv.ExpireTTL(); n != 1 {
		t.Errorf("%d expired", n)
	}
	want, orders, every := dump(t, srv), described(t, srv, "orders"), described(t, srv, "every")
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil {
		t.Error("a closed server answers")
	}
	for range 2 {
		srv = open(t, file, cfg)
		if diff := cmp.Diff(want, dump(t, srv)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(orders+every, described(t, srv, "orders")+described(t, srv, "every")); diff != "" {
			t.Error(diff)
		}
		// The token still stands for its transaction.
		_, err := srv.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{
			{Delete: &types.Delete{TableName: aws.String("orders"), Key: orderKey("cy", 1)}},
		}})
		if code := errorCode(err); code != "IdempotentParameterMismatchException" {
			t.Errorf("the token: %s", code)
		}
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// However the file ends, the server opens with a prefix of what was written; all
// of it when only what came later is torn.
func TestATornEndIsCutOff(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "data")
	srv := open(t, file, nil)
	if err := schema.Create(t.Context(), srv.Client(), orders("orders")); err != nil {
		t.Fatal(err)
	}
	before := dump(t, srv)
	whole := fileSize(t, file)
	if err := put(t.Context(), srv.Client(), "orders", order("ann", 1)); err != nil {
		t.Fatal(err)
	}
	after := dump(t, srv)
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for end := whole; end <= len(content); end++ {
		for _, tail := range []string{"", "\x00\x00\x00"} {
			torn := filepath.Join(folder, "torn")
			if err := os.WriteFile(torn, append(content[:end:end], tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			want := before
			if end == len(content) {
				want = after
			}
			srv := open(t, torn, nil)
			if got := dump(t, srv); got != want {
				t.Fatalf("cut at %d of %d: %s", end, len(content), cmp.Diff(want, got))
			}
			if err := put(t.Context(), srv.Client(), "orders", order("bo", 1)); err != nil {
				t.Fatal(err)
			}
			want = dump(t, srv)
			if err := srv.Close(); err != nil {
				t.Fatal(err)
			}
			if got := dump(t, open(t, torn, nil)); got != want {
				t.Fatalf("cut at %d, written to and opened again: %s", end, cmp.Diff(want, got))
			}
			if err := os.Remove(torn); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func fileSize(t *testing.T, file string) int {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

func TestADamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "data")
	srv := open(t, file, nil)
	busy(t, srv)
	if _, err := dynamotest.OpenServer(file, nil); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("opened twice: %v", err)
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), content...)
	damaged[len(content)/2] ^= 1
	for want, content := range map[string][]byte{"damaged at byte": damaged, "not a data file": []byte("the text of another program\n"), "not a data": []byte("x")} {
		other := filepath.Join(folder, want)
		if err := os.WriteFile(other, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := dynamotest.OpenServer(other, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
		if left, err := os.ReadFile(other); err != nil || string(left) != string(content) {
			t.Errorf("%s: the file was changed", want)
		}
	}
	if _, err := dynamotest.OpenServer(filepath.Join(folder, "from"), &dynamotest.Config{From: dynamotest.NewServer(nil).Snapshot()}); err == nil {
		t.Error("a snapshot and a file")
	}
}

// Writers side by side share their flushes, and all of them are there.
func TestManyWritersOfOneFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	srv := open(t, file, nil)
	if err := schema.Create(t.Context(), srv.Client(), orders("orders")); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			for i := range 20 {
				if err := put(t.Context(), srv.Client(), "orders", order(fmt.Sprint(w), i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	if n := count(t, open(t, file, nil).Client(), "orders"); n != 320 {
		t.Errorf("%d rows", n)
	}
}

func TestADataFileCannotGoBack(t *testing.T) {
	t.Parallel()
	srv := open(t, filepath.Join(t.TempDir(), "data"), nil)
	defer func() {
		if recover() == nil {
			t.Error("restored")
		}
		if _, err := srv.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Errorf("and then: %v", err)
		}
	}()
	srv.Restore(srv.Snapshot())
}
