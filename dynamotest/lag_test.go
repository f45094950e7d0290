package dynamotest_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"
	"sync/atomic"
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
	first, _ := db.Server().HoldReads(table)
	if err := put(t.Context(), db.Client(), table, order("ann", 3)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Server().HoldReads(table); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintln(seen(t, db.Client(), table, keys...)); got != "3 3 3 2 2\n" {
		t.Errorf("held again: %s", got)
	}
	first()
	if err := put(t.Context(), db.Client(), table, order("ann", 4)); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintln(seen(t, db.Client(), table, keys...)); got != "4 4 4 2 2\n" {
		t.Errorf("one release ends both: %s", got)
	}
	for _, hold := range [][2]string{{"another", "by-day"}, {table, "another"}, {table, ""}} {
		if _, err := db.Server().HoldIndex(hold[0], hold[1]); err == nil {
			t.Errorf("held %q", hold)
		}
	}
}

// A local index fetches attributes that it lacks from the same version of the
// table, so it also finds those of an item deleted since.
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

// lagging is a database with a table that has an index of each kind; the local
// one projects only keys.
func lagging(t *testing.T, cfg *dynamotest.Config) *dynamotest.DB {
	t.Helper()
	db := dynamotest.New(t, cfg)
	byDay := []types.KeySchemaElement{{AttributeName: aws.String("customer"), KeyType: "HASH"}, {AttributeName: aws.String("day"), KeyType: "RANGE"}}
	_, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("customer"), AttributeType: "S"}, {AttributeName: aws.String("number"), AttributeType: "N"}, {AttributeName: aws.String("day"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("customer"), KeyType: "HASH"}, {AttributeName: aws.String("number"), KeyType: "RANGE"}},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
			IndexName: aws.String("local"), KeySchema: byDay, Projection: &types.Projection{ProjectionType: "KEYS_ONLY"},
		}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("global"), KeySchema: byDay, Projection: &types.Projection{ProjectionType: "ALL"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// readers are all ways to read the order ann 1; each reports whether it found
// the order. Their names begin with the kind of read.
func readers(client *dynamodb.Client) map[string]func(ctx context.Context) (bool, error) {
	key, table := orderKey("ann", 1), aws.String("orders")
	ann := map[string]types.AttributeValue{":c": key["customer"]}
	out := map[string]func(context.Context) (bool, error){}
	for name, consistent := range map[string]*bool{"eventual ": nil, "consistent ": aws.Bool(true)} {
		query := func(index *string, mode types.Select) func(context.Context) (bool, error) {
			return func(ctx context.Context) (bool, error) {
				got, err := client.Query(ctx, &dynamodb.QueryInput{
					TableName: table, IndexName: index, Select: mode, ConsistentRead: consistent,
					KeyConditionExpression: aws.String("customer = :c"), ExpressionAttributeValues: ann,
				})
				return err == nil && got.Count > 0, err
			}
		}
		scan := func(index *string) func(context.Context) (bool, error) {
			return func(ctx context.Context) (bool, error) {
				got, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: table, IndexName: index, ConsistentRead: consistent})
				return err == nil && got.Count > 0, err
			}
		}
		statement := func(text string) func(context.Context) (bool, error) {
			return func(ctx context.Context) (bool, error) {
				got, err := client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: &text, ConsistentRead: consistent})
				return err == nil && len(got.Items) > 0, err
			}
		}
		local := aws.String("local")
		out[name+"Query"], out[name+"Query of a local index"] = query(nil, ""), query(local, "")
		out[name+"Query of a local index that fetches"] = query(local, types.SelectAllAttributes)
		out[name+"Scan"], out[name+"Scan of a local index"] = scan(nil), scan(local)
		out[name+"ExecuteStatement"], out[name+"ExecuteStatement of an item"] = statement(selectAll), statement(selectAnn1)
		out[name+"ExecuteStatement of a local index"] = statement(`SELECT * FROM "orders"."local" WHERE "customer" = 'ann'`)
		out[name+"GetItem"] = func(ctx context.Context) (bool, error) {
			got, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key, ConsistentRead: consistent})
			return err == nil && got.Item != nil, err
		}
		out[name+"BatchGetItem"] = func(ctx context.Context) (bool, error) {
			got, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				"orders": {Keys: []map[string]types.AttributeValue{key}, ConsistentRead: consistent},
			}})
			return err == nil && len(got.Responses["orders"]) > 0, err
		}
		out[name+"BatchExecuteStatement"] = func(ctx context.Context) (bool, error) {
			got, err := client.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{
				Statements: []types.BatchStatementRequest{{Statement: aws.String(selectAnn1), ConsistentRead: consistent}},
			})
			return err == nil && got.Responses[0].Item != nil, err
		}
		if consistent == nil {
			global := aws.String("global")
			out["index Query"], out["index Scan"] = query(global, ""), scan(global)
			out["index ExecuteStatement"] = statement(`SELECT * FROM "orders"."global" WHERE "customer" = 'ann'`)
		}
	}
	out["consistent TransactGetItems"] = func(ctx context.Context) (bool, error) {
		got, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: table, Key: key}}}})
		return err == nil && got.Responses[0].Item != nil, err
	}
	out["consistent ExecuteTransaction"] = func(ctx context.Context) (bool, error) {
		got, err := client.ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{{Statement: aws.String(selectAnn1)}}})
		return err == nil && got.Responses[0].Item != nil, err
	}
	return out
}

