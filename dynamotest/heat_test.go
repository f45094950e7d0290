package dynamotest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// One key takes a thousand writes a second, however much the table could take. A
// sale that counts on one item reaches that limit; counters on ten items, whose
// sum is the result, do not.
func ExampleServer_Heat() {
	ctx := context.Background()
	now := time.Unix(1_800_000_000, 0)
	srv := dynamotest.NewServer(&dynamotest.Config{Now: func() time.Time { return now }, PartitionLimits: dynamotest.Units{RCU: 3000, WCU: 1000}})
	once := srv.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	if err := schema.Create(ctx, once, schema.Table{Name: "sold", Key: schema.Key{Partition: schema.String("article")}}); err != nil {
		log.Fatal(err)
	}
	sell := func(key string) {
		_, err := once.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("sold"), Key: map[string]types.AttributeValue{"article": &types.AttributeValueMemberS{Value: key}},
			UpdateExpression: aws.String("ADD n :1"), ExpressionAttributeValues: map[string]types.AttributeValue{":1": &types.AttributeValueMemberN{Value: "1"}},
		})
		var throttled *types.ThrottlingException
		if err != nil && !errors.As(err, &throttled) {
			log.Fatal(err)
		}
	}
	for i := range 1500 { // all at one instant
		sell("lamp")                        // one item
		sell(fmt.Sprintf("chair#%d", i%10)) // one of ten
	}
	for _, h := range srv.Heat()[:3] {
		fmt.Println(h.Table, h.Partition, h.WCU, "WCU, in one second", h.Peak.WCU, "and throttled", h.Throttled)
	}
	// Output:
	// sold lamp 1000 WCU, in one second 1000 and throttled 500
	// sold chair#0 150 WCU, in one second 150 and throttled 0
	// sold chair#1 150 WCU, in one second 150 and throttled 0
}

// limited returns a database whose clock the test sets.
func limited(t *testing.T, limits dynamotest.Units) (db *dynamotest.DB, table string, turn func(time.Duration)) {
	t.Helper()
	now := time.Unix(1_800_000_000, 0)
	db = dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }, PartitionLimits: limits})
	return db, create(t, db), func(d time.Duration) { now = now.Add(d) }
}

func TestAHotIndexHoldsItsTableBack(t *testing.T) {
	t.Parallel()
	db, table, turn := limited(t, dynamotest.Units{RCU: 30, WCU: 10})
	client := once(db.Client())
	var throttled *types.ThrottlingException
	write := func(from, n int) (done int) {
		for i := range n {
			err := put(t.Context(), client, table, order(fmt.Sprint("c", from+i), 1)) // all on one day
			switch {
			case err == nil:
				done++
			case !errors.As(err, &throttled):
				t.Fatal(err)
			}
		}
		return done
	}
	if n := write(0, 15); n != 10 {
		t.Errorf("%d of 15 writes got through", n)
	}
	if why := throttled.ThrottlingReasons[0]; *why.Reason != "IndexWriteKeyRangeThroughputExceeded" || !strings.HasSuffix(*why.Resource, "/index/by-day") ||
		!strings.Contains(throttled.ErrorMessage(), "global secondary indexes") {
		t.Errorf("%s %s", *why.Reason, *why.Resource)
	}
	turn(500 * time.Millisecond)
	if n := write(100, 15); n != 5 {
		t.Errorf("%d of 15 after half a second", n)
	}
	if hottest := db.Server().Heat()[0]; hottest.Index != "by-day" || hottest.Partition != "2026-03-29" || hottest.Throttled != 15 || hottest.WCU != 15 {
		t.Errorf("hottest: %+v", hottest)
	}
	if n := count(t, db.Client(), table); n != 15 {
		t.Errorf("%d rows", n)
	}
}

