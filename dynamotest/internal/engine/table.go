package engine

import (
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/tree"
)

// A record is one stored version of an item. It is never changed.
type record struct {
	item attr.Map
	size int
}

func newRecord(item attr.Map) *record { return &record{item: item, size: item.Size()} }

// data are records in the order of their keys.
type data struct {
	tree.Tree[*record]
	bytes int64
}

// put replaces what stands under key. A nil record removes it.
func (d *data) put(key string, rec *record) {
	var old *record
	if rec != nil {
		old, _ = d.Set(key, rec)
		d.bytes += int64(rec.size)
	} else {
		old, _ = d.Delete(key)
	}
	if old != nil {
		d.bytes -= int64(old.size)
	}
}

// A table is guarded by its engine's mutex. Its settings and its indexes are
// replaced, never changed in place, so that a reply can be written from them
// after the mutex was released.
type table struct {
	name, id string
	arn      string
	created  time.Time
	key      keys.Schema
	items    data
	indexes  []*index // local ones first, then global ones, each in the order they were made
	settings settings
	stream   *stream // the latest, open or closed; nil when there was none
	tags     []api.Tag
	past     *past    // what late readers see
	builds   []*build // of new indexes
}

// settings are what UpdateTable and its kin change.
type settings struct {
	attributes  []api.AttributeDefinition
	onDemand    bool
	billingSet  bool // a billing mode was named, so it is described
	billedSince time.Time
	throughput  api.Throughput
	maximum     api.Opt[api.OnDemand]
	warm        api.Opt[api.Warm]
	protected   bool
	class       string
	encryption  api.Opt[api.Encryption]
	ttl         string // the attribute; empty when expiry is off
	backups     bool
	backupDays  int64
	backupsFrom time.Time
}

// An index holds, for every item that has all attributes of its key, what it
// projects of the item.
type index struct {
	name       string
	local      bool
	arn        string
	key        keys.Schema
	all        bool
	projection api.Projection
	include    []string // attributes that are projected besides the keys
	items      *data    // shared by the versions of an index that UpdateTable makes
	past       *past
	throughput api.Throughput
	maximum    api.Opt[api.OnDemand]
	warm       api.Opt[api.Warm]
}

// entry returns what the index holds of a record, and under which key. It
// returns nil for no record, and for one that the index leaves out.
func (x *index) entry(t *table, rec *record) (string, *record) {
	if rec == nil {
		return "", nil
	}
	key, ok := x.key.Key(rec.item)
	if !ok {
		return "", nil
	}
	for _, p := range t.key.Parts() {
		v, _ := rec.item.Get(p.Name)
		key = attr.AppendKey(key, v)
	}
	return string(key), x.project(t, rec)
}

func (x *index) project(t *table, rec *record) *record {
	if x.all {
		return rec
	}
	out := make(attr.Map, 0, len(x.include)+4)
	for _, f := range rec.item {
		if x.holds(t, f.Name) {
			out = append(out, f)
		}
	}
	return newRecord(out)
}

// holds reports whether the index projects an attribute.
func (x *index) holds(t *table, name string) bool {
	return x.all || x.key.Has(name) || t.key.Has(name) || slices.Contains(x.include, name)
}

// checkItem checks that an item's attributes suit the key of the index. An item
// may lack them; it may not have others in their place.
func (x *index) checkItem(item attr.Map) *api.Error {
	for _, p := range x.key.Parts() {
		v, ok := item.Get(p.Name)
		switch {
		case !ok:
		case v.Kind() != p.Kind:
			return api.InvalidParameter("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", p.Name, p.Kind, v.Kind(), x.name)
		case p.Kind != attr.N && v.Str() == "":
			return api.Invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "+
				"The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s", keys.KindName(p.Kind), x.name, p.Name)
		}
	}
	return keys.CheckBytes(keys.Bytes(x.key.Hash, item), keys.Bytes(x.key.Range, item))
}

func (t *table) index(name string) *index {
	for _, x := range t.indexes {
		if x.name == name {
			return x
		}
	}
	return nil
}

// checkIndexes checks an item against the keys of indexes.
func checkIndexes(indexes []*index, item attr.Map) *api.Error {
	for _, x := range indexes {
		if err := x.checkItem(item); err != nil {
			return err
		}
	}
	return nil
}

// checkScalars refuses expressions whose paths lead into an attribute of a key.
func (t *table) checkScalars(b *bind.Bound) *api.Error {
	const text = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
	for _, name := range b.Nested() {
		if t.key.Has(name) {
			return api.OfWhole(api.Invalid(text+"Key: %s", name))
		}
		for _, x := range t.indexes {
			if x.key.Has(name) {
				return api.OfWhole(api.Invalid(text+"IndexKey: %s", name))
			}
		}
	}
	return nil
}