// Each way to read lags as its consistency allows, by the clock and when held;
// conditions never lag.
func TestEveryReadLagsAsItMay(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, db *dynamotest.DB, when string, late ...string) {
		t.Helper()
		for name, read := range readers(db.Client()) {
			want := true
			for _, kind := range late {
				want = want && !strings.HasPrefix(name, kind)
			}
			if found, err := read(t.Context()); err != nil || found != want {
				t.Errorf("%s: %s: found %t, %v", when, name, found, err)
			}
		}
	}
	put1 := func(t *testing.T, db *dynamotest.DB) {
		t.Helper()
		if err := put(t.Context(), db.Client(), "orders", order("ann", 1)); err != nil {
			t.Fatal(err)
		}
		if err := put(t.Context(), db.Client(), "orders", order("ann", 1)); errorCode(err) != "ConditionalCheckFailedException" {
			t.Errorf("a condition: %v", err)
		}
		if _, err := execute(t, db.Client(), insertAnn1); errorCode(err) != "DuplicateItemException" {
			t.Errorf("an INSERT: %v", err)
		}
	}
	t.Run("clock", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			db := lagging(t, &dynamotest.Config{ReadLag: time.Second, IndexLag: 3 * time.Second})
			put1(t, db)
			check(t, db, "at once", "eventual", "index")
			time.Sleep(time.Second)
			check(t, db, "after a second", "index")
			time.Sleep(2 * time.Second)
			check(t, db, "after three")
		})
	})
	t.Run("held", func(t *testing.T) {
		t.Parallel()
		db := lagging(t, nil)
		releaseReads, err := db.Server().HoldReads("orders")
		if err != nil {
			t.Fatal(err)
		}
		releaseIndex, err := db.Server().HoldIndex("orders", "global")
		if err != nil {
			t.Fatal(err)
		}
		put1(t, db)
		check(t, db, "both held", "eventual", "index")
		releaseReads()
		check(t, db, "index held", "index")
		releaseIndex()
		check(t, db, "released")
	})
}

// A hold freezes what a lagging reader sees, which is not the current state.
// After the release no reader sees an earlier state than before.
func TestAHoldOfALaggingServerNeverGoesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, &dynamotest.Config{ReadLag: 2 * time.Second, IndexLag: 3 * time.Second})
		table := create(t, db)
		releases := func() {}
		hold := func() {
			reads, err := db.Server().HoldReads(table)
			if err != nil {
				t.Fatal(err)
			}
			index, err := db.Server().HoldIndex(table, "by-day")
			if err != nil {
				t.Fatal(err)
			}
			releases = func() { reads(); index() }
		}
		for second, step := range []struct {
			hold, release bool
			want          string // consistent, eventual, index
		}{
			{want: "1 0 0"},
			{hold: true, want: "2 0 0"},
			{want: "3 0 0"},
			{release: true, want: "4 2 1"},
			{want: "5 3 2"},
			{hold: true, want: "6 4 3"},
			{want: "7 4 3"},
			{hold: true, want: "8 6 5"}, // held again
			{want: "9 6 5"},
			{release: true, want: "10 8 7"},
			{want: "11 9 8"},
		} {
			if err := put(t.Context(), db.Client(), table, order("ann", second)); err != nil {
				t.Fatal(err)
			}
			if step.hold {
				hold()
			}
			if step.release {
				releases()
			}
			consistent, eventual, index, _, _ := seen(t, db.Client(), table, orderKey("ann", 0))
			if got := fmt.Sprint(consistent, eventual, index); got != step.want {
				t.Errorf("second %d: sees %s, want %s", second, got, step.want)
			}
			time.Sleep(time.Second)
		}
	})
}

