package dynamotest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// A table of 5 writes a second that was idle for a minute has 300 to give at once,
// and then 5 a second.
func ExampleConfig_provisionedLimits() {
	ctx := context.Background()
	now := time.Unix(1_800_000_000, 0)
	srv := dynamotest.NewServer(&dynamotest.Config{Now: func() time.Time { return now }, ProvisionedLimits: true})
	client := once(srv.Client())
	if _, err := client.CreateTable(ctx, paid("orders", 5, 5)); err != nil {
		log.Fatal(err)
	}
	write := func() {
		for n := range 1000 {
			err := put(ctx, client, "orders", order(fmt.Sprint(now.Unix()), n))
			var full *types.ProvisionedThroughputExceededException
			if errors.As(err, &full) {
				fmt.Println(n, *full.ThrottlingReasons[0].Reason)
				return
			}
		}
	}
	write()
	now = now.Add(time.Minute)
	write()
	now = now.Add(time.Second)
	write()
	// Output:
	// 5 TableWriteProvisionedThroughputExceeded
	// 300 TableWriteProvisionedThroughputExceeded
	// 5 TableWriteProvisionedThroughputExceeded
}

func figures(units int64) *types.ProvisionedThroughput {
	return &types.ProvisionedThroughput{ReadCapacityUnits: &units, WriteCapacityUnits: &units}
}

// paid is a table of orders in provisioned mode: own units of either kind for the
// table, index units for its index by-day.
func paid(name string, own, index int64) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName: &name, ProvisionedThroughput: figures(own),
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("customer"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("number"), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String("day"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: keyElements("customer", "number"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-day"), KeySchema: keyElements("day", "customer"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}, ProvisionedThroughput: figures(index),
		}},
	}
	return in
}

func keyElements(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
}

// onDemand is the same table, on demand.
func onDemand(name string) *dynamodb.CreateTableInput {
	in := paid(name, 1, 1)
	in.BillingMode, in.ProvisionedThroughput, in.GlobalSecondaryIndexes[0].ProvisionedThroughput = types.BillingModePayPerRequest, nil, nil
	return in
}

// metered is a server that limits provisioned tables to their throughput, with a
// clock that the test sets.
func metered(t *testing.T, tables ...*dynamodb.CreateTableInput) (db *dynamotest.DB, client *dynamodb.Client, turn func(time.Duration)) {
	t.Helper()
	now := time.Unix(1_800_000_000, 0)
	db = dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }, ProvisionedLimits: true})
	client = once(db.Client())
	for _, in := range tables {
		if _, err := client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	return db, client, func(d time.Duration) { now = now.Add(d) }
}

