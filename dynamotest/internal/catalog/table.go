// Package catalog has the definitions of tables: what a request may create and
// change, the resulting definition, and its description. It does not have the
// items.
package catalog

import (
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

// A Table is the definition of a table. It is a value: methods that change it
// return another one, and do not change the memory to which it refers.
type Table struct {
	Name, ARN  string
	ID         string
	Created    time.Time
	Key        keys.Schema
	Attributes []api.AttributeDefinition
	Indexes    []Index // local ones first, then global ones, each in the order they were made

	OnDemand    bool
	BillingSet  bool // a billing mode was set, so it is described
	BilledSince time.Time
	Throughput  api.Throughput
	Maximum     api.Opt[api.OnDemand]
	Warm        api.Opt[api.Warm]

	Protected   bool
	Class       string
	Encryption  api.Opt[api.Encryption]
	Tags        []api.Tag
	TTL         string // the attribute; empty if expiry is off
	Backups     bool
	BackupDays  int64
	BackupsFrom time.Time
}

// An Index is the definition of a secondary index, a value like its table's.
type Index struct {
	Name, ARN  string
	Local      bool
	All        bool // all of an item's attributes are projected
	Key        keys.Schema
	Base       keys.Schema // the key of the table, which every entry also has
	Projection api.Projection
	Throughput api.Throughput
	Maximum    api.Opt[api.OnDemand]
	Warm       api.Opt[api.Warm]
}

// newIndex returns the index that a request defines.
func (t *Table) newIndex(def *api.Index, attributes []api.AttributeDefinition, local bool) Index {
	return Index{
		Name:       def.Name,
		ARN:        t.ARN + "/index/" + def.Name,
		Local:      local,
		All:        def.Projection.Type.Value == "ALL",
		Key:        keyOf(def.Key, attributes),
		Base:       t.Key,
		Projection: def.Projection,
		Throughput: def.Throughput.Value,
		Maximum:    def.OnDemand,
		Warm:       def.Warm,
	}
}

// keyOf returns the key of elements, with the types in the definitions of
// attributes.
func keyOf(elements []api.KeyElement, attributes []api.AttributeDefinition) (k keys.Schema) {
	for _, el := range elements {
		i := slices.IndexFunc(attributes, func(a api.AttributeDefinition) bool { return a.Name == el.Name })
		part := keys.Part{Name: el.Name, Kind: attr.KindOf(attributes[i].Type)}
		if el.Type == api.Hash {
			k.Hash = append(k.Hash, part)
		} else {
			k.Range = append(k.Range, part)
		}
	}
	return k
}

// Index returns the index with a name, or nil.
func (t *Table) Index(name string) *Index {
	for i := range t.Indexes {
		if t.Indexes[i].Name == name {
			return &t.Indexes[i]
		}
	}
	return nil
}

// CheckScalars refuses paths that lead into an attribute of a key. nested has
// the names of all attributes into which paths lead.
func (t *Table) CheckScalars(nested []string) *api.Error {
	const text = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
	for _, name := range nested {
		if t.Key.Has(name) {
			return api.OfWhole(api.Invalid(text+"Key: %s", name))
		}
		for i := range t.Indexes {
			if t.Indexes[i].Key.Has(name) {
				return api.OfWhole(api.Invalid(text+"IndexKey: %s", name))
			}
		}
	}
	return nil
}

// Holds reports whether the index projects an attribute.
func (x *Index) Holds(name string) bool {
	return x.All || x.Key.Has(name) || x.Base.Has(name) || slices.Contains(x.Projection.Include, name)
}

// CheckItem checks that an item's attributes have the types of the index's key.
// An item may lack these attributes.
func (x *Index) CheckItem(item attr.Map) *api.Error {
	for p := range x.Key.All() {
		v, ok := item.Get(p.Name)
		switch {
		case !ok:
		case v.Kind() != p.Kind:
			return api.InvalidParameter("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", p.Name, p.Kind, v.Kind(), x.Name)
		case p.Kind != attr.N && v.Str() == "":
			return api.OfWhole(api.Invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "+
				"The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s", keys.KindName(p.Kind), x.Name, p.Name))
		}
	}
	return keys.CheckBytes(keys.Bytes(x.Key.Hash, item), keys.Bytes(x.Key.Range, item))
}

// CheckUpdated is CheckItem for the result of an update expression, which
// DynamoDB refuses in other words.
func (x *Index) CheckUpdated(item attr.Map) *api.Error {
	if x.CheckItem(item) == nil {
		return nil
	}

	const updated = "The update expression attempted to update "
	for p := range x.Key.All() {
		v, ok := item.Get(p.Name)
		switch {
		case !ok:
		case v.Kind() != p.Kind:
			return api.Invalid(updated + "the secondary index key to unsupported type")
		case p.Kind != attr.N && v.Str() == "":
			return api.OfWhole(api.Invalid("One or more parameter values are not valid. "+updated+"a secondary index key to a value that is not supported. "+
				"The AttributeValue for a key attribute cannot contain an empty %s value.", keys.KindName(p.Kind)))
		}
	}

	return api.Invalid(updated + "the secondary index key beyond allowed size limits")
}