func TestReadsAreHeldToTheLimitToo(t *testing.T) {
	t.Parallel()
	db, table, _ := limited(t, dynamotest.Units{RCU: 3, WCU: 1000})
	client := once(db.Client())
	for i := range 2 {
		if err := put(t.Context(), client, table, order("ann", i)); err != nil {
			t.Fatal(err)
		}
	}
	in := &dynamodb.GetItemInput{TableName: &table, Key: orderKey("ann", 1), ConsistentRead: aws.Bool(true)}
	for i := range 4 {
		if _, err := client.GetItem(t.Context(), in); (err == nil) != (i < 3) {
			t.Errorf("read %d: %v", i, err)
		}
	}
	_, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &table, KeyConditionExpression: aws.String("customer = :c"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":c": &types.AttributeValueMemberS{Value: "ann"}},
	})
	if code := errorCode(err); code != "ThrottlingException" {
		t.Errorf("query: %s", code)
	}
	read, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		table: {Keys: []map[string]types.AttributeValue{orderKey("ann", 1), orderKey("bo", 1)}},
	}})
	if err != nil || len(read.UnprocessedKeys[table].Keys) != 1 {
		t.Errorf("%v: %v", err, read)
	}
	_, err = client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: &table, Key: orderKey("cy", 1)}}, {Get: &types.Get{TableName: &table, Key: orderKey("ann", 1)}},
	}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || *cancelled.CancellationReasons[0].Code != "None" || *cancelled.CancellationReasons[1].Code != "ThrottlingError" {
		t.Errorf("transaction: %v", err)
	}
}

func TestABatchGoesAsFarAsThePartitionsDo(t *testing.T) {
	t.Parallel()
	db, _, _ := limited(t, dynamotest.Units{RCU: 3, WCU: 2})
	client := once(db.Client())
	table := schema.Table{Name: "plain", Key: schema.Key{Partition: schema.String("p"), Sort: schema.Number("s")}}
	if err := schema.Create(t.Context(), client, table); err != nil {
		t.Fatal(err)
	}
	item := func(p string, s int) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"p": &types.AttributeValueMemberS{Value: p}, "s": &types.AttributeValueMemberN{Value: fmt.Sprint(s)}}
	}
	var batch []types.WriteRequest
	for i := range 4 {
		batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: item("hot", i)}})
	}
	batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: item("cold", 1)}})
	out, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"plain": batch}})
	if err != nil || len(out.UnprocessedItems["plain"]) != 2 || count(t, client, "plain") != 3 {
		t.Errorf("%v: %v", err, out)
	}
	_, err = client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: out.UnprocessedItems})
	if code := errorCode(err); code != "ThrottlingException" {
		t.Errorf("no part of it: %s", code)
	}
	_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String("plain"), Item: item("other", 1)}}, {Put: &types.Put{TableName: aws.String("plain"), Item: item("hot", 9)}},
	}})
	if code := errorCode(err); code != "TransactionCanceledException" || count(t, client, "plain") != 3 {
		t.Errorf("transaction: %s", code)
	}
}

func TestWithoutLimitsTheHeatIsStillSeen(t *testing.T) {
	t.Parallel()
	db, table, _ := limited(t, dynamotest.Units{RCU: math.Inf(1), WCU: math.Inf(1)})
	for i := range 3 {
		if err := put(t.Context(), db.Client(), table, order("ann", i)); err != nil {
			t.Fatal(err)
		}
	}
	if heat := db.Server().Heat(); len(heat) != 2 || heat[0].WCU != 3 || heat[0].Peak.WCU != 3 {
		t.Errorf("%v", heat)
	}
}

