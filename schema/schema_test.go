package schema_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

func ExampleCreate() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	orders := schema.Table{
		Name: "orders",
		Key:  schema.Key{Partition: schema.String("customer"), Sort: schema.Number("number")},
		Indexes: []schema.Index{{
			Name: "by-day",
			Key:  schema.Key{Partition: schema.String("day")},
		}},
		TTL: "expiresAt",
	}
	for range 2 { // the second call finds everything standing
		if err := schema.Create(ctx, db, orders); err != nil {
			log.Fatal(err)
		}
	}
	out, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*out.Table.TableName, out.Table.TableStatus, *out.Table.GlobalSecondaryIndexes[0].IndexName)
	// Output: orders ACTIVE by-day
}

func ExampleMerge() {
	key := schema.Key{Partition: schema.String("pk"), Sort: schema.String("sk")}
	byName := schema.Index{Name: "GSI1", Key: schema.Key{Partition: schema.String("gsi1pk"), Sort: schema.String("gsi1sk")}}
	tables, err := schema.Merge(
		schema.Table{Name: "homeops", Key: key},
		schema.Table{Name: "homeops", Key: key, Indexes: []schema.Index{byName}},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(tables), tables[0].Key, len(tables[0].Indexes))

	_, err = schema.Merge(
		schema.Table{Name: "homeops", Key: key},
		schema.Table{Name: "homeops", Key: byName.Key},
	)
	fmt.Println(err)
	// Output:
	// 1 (pk S, sk S) 1
	// schema: table homeops is defined with two different keys, (pk S, sk S) and (gsi1pk S, gsi1sk S)
}

func table(name string) schema.Table {
	return schema.Table{
		Name: name,
		Key:  schema.Key{Partition: schema.String("chatId"), Sort: schema.Number("messageId")},
		Indexes: []schema.Index{
			{Name: "by-user", Key: schema.Key{Partition: schema.Number("userId"), Sort: schema.Number("timestamp")}},
		},
		TTL: "ttl",
	}
}

func TestCreateMakesWhatTheValueSays(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	want := table(db.Name("messages"))
	if err := schema.Create(t.Context(), db.Client(), want); err != nil {
		t.Fatal(err)
	}
	out, err := db.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(want.Name)})
	if err != nil {
		t.Fatal(err)
	}
	in := want.Input()
	if diff := cmp.Diff(in.KeySchema, out.Table.KeySchema, cmp.Exporter(anyType)); diff != "" {
		t.Error("key", diff)
	}
	index := out.Table.GlobalSecondaryIndexes[0]
	if diff := cmp.Diff(in.GlobalSecondaryIndexes[0].KeySchema, index.KeySchema, cmp.Exporter(anyType)); diff != "" {
		t.Error("index", diff)
	}
	if out.Table.BillingModeSummary.BillingMode != types.BillingModePayPerRequest || index.Projection.ProjectionType != types.ProjectionTypeAll {
		t.Errorf("billing %v, projection %v", out.Table.BillingModeSummary, index.Projection)
	}
	ttl, err := db.Client().DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(want.Name)})
	if err != nil {
		t.Fatal(err)
	}
	if got := ttl.TimeToLiveDescription; aws.ToString(got.AttributeName) != "ttl" || got.TimeToLiveStatus != types.TimeToLiveStatusEnabled {
		t.Errorf("TTL: %v %v", aws.ToString(got.AttributeName), got.TimeToLiveStatus)
	}
}

func TestCreateBySeveralAtOnce(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	want := table(db.Name("messages"))
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = schema.Create(t.Context(), db.Client(), want) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestCreateAfterALostReply(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"CreateTable", "DescribeTable", "DescribeTimeToLive", "UpdateTimeToLive"} {
		db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: op})
		if err := schema.Create(t.Context(), db.Client(), table(db.Name("messages"))); err != nil {
			t.Errorf("%s lost its reply: %v", op, err)
		}
	}
}

