package api

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// An AttributeDefinition gives a key attribute its type.
type AttributeDefinition struct{ Name, Type string }

// A KeyElement is one attribute of a key.
type KeyElement struct{ Name, Type string }

// The types of a KeyElement.
const (
	Hash  = "HASH"
	Range = "RANGE"
)

// A Projection is what an index holds of an item besides the keys.
type Projection struct {
	Type      Opt[string]
	Include   []string
	IncludeAt bool // NonKeyAttributes was there, if only empty
}

// Throughput is provisioned capacity.
type Throughput struct{ Read, Write Opt[int64] }

// An Index is the definition of a secondary index.
type Index struct {
	Name       string
	Key        []KeyElement
	Projection Projection
	Throughput Opt[Throughput]
	OnDemand   Opt[OnDemand]
	Warm       Opt[Warm]
}

// OnDemand is the most units an on-demand table may take.
type OnDemand struct{ Read, Write Opt[int64] }

// Warm is the throughput a table can take at once.
type Warm struct{ Read, Write Opt[int64] }

// Stream is a table's change stream.
type Stream struct {
	Enabled Opt[bool]
	View    Opt[string]
}

// Encryption is the server-side encryption asked for.
type Encryption struct {
	Enabled Opt[bool]
	Type    Opt[string]
	KeyID   Opt[string]
}

// A Tag is a label of a table.
type Tag struct{ Key, Value string }

// MaxTags is the most tags of a table, and of a request.
const MaxTags = 50

// The most characters of a tag.
const (
	maxTagKey   = 128
	maxTagValue = 256
)

// TableSettings are what CreateTable and UpdateTable have in common.
type TableSettings struct {
	TableName  Opt[string]
	Attributes []AttributeDefinition
	AttrsSet   bool
	Billing    Opt[string]
	Throughput Opt[Throughput]
	OnDemand   Opt[OnDemand]
	Warm       Opt[Warm]
	Protected  Opt[bool]
	Class      Opt[string]
	Stream     Opt[Stream]
	Encryption Opt[Encryption]
}

func (t *TableSettings) field(r *jsonx.Reader, member string) {
	switch member {
	case "TableName":
		t.TableName = name(r)
	case "AttributeDefinitions":
		t.Attributes, t.AttrsSet = list(r, maxDefinitions, attributeDefinition), true
	case "BillingMode":
		t.Billing = name(r)
	case "ProvisionedThroughput":
		t.Throughput = Some(throughput(r))
	case "OnDemandThroughput":
		t.OnDemand = Some(onDemand(r))
	case "WarmThroughput":
		t.Warm = Some(warm(r))
	case "DeletionProtectionEnabled":
		t.Protected = boolean(r)
	case "TableClass":
		t.Class = name(r)
	case "StreamSpecification":
		t.Stream = Some(stream(r))
	case "SSESpecification":
		t.Encryption = Some(encryption(r))
	default:
		r.Skip()
	}
}

func attributeDefinition(r *jsonx.Reader) (d AttributeDefinition) {
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "AttributeName":
			d.Name = r.Name()
		case "AttributeType":
			d.Type = r.Name()
		default:
			r.Skip()
		}
	})
	return d
}

func keyElement(r *jsonx.Reader) (k KeyElement) {
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "AttributeName":
			k.Name = r.Name()
		case "KeyType":
			k.Type = r.Name()
		default:
			r.Skip()
		}
	})
	return k
}

// units reads an object with two numbers.
func units(r *jsonx.Reader, read, write string) (first, second Opt[int64]) {
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case read:
			first = integer(r)
		case write:
			second = integer(r)
		default:
			r.Skip()
		}
	})
	return first, second
}

func throughput(r *jsonx.Reader) (t Throughput) {
	t.Read, t.Write = units(r, "ReadCapacityUnits", "WriteCapacityUnits")
	return t
}

func onDemand(r *jsonx.Reader) (o OnDemand) {
	o.Read, o.Write = units(r, "MaxReadRequestUnits", "MaxWriteRequestUnits")
	return o
}

func warm(r *jsonx.Reader) (w Warm) {
	w.Read, w.Write = units(r, "ReadUnitsPerSecond", "WriteUnitsPerSecond")
	return w
}

func stream(r *jsonx.Reader) (s Stream) {
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "StreamEnabled":
			s.Enabled = boolean(r)
		case "StreamViewType":
			s.View = name(r)
		default:
			r.Skip()
		}
	})
	return s
}

