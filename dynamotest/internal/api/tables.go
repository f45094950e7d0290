package api

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
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

// A Projection is the attributes of an item that an index has in addition to
// the keys.
type Projection struct {
	Type      Opt[string]
	Include   []string
	IncludeAt bool // NonKeyAttributes was set, perhaps empty
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

// OnDemand is the most units that an on-demand table may consume.
type OnDemand struct{ Read, Write Opt[int64] }

// Warm is the throughput that a table can serve at once.
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

// A Tag is a label of a table. A request may omit either part, and is then
// refused.
type Tag struct {
	Key, Value     string
	NoKey, NoValue bool
}

// MaxTags is the most tags of a table, and of a request.
const MaxTags = 50

// The most characters of a tag.
const (
	maxTagKey   = 128
	maxTagValue = 256
)

// TableSettings are the common members of CreateTable and UpdateTable.
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
	t.NoKey, t.NoValue = true, true
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "Key":
			t.Key, t.NoKey = r.String(), false
		case "Value":
			t.Value, t.NoValue = r.String(), false
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

// tags checks the texts of tags. These rules are not in the model of requests, so
// they are checked after it.
func (c *checker) tags(tags []Tag) {
	for _, t := range tags {
		c.tagKey(t.Key, t.NoKey)
		if t.NoValue || utf8.RuneCountInString(t.Value) > maxTagValue || !taggable(t.Value) {
			c.invalidTag("Value", t.Value, t.NoValue)
		}
	}
}

func (c *checker) tagKey(key string, missing bool) {
	if n := utf8.RuneCountInString(key); n < 1 || n > maxTagKey || !taggable(key) {
		c.invalidTag("Key", key, missing)
	}
	if strings.HasPrefix(key, "aws:") && c.ok() {
		c.fail(Invalid("Tag Key cannot be prefixed with aws:, Key: %s", key))
	}
}

func (c *checker) invalidTag(part, text string, missing bool) {
	if missing {
		text = "null"
	}
	if c.ok() {
		c.fail(Invalid("The Tag %[1]s provided is invalid, %[1]s: %[2]s", part, text))
	}
}

// taggable reports whether a text has only characters that AWS allows in tags:
// letters and digits of any script, spaces and some signs.
func taggable(text string) bool {
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.M, r) && !strings.ContainsRune("+-=._:/@", r) {
			return false
		}
	}
	return true
}

func (c *checker) attributeName(member, name string) {
	c.length(member, name, len(name), 1, maxNameLength)
}

// newName checks the name of a table to create. Its error stands alone, not in the
// list of errors of other members.
func (c *checker) newName(v Opt[string]) {
	if !v.Set {
		c.fail(Invalid("The parameter 'TableName' is required but was not present in the request"))
		return
	}
	inner := checker{}
	if inner.name("tableName", v.Value, minNameLength); len(inner.found) > 0 {
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
	maxIndexes = 20 // of either kind; the engine checks the limit of each
	// maxDefinitions is far more than the keys of a table and its indexes can use.
	maxDefinitions = 1000
)

func (c *checker) indexes(member string, indexes []Index, mostKeys int) {
	for i := range indexes {
		c.index(fmt.Sprintf("%s.%d.member.", member, i+1), &indexes[i], mostKeys)
	}
}

func (c *checker) index(at string, x *Index, mostKeys int) {
	c.name(at+"indexName", x.Name, minNameLength)
	c.key(at+"keySchema", x.Key, mostKeys)
	c.enum(at+"projection.projectionType", x.Projection.Type, "ALL", "INCLUDE", "KEYS_ONLY")
	if x.Projection.IncludeAt {
		c.length(at+"projection.nonKeyAttributes", shownList(x.Projection.Include), len(x.Projection.Include), 1, maxNonKey)
		if slices.ContainsFunc(x.Projection.Include, func(name string) bool { return len(name) < 1 || len(name) > maxNameLength }) {
			c.violated("'"+shownList(x.Projection.Include)+"'", at+"projection.nonKeyAttributes",
				fmt.Sprintf("satisfy constraint: [Member must have length less than or equal to %d, Member must have length greater than or equal to 1]", maxNameLength))
		}
	}
	c.throughput(at+"provisionedThroughput", x.Throughput)
}
