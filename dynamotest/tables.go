package dynamotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is the definition of a table as requests. A schema.Table of this module
// is one.
type Table interface {
	Input() *dynamodb.CreateTableInput
	TTLInput() *dynamodb.UpdateTimeToLiveInput // nil if nothing expires
}

// createWithin is how long Create waits for a table of an endpoint.
const createWithin = time.Minute

// Create creates the tables and waits until they are active. It fails the test
// at once if it cannot. Definitions of one name are united as far as they have
// one key: the stores that share a table each bring theirs in one call. A table that
// exists already fails the test, also if it is the same: it would bring the items of
// before. To create what may exist, as a service does when it starts, use
// schema.Create of this module. That also switches on point-in-time recovery, which
// Create here does not: schema.Diff then names it where the definition asks for it.
//
//	db.Create(limits.Table(), habits.Table(), efforts.Table())
//
// Rows expire by the server's clock, on an endpoint by the wall clock: where the
// stores are given another one, leave TTL out of the definition.
func (db *DB) Create(tables ...Table) {
	db.t.Helper()
	united, err := unite(tables)
	if err != nil {
		db.t.Fatalf("dynamotest: Create: %v", err)
	}
	for _, table := range united {
		if err := db.create(table); err != nil {
			db.t.Fatalf("dynamotest: Create of table %s: %v", *table.create.TableName, err)
		}
	}
}

// requests are what makes a table.
type requests struct {
	create *dynamodb.CreateTableInput
	ttl    *dynamodb.UpdateTimeToLiveInput
}

// unite returns one definition for each name, in the order of first mention.
func unite(tables []Table) ([]*requests, error) {
	var united []*requests
	for _, table := range tables {
		add := &requests{table.Input(), table.TTLInput()}
		name := aws.ToString(add.create.TableName)
		at := slices.IndexFunc(united, func(r *requests) bool { return *r.create.TableName == name })
		if at < 0 {
			united = append(united, add)
			continue
		}
		if err := united[at].absorb(add); err != nil {
			return nil, fmt.Errorf("table %s is defined %w", name, err)
		}
	}
	return united, nil
}

func (r *requests) absorb(other *requests) error {
	mine := keyText(r.create.KeySchema, r.create.AttributeDefinitions)
	if theirs := keyText(other.create.KeySchema, other.create.AttributeDefinitions); mine != theirs {
		return fmt.Errorf("with two keys, %s and %s", mine, theirs)
	}
	for _, index := range other.create.GlobalSecondaryIndexes {
		at := slices.IndexFunc(r.create.GlobalSecondaryIndexes, func(x types.GlobalSecondaryIndex) bool { return *x.IndexName == *index.IndexName })
		if at < 0 {
			r.create.GlobalSecondaryIndexes = append(r.create.GlobalSecondaryIndexes, index)
			continue
		}
		stands := r.create.GlobalSecondaryIndexes[at]
		mine := keyText(stands.KeySchema, r.create.AttributeDefinitions)
		if theirs := keyText(index.KeySchema, other.create.AttributeDefinitions); mine != theirs {
			return fmt.Errorf("with two keys of its index %s, %s and %s", *index.IndexName, mine, theirs)
		}
		if !reflect.DeepEqual(stands, index) {
			return fmt.Errorf("with two indexes of the name %s", *index.IndexName)
		}
	}
	for _, attribute := range other.create.AttributeDefinitions {
		known := func(x types.AttributeDefinition) bool { return *x.AttributeName == *attribute.AttributeName }
		if !slices.ContainsFunc(r.create.AttributeDefinitions, known) {
			r.create.AttributeDefinitions = append(r.create.AttributeDefinitions, attribute)
		}
	}
	switch {
	case other.ttl == nil:
	case r.ttl == nil:
		r.ttl = other.ttl
	case attributeOf(r.ttl) != attributeOf(other.ttl):
		return fmt.Errorf("with two TTL attributes, %s and %s", attributeOf(r.ttl), attributeOf(other.ttl))
	}
	return nil
}