func encryption(r *jsonx.Reader) (e Encryption) {
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "Enabled":
			e.Enabled = boolean(r)
		case "SSEType":
			e.Type = name(r)
		case "KMSMasterKeyId":
			e.KeyID = text(r)
		default:
			r.Skip()
		}
	})
	return e
}

func index(r *jsonx.Reader) (i Index) {
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "IndexName":
			i.Name = r.String()
		case "KeySchema":
			i.Key = list(r, maxIndexKey, keyElement)
		case "Projection":
			object(r, i.Projection.field)
		case "ProvisionedThroughput":
			i.Throughput = Some(throughput(r))
		case "OnDemandThroughput":
			i.OnDemand = Some(onDemand(r))
		case "WarmThroughput":
			i.Warm = Some(warm(r))
		default:
			r.Skip()
		}
	})
	return i
}

func (p *Projection) field(r *jsonx.Reader, member string) {
	switch member {
	case "ProjectionType":
		p.Type = name(r)
	case "NonKeyAttributes":
		p.Include, p.IncludeAt = list(r, maxNonKey, (*jsonx.Reader).Name), true
	default:
		r.Skip()
	}
}

func tag(r *jsonx.Reader) (t Tag) {
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "Key":
			t.Key = r.String()
		case "Value":
			t.Value = r.String()
		default:
			r.Skip()
		}
	})
	return t
}

func (t *TableSettings) checkSettings(c *checker) {
	for i, a := range t.Attributes {
		at := fmt.Sprintf("attributeDefinitions.%d.member.", i+1)
		c.attributeName(at+"attributeName", a.Name)
		c.enum(at+"attributeType", Some(a.Type), "B", "N", "S")
	}
	c.enum("billingMode", t.Billing, "PROVISIONED", "PAY_PER_REQUEST")
	c.throughput("provisionedThroughput", t.Throughput)
	c.enum("tableClass", t.Class, "STANDARD", "STANDARD_INFREQUENT_ACCESS")
	c.stream(t.Stream)
}

func (c *checker) throughput(member string, t Opt[Throughput]) {
	if !t.Set {
		return
	}
	c.require(member+".readCapacityUnits", t.Value.Read.Set)
	c.require(member+".writeCapacityUnits", t.Value.Write.Set)
	c.atLeast(member+".readCapacityUnits", t.Value.Read, 1)
	c.atLeast(member+".writeCapacityUnits", t.Value.Write, 1)
}

func (c *checker) tags(tags []Tag) {
	for i, t := range tags {
		at := fmt.Sprintf("tags.%d.member.", i+1)
		c.tagKey(at+"key", t.Key)
		c.length(at+"value", t.Value, utf8.RuneCountInString(t.Value), 0, maxTagValue)
	}
}

func (c *checker) tagKey(member, key string) {
	c.length(member, key, utf8.RuneCountInString(key), 1, maxTagKey)
}

func (c *checker) attributeName(member, name string) {
	c.length(member, name, len(name), 1, maxNameLength)
}

// newName checks the name of a table that is to be created.
func (c *checker) newName(v Opt[string]) {
	if !v.Set {
		c.fail(Invalid("The parameter 'TableName' is required but was not present in the request"))
		return
	}
	inner := checker{}
	if inner.name("tableName", v.Value, 3); len(inner.found) > 0 {
		c.fail(inner.err())
	}
}

// key checks a key schema of at most the given number of elements.
func (c *checker) key(member string, key []KeyElement, most int) {
	rendered := make([]string, len(key))
	for i, k := range key {
		rendered[i] = fmt.Sprintf("KeySchemaElement(attributeName=%s, keyType=%s)", k.Name, k.Type)
	}
	c.length(member, "["+strings.Join(rendered, ", ")+"]", len(key), 1, most)
	for i, k := range key {
		at := fmt.Sprintf("%s.%d.member.", member, i+1)
		c.attributeName(at+"attributeName", k.Name)
		c.enum(at+"keyType", Some(k.Type), Hash, Range)
	}
}

// The most elements of a key: a table and a local index have one of each type,
// a global index up to four.
const (
	maxTableKey = 2
	maxIndexKey = 8
)

const (
	maxNonKey  = 20
	maxIndexes = 20 // of either kind; the engine knows what is allowed of each
	// maxDefinitions is far more than the keys of a table and its indexes can use.
	maxDefinitions = 1000
)

