package schema

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

// pkg names the package in errors.
const pkg = "schema"

// Table is the definition of a table. The table has on-demand capacity, and its
// indexes project ALL.
type Table struct {
	Name    string
	Key     Key
	Indexes []Index

	// TTL names the attribute that holds an item's expiry in Unix seconds. With "",
	// [Create] leaves the TTL of an existing table as it is. A replay of old events
	// on a real table needs TTL off, because DynamoDB compares the expiry with its
	// own clock and would delete the items.
	TTL string

	// PointInTimeRecovery keeps continuous backups. [Create] switches it on
	// also for an existing table.
	PointInTimeRecovery bool
	// DeletionProtection makes DynamoDB refuse DeleteTable. It is set when the
	// table is created. An existing table without it is a mismatch.
	DeletionProtection bool
	// Retain keeps the table and its items when its stack is deleted or replaces
	// the table. Only [CloudFormation] and [Terraform] use Retain: the deployed table
	// does not show it.
	Retain bool
	// KMSKey is the KMS key that encrypts the table: its id, its ARN, its alias or
	// its alias's ARN. It is set when the table is created. An existing table
	// without a KMS key is a mismatch. If KMSKey is an id or a key's ARN, an
	// existing table with another key is also a mismatch. If KMSKey is an alias, an
	// existing table may have any KMS key, because DynamoDB describes keys by their
	// ids. "alias/aws/dynamodb" is the key that AWS manages: the request to create
	// the table does not name this key, as DynamoDB requires. "" leaves DynamoDB's
	// own key, which costs nothing.
	KMSKey string
}

// awsManaged is the alias of the KMS key that DynamoDB takes by default.
const awsManaged = "alias/aws/dynamodb"

// Key is a primary key: a partition key and a sort key. If Sort.Name is "", the
// table or index has only a partition key.
type Key struct {
	Partition Attribute
	Sort      Attribute
}

// Index is a global secondary index. It is sparse: an item that lacks one of
// the index's key attributes is not in the index.
type Index struct {
	Name string
	Key  Key
}

// Attribute is a key attribute.
type Attribute struct {
	Name string
	Type types.ScalarAttributeType
}

// String is a key attribute of type S.
func String(name string) Attribute { return Attribute{name, types.ScalarAttributeTypeS} }

// Number is a key attribute of type N.
func Number(name string) Attribute { return Attribute{name, types.ScalarAttributeTypeN} }

// part is an attribute's place in a key.
type part struct {
	Attribute
	role types.KeyType
}

// parts returns the parts of the key, partition first.
func (k Key) parts() []part {
	parts := []part{{k.Partition, types.KeyTypeHash}}
	if k.Sort.Name != "" {
		parts = append(parts, part{k.Sort, types.KeyTypeRange})
	}
	return parts
}

// Input returns the CreateTable request for the table.
func (t Table) Input() *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:            aws.String(t.Name),
		KeySchema:            keySchema(t.Key),
		AttributeDefinitions: t.definitions(),
		BillingMode:          types.BillingModePayPerRequest,
	}
	if t.DeletionProtection {
		in.DeletionProtectionEnabled = aws.Bool(true)
	}

	if t.KMSKey != "" {
		in.SSESpecification = &types.SSESpecification{Enabled: aws.Bool(true), SSEType: types.SSETypeKms}
		if t.KMSKey != awsManaged {
			in.SSESpecification.KMSMasterKeyId = aws.String(t.KMSKey)
		}
	}

	for _, index := range t.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName:  aws.String(index.Name),
			KeySchema:  keySchema(index.Key),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		})
	}
	return in
}

// TTLInput returns the UpdateTimeToLive request for the table. It returns nil
// if the table has no TTL.
func (t Table) TTLInput() *dynamodb.UpdateTimeToLiveInput {
	if t.TTL == "" {
		return nil
	}
	return &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(t.Name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(t.TTL), Enabled: aws.Bool(true)},
	}
}

func keySchema(key Key) []types.KeySchemaElement {
	var schema []types.KeySchemaElement
	for _, p := range key.parts() {
		schema = append(schema, types.KeySchemaElement{AttributeName: aws.String(p.Name), KeyType: p.role})
	}
	return schema
}

// definitions lists every key attribute once, by name.
func (t Table) definitions() []types.AttributeDefinition {
	all := t.Key.parts()
	for _, index := range t.Indexes {
		all = append(all, index.Key.parts()...)
	}
	slices.SortFunc(all, func(a, b part) int { return cmp.Compare(a.Name, b.Name) })
	var defs []types.AttributeDefinition
	for _, a := range slices.CompactFunc(all, func(a, b part) bool { return a.Attribute == b.Attribute }) {
		defs = append(defs, types.AttributeDefinition{AttributeName: aws.String(a.Name), AttributeType: a.Type})
	}
	return defs
}

// validate refuses a table that DynamoDB would refuse for its names and keys.
func (t Table) validate() error {
	kinds := map[string]types.ScalarAttributeType{}
	err := cmp.Or(
		check.Table(pkg, t.Name),
		check.Text(pkg, "table "+t.Name+" KMS key", t.KMSKey),
		t.Key.validate("table "+t.Name, kinds),
	)
	if t.TTL != "" {
		err = cmp.Or(err, check.Attribute(pkg, "table "+t.Name+" TTL", t.TTL))
	}
	if err != nil {
		return err
	}

	names := map[string]bool{}
	for _, index := range t.Indexes {
		field := "table " + t.Name + " index " + index.Name
		if err := check.Index(pkg, "table "+t.Name+" index", index.Name); err != nil {
			return err
		}
		if names[index.Name] {
			return event.BadInput(pkg, field, "is defined twice")
		}
		names[index.Name] = true
		if err := index.Key.validate(field, kinds); err != nil {
			return err
		}
	}

	return nil
}

// validate checks the key and that each attribute has one type in the table.
func (k Key) validate(field string, kinds map[string]types.ScalarAttributeType) error {
	for _, a := range k.parts() {
		if err := check.Attribute(pkg, field+" key", a.Name); err != nil {
			return err
		}
		switch a.Type {
		case types.ScalarAttributeTypeS, types.ScalarAttributeTypeN, types.ScalarAttributeTypeB:
		default:
			return event.BadInput(pkg, field+" key "+a.Name, fmt.Sprintf("must be of type S, N or B, is %q", a.Type))
		}
		if kind, ok := kinds[a.Name]; ok && kind != a.Type {
			return event.BadInput(pkg, field+" key "+a.Name, fmt.Sprintf("is of type %s here and %s elsewhere in the table", a.Type, kind))
		}
		kinds[a.Name] = a.Type
	}

	if k.Sort.Name != "" && k.Sort.Name == k.Partition.Name {
		return event.BadInput(pkg, field, "must not have the same attribute as partition key and sort key")
	}
	return nil
}