// throttledCalls are calls on a table named orders. Each returns how it was
// throttled: the code, and the reasons or the message of a cancellation.
var throttledCalls = map[string]func(context.Context, *dynamodb.Client) string{
	"PutItem": func(ctx context.Context, c *dynamodb.Client) string {
		return throttledBy(put(ctx, c, "orders", order("new", 1)))
	},
	"GetItem": func(ctx context.Context, c *dynamodb.Client) string {
		_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: orderKey("ann", 1)})
		return throttledBy(err)
	},
	"Query": func(ctx context.Context, c *dynamodb.Client) string {
		_, err := c.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("orders"), KeyConditionExpression: aws.String("customer = :c"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":c": &types.AttributeValueMemberS{Value: "ann"}},
		})
		return throttledBy(err)
	},
	"Scan": func(ctx context.Context, c *dynamodb.Client) string {
		_, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders")})
		return throttledBy(err)
	},
	"Scan by-day": func(ctx context.Context, c *dynamodb.Client) string {
		_, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders"), IndexName: aws.String("by-day")})
		return throttledBy(err)
	},
	"BatchWriteItem": func(ctx context.Context, c *dynamodb.Client) string {
		out, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			"orders": {{PutRequest: &types.PutRequest{Item: order("x", 1)}}, {PutRequest: &types.PutRequest{Item: order("x", 2)}}},
		}})
		if err == nil && len(out.UnprocessedItems["orders"]) > 0 {
			return "some came back"
		}
		return throttledBy(err)
	},
	"BatchGetItem": func(ctx context.Context, c *dynamodb.Client) string {
		out, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"orders": {ConsistentRead: aws.Bool(true), Keys: []map[string]types.AttributeValue{orderKey("x", 1), orderKey("x", 2)}},
		}})
		if err == nil && len(out.UnprocessedKeys["orders"].Keys) > 0 {
			return "some came back"
		}
		return throttledBy(err)
	},
	"TransactWriteItems": func(ctx context.Context, c *dynamodb.Client) string {
		_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String("orders"), Item: order("y", 1)}},
		}})
		return throttledBy(err)
	},
	"TransactGetItems": func(ctx context.Context, c *dynamodb.Client) string {
		_, err := c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: aws.String("orders"), Key: orderKey("ann", 1)}},
		}})
		return throttledBy(err)
	},
	"BatchExecuteStatement": func(ctx context.Context, c *dynamodb.Client) string {
		out, err := c.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{
			{Statement: aws.String(`INSERT INTO "orders" VALUE {'customer': 'z', 'number': 1, 'day': 'x'}`)},
		}})
		if err == nil && out.Responses[0].Error != nil {
			return string(out.Responses[0].Error.Code) + " " + *out.Responses[0].Error.Message
		}
		return throttledBy(err)
	},
}

func throttledBy(err error) string {
	var provisioned *types.ProvisionedThroughputExceededException
	var throttled *types.ThrottlingException
	var cancelled *types.TransactionCanceledException
	var why []types.ThrottlingReason
	switch {
	case errors.As(err, &provisioned):
		why = provisioned.ThrottlingReasons
	case errors.As(err, &throttled):
		why = throttled.ThrottlingReasons
	case errors.As(err, &cancelled):
		return *cancelled.CancellationReasons[0].Code + " " + aws.ToString(cancelled.CancellationReasons[0].Message)
	}
	text := errorCode(err)
	for _, r := range why {
		_, resource, _ := strings.Cut(*r.Resource, ":table/")
		text += " " + *r.Reason + " " + resource
	}
	return text
}

// Both modes, with each kind of request: an injected throttle has the code of the
// table's mode.
func TestThrottlingByMode(t *testing.T) {
	t.Parallel()
	for mode, in := range map[string]*dynamodb.CreateTableInput{"provisioned": paid("orders", 5, 5), "on demand": onDemand("orders")} {
		code, short, text := "ProvisionedThroughputExceededException", "ProvisionedThroughputExceeded", "The level of configured provisioned throughput for the table"
		if mode == "on demand" {
			code, short, text = "ThrottlingException", "ThrottlingError", "Throughput exceeds the current capacity of your table or index."
		}
		db := dynamotest.New(t, nil)
		client := once(db.Client())
		if _, err := client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		for name, call := range throttledCalls {
			op, index, _ := strings.Cut(name, " ")
			use := "Read"
			if op == "PutItem" || op == "BatchWriteItem" {
				use = "Write"
			}
			want := code + " Table" + use + "KeyRangeThroughputExceeded orders"
			switch {
			case strings.HasPrefix(op, "Transact") || op == "BatchExecuteStatement":
				want = short + " " + text
			case index != "":
				want = code + " IndexReadKeyRangeThroughputExceeded orders/index/by-day"
			}
			db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: op})
			if got := call(t.Context(), client); !strings.HasPrefix(got, want) {
				t.Errorf("%s, %s: got %s, want %s", mode, name, got, want)
			}
		}
	}
}