func (c *checker) indexes(member string, indexes []Index, mostKeys int) {
	for i := range indexes {
		c.index(fmt.Sprintf("%s.%d.member.", member, i+1), &indexes[i], mostKeys)
	}
}

func (c *checker) index(at string, x *Index, mostKeys int) {
	c.name(at+"indexName", x.Name, 3)
	c.key(at+"keySchema", x.Key, mostKeys)
	c.enum(at+"projection.projectionType", x.Projection.Type, "ALL", "INCLUDE", "KEYS_ONLY")
	if x.Projection.IncludeAt {
		c.length(at+"projection.nonKeyAttributes", fmt.Sprint(x.Projection.Include), len(x.Projection.Include), 1, maxNonKey)
	}
	c.throughput(at+"provisionedThroughput", x.Throughput)
}

// CreateTable makes a table.
type CreateTable struct {
	TableSettings
	Key    []KeyElement
	KeySet bool
	Local  []Index
	Global []Index
	Tags   []Tag
}

func (t *CreateTable) field(r *jsonx.Reader, member string) {
	switch member {
	case "KeySchema":
		t.Key, t.KeySet = list(r, maxTableKey, keyElement), true
	case "LocalSecondaryIndexes":
		t.Local = list(r, maxIndexes, index)
	case "GlobalSecondaryIndexes":
		t.Global = list(r, maxIndexes, index)
	case "Tags":
		t.Tags = list(r, MaxTags, tag)
	default:
		t.TableSettings.field(r, member)
	}
}

func (t *CreateTable) check(c *checker) {
	c.newName(t.TableName)
	c.require("attributeDefinitions", t.AttrsSet)
	if c.require("keySchema", t.KeySet); t.KeySet {
		c.key("keySchema", t.Key, maxTableKey)
	}
	t.checkSettings(c)
	c.indexes("localSecondaryIndexes", t.Local, maxTableKey)
	c.indexes("globalSecondaryIndexes", t.Global, maxIndexKey)
	c.tags(t.Tags)
}

// UpdateTable changes a table's settings or its global indexes.
type UpdateTable struct {
	TableSettings
	Indexes []IndexUpdate
}

// An IndexUpdate is one change of a global index; one member is set.
type IndexUpdate struct {
	Create *Index
	Update *Index // name, throughput
	Delete Opt[string]
}

func (t *UpdateTable) field(r *jsonx.Reader, member string) {
	if member != "GlobalSecondaryIndexUpdates" {
		t.TableSettings.field(r, member)
		return
	}
	t.Indexes = list(r, maxIndexes, func(r *jsonx.Reader) (u IndexUpdate) {
		object(r, func(r *jsonx.Reader, member string) {
			switch member {
			case "Create":
				x := index(r)
				u.Create = &x
			case "Update":
				x := index(r)
				u.Update = &x
			case "Delete":
				x := index(r)
				u.Delete = Some(x.Name)
			default:
				r.Skip()
			}
		})
		return u
	})
}

func (t *UpdateTable) check(c *checker) {
	c.tableName("tableName", t.TableName)
	t.checkSettings(c)
	for i, u := range t.Indexes {
		at := fmt.Sprintf("globalSecondaryIndexUpdates.%d.member.", i+1)
		switch {
		case u.Create != nil:
			c.index(at+"create.", u.Create, maxIndexKey)
		case u.Update != nil:
			c.name(at+"update.indexName", u.Update.Name, 3)
			c.throughput(at+"update.provisionedThroughput", u.Update.Throughput)
		case u.Delete.Set:
			c.name(at+"delete.indexName", u.Delete.Value, 3)
		}
	}
}

// TableRequest is the request of an operation that takes a table's name alone.
type TableRequest struct{ TableName Opt[string] }

func (t *TableRequest) field(r *jsonx.Reader, member string) {
	if member == "TableName" {
		t.TableName = name(r)
		return
	}
	r.Skip()
}

func (t *TableRequest) check(c *checker) { c.tableName("tableName", t.TableName) }

// The operations on a table as a whole.
type (
	DeleteTable               struct{ TableRequest }
	DescribeTable             struct{ TableRequest }
	DescribeTimeToLive        struct{ TableRequest }
	DescribeContinuousBackups struct{ TableRequest }
)

// ListTables lists the names of the tables.
type ListTables struct {
	Start Opt[string]
	Limit Opt[int64]
}