func attributeOf(ttl *dynamodb.UpdateTimeToLiveInput) string {
	return aws.ToString(ttl.TimeToLiveSpecification.AttributeName)
}

// keyText names the attributes of a key with their types: "pk (S), sk (S)".
func keyText(key []types.KeySchemaElement, definitions []types.AttributeDefinition) string {
	var text bytes.Buffer
	for i, element := range key {
		if i > 0 {
			text.WriteString(", ")
		}
		kind := ""
		for _, a := range definitions {
			if *a.AttributeName == *element.AttributeName {
				kind = string(a.AttributeType)
			}
		}
		fmt.Fprintf(&text, "%s (%s)", *element.AttributeName, kind)
	}
	return text.String()
}

func (db *DB) create(r *requests) error {
	ctx := context.Background()
	if _, err := db.client.CreateTable(ctx, r.create); err != nil {
		return db.standing(r.create, err)
	}
	described := &dynamodb.DescribeTableInput{TableName: r.create.TableName}
	if err := dynamodb.NewTableExistsWaiter(db.client).Wait(ctx, described, createWithin); err != nil {
		return err
	}
	if r.ttl == nil {
		return nil
	}
	_, err := db.client.UpdateTimeToLive(ctx, r.ttl)
	return err
}

// standing adds to CreateTable's error what key the table has that is in the way,
// and which other it should have had.
func (db *DB) standing(in *dynamodb.CreateTableInput, err error) error {
	if _, ok := errors.AsType[*types.ResourceInUseException](err); !ok {
		return err
	}
	out, lookErr := db.client.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: in.TableName})
	if lookErr != nil {
		return err
	}
	got, text := keyText(out.Table.KeySchema, out.Table.AttributeDefinitions), ""
	if want := keyText(in.KeySchema, in.AttributeDefinitions); got != want {
		text = ", and not with " + want
	}
	return fmt.Errorf("it stands already, with the key %s%s: %w", got, text, err)
}

// Items returns all items of a table as they are stored, in the order of a Scan:
// the same items always come in the same order. It reads consistently, and fails
// the test at once if it cannot.
func (db *DB) Items(table string) []map[string]types.AttributeValue {
	db.t.Helper()
	in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)}
	var items []map[string]types.AttributeValue
	for {
		page, err := db.client.Scan(context.Background(), in)
		if err != nil {
			db.t.Fatalf("dynamotest: Items of table %s: %v", table, err)
		}
		items = append(items, page.Items...)
		if len(page.LastEvaluatedKey) == 0 {
			return items
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// FailedAction is an action of a transaction because of which it was cancelled.
type FailedAction struct {
	Index   int    // in TransactItems
	Code    string // "ConditionalCheckFailed", "TransactionConflict", …
	Message string
	Item    map[string]types.AttributeValue // what stood there, if the action asked for it
}

// String writes "action 1: ConditionalCheckFailed: The conditional request failed",
// and the names of the attributes that stood there.
func (a FailedAction) String() string {
	text := fmt.Sprintf("action %d: %s: %s", a.Index, a.Code, a.Message)
	if len(a.Item) > 0 {
		text += fmt.Sprintf("; an item with %v stands there", slices.Sorted(maps.Keys(a.Item)))
	}
	return text
}

// FailedActions returns which actions of a cancelled transaction were at fault,
// and nil for any other error. It serves a test's messages:
//
//	t.Fatal(err, dynamotest.FailedActions(err))
func FailedActions(err error) []FailedAction {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return nil
	}
	var failed []FailedAction
	for i, reason := range cancelled.CancellationReasons {
		if code := aws.ToString(reason.Code); code != "" && code != "None" {
			failed = append(failed, FailedAction{Index: i, Code: code, Message: aws.ToString(reason.Message), Item: reason.Item})
		}
	}
	return failed
}