// A code that the fault gives wins over that of the table's billing mode.
func TestThrottlingThatIsSaid(t *testing.T) {
	t.Parallel()
	const provisioned, throttling = "ProvisionedThroughputExceededException", "ThrottlingException"
	do := dynamotest.Throttle
	for _, tt := range []struct {
		do               dynamotest.Effect
		paid, onDemand   string
		paidAs, demandAs string // messages
	}{
		{do, provisioned, throttling, "The level", "Throughput exceeds the current capacity of your"},
		{do.As(provisioned), provisioned, provisioned, "The level", "The level"},
		{do.As(throttling), throttling, throttling, "Throughput", "Throughput"},
		{do.ByIndex("by-day"), provisioned, throttling, "The level of configured provisioned throughput for one or more global", "Throughput exceeds the current capacity for one"},
	} {
		db := dynamotest.New(t, nil)
		client := once(db.Client())
		for _, in := range []*dynamodb.CreateTableInput{paid("paid", 5, 5), onDemand("on-demand")} {
			if _, err := client.CreateTable(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range [][3]string{{"paid", tt.paid, tt.paidAs}, {"on-demand", tt.onDemand, tt.demandAs}} {
			db.Inject(dynamotest.Fault{Do: tt.do, Table: want[0]})
			err := put(t.Context(), client, want[0], order("ann", 1))
			if got := errorCode(err); got != want[1] || !strings.Contains(fmt.Sprint(err), want[1]+": "+want[2]) {
				t.Errorf("%+v of %s: got %v", tt.do, want[0], err)
			}
		}
	}
}

// Each action of a transaction has the code of its own table. A batch that is
// refused as a whole has the first table's code, and all the reasons.
func TestThrottlingOfTablesOfBothModes(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	client := once(db.Client())
	for _, in := range []*dynamodb.CreateTableInput{paid("paid", 5, 5), onDemand("on-demand")} {
		if _, err := client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Times: 2})
	_, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String("on-demand"), Item: order("y", 1)}}, {Put: &types.Put{TableName: aws.String("paid"), Item: order("y", 1)}},
	}})
	if !strings.HasSuffix(fmt.Sprint(err), "[ThrottlingError, ProvisionedThroughputExceeded]") {
		t.Error(err)
	}
	entry := []types.WriteRequest{{PutRequest: &types.PutRequest{Item: order("x", 1)}}}
	_, err = client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"paid": entry, "on-demand": entry}})
	got := throttledBy(err)
	if strings.Count(got, "TableWriteKeyRangeThroughputExceeded") != 2 {
		t.Error(got)
	}
}

// Every kind of request is limited by the throughput of its table or index: nothing
// is left of either when it comes.
func TestProvisionedLimitsByOperation(t *testing.T) {
	t.Parallel()
	const tableText, indexText = "ProvisionedThroughputExceeded The level of configured provisioned throughput for the table", "ProvisionedThroughputExceeded The level of configured provisioned throughput for one or more"
	const code, read, write = "ProvisionedThroughputExceededException ", "TableReadProvisionedThroughputExceeded orders", "TableWriteProvisionedThroughputExceeded orders"
	const byIndex = code + "IndexWriteProvisionedThroughputExceeded orders/index/by-day"
	for _, tt := range []struct {
		call         string
		own, byIndex string // the errors if the table is exhausted, and if only its index is
	}{
		{"PutItem", code + write, byIndex},
		{"GetItem", code + read, "<nil>"},
		{"Query", code + read, "<nil>"},
		{"Scan", code + read, "<nil>"},
		{"Scan by-day", "<nil>", code + "IndexReadProvisionedThroughputExceeded orders/index/by-day"},
		{"BatchWriteItem", code + write, byIndex},
		{"BatchGetItem", code + read, "<nil>"},
		{"TransactWriteItems", tableText, indexText},
		{"TransactGetItems", tableText, "<nil>"},
		{"BatchExecuteStatement", tableText, indexText},
	} {
		for _, index := range []bool{false, true} {
			in, want := paid("orders", 1, 1000), tt.own
			if index {
				in, want = paid("orders", 1000, 1), tt.byIndex
			}
			_, client, turn := metered(t, in)
			if err := put(t.Context(), client, "orders", order("ann", 1)); err != nil { // the only write unit
				t.Fatal(err)
			}
			for range 2 { // and the only read unit
				for _, scan := range []string{"Scan", "Scan by-day"} {
					if got := throttledCalls[scan](t.Context(), client); got != "<nil>" {
						t.Fatal(got)
					}
				}
			}
			if got := throttledCalls[tt.call](t.Context(), client); !strings.HasPrefix(got, want) {
				t.Errorf("%s, index %t: got %s, want %s", tt.call, index, got, want)
			}
			turn(2 * time.Second)
			if got := throttledCalls[tt.call](t.Context(), client); got != "<nil>" && got != "some came back" {
				t.Errorf("%s, index %t: two seconds later %s", tt.call, index, got)
			}
		}
	}
}

