package schema_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

func ExampleDiff() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	orders := schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("customer"), Sort: schema.Number("number")}}
	if err := schema.Create(ctx, db, orders); err != nil {
		log.Fatal(err)
	}
	orders.Key.Sort = schema.String("number")
	orders.TTL = "expiresAt"
	differences, err := schema.Diff(ctx, db, orders)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range differences {
		fmt.Printf("%s (in place: %t: %s)\n", d, d.InPlace, d.How)
	}
	fmt.Println(schema.Verify(ctx, db, schema.Table{Name: "carts", Key: orders.Key}))
	// Output:
	// its key is (customer S, number N), not (customer S, number S) (if only names differ, set Config.Names) (in place: false: never: make another table and move the items)
	// it has no TTL (in place: true: UpdateTimeToLive: one change an hour, and it may take that hour)
	// schema: table carts differs: it does not exist
}

// differs holds Diff to the differences, of which How must say something, and Verify
// to an error of those that are not tolerated.
func differs(t *testing.T, name string, reader schema.Reader, table schema.Table, want ...schema.Difference) {
	t.Helper()
	var lacking []schema.Difference
	for i := range want {
		want[i].Table = table.Name
		if !want[i].Tolerated {
			lacking = append(lacking, want[i])
		}
	}
	got, err := schema.Diff(t.Context(), reader, table)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	withoutHow := cmpopts.IgnoreFields(schema.Difference{}, "How")
	if diff := cmp.Diff(want, got, withoutHow, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
	for _, d := range got {
		if how := howTo(d); !strings.HasPrefix(d.How, how) {
			t.Errorf("%s: %s: how is %q, want %q", name, d, d.How, how)
		}
	}
	err = schema.Verify(t.Context(), reader, table)
	mismatch, _ := errors.AsType[*schema.MismatchError](err)
	if len(lacking) == 0 {
		if err != nil {
			t.Errorf("%s: Verify: %v", name, err)
		}
	} else if mismatch == nil || cmp.Diff(lacking, mismatch.Differences, withoutHow) != "" {
		t.Errorf("%s: Verify = %v, want %v", name, err, lacking)
	}
}

// howTo is how the words begin that say how a difference goes.
func howTo(d schema.Difference) string {
	switch {
	case d.What == "table":
		return "create it"
	case d.What == "status" && d.Got == "DELETING":
		return "wait until it is gone"
	case strings.HasPrefix(d.What, "status") && d.InPlace && d.Got != "DELETING":
		return "wait"
	case d.What == "status":
		return "it does not pass by itself"
	case d.Got == "not known to this endpoint":
		return "not here"
	case !d.InPlace:
		return "never"
	case d.What == "TTL" && d.Want != "" && d.Got != "":
		return "UpdateTimeToLive twice"
	case d.What == "TTL":
		return "UpdateTimeToLive: one change an hour"
	case d.What == "point-in-time recovery":
		return "UpdateContinuousBackups"
	case strings.Contains(d.What, "index") && !strings.HasPrefix(d.What, "status") && d.Want != "" && d.Got != "":
		return "UpdateTable twice"
	case d.What == "billing mode":
		return "UpdateTable; to PAY_PER_REQUEST"
	}
	return "UpdateTable, "
}

// What another definition has to say of a table that stands.
func TestDiffNamesEachDifference(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	stands := table(db.Name("messages"))
	stands.Indexes = append(stands.Indexes, schema.Index{Name: "by-day", Key: schema.Key{Partition: schema.String("day")}})
	if err := schema.Create(t.Context(), db.Client(), stands); err != nil {
		t.Fatal(err)
	}
	const pk = "(chatId S, messageId N)"
	for name, tc := range map[string]struct {
		change func(*schema.Table)
		want   []schema.Difference
	}{
		"nothing": {func(*schema.Table) {}, nil},
		"another key": {func(t *schema.Table) { t.Key.Sort.Name = "id" }, []schema.Difference{
			{What: "key", Want: "(chatId S, id N)", Got: pk},
		}},
		"another index": {func(t *schema.Table) { t.Indexes[1].Name = "by-date" }, []schema.Difference{
			{What: "index by-date", Want: "(day S)", InPlace: true},
			{What: "index by-day", Got: "(day S)", Tolerated: true, InPlace: true},
		}},
		"no index": {func(t *schema.Table) { t.Indexes = nil }, []schema.Difference{
			{What: "index by-day", Got: "(day S)", Tolerated: true, InPlace: true},
			{What: "index by-user", Got: "(userId N, timestamp N)", Tolerated: true, InPlace: true},
		}},
		"another type of an attribute of the table's key": {
			func(t *schema.Table) {
				t.Key.Sort.Type = types.ScalarAttributeTypeS
				t.Indexes = append(t.Indexes, schema.Index{Name: "by-id", Key: schema.Key{Partition: t.Key.Sort}})
			},
			[]schema.Difference{
				{What: "key", Want: "(chatId S, messageId S)", Got: pk},
				{What: "index by-id", Want: "(messageId S)"},
			},
		},
		"an attribute of the table's key": {
			func(t *schema.Table) {
				t.Indexes = append(t.Indexes, schema.Index{Name: "by-id", Key: schema.Key{Partition: t.Key.Sort}})
			},
			[]schema.Difference{{What: "index by-id", Want: "(messageId N)", InPlace: true}},
		},
		"another TTL": {func(t *schema.Table) { t.TTL = "expiresAt" }, []schema.Difference{
			{What: "TTL", Want: "expiresAt", Got: "ttl", InPlace: true},
		}},
		"encryption": {func(t *schema.Table) { t.KMSKey = "alias/aws/dynamodb" }, []schema.Difference{
			{What: "KMS key", Want: "alias/aws/dynamodb", InPlace: true},
		}},
		"what is the stack's": {func(t *schema.Table) { t.Retain = true }, nil},
	} {
		other := stands
		other.Indexes = append([]schema.Index{}, stands.Indexes...)
		tc.change(&other)
		differs(t, name, db.Client(), other, tc.want...)
	}
}

func TestBackupsDiffer(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	off, on := table("backups-off"), table("backups-on")
	on.PointInTimeRecovery = true
	if err := schema.Create(t.Context(), db.Client(), off, on); err != nil {
		t.Fatal(err)
	}
	without := fake(db.Client(), map[string][]answer{"DescribeContinuousBackups": {unknown}})
	differs(t, "unknown, and not asked for", without, off)
	differs(t, "unknown", without, on, schema.Difference{What: "point-in-time recovery", Want: "on", Got: "not known to this endpoint"})
	off.PointInTimeRecovery, on.PointInTimeRecovery = true, false
	differs(t, "off", db.Client(), off, schema.Difference{What: "point-in-time recovery", Want: "on", InPlace: true})
	differs(t, "on", db.Client(), on, schema.Difference{What: "point-in-time recovery", Got: "on", Tolerated: true, InPlace: true})
}

// What a definition cannot ask for, and a table made by hand may have.
func TestTablesMadeByHand(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	want := table(db.Name("messages"))
	in := want.Input()
	in.BillingMode = types.BillingModeProvisioned
	in.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)}
	in.GlobalSecondaryIndexes[0].ProvisionedThroughput = in.ProvisionedThroughput
	in.GlobalSecondaryIndexes[0].Projection = &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"text", "data"}}
	in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{
		IndexName: aws.String("by-time"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("chatId"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("timestamp"), KeyType: types.KeyTypeRange},
		},
	}}
	if _, err := db.Client().CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	want.TTL = ""
	byHand := func(projectionInPlace bool, first ...schema.Difference) []schema.Difference {
		return append(
			first,
			schema.Difference{What: "projection of index by-user", Want: "ALL", Got: "INCLUDE (text, data)", InPlace: projectionInPlace},
			schema.Difference{What: "local index by-time", Got: "(chatId S, timestamp N)", Tolerated: true},
			schema.Difference{What: "billing mode", Want: "PAY_PER_REQUEST", Got: "PROVISIONED", Tolerated: true, InPlace: true},
		)
	}
	differs(t, "by hand", db.Client(), want, byHand(true)...)
	// The local index fixes the type of its attribute, too.
	want.Indexes[0].Key.Sort.Type = types.ScalarAttributeTypeS
	differs(t, "a type that cannot be had", db.Client(), want,
		byHand(false, schema.Difference{What: "index by-user", Want: "(userId N, timestamp S)", Got: "(userId N, timestamp N)"})...)
}

