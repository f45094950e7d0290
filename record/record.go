package record

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/schema"
)

// API has the methods of *dynamodb.Client that the package calls. TransactWriteItems
// is for an exact [Kind] only. Packages counter, ema, limit and pattern take the same
// API.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Item is a row as it is stored: its attributes by name. [Read] reads the
// attributes, and [Int], [Float], [Text] and [Time] make them. The SDK's
// package attributevalue can also read and make them.
type Item = map[string]types.AttributeValue

// maxName bounds a Kind's Package and its Type, which is in every row.
const maxName = 255

// maxAttributes bounds a Kind's Attributes: an expression has room for some 200.
const maxAttributes = 100

// Attributes that the package keeps, in addition to the count, which a [Kind]
// names.
const (
	attrPK        = "pk"
	attrSK        = "sk"
	attrType      = "type"
	attrVersion   = "version"
	attrRecent    = "recent"
	attrEvent     = "event"
	attrUpdatedAt = "updatedAt"
)

// Kind describes one type of record. Each row of the Kind is read as a T.
type Kind[T any] struct {
	// Package is the name of the package that owns the record. Error texts
	// begin with this name.
	Package string

	// Type is the value of the attribute "type" in every record that was written
	// as this Kind. By convention it is also in the row's partition key: as the
	// first part, or after the id of a person who may be erased.
	Type string

	// Count names the attribute that counts the events of a row. With a Count, the rows
	// are for [Rows.Apply], ApplyAll and ApplyItem; without, for [Rows.Set].
	Count string

	// Attributes names the record's own attributes, at most 100, if the rows are
	// for [Rows.Set] or for Add of [Apply]. Each Set writes the attributes that it
	// gives and removes the others, so the order in which the events arrive does
	// not show in the row. Add adds to these attributes and to no others, so that
	// a misspelt name is refused. Next and reads need no Attributes.
	Attributes []string

	// Retention, if it is set, makes the Kind exact: each event counts once, however
	// late and in whatever order it is delivered, until Retention, less Config.MaxSkew,
	// after it happened. An exact Kind is for values that behave like money. It needs a
	// Count. 0 is for averages and habits, for which the 32 latest events of a row are
	// enough.
	//
	// All writers of a row must have the same Retention. After a change to a
	// longer one, an event counts again if it is delivered after its row has
	// expired by the shorter one and is deleted.
	Retention time.Duration

	// Decode reads a row.
	Decode func(row Item) (T, error)
}

// exact reports whether each event of the Kind has a row.
func (k Kind[T]) exact() bool { return k.Retention > 0 }

func (k Kind[T]) validate() error {
	const attributes = "Kind.Attributes"
	switch {
	case k.Package == "" || len(k.Package) > maxName:
		return event.BadInput("record", "Kind.Package", fmt.Sprintf("must have 1 to %d bytes", maxName))
	case len(k.Type) > maxName:
		return event.BadInput(k.Package, "Kind.Type", fmt.Sprintf("must have at most %d bytes", maxName))
	case k.Decode == nil:
		return event.BadInput(k.Package, "Kind.Decode", "must not be nil")
	case slices.Contains(reserved, k.Count):
		return event.BadInput(k.Package, "Kind.Count", fmt.Sprintf("must not be %s, which package record keeps", k.Count))
	case k.Retention < 0:
		return event.BadInput(k.Package, "Kind.Retention", "must not be negative")
	case k.exact() && (k.Count == "" || k.Count == attrTTL):
		return event.BadInput(k.Package, "Kind.Count", "must be set, and not to ttl, if the Kind has a Retention")
	case k.Count != "" && !k.exact() && len(k.Attributes) > 0:
		return event.BadInput(k.Package, attributes, "must be empty with a Count and no Retention: they are for Set and Add")
	case len(k.Attributes) > maxAttributes:
		return event.BadInput(k.Package, attributes, fmt.Sprintf("must have at most %d names, has %d", maxAttributes, len(k.Attributes)))
	}

	err := check.ID(k.Package, "Kind.Type", k.Type)
	if k.Count != "" {
		err = cmp.Or(err, check.Attribute(k.Package, "Kind.Count", k.Count))
	}

	for i, attribute := range k.Attributes {
		if k.keeps(attribute) {
			return event.BadInput(k.Package, attributes, fmt.Sprintf("must not name %s, which package record keeps", attribute))
		}
		if slices.Contains(k.Attributes[:i], attribute) {
			return event.BadInput(k.Package, attributes, fmt.Sprintf("must not name %s twice", attribute))
		}
		err = cmp.Or(err, check.Attribute(k.Package, attributes, attribute))
	}

	return err
}

