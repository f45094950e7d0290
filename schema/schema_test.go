package schema_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"
	"time"

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
	fmt.Println(schema.Verify(ctx, db, orders))
	// Output: <nil>
}

// A program that makes its tables itself.
func ExampleTable_TTLInput() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	orders := schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("id")}, TTL: "expiresAt"}
	_, err1 := db.CreateTable(ctx, orders.Input())
	err2 := dynamodb.NewTableExistsWaiter(db).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &orders.Name}, time.Minute)
	_, err3 := db.UpdateTimeToLive(ctx, orders.TTLInput()) // nil for a table without a TTL
	fmt.Println(errors.Join(err1, err2, err3), schema.Verify(ctx, db, orders))
	// Output: <nil> <nil>
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

func TestCreateRefusesAnotherTable(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	stands := table(db.Name("messages"))
	if err := schema.Create(t.Context(), db.Client(), stands); err != nil {
		t.Fatal(err)
	}
	other := table(stands.Name)
	other.Key.Sort, other.Indexes[0].Key.Sort.Name = schema.String("messageId"), "at"
	wantMismatch(
		t, schema.Create(t.Context(), db.Client(), other),
		"its key is (chatId S, messageId N), not (chatId S, messageId S) (if only names differ, set Config.Names); its index by-user is (userId N, timestamp N), not (userId N, at N)",
	)
	stands.Indexes, stands.TTL = nil, ""
	if err := schema.Create(t.Context(), db.Client(), stands); err != nil {
		t.Errorf("an index and a TTL more than the definition names: %v", err)
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

// What DynamoDB would refuse of two definitions, or of the second alone, is found before
// a client is asked for.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*schema.Table){
		"table messages":               func(t *schema.Table) { t.Key.Sort = schema.String("other") },
		"table messages index by-user": func(t *schema.Table) { t.Indexes[0].Key.Sort.Name = "at" },
		"table messages index again key timestamp": func(t *schema.Table) {
			t.Indexes = append(t.Indexes, schema.Index{Name: "again", Key: schema.Key{Partition: schema.String("timestamp")}})
		},
		"table":                            func(t *schema.Table) { t.Name = "m" },
		"table messages index":             func(t *schema.Table) { t.Indexes[0].Name = "å å" },
		"table other index by-user":        func(t *schema.Table) { t.Indexes = append(t.Indexes, t.Indexes[0]) },
		"table other TTL":                  func(t *schema.Table) { t.TTL = "a\xff" },
		"table other KMS key":              func(t *schema.Table) { t.KMSKey = "a\xff" },
		"table other":                      func(t *schema.Table) { t.Key.Sort = t.Key.Partition },
		"table other key":                  func(t *schema.Table) { t.Key.Partition.Name = "" },
		"table other key messageId":        func(t *schema.Table) { t.Key.Sort.Type = types.ScalarAttributeType("BOOL") },
		"table other index by-user key":    func(t *schema.Table) { t.Indexes[0].Key.Partition.Name = "" },
		"table other index by-user key at": func(t *schema.Table) { t.Indexes[0].Key.Sort = schema.Attribute{Name: "at"} },
	} {
		name := "messages"
		if strings.HasPrefix(field, "table other") {
			name = "other"
		}
		other := table(name)
		change(&other)
		recordtest.WantBad(t, schema.Create(t.Context(), nil, table("messages"), other), "schema", field)
		differences, err := schema.Diff(t.Context(), nil, table("messages"), other)
		recordtest.WantBad(t, err, "schema", field)
		if differences != nil {
			t.Errorf("%v beside the error of %q", differences, field)
		}
	}
}

// A contradiction is said with both sides of it, so that one need not look for
// the two stores.
func TestMergeNamesBothSides(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(one, two *schema.Table){
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
	if room := first.Indexes[:2]; err != nil || len(merged[0].Indexes) != 2 || room[1] != (schema.Index{}) {
		t.Errorf("merged %v, %v, first %v", merged, err, room)
	}
}

// Errors name the function that was called, whatever request met them.
func TestErrorsNameTheFunction(t *testing.T) {
	t.Parallel()
	for _, op := range []string{
		"CreateTable", "DescribeTable", "DescribeTimeToLive", "UpdateTimeToLive", "DescribeContinuousBackups", "UpdateContinuousBackups",
	} {
		db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: op, Times: -1})
		want := table("messages")
		want.PointInTimeRecovery = true
		errs := map[string]error{"Create": schema.Create(t.Context(), db.Client(), want)}
		if strings.HasPrefix(op, "Describe") {
			_, errs["Diff"] = schema.Diff(t.Context(), db.Client(), want)
			errs["Verify"] = schema.Verify(t.Context(), db.Client(), want)
		}
		for call, err := range errs {
			if err == nil || !strings.HasPrefix(err.Error(), "schema: "+call+" on table messages: ") || !strings.Contains(err.Error(), op) {
				t.Errorf("%s is lost: %s: %v", op, call, err)
			}
		}
	}
}