// A batch gets through as far as the throughput allows.
func TestProvisionedLimitsSendEntriesBack(t *testing.T) {
	t.Parallel()
	_, client, _ := metered(t, paid("orders", 1, 10))
	for _, op := range []string{"BatchWriteItem", "BatchGetItem"} {
		if got := throttledCalls[op](t.Context(), client); got != "some came back" {
			t.Errorf("%s: %s", op, got)
		}
	}
}

// A scan that finds nothing also consumes throughput.
func TestAnEmptyScanTakesFromItsTable(t *testing.T) {
	t.Parallel()
	_, client, _ := metered(t, paid("orders", 1, 1))
	for i, want := range []string{"<nil>", "<nil>", "ProvisionedThroughputExceededException TableReadProvisionedThroughputExceeded orders"} {
		if got := throttledCalls["Scan"](t.Context(), client); got != want {
			t.Errorf("scan %d: %s", i, got)
		}
	}
}

// written returns how many writes of one unit get through.
func written(t *testing.T, client *dynamodb.Client, customer string) (n int) {
	t.Helper()
	for ; n < 5000; n++ {
		switch err := put(t.Context(), client, "orders", order(customer, n)); {
		case err == nil:
		case errorCode(err) == "ProvisionedThroughputExceededException":
			return n
		default:
			t.Fatal(err)
		}
	}
	return n
}

// Unused throughput is kept for 300 seconds and comes back evenly.
func TestBurstOfProvisionedThroughput(t *testing.T) {
	t.Parallel()
	_, client, turn := metered(t, paid("orders", 4, 100))
	for i, step := range []struct {
		after time.Duration
		want  int
	}{{0, 4}, {0, 0}, {time.Second, 4}, {500 * time.Millisecond, 2}, {10 * time.Second, 40}, {299 * time.Second, 1196}, {time.Hour, 1200}, {-time.Minute, 0}} {
		turn(step.after)
		if got := written(t, client, fmt.Sprint(i)); got != step.want {
			t.Errorf("step %d: %d writes, want %d", i, got, step.want)
		}
	}
}

// A request may overdraw; the next one is refused until the debt is regained.
func TestProvisionedThroughputIsOverdrawn(t *testing.T) {
	t.Parallel()
	_, client, turn := metered(t, paid("orders", 1, 100))
	big := order("ann", 1)
	big["text"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 9<<10)} // ten units
	if err := put(t.Context(), client, "orders", big); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 1} {
		turn(time.Duration(9+i) * time.Second / time.Duration(1+i*9)) // 9 s, and 1 s more
		if got := written(t, client, fmt.Sprint(i)); got != want {
			t.Errorf("step %d: %d writes", i, got)
		}
	}
}