// A client that nobody has made, and a nil store, are bad input.
func TestNil(t *testing.T) {
	t.Parallel()
	var none *dynamodb.Client
	var store *other
	recordtest.WantBad(t, schema.Create(t.Context(), none), "schema", "api")
	recordtest.WantBad(t, schema.Verify(t.Context(), none, table("messages")), "schema", "api")
	_, err := schema.Policy(nil)
	recordtest.WantBad(t, err, "schema", "stores")
	_, err = schema.OperatorPolicy(store)
	recordtest.WantBad(t, err, "schema", "stores")
}

// The tables of a service are named one after the other.
func TestMismatchesOfSeveralTables(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	one, two, three := table("one"), table("two"), table("three")
	two.DeletionProtection = true
	if err := schema.Create(t.Context(), db.Client(), one, two); err != nil {
		t.Fatal(err)
	}
	one.DeletionProtection, one.TTL, two.Indexes, two.DeletionProtection = true, "other", nil, false
	err := schema.Verify(t.Context(), db.Client(), one, two, three)
	const want = "schema: table one differs: it has no deletion protection; its TTL is ttl, not other; table three differs: it does not exist"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	differences, err := schema.Diff(t.Context(), db.Client(), one, two, three)
	if err != nil || len(differences) != 5 || differences[2].String() != "beyond its definition it has index by-user (userId N, timestamp N)" ||
		differences[3].String() != "beyond its definition it has deletion protection" {
		t.Errorf("%v, %v", differences, err)
	}
}