func TestCreateRefusesAnotherTable(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	stands := table(db.Name("messages"))
	if err := schema.Create(t.Context(), db.Client(), stands); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*schema.Table){
		"its key is (chatId S, messageId N), not (chatId S, messageId S)": func(t *schema.Table) { t.Key.Sort = schema.String("messageId") },
		"it has no index by-day": func(t *schema.Table) { t.Indexes[0].Name = "by-day" },
		"its index by-user is (userId N, timestamp N), not (userId N, at N)": func(t *schema.Table) { t.Indexes[0].Key.Sort.Name = "at" },
		"its TTL is ttl, not expiresAt":                                      func(t *schema.Table) { t.TTL = "expiresAt" },
	} {
		other := table(stands.Name)
		change(&other)
		err := schema.Create(t.Context(), db.Client(), other)
		mismatch, ok := errors.AsType[*schema.MismatchError](err)
		if !ok || !strings.Contains(mismatch.Error(), want) {
			t.Errorf("got %v, want a MismatchError saying %q", err, want)
		}
	}
	stands.Indexes, stands.TTL = nil, ""
	if err := schema.Create(t.Context(), db.Client(), stands); err != nil {
		t.Errorf("an index and a TTL more than the definition names: %v", err)
	}
}

func TestCreateEndsWithItsContext(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := schema.Create(ctx, db.Client(), table(db.Name("messages"))); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	with, without := table(db.Name("with")), table(db.Name("without"))
	without.TTL = ""
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Create", Call: func(ctx context.Context) error { return schema.Create(ctx, db.Client(), without) }},
		{Func: "Verify", Call: func(ctx context.Context) error { return schema.Verify(ctx, db.Client(), without) }},
		{Func: "Diff", Call: func(ctx context.Context) error { _, err := schema.Diff(ctx, db.Client(), without); return err }},
	})
	db.Meter(func() {
		if err := schema.Create(t.Context(), db.Client(), with); err != nil {
			t.Error(err)
		}
	}).Want(t, dynamotest.Price{Requests: 4})
	db.Meter(func() {
		if err := schema.Verify(t.Context(), db.Client(), with, without); err != nil {
			t.Error(err)
		}
	}).Want(t, dynamotest.Price{Requests: 3})
}

// Contradictions are found before the first request.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*schema.Table){
		"table messages":               func(t *schema.Table) { t.Key.Sort = schema.String("other") },
		"table messages index by-user": func(t *schema.Table) { t.Indexes[0].Key.Sort.Name = "at" },
		"table messages index again key timestamp": func(t *schema.Table) {
			t.Indexes = append(t.Indexes, schema.Index{Name: "again", Key: schema.Key{Partition: schema.String("timestamp")}})
		},
		"table":                func(t *schema.Table) { t.Name = "m" },
		"table messages index": func(t *schema.Table) { t.Indexes[0].Name = "å å" },
	} {
		other := table("messages")
		change(&other)
		db := dynamotest.New(t, nil)
		var err error
		cost := db.Meter(func() { err = schema.Create(t.Context(), db.Client(), table("messages"), other) })
		recordtest.WantBad(t, err, "schema", field)
		cost.Want(t, dynamotest.Price{})
	}
}

// Who meets a contradiction is told both sides, whichever names them.
func TestMismatchesNameBothKeys(t *testing.T) {
	t.Parallel()
	one, sort, index := table("messages"), table("messages"), table("messages")
	sort.Key.Sort = schema.Attribute{}
	index.Indexes[0].Key.Sort = schema.Attribute{}
	db := dynamotest.New(t, nil)
	if err := schema.Create(t.Context(), db.Client(), one); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		other    schema.Table
		one, two string
	}{
		{sort, "(chatId S, messageId N)", "(chatId S)"},
		{index, "(userId N, timestamp N)", "(userId N)"},
	} {
		_, err := schema.Merge(one, c.other)
		for call, err := range map[string]error{"Merge": err, "Create": schema.Create(t.Context(), db.Client(), c.other)} {
			if err == nil || !strings.Contains(err.Error(), c.one) || !strings.Contains(err.Error(), c.two) {
				t.Errorf("%s: got %v, which does not name both %s and %s", call, err, c.one, c.two)
			}
		}
	}
}