// UpdateTable takes effect at once. The kept throughput stays, up to what the new
// figures can keep. Another index begins with a second's worth, and so does a
// table that was on demand before.
func TestUpdateTableChangesProvisionedLimits(t *testing.T) {
	t.Parallel()
	_, client, turn := metered(t, paid("orders", 10, 1000))
	update := func(in dynamodb.UpdateTableInput) {
		t.Helper()
		in.TableName = aws.String("orders")
		if _, err := client.UpdateTable(t.Context(), &in); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what, customer string, want int) {
		t.Helper()
		if got := written(t, client, customer); got != want {
			t.Errorf("%s: %d writes, want %d", what, got, want)
		}
	}
	turn(9 * time.Second)
	update(dynamodb.UpdateTableInput{ProvisionedThroughput: figures(20)}) // ten times ten were kept
	want("raised", "a", 100)
	turn(time.Second)
	want("raised, a second later", "b", 20)
	turn(time.Minute)
	update(dynamodb.UpdateTableInput{ProvisionedThroughput: figures(2)})
	want("lowered", "c", 600)
	byDay := func(units int64) []types.GlobalSecondaryIndexUpdate {
		return []types.GlobalSecondaryIndexUpdate{{Update: &types.UpdateGlobalSecondaryIndexAction{IndexName: aws.String("by-day"), ProvisionedThroughput: figures(units)}}}
	}
	turn(time.Hour)
	update(dynamodb.UpdateTableInput{GlobalSecondaryIndexUpdates: byDay(1)})
	want("index lowered", "d", 300)

	turn(time.Hour)
	update(dynamodb.UpdateTableInput{BillingMode: types.BillingModePayPerRequest})
	want("on demand", "e", 5000)
	update(dynamodb.UpdateTableInput{BillingMode: types.BillingModeProvisioned, ProvisionedThroughput: figures(30), GlobalSecondaryIndexUpdates: byDay(50)})
	want("provisioned again", "f", 30)
	turn(time.Hour)
	update(dynamodb.UpdateTableInput{GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("by-day")}}}})
	made := paid("orders", 7, 7)
	index := made.GlobalSecondaryIndexes[0]
	update(dynamodb.UpdateTableInput{
		AttributeDefinitions: made.AttributeDefinitions,
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection, ProvisionedThroughput: index.ProvisionedThroughput,
		}}},
	})
	want("another index", "g", 7)
}

// A new table has nothing from an earlier one with its name. Tables on demand,
// and tables of a server without ProvisionedLimits, have no limit.
func TestWhatProvisionedLimitsLeaveAlone(t *testing.T) {
	t.Parallel()
	_, client, turn := metered(t, paid("orders", 1, 1))
	turn(time.Minute)
	if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateTable(t.Context(), paid("orders", 2, 2)); err != nil {
		t.Fatal(err)
	}
	if n := written(t, client, "ann"); n != 2 {
		t.Errorf("made anew: %d writes", n)
	}
	free, demanding, _ := metered(t, onDemand("orders"))
	if n := written(t, demanding, "ann"); n != 5000 {
		t.Errorf("on demand: %d writes", n)
	}
	if heat := free.Server().Heat(); len(heat) == 0 || heat[0].WCU != 5000 {
		t.Errorf("heat: %v", heat)
	}
	off := once(dynamotest.New(t, nil).Client())
	if _, err := off.CreateTable(t.Context(), paid("orders", 1, 1)); err != nil {
		t.Fatal(err)
	}
	if n := written(t, off, "ann"); n != 5000 {
		t.Errorf("not held: %d writes", n)
	}
}

// Partitions have limits in addition to their table's. A request that exceeds both
// gets both reasons.
func TestBothLimitsHold(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }, ProvisionedLimits: true, PartitionLimits: dynamotest.Units{WCU: 3}})
	client := once(db.Client())
	if _, err := client.CreateTable(t.Context(), paid("orders", 3, 100)); err != nil {
		t.Fatal(err)
	}
	if n := written(t, client, "ann"); n != 3 {
		t.Errorf("%d writes", n)
	}
	const want = "ProvisionedThroughputExceededException TableWriteKeyRangeThroughputExceeded orders TableWriteProvisionedThroughputExceeded orders IndexWriteKeyRangeThroughputExceeded orders/index/by-day"
	if got := throttledBy(put(t.Context(), client, "orders", order("ann", 9))); got != want {
		t.Errorf("got %s", got)
	}
	now = now.Add(time.Minute)
	if n := written(t, client, "ann2"); n != 3 {
		t.Errorf("a minute later: %d writes", n)
	}
}
