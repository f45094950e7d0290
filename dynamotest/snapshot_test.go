package dynamotest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// seeded returns a server with orders of ann's.
func seeded(ctx context.Context, n int) *dynamotest.Server {
	srv := dynamotest.NewServer(nil)
	db := srv.Client()
	if err := schema.Create(ctx, db, orders("orders")); err != nil {
		log.Fatal(err)
	}
	for i := range n {
		if err := put(ctx, db, "orders", order("ann", i+1)); err != nil {
			log.Fatal(err)
		}
	}
	return srv
}

func ExampleServer_Fork() {
	ctx := context.Background()
	srv := seeded(ctx, 3)
	for _, customer := range []string{"bo", "cy"} {
		fork := srv.Fork() // a few microseconds, however much it holds
		if err := put(ctx, fork.Client(), "orders", order(customer, 1)); err != nil {
			log.Fatal(err)
		}
		out, _ := fork.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders")})
		fmt.Println(customer, out.Count)
	}
	out, _ := srv.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders")})
	fmt.Println("seed", out.Count)
	// Output:
	// bo 4
	// cy 4
	// seed 3
}

func ExampleServer_Restore() {
	ctx := context.Background()
	srv := seeded(ctx, 1)
	before := srv.Snapshot()
	_, _ = srv.Client().DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("orders")})
	fmt.Println(srv.Tables())
	srv.Restore(before)
	fmt.Println(srv.Tables())
	// Output:
	// []
	// [orders]
}

func ExampleServer_Dump() {
	if err := seeded(context.Background(), 2).Dump(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"Table":{"TableName":"orders","KeySchema":[{"AttributeName":"customer","KeyType":"HASH"},{"AttributeName":"number","KeyType":"RANGE"}],"AttributeDefinitions":[{"AttributeName":"customer","AttributeType":"S"},{"AttributeName":"day","AttributeType":"S"},{"AttributeName":"number","AttributeType":"N"}],"BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[{"IndexName":"by-day","KeySchema":[{"AttributeName":"day","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]},"TimeToLive":"expiresAt"}
	// {"Item":{"customer":{"S":"ann"},"day":{"S":"2026-03-29"},"number":{"N":"1"}}}
	// {"Item":{"customer":{"S":"ann"},"day":{"S":"2026-03-29"},"number":{"N":"2"}}}
}

func ExampleServer_Load() {
	ctx := context.Background()
	srv := dynamotest.NewServer(nil)
	err := srv.Load(strings.NewReader(`
		{"Table":{"TableName":"plain","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}}
		{"Item":{"id":{"S":"a"},"n":{"N":"7"}}}`))
	if err != nil {
		log.Fatal(err)
	}
	out, _ := srv.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("plain")})
	fmt.Println(srv.Tables(), out.Count)
	// Output: [plain] 1
}

func dump(t *testing.T, srv *dynamotest.Server) string {
	t.Helper()
	var b bytes.Buffer
	if err := srv.Dump(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// everySetting is a table with every setting of a definition.
const everySetting = `{"Table":{"TableName":"every","KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],` +
	`"AttributeDefinitions":[{"AttributeName":"p","AttributeType":"B"},{"AttributeName":"s","AttributeType":"N"},{"AttributeName":"g","AttributeType":"S"}],` +
	`"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},` +
	`"LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"g","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],` +
	`"GlobalSecondaryIndexes":[{"IndexName":"global","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],` +
	`"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x","y"]},"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":2},"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000}}],` +
	`"DeletionProtectionEnabled":true,"TableClass":"STANDARD_INFREQUENT_ACCESS","SSESpecification":{"Enabled":true,"SSEType":"KMS"},"Tags":[{"Key":"team","Value":"å\n"}],"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}},"TimeToLive":"x","PointInTimeRecovery":{"RecoveryPeriodInDays":7}}
{"Item":{"g":{"S":"a"},"p":{"B":"AAE="},"s":{"N":"-1.5"},"x":{"M":{"l":{"L":[{"NULL":true},{"BOOL":false},{"SS":["a","b"]}]}}}}}
{"Item":{"p":{"B":"AAE="},"s":{"N":"2"},"y":{"S":"\u0001\"\\ é"}}}
`

func TestADumpLoadsAsItWas(t *testing.T) {
	t.Parallel()
	srv := dynamotest.NewServer(nil)
	if err := srv.Load(strings.NewReader(everySetting)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(everySetting, dump(t, srv)); diff != "" {
		t.Error(diff)
	}
	again := dynamotest.NewServer(nil)
	if err := again.Load(strings.NewReader(dump(t, srv))); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"local", "global"} {
		out, err := again.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("every"), IndexName: aws.String(index)})
		if err != nil || out.Count != 1 {
			t.Errorf("%s: %v, %d entries", index, err, out.Count)
		}
	}
}

func TestALoadThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	table, items, _ := strings.Cut(everySetting, "\n")
	for name, tt := range map[string]struct{ dump, want string }{
		"an item first":      {items, "line 1: an item before the first table"},
		"no JSON":            {table + "\n{", "line 2: "},
		"neither":            {table + "\n{\"Put\":{}}", "line 2: neither"},
		"no such table":      {`{"Table":{"TableName":"t"}}`, "line 1: "},
		"without its key":    {table + "\n" + `{"Item":{"s":{"N":"1"}}}`, "line 2: "},
		"an impossible item": {table + "\n" + `{"Item":{"s":{"N":"one"}}}`, "line 2: "},
		"a wrong index key":  {table + "\n" + `{"Item":{"p":{"B":"AA=="},"s":{"N":"1"},"g":{"N":"1"}}}`, "line 2: "},
		"twice":              {everySetting + everySetting, "line 4: "},
	} {
		srv := dynamotest.NewServer(nil)
		if err := srv.Load(strings.NewReader(tt.dump)); err == nil || !strings.Contains(err.Error(), "dynamotest: load: "+tt.want) {
			t.Errorf("%s: got %v, want … %s …", name, err, tt.want)
		}
		if tables := srv.Tables(); len(tables) != 0 {
			t.Errorf("%s: left %q", name, tables)
		}
	}
	srv := dynamotest.NewServer(nil)
	for _, want := range []string{"<nil>", "dynamotest: load: table every exists"} {
		if err := srv.Load(strings.NewReader(everySetting)); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestLoadItems(t *testing.T) {
	t.Parallel()
	srv := seeded(t.Context(), 1)
	item := func(number string) string {
		return `{"Item":{"customer":{"S":"ann"},"number":{"N":"` + number + `"},"day":{"S":"x"}}}` + "\n"
	}
	if err := srv.LoadItems("orders", strings.NewReader(item("1")+item("2")+item("2"))); err != nil {
		t.Fatal(err)
	}
	before := dump(t, srv)
	for _, tt := range []struct{ table, items, want string }{
		{"orders", item("3") + item("x"), "line 2: The parameter cannot be converted to a numeric value"},
		{"orders", item("3") + "{}", "line 2: neither a table nor an item nor a change of one"},
		{"orders", item("3") + "\n" + `{"Item":{"customer":{"S":"ann"}}}`, "line 3: "},
		{"orders", item("3") + `{"Keys":{"customer":{"S":"ann"}}}`, "line 2: "},
		{"orders", `{"NewImage":{"customer":{"S":"ann"},"number":{"N":"1"}}}`, "line 1: "},
		{"orders", `{"Keys":{},"Item":{}}`, "line 1: more than one"},
		{"orders", item("3") + strings.Split(before, "\n")[0], "line 2: a table between the items"},
		{"orders", item("3") + `[{"Item":{}}]`, "line 2: a JSON list"},
		{"orders", "\x28\xb5\x2f\xfd", "zstd"},
		{"orders", "\xe0\x01\x00\xea", "line 1: this is Amazon Ion"},
		{"orders", packed(t, item("3"))[:30], "line 1: unexpected EOF"},
		{"another", item("3"), "table another does not exist"},
	} {
		if err := srv.LoadItems(tt.table, strings.NewReader(tt.items)); err == nil || !strings.Contains(err.Error(), "dynamotest: load into "+tt.table+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want … %s …", err, tt.want)
		}
	}
	if diff := cmp.Diff(before, dump(t, srv)); diff != "" {
		t.Errorf("what failed left something: %s", diff)
	}
	out, err := srv.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders"), IndexName: aws.String("by-day")})
	if err != nil || out.Count != 2 || out.Items[0]["day"].(*types.AttributeValueMemberS).Value != "x" {
		t.Errorf("%v: %v", err, out)
	}
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The files in testdata/export have the form of DynamoDB's exports to S3, as its
// developer guide describes it.
func TestLoadItemsOfAnExport(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		t.Helper()
		content, err := os.ReadFile(filepath.Join("testdata", "export", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	full := strings.TrimSpace(read("full.json"))
	for _, pack := range []bool{false, true} {
		srv := seeded(t.Context(), 0)
		load := func(name string) error {
			content := read(name)
			if pack {
				content = packed(t, content)
			}
			return srv.LoadItems("orders", strings.NewReader(content))
		}
		items := func() []string {
			lines := strings.Split(strings.TrimSpace(dump(t, srv)), "\n")[1:]
			slices.Sort(lines)
			return lines
		}
		if err := load("full.json"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(byName(t, strings.Split(full, "\n")), byName(t, items())); diff != "" {
			t.Error(diff)
		}
		if err := load("incremental.json"); err != nil {
			t.Fatal(err)
		}
		want := []string{
			`{"Item":{"customer":{"S":"ann"},"day":{"S":"2026-03-30"},"number":{"N":"2"},"paid":{"BOOL":false}}}`,
			`{"Item":{"customer":{"S":"cy"},"day":{"S":"2026-03-31"},"number":{"N":"1"}}}`,
		}
		if diff := cmp.Diff(want, items()); diff != "" {
			t.Error(diff)
		}
		for name, want := range map[string]string{
			"manifest-files.json": "line 1: the manifest of an export: load the data files that it names",
			"full.ion":            "line 1: this is Amazon Ion, which is not read here: export as DYNAMODB_JSON",
			"items.csv":           "line 1: no JSON object: DynamoDB JSON is read here, and CSV is not",
		} {
			if err := load(name); fmt.Sprint(err) != "dynamotest: load into orders: "+want {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if err := srv.Load(strings.NewReader(strings.Split(dump(t, srv), "\n")[0] + "\n" + read("incremental.json"))); err == nil {
			t.Error("changes are loaded as a dump")
		}
	}
}

// byName decodes lines, so that the order of attributes does not matter.
func byName(t *testing.T, lines []string) (out []any) {
	t.Helper()
	for _, line := range lines {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// A snapshot is one moment, even while writers go on; a transaction is in it
// whole or not at all.
func TestSnapshotsBesideWriters(t *testing.T) {
	t.Parallel()
	srv := seeded(t.Context(), 0)
	client := srv.Client()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 50 {
				pair := make([]types.TransactWriteItem, 2)
				for j := range pair {
					pair[j] = types.TransactWriteItem{Put: &types.Put{TableName: aws.String("orders"), Item: order(fmt.Sprint(w), 2*i+j)}}
				}
				if _, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: pair}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var forks sync.WaitGroup
	for range 20 {
		fork := srv.Fork()
		forks.Go(func() {
			n := count(t, fork.Client(), "orders")
			if n%2 != 0 {
				t.Errorf("%d rows: half a transaction", n)
			}
			if err := put(t.Context(), fork.Client(), "orders", order("fork", 1)); err != nil || count(t, fork.Client(), "orders") != n+1 {
				t.Errorf("%v; %d rows, want %d", err, count(t, fork.Client(), "orders"), n+1)
			}
		})
	}
	writers.Wait()
	forks.Wait()
	if n := count(t, client, "orders"); n != 400 {
		t.Errorf("%d rows", n)
	}
}

func BenchmarkFork(b *testing.B) {
	srv := seeded(b.Context(), 10_000)
	for b.Loop() {
		srv.Fork()
	}
}