// reserved are the attributes that the package keeps in rows of every Kind.
var reserved = []string{attrPK, attrSK, attrType, attrVersion, attrRecent, attrEvent, attrUpdatedAt}

// keeps reports whether the package keeps the attribute itself.
func (k Kind[T]) keeps(attribute string) bool {
	return slices.Contains(reserved, attribute) || attribute == k.Count || k.exact() && attribute == attrTTL
}

// Config of Rows. The zero Config works.
type Config struct {
	// Now is the clock that sets updatedAt and decides which events are too far
	// ahead or, of an exact Kind, too old. Defaults to time.Now.
	Now func() time.Time

	// ConsistentReads makes Get and All see every write that was answered
	// before they were called. Such a read costs twice as much. Apply always
	// reads consistently. Defaults to false.
	ConsistentReads bool

	// MaxSkew is the greatest difference between the clocks of two callers, plus
	// the longest a call may take. Only an exact Kind uses it: an event is refused
	// with [event.ErrTooOld] from MaxSkew before its Retention ends. Defaults to 5
	// minutes; at most a day, and less than the Retention.
	MaxSkew time.Duration

	// Rand is the source of the nonces of an exact Kind. It must be safe for
	// concurrent use. Defaults to crypto/rand.
	Rand io.Reader
}

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.MaxSkew == 0 {
		c.MaxSkew = 5 * time.Minute
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
}

// Rows keeps the rows of one [Kind] in one table. It is safe for concurrent use.
type Rows[T any] struct {
	api   API
	table string
	kind  Kind[T]
	cfg   Config
}

// New returns the Rows of one Kind in a table. A nil Config works.
func New[T any](api API, table string, kind Kind[T], cfg *Config) (*Rows[T], error) {
	r := &Rows[T]{api: api, table: table, kind: kind}
	if cfg != nil {
		r.cfg = *cfg
	}

	r.cfg.fill()
	r.kind.Attributes = slices.Clone(kind.Attributes)
	err := cmp.Or(
		kind.validate(),
		check.NotNil(kind.Package, "api", api),
		check.Table(kind.Package, table),
		r.checkExact(),
	)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Table returns the definition of the table, for [schema.Create]. Other records
// may share the table. The rows of an exact [Kind]'s events expire by TTL.
func (r *Rows[T]) Table() schema.Table {
	table := schema.Table{
		Name: r.table,
		Key:  schema.Key{Partition: schema.String(attrPK), Sort: schema.String(attrSK)},
	}
	if r.kind.exact() {
		table.TTL = attrTTL
	}
	return table
}

// Actions returns what IAM must grant for each call: see [schema.Policy]. A store of
// your own has its own calls, and takes their grants from here. The grants are for
// all that a call can send. A call that only adds to an exact [Kind] never reads: leave
// GetItem out by grants of your own:
//
//	schema.Grants{"": {"PutItem", "UpdateItem"}}
func (r *Rows[T]) Actions() schema.Actions {
	count := schema.Grants{"": {"GetItem", "UpdateItem"}}
	if r.kind.exact() {
		count = schema.Grants{"": {"GetItem", "PutItem", "UpdateItem"}}
	}

	return schema.Actions{
		Calls: map[string]schema.Grants{
			"Apply":     count,
			"ApplyAll":  count,
			"ApplyItem": count,
			"Set":       {"": {"UpdateItem"}},
			"Get":       {"": {"GetItem"}},
			"All":       {"": {"Query"}},
		},
		Operators: map[string]schema.Grants{"Erase": {"": {"BatchWriteItem", "Query"}}},
	}
}

func (r *Rows[T]) wrap(method string, err error) error {
	return ddb.Wrap(r.kind.Package, method, r.table, err)
}

// checkPartition refuses a key that DynamoDB would refuse, and one of [Key] with
// an empty part: in the others '#' is encoded.
func (r *Rows[T]) checkPartition(partition string) error {
	if strings.Contains("#"+partition+"#", "##") {
		return event.BadInput(r.kind.Package, "Partition", "must not be empty or have an empty part")
	}
	return check.PartitionKey(r.kind.Package, "Partition", partition)
}

// checkKey refuses what is not the key of a row.
func (r *Rows[T]) checkKey(partition, sort string) error {
	return cmp.Or(r.checkPartition(partition), check.SortKey(r.kind.Package, "Sort", sort))
}