func (l *ListTables) field(r *jsonx.Reader, member string) {
	switch member {
	case "ExclusiveStartTableName":
		l.Start = text(r)
	case "Limit":
		l.Limit = integer(r)
	default:
		r.Skip()
	}
}

func (l *ListTables) check(c *checker) {
	if l.Start.Set {
		c.name("exclusiveStartTableName", l.Start.Value, 3)
	}
	c.atLeast("limit", l.Limit, 1)
	c.atMost("limit", l.Limit, 100)
}

// UpdateTimeToLive switches the expiry of items on or off.
type UpdateTimeToLive struct {
	TableRequest
	Specified bool
	Attribute Opt[string]
	Enabled   Opt[bool]
}

func (u *UpdateTimeToLive) field(r *jsonx.Reader, member string) {
	if member != "TimeToLiveSpecification" {
		u.TableRequest.field(r, member)
		return
	}
	u.Specified = true
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "AttributeName":
			u.Attribute = name(r)
		case "Enabled":
			u.Enabled = boolean(r)
		default:
			r.Skip()
		}
	})
}

func (u *UpdateTimeToLive) check(c *checker) {
	u.TableRequest.check(c)
	if c.require("timeToLiveSpecification", u.Specified); !u.Specified {
		return
	}
	c.require("timeToLiveSpecification.enabled", u.Enabled.Set)
	if c.require("timeToLiveSpecification.attributeName", u.Attribute.Set); u.Attribute.Set {
		c.attributeName("timeToLiveSpecification.attributeName", u.Attribute.Value)
	}
}

// UpdateContinuousBackups switches point-in-time recovery on or off.
type UpdateContinuousBackups struct {
	TableRequest
	Specified bool
	Enabled   Opt[bool]
	Days      Opt[int64]
}

func (u *UpdateContinuousBackups) field(r *jsonx.Reader, member string) {
	if member != "PointInTimeRecoverySpecification" {
		u.TableRequest.field(r, member)
		return
	}
	u.Specified = true
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "PointInTimeRecoveryEnabled":
			u.Enabled = boolean(r)
		case "RecoveryPeriodInDays":
			u.Days = integer(r)
		default:
			r.Skip()
		}
	})
}

func (u *UpdateContinuousBackups) check(c *checker) {
	u.TableRequest.check(c)
	if c.require("pointInTimeRecoverySpecification", u.Specified); u.Specified {
		c.require("pointInTimeRecoverySpecification.pointInTimeRecoveryEnabled", u.Enabled.Set)
		c.atLeast("pointInTimeRecoverySpecification.recoveryPeriodInDays", u.Days, 1)
		c.atMost("pointInTimeRecoverySpecification.recoveryPeriodInDays", u.Days, 35)
	}
}

// TagRequest is the request of the three operations on tags.
type TagRequest struct {
	Resource Opt[string]
	Tags     []Tag
	TagsSet  bool
	Keys     []string
	KeysSet  bool
}

func (t *TagRequest) field(r *jsonx.Reader, member string) {
	switch member {
	case "ResourceArn":
		t.Resource = text(r)
	case "Tags":
		t.Tags, t.TagsSet = list(r, MaxTags, tag), true
	case "TagKeys":
		t.Keys, t.KeysSet = list(r, MaxTags, (*jsonx.Reader).String), true
	default:
		r.Skip()
	}
}

func (t *TagRequest) check(c *checker) { c.require("resourceArn", t.Resource.Set) }

// The operations on tags.
type (
	TagResource        struct{ TagRequest }
	UntagResource      struct{ TagRequest }
	ListTagsOfResource struct{ TagRequest }
)

func (t *TagResource) check(c *checker) {
	t.TagRequest.check(c)
	c.require("tags", t.TagsSet)
	c.tags(t.Tags)
}

func (t *UntagResource) check(c *checker) {
	t.TagRequest.check(c)
	c.require("tagKeys", t.KeysSet)
	for i, key := range t.Keys {
		c.tagKey(fmt.Sprintf("tagKeys.%d.member", i+1), key)
	}
}

// Nothing is the request of an operation without parameters.
type Nothing struct{}

func (*Nothing) field(r *jsonx.Reader, _ string) { r.Skip() }
func (*Nothing) check(*checker)                  {}

// Table returns the name of the table that the request is about.
func (t *TableSettings) Table() string { return TableNameOf(t.TableName.Value) }

// Table returns the name of the table that the request is about.
func (t *TableRequest) Table() string { return TableNameOf(t.TableName.Value) }
