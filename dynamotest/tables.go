package dynamotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is the definition of a table: the requests that create it. schema.Table
// of this module implements Table.
type Table interface {
	Input() *dynamodb.CreateTableInput
	TTLInput() *dynamodb.UpdateTimeToLiveInput // nil if nothing expires
}

// createWithin is how long Create waits for a table of an endpoint.
const createWithin = time.Minute

// Create creates the tables and waits until they are active. If it cannot create a
// table, Create fails the test at once. Create merges definitions with the same
// name and the same key: the table gets the global indexes and the TTL of all of
// them, and its other settings from the first. So if stores share a table, pass
// the definitions of all these stores in one call. A table that exists already
// fails the test, even if it has the same definition, because it may hold old
// items. To create tables that may already exist, as a service does when it
// starts, use schema.Create of this module. A []schema.Table, such as a service's
// list of its tables, is not a []Table: schema.Create takes it. Unlike DB.Create,
// schema.Create also switches on point-in-time recovery. So after DB.Create,
// schema.Diff reports that a table lacks point-in-time recovery if the table's
// definition asks for it.
//
//	db.Create(limits.Table(), habits.Table(), efforts.Table())
//
// Rows expire by the server's clock or, on an endpoint, by the wall clock. If
// the stores use another clock, leave TTL out of the definition.
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

// requests are the requests that create a table.
type requests struct {
	create *dynamodb.CreateTableInput
	ttl    *dynamodb.UpdateTimeToLiveInput
}

// unite merges the definitions of each name, in the order in which the names
// first appear.
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
		return fmt.Errorf("once with the key %s, and once with %s", mine, theirs)
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
			return fmt.Errorf("with an index %s that once has the key %s, and once %s", *index.IndexName, mine, theirs)
		}
		if !reflect.DeepEqual(stands, index) {
			return fmt.Errorf("with two different indexes named %s", *index.IndexName)
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

// standing adds the existing table's key to CreateTable's error, and the other
// key that was asked for.
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
	return fmt.Errorf("it exists already, with the key %s%s: %w", got, text, err)
}

// Items returns all items of a table as they are stored, in the order of a Scan.
// In process, the same items always come in the same order. Items uses
// consistent reads. If a read fails, Items fails the test at once.
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