func TestStatementsAreHeldToTheLimit(t *testing.T) {
	t.Parallel()
	db, table, turn := limited(t, dynamotest.Units{RCU: 2, WCU: 2})
	client := once(db.Client())
	for i := range 2 {
		if err := put(t.Context(), client, table, order("ann", i)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := execute(t, client, updateAnn1)
	if code := errorCode(err); code != "ThrottlingException" {
		t.Errorf("update: %s", code)
	}
	if codes, _ := executeBatch(t, client, deleteAnn1, insertBo1); codes[0] != "ThrottlingError" || codes[1] != "ThrottlingError" {
		t.Errorf("batch of writes: %q: by-day is full for both", codes)
	}
	turn(time.Second)
	// Half a unit each: the fifth read of ann's partition is one too many.
	for _, statement := range []string{selectOfAnn, selectAnn1} {
		if items, err := execute(t, client, statement); err != nil || len(items) == 0 {
			t.Errorf("%s: %v", statement, err)
		}
	}
	for range 2 {
		if codes, found := executeBatch(t, client, selectAnn1, selectBo1); codes[0] != "" || codes[1] != "" || !found[0] || found[1] {
			t.Errorf("batch of reads: %q, %v", codes, found)
		}
	}
	if codes, _ := executeBatch(t, client, selectAnn1, selectBo1); codes[0] != "ThrottlingError" || codes[1] != "" {
		t.Errorf("batch of reads: %q", codes)
	}
	for _, statement := range []string{selectAll, selectOfAnn, selectAnn1} {
		if _, err := execute(t, client, statement); errorCode(err) != "ThrottlingException" {
			t.Errorf("%s: %v", statement, err)
		}
	}
	var cancelled *types.TransactionCanceledException
	if err := executeTogether(t, client, selectBo1, selectAnn1); !errors.As(err, &cancelled) || *cancelled.CancellationReasons[1].Code != "ThrottlingError" {
		t.Errorf("transaction: %v", err)
	}
	for _, h := range db.Server().Heat() {
		if h.Partition == "ann" && h.RCU != 2 || h.Partition == "bo" && h.RCU != 1.5 {
			t.Errorf("%+v", h)
		}
	}
}

func TestASelectOfManyPartitionsCountsInEach(t *testing.T) {
	t.Parallel()
	db, _, _ := limited(t, dynamotest.Units{RCU: 3000, WCU: 1000})
	if _, err := execute(t, db.Client(), `SELECT * FROM orders WHERE customer IN ('ann', 'bo')`); err != nil {
		t.Fatal(err)
	}
	heat := db.Server().Heat()
	if len(heat) != 2 || heat[0].Partition != "ann" || heat[0].RCU != 0.5 || heat[1].Partition != "bo" || heat[1].RCU != 0.5 {
		t.Errorf("%v", heat)
	}
}

// A scan counts in each partition that it reads, by its share of the price. If
// a partition has nothing left, the page is refused.
func TestAScanCountsInThePartitionsItReads(t *testing.T) {
	t.Parallel()
	db, table, turn := limited(t, dynamotest.Units{RCU: 10})
	client := once(db.Client())
	for i := range 30 {
		item := order([]string{"ann", "ann", "bo"}[i%3], i)
		item["text"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 4000)}
		if err := put(t.Context(), client, table, item); err != nil {
			t.Fatal(err)
		}
	}
	scan := func(index *string) error {
		_, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table, IndexName: index, FilterExpression: aws.String("attribute_exists(nothing)")})
		return err
	}
	if err := errors.Join(scan(nil), scan(aws.String("by-day"))); err != nil {
		t.Fatal(err)
	}
	heat := map[string]dynamotest.Heat{}
	for _, h := range db.Server().Heat() {
		heat[h.Index+"/"+h.Partition] = h
	}
	total := heat["/ann"].RCU + heat["/bo"].RCU
	if total != 15 || math.Abs(heat["/ann"].RCU-10) > 0.1 || heat["by-day/2026-03-29"].RCU != 15 {
		t.Errorf("%g RCU in all\n%v", total, heat)
	}
	// ann has little or nothing left now: use it up.
	_ = scan(nil)
	if err := scan(nil); errorCode(err) != "ThrottlingException" {
		t.Errorf("got %v", err)
	}
	turn(time.Second)
	if err := scan(nil); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// Each segment and each page is charged only for its own reads.