func dropIndex(t *testing.T, client *dynamodb.Client, table string) {
	t.Helper()
	_, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: &table, GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
		{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("by-day")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// makeIndex makes an index with the name by-day, with any key.
func makeIndex(t *testing.T, client *dynamodb.Client, table, partition string) {
	t.Helper()
	_, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName:            &table,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &partition, AttributeType: "S"}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: aws.String("by-day"), Projection: &types.Projection{ProjectionType: "ALL"},
			KeySchema: []types.KeySchemaElement{{AttributeName: &partition, KeyType: "HASH"}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// indexed counts the index's items in one partition.
func indexed(t *testing.T, db *dynamotest.DB, table, attribute, value string) int {
	t.Helper()
	out, err := db.Client().Query(t.Context(), &dynamodb.QueryInput{
		TableName: &table, IndexName: aws.String("by-day"), KeyConditionExpression: aws.String("#a = :v"),
		ExpressionAttributeNames:  map[string]string{"#a": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: value}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return int(out.Count)
}

// A new index shows what the table held when it was made, and lags from there.
// It has nothing of an earlier index with its name.
func TestANewIndexLagsFromWhatItWasMadeOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, &dynamotest.Config{IndexLag: 4 * time.Second})
		table := create(t, db)
		for second, want := range []int{0, 0, 3, 3, 3, 3, 3, 4, 5} {
			if err := put(t.Context(), db.Client(), table, order("ann", second)); err != nil {
				t.Fatal(err)
			}
			attribute, value := "day", "2026-03-29"
			if second == 2 {
				dropIndex(t, db.Client(), table)
				makeIndex(t, db.Client(), table, "customer")
			}
			if second >= 2 {
				attribute, value = "customer", "ann"
			}
			if got := indexed(t, db, table, attribute, value); got != want {
				t.Errorf("second %d: the index shows %d, want %d", second, got, want)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestAHoldEndsWithItsIndex(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	put1 := func(number int) {
		t.Helper()
		if err := put(t.Context(), db.Client(), table, order("ann", number)); err != nil {
			t.Fatal(err)
		}
	}
	put1(1)
	first, err := db.Server().HoldIndex(table, "by-day")
	if err != nil {
		t.Fatal(err)
	}
	put1(2)
	dropIndex(t, db.Client(), table)
	makeIndex(t, db.Client(), table, "customer")
	if n := indexed(t, db, table, "customer", "ann"); n != 2 {
		t.Errorf("the new index shows %d of 2", n)
	}
	if _, err := db.Server().HoldIndex(table, "by-day"); err != nil {
		t.Fatal(err)
	}
	put1(3)
	first()
	if n := indexed(t, db, table, "customer", "ann"); n != 2 {
		t.Errorf("the release of an index that is gone lets %d be seen", n)
	}
	// A change of the index's settings does not make a new index.
	_, err = db.Client().UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: &table, GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{
		Update: &types.UpdateGlobalSecondaryIndexAction{IndexName: aws.String("by-day"), OnDemandThroughput: &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(5)}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := indexed(t, db, table, "customer", "ann"); n != 2 {
		t.Errorf("after UpdateTable %d are seen", n)
	}
}

// A new table with the name of a held one is not held, and the old release does
// not affect it.
func TestAHoldEndsWithItsTable(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(t *testing.T, srv *dynamotest.Server){
		"created": func(t *testing.T, srv *dynamotest.Server) {
			if _, err := srv.Client().DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")}); err != nil {
				t.Fatal(err)
			}
			if err := schema.Create(t.Context(), srv.Client(), orders("orders")); err != nil {
				t.Fatal(err)
			}
		},
		"restored": func(_ *testing.T, srv *dynamotest.Server) { srv.Restore(seeded(context.Background(), 0).Snapshot()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := seeded(t.Context(), 1)
			holds := func() (release func()) {
				reads, err := srv.HoldReads("orders")
				if err != nil {
					t.Fatal(err)
				}
				index, err := srv.HoldIndex("orders", "by-day")
				if err != nil {
					t.Fatal(err)
				}
				return func() { reads(); index() }
			}
			check := func(when, want string) {
				t.Helper()
				consistent, eventual, index, _, _ := seen(t, srv.Client(), "orders", orderKey("ann", 1))
				if got := fmt.Sprint(consistent, eventual, index); got != want {
					t.Errorf("%s: sees %s, want %s", when, got, want)
				}
			}
			old := holds()
			replace(t, srv)
			check("empty", "0 0 0")
			release := holds()
			if err := put(t.Context(), srv.Client(), "orders", order("bo", 1)); err != nil {
				t.Fatal(err)
			}
			old()
			check("held", "1 0 0")
			release()
			check("released", "1 1 1")
		})
	}
}

// A reader of a local index sees one version of it and of its table, even if
// the clock goes on between its two looks.
func TestALocalIndexLagsWithItsTable(t *testing.T) {
	t.Parallel()
	for start := range 4 {
		t.Run(fmt.Sprint("start ", start), func(t *testing.T) {
			t.Parallel()
			var looks atomic.Int64
			looks.Store(int64(start))
			now := func() time.Time {
				return time.Unix(1_800_000_000, 0).Add(time.Duration(looks.Add(1)) * time.Millisecond)
			}
			db := lagging(t, &dynamotest.Config{Now: now, ReadLag: 50 * time.Millisecond})
			if err := put(t.Context(), db.Client(), "orders", order("ann", 1)); err != nil {
				t.Fatal(err)
			}
			found := false
			for i := 0; !found && i < 100; i++ {
				out, err := once(db.Client()).Query(t.Context(), &dynamodb.QueryInput{
					TableName: aws.String("orders"), IndexName: aws.String("local"), Select: types.SelectAllAttributes,
					KeyConditionExpression:    aws.String("customer = :c"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":c": &types.AttributeValueMemberS{Value: "ann"}},
				})
				if err != nil {
					t.Fatal(err)
				}
				found = out.Count == 1
			}
			if !found {
				t.Error("never seen")
			}
		})
	}
}

// A loaded table is complete at once, for lagging readers, too.
func TestALoadedTableDoesNotLag(t *testing.T) {
	t.Parallel()
	var dump bytes.Buffer
	if err := seeded(t.Context(), 3).Dump(&dump); err != nil {
		t.Fatal(err)
	}
	var looks atomic.Int64
	now := func() time.Time {
		return time.Unix(1_800_000_000, 0).Add(time.Duration(looks.Add(1)) * time.Millisecond)
	}
	srv := dynamotest.NewServer(&dynamotest.Config{Now: now, ReadLag: time.Hour, IndexLag: time.Hour})
	if err := srv.Load(&dump); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintln(seen(t, srv.Client(), "orders", orderKey("ann", 1))); got != "3 3 3 1 1\n" {
		t.Errorf("sees %s", got)
	}
}

// Puts, holds, releases, new indexes and time in any order: items that were
// seen stay visible, and items that are not held are visible when their lag is
// over.
func TestWhatWasSeenStaysInSight(t *testing.T) {
	t.Parallel()
	const lag = 5 * time.Second
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			now := time.Unix(1_800_000_000, 0)
			db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }, ReadLag: lag / 2, IndexLag: lag})
			table := create(t, db)
			var before [2]int // seen in the table, in the index
			releases := [2]func(){func() {}, func() {}}
			for step := range 100 {
				now = now.Add(time.Duration(random.IntN(2000)) * time.Millisecond)
				if err := put(t.Context(), db.Client(), table, order("ann", step)); err != nil {
					t.Fatal(err)
				}
				var err error
				switch random.IntN(8) {
				case 0:
					releases[0], err = db.Server().HoldReads(table)
				case 1:
					releases[1], err = db.Server().HoldIndex(table, "by-day")
				case 2, 3:
					releases[random.IntN(2)]()
				case 4:
					dropIndex(t, db.Client(), table)
					makeIndex(t, db.Client(), table, "day")
				}
				if err != nil {
					t.Fatal(err)
				}
				_, eventual, index, _, _ := seen(t, db.Client(), table, orderKey("ann", 0))
				if eventual < before[0] || index < before[1] {
					t.Fatalf("step %d: %d and %d are seen, before it %v", step, eventual, index, before)
				}
				before = [2]int{eventual, index}
			}
			releases[0]()
			releases[1]()
			now = now.Add(lag)
			if got := fmt.Sprintln(seen(t, db.Client(), table, orderKey("ann", 0))); got != "100 100 100 1 1\n" {
				t.Errorf("at last: %s", got)
			}
		})
	}
}