// What DynamoDB would refuse of one definition alone.
func TestMergeRefusesATable(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*schema.Table){
		"table messages index by-user":        func(t *schema.Table) { t.Indexes = append(t.Indexes, t.Indexes[0]) },
		"table messages":                      func(t *schema.Table) { t.Key.Sort = t.Key.Partition },
		"table messages key":                  func(t *schema.Table) { t.Key.Partition.Name = "" },
		"table messages key messageId":        func(t *schema.Table) { t.Key.Sort.Type = types.ScalarAttributeType("BOOL") },
		"table messages index by-user key":    func(t *schema.Table) { t.Indexes[0].Key.Partition.Name = "" },
		"table messages index by-user key at": func(t *schema.Table) { t.Indexes[0].Key.Sort = schema.Attribute{Name: "at"} },
	} {
		refused := table("messages")
		change(&refused)
		merged, err := schema.Merge(refused)
		recordtest.WantBad(t, err, "schema", field)
		if merged != nil {
			t.Errorf("Merge = %v beside the error of %q", merged, field)
		}
	}
}

// An attribute of several keys is defined once, or DynamoDB refuses the table.
func TestInputDefinesAnAttributeOnce(t *testing.T) {
	t.Parallel()
	shared := table("messages")
	shared.Indexes[0].Key.Sort = shared.Key.Sort
	var names []string
	for _, def := range shared.Input().AttributeDefinitions {
		names = append(names, *def.AttributeName)
	}
	if diff := cmp.Diff([]string{"chatId", "messageId", "userId"}, names); diff != "" {
		t.Error(diff)
	}
}

// A contradiction is said with both sides of it, so that one need not look for
// the two stores.
func TestMergeNamesBothSides(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(one, two *schema.Table){
		"two different keys, (chatId S, messageId N) and (chatId S)": func(_, two *schema.Table) { two.Key.Sort = schema.Attribute{} },
		"two different keys, (userId N, timestamp N) and (userId N)": func(_, two *schema.Table) { two.Indexes[0].Key.Sort = schema.Attribute{} },
		"two different settings of its TTL attribute, ttl and other": func(_, two *schema.Table) { two.TTL = "other" },
		"two different settings of its KMS key, alias/a and alias/b": func(one, two *schema.Table) { one.KMSKey, two.KMSKey = "alias/a", "alias/b" },
	} {
		one, two := table("messages"), table("messages")
		change(&one, &two)
		merged, err := schema.Merge(one, two)
		if bad, ok := errors.AsType[*event.InputError](err); !ok || !strings.HasSuffix(bad.Reason, want) || merged != nil {
			t.Errorf("Merge = %v, %v, want an InputError that says %q", merged, err, want)
		}
	}
}

// What one definition asks for is asked for, whichever names it.
func TestMergeUnitesSettings(t *testing.T) {
	t.Parallel()
	bare, full := table("messages"), table("messages")
	bare.TTL, bare.Indexes = "", nil
	full.PointInTimeRecovery, full.DeletionProtection, full.Retain, full.KMSKey = true, true, true, "alias/ours"
	for name, tables := range map[string][]schema.Table{"first": {full, bare}, "last": {bare, full}, "both": {full, full}} {
		merged, err := schema.Merge(tables...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]schema.Table{full}, merged); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMergeLeavesItsArgumentsAlone(t *testing.T) {
	t.Parallel()
	first, second := table("messages"), table("messages")
	first.Indexes = append(make([]schema.Index, 0, 2), first.Indexes...) // with room for another
	second.Indexes[0].Name = "by-other"
	merged, err := schema.Merge(first, second)
	if err != nil {
		t.Fatal(err)
	}
	if room := first.Indexes[:2]; len(merged) != 1 || len(merged[0].Indexes) != 2 || room[1] != (schema.Index{}) {
		t.Errorf("merged %v, first %v", merged, room)
	}
}

// Errors name the function that was called, whatever request met them.
func TestErrorsNameCreate(t *testing.T) {
	t.Parallel()
	for _, op := range []string{
		"CreateTable", "DescribeTable", "DescribeTimeToLive", "UpdateTimeToLive", "DescribeContinuousBackups", "UpdateContinuousBackups",
	} {
		db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: op, Times: -1})
		want := table(db.Name("messages"))
		want.PointInTimeRecovery = true
		err := schema.Create(t.Context(), db.Client(), want)
		if err == nil || !strings.HasPrefix(err.Error(), "schema: Create on table "+want.Name+": ") || !strings.Contains(err.Error(), op) {
			t.Errorf("%s is lost: %v", op, err)
		}
	}
}

func anyType(reflect.Type) bool { return true }