func TestPagesOfAScanCountOnce(t *testing.T) {
	t.Parallel()
	db, table, _ := limited(t, dynamotest.Units{RCU: 3000, WCU: 1000})
	for i := range 4 {
		if err := put(t.Context(), db.Client(), table, order(fmt.Sprint("c", i), 1)); err != nil {
			t.Fatal(err)
		}
	}
	cost := db.Meter(func() {
		in := dynamodb.ScanInput{TableName: &table, Limit: aws.Int32(1)}
		for {
			out, err := db.Client().Scan(t.Context(), &in)
			if err != nil {
				t.Fatal(err)
			}
			if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
				return
			}
		}
	})
	var sum float64
	for _, h := range db.Server().Heat() {
		sum += h.RCU
		if h.RCU > 0.5 {
			t.Errorf("%+v", h)
		}
	}
	if sum != 2 || cost.RCU < sum {
		t.Errorf("%g RCU in the map, %g metered", sum, cost.RCU)
	}
}

// With only one limit, units of the other kind are only counted.
func TestALimitOfWritesAlone(t *testing.T) {
	t.Parallel()
	db, table, _ := limited(t, dynamotest.Units{WCU: 1})
	client := once(db.Client())
	if err := put(t.Context(), client, table, order("ann", 1)); err != nil {
		t.Fatal(err)
	}
	if n := count(t, client, table); n != 1 {
		t.Errorf("%d rows", n)
	}
	if err := put(t.Context(), client, table, order("ann", 2)); errorCode(err) != "ThrottlingException" {
		t.Errorf("got %v", err)
	}
}

// A request that meets a full partition twice, because it moves an entry inside
// it, counts as refused once.
func TestARefusedRequestCountsOnceInAPartition(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }, PartitionLimits: dynamotest.Units{WCU: 2}})
	table := schema.Table{
		Name: "moves", Key: schema.Key{Partition: schema.String("id")},
		Indexes: []schema.Index{{Name: "by-place", Key: schema.Key{Partition: schema.String("all"), Sort: schema.Number("place")}}},
	}
	if err := schema.Create(t.Context(), db.Client(), table); err != nil {
		t.Fatal(err)
	}
	move := func(id, place string) error {
		_, err := once(db.Client()).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("moves"), Item: map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: id}, "all": &types.AttributeValueMemberS{Value: "x"}, "place": &types.AttributeValueMemberN{Value: place},
		}})
		return err
	}
	if err := errors.Join(move("a", "1"), move("b", "2")); err != nil {
		t.Fatal(err)
	}
	if err := move("a", "3"); errorCode(err) != "ThrottlingException" {
		t.Errorf("got %v", err)
	}
	if hottest := db.Server().Heat()[0]; hottest.Index != "by-place" || hottest.Throttled != 1 {
		t.Errorf("%+v", hottest)
	}
}

// A local index is a part of its table: reads of it count in the table's
// partitions.
func TestALocalIndexUsesItsTablesPartitions(t *testing.T) {
	t.Parallel()
	db := lagging(t, &dynamotest.Config{PartitionLimits: dynamotest.Units{RCU: 3000, WCU: 1000}})
	if err := put(t.Context(), db.Client(), "orders", order("ann", 1)); err != nil {
		t.Fatal(err)
	}
	for name, read := range readers(db.Client()) {
		before := db.Server().Heat()
		if _, err := read(t.Context()); err != nil {
			t.Fatal(err)
		}
		var where []string
		for _, h := range db.Server().Heat() {
			for _, b := range before {
				if b.Index == h.Index && h.RCU > b.RCU {
					where = append(where, h.Index+"/"+h.Partition)
				}
			}
		}
		want := "/ann"
		if strings.HasPrefix(name, "index") {
			want = "global/ann"
		}
		if len(where) != 1 || where[0] != want {
			t.Errorf("%s: counted in %q, want %q", name, where, want)
		}
	}
}

