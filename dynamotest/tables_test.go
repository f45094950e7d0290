package dynamotest_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

var ordersTable = schema.Table{
	Name: "orders",
	Key:  schema.Key{Partition: schema.String("pk"), Sort: schema.String("sk")},
	TTL:  "ttl",
}

func byDay(t schema.Table) schema.Table {
	t.TTL = ""
	t.Indexes = []schema.Index{{Name: "by-day", Key: schema.Key{Partition: schema.String("day")}}}
	return t
}

// The table has what all its definitions ask for. Package schema merges them in
// the same way, and finds nothing missing.
func TestCreate(t *testing.T) {
	db := dynamotest.Open(t)
	one, two := ordersTable, byDay(ordersTable)
	one.Name, two.Name = db.Name("orders"), db.Name("orders")
	other := schema.Table{Name: db.Name("other"), Key: schema.Key{Partition: schema.Number("n")}}
	db.Create(one, other, two)
	if err := schema.Create(t.Context(), db.Client(), one, two, other); err != nil {
		t.Error(err)
	}
	ttl, err := db.Client().DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &one.Name})
	if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != "ttl" {
		t.Errorf("TTL: %v, %v", ttl, err)
	}
	db.Create() // nothing
}

// failure returns the message of a test that fails at once.
func failure(t *testing.T, test func(*dynamotest.DB)) string {
	t.Helper()
	r, ended := &recorder{TB: t}, make(chan bool)
	go func() {
		defer close(ended)
		test(dynamotest.New(r, nil))
		t.Error("the test went on")
	}()
	<-ended
	r.finish()
	return strings.Join(r.errors, "\n")
}

// A table that cannot be created fails the test at once, with the reason.
func TestCreateFailsTheTest(t *testing.T) {
	otherKey, otherTTL, otherIndex := ordersTable, ordersTable, byDay(ordersTable)
	otherKey.Key.Sort = schema.Number("sk")
	otherTTL.TTL = "expires"
	otherIndex.Indexes[0].Key.Partition = schema.String("sk")
	otherType := byDay(ordersTable)
	otherType.Indexes[0].Key.Partition = schema.Number("day")
	for want, tables := range map[string][]dynamotest.Table{
		"table orders is defined once with the key pk (S), sk (S), and once with pk (S), sk (N)":       {ordersTable, otherKey},
		"table orders is defined with two TTL attributes, ttl and expires":                             {ordersTable, otherTTL},
		"table orders is defined with an index by-day that once has the key day (S), and once sk (S)":  {byDay(ordersTable), ordersTable, otherIndex},
		"table orders is defined with an index by-day that once has the key day (S), and once day (N)": {byDay(ordersTable), otherType},
		"Create of table stands: it exists already, with the key pk (S), sk (S): ":                     {schema.Table{Name: "stands", Key: ordersTable.Key}},
		"table stands: it exists already, with the key pk (S), sk (S), and not with pk (S), sk (N): ":  {schema.Table{Name: "stands", Key: otherKey.Key}},
	} {
		got := failure(t, func(db *dynamotest.DB) {
			db.Create(schema.Table{Name: "stands", Key: ordersTable.Key})
			db.Create(tables...)
		})
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestItems(t *testing.T) {
	db := dynamotest.Open(t)
	table := schema.Table{Name: db.Name("orders"), Key: ordersTable.Key}
	db.Create(table)
	if items := db.Items(table.Name); len(items) != 0 {
		t.Errorf("%d items in an empty table", len(items))
	}
	for _, sk := range []string{"b", "a", "c"} {
		_, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table.Name, Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "x"}, "sk": &types.AttributeValueMemberS{Value: sk},
			"note": &types.AttributeValueMemberS{Value: strings.Repeat("x", 390<<10)}, // three pages
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, item := range db.Items(table.Name) {
		got = append(got, item["sk"].(*types.AttributeValueMemberS).Value)
	}
	if strings.Join(got, "") != "abc" {
		t.Errorf("items %q", got)
	}
}

func TestItemsFailsTheTest(t *testing.T) {
	if got := failure(t, func(db *dynamotest.DB) { db.Items("nowhere") }); !strings.Contains(got, "Items of table nowhere: ") {
		t.Errorf("got %q", got)
	}
}