// renewals put a new table or index under an old name, in two steps: it is
// deleted and made again. Restore does both in its second step.
func renewals() map[string][2]func(t *testing.T, srv *dynamotest.Server) {
	remove := func(t *testing.T, srv *dynamotest.Server) {
		if _, err := srv.Client().DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")}); err != nil {
			t.Fatal(err)
		}
	}
	return map[string][2]func(t *testing.T, srv *dynamotest.Server){
		"created": {remove, func(t *testing.T, srv *dynamotest.Server) {
			if err := schema.Create(t.Context(), srv.Client(), orders("orders")); err != nil {
				t.Fatal(err)
			}
		}},
		"loaded": {remove, func(t *testing.T, srv *dynamotest.Server) {
			var dump bytes.Buffer
			if err := errors.Join(seeded(t.Context(), 0).Dump(&dump), srv.Load(&dump)); err != nil {
				t.Fatal(err)
			}
		}},
		"restored": {func(*testing.T, *dynamotest.Server) {}, func(t *testing.T, srv *dynamotest.Server) {
			srv.Restore(seeded(t.Context(), 0).Snapshot())
		}},
		"index": {
			func(t *testing.T, srv *dynamotest.Server) { dropIndex(t, srv.Client(), "orders") },
			func(t *testing.T, srv *dynamotest.Server) { makeIndex(t, srv.Client(), "orders", "day") },
		},
	}
}

// A new table or index under an old name is another one: it begins without load,
// and its partitions have a full second's worth. Until it is made, the load of
// the old one can be read.
func TestWhatIsNewUnderAnOldNameBeginsCold(t *testing.T) {
	t.Parallel()
	for name, steps := range renewals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(1_800_000_000, 0)
			srv := dynamotest.NewServer(&dynamotest.Config{Now: func() time.Time { return now }, PartitionLimits: dynamotest.Units{WCU: 2}})
			if err := schema.Create(t.Context(), srv.Client(), orders("orders")); err != nil {
				t.Fatal(err)
			}
			hit := func(number int) (done int) {
				for i := range 4 { // all on one day
					if put(t.Context(), once(srv.Client()), "orders", order(fmt.Sprint("c", i), number)) == nil {
						done++
					}
				}
				return done
			}
			partitions := func() (n int) {
				for _, h := range srv.Heat() {
					if name != "index" || h.Index != "" {
						n++
					}
				}
				return n
			}
			if n := hit(1); n != 2 {
				t.Fatalf("%d writes got through, want 2", n)
			}
			before := partitions()
			steps[0](t, srv)
			if n := partitions(); n == 0 || n != before {
				t.Errorf("deleted: %d partitions are listed, %d before", n, before)
			}
			steps[1](t, srv)
			if n := partitions(); n != 0 {
				t.Errorf("new: %d partitions are listed", n)
			}
			if n := hit(2); n != 2 {
				t.Errorf("new: %d writes got through, want 2", n)
			}
		})
	}
}

// At one instant a partition takes one second's worth, even after a long idle
// time, and within a second also what it regains.
func TestHowMuchAPartitionTakesAtOnce(t *testing.T) {
	t.Parallel()
	db, table, turn := limited(t, dynamotest.Units{RCU: 8})
	client := once(db.Client())
	read := func() int {
		for n := 0; ; n++ {
			_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: orderKey("ann", 1), ConsistentRead: aws.Bool(true)})
			if err != nil {
				if code := errorCode(err); code != "ThrottlingException" { // the table is on demand
					t.Fatal(err)
				}
				return n
			}
		}
	}
	read()
	turn(10 * time.Second)
	atOnce := read()
	within := atOnce
	for range 7 {
		turn(time.Second / 8)
		within += read()
	}
	if atOnce != 8 || within != 15 {
		t.Errorf("%d at once and %d within a second, want 8 and 15", atOnce, within)
	}
	if peak := db.Server().Heat()[0].Peak.RCU; peak != 15 {
		t.Errorf("peak %g", peak)
	}
}
