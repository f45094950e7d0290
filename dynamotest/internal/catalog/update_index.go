package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

// changedIndexes returns the indexes after a request.
func (t *Table) changedIndexes(req *api.UpdateTable, onDemand bool) ([]Index, *api.Error) {
	indexes := slices.Clone(t.Indexes)
	for _, u := range req.Indexes {
		switch {
		case u.Create != nil:
			x, err := t.addedIndex(u.Create, req.Attributes, onDemand)
			if err != nil {
				return nil, err
			}
			indexes = append(indexes, x)
		case u.Delete.Set:
			i, err := t.global(indexes, u.Delete.Value)
			if err != nil {
				return nil, err
			}
			indexes = slices.Delete(indexes, i, i+1)
		case u.Update != nil:
			i, err := t.global(indexes, u.Update.Name)
			if err != nil {
				return nil, err
			}
			if u.Update.Throughput.Set && onDemand {
				return nil, api.InvalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: %s when BillingMode is PAY_PER_REQUEST", u.Update.Name)
			}
			if indexes[i], err = indexes[i].changed(u.Update); err != nil {
				return nil, err
			}
		}
	}

	return billed(indexes, onDemand)
}

// global returns the position of a global index.
func (t *Table) global(indexes []Index, name string) (int, *api.Error) {
	i := slices.IndexFunc(indexes, func(x Index) bool { return x.Name == name && !x.Local })
	if i < 0 {
		return i, &api.Error{Code: api.ResourceNotFound, Message: "Requested resource not found: Index: " + name + " not found in table: " + t.Name}
	}
	return i, nil
}

// addedIndex returns a new index of t.
func (t *Table) addedIndex(def *api.Index, attributes []api.AttributeDefinition, onDemand bool) (Index, *api.Error) {
	if t.Index(def.Name) != nil {
		return Index{}, api.Invalid("Attempting to create an index which already exists")
	}
	if err := checkGlobal(def, attributes, !onDemand); err != nil {
		return Index{}, err
	}

	global := 0
	for i := range t.Indexes {
		if !t.Indexes[i].Local {
			global++
		}
	}

	if global >= maxGlobal {
		return Index{}, &api.Error{Code: api.LimitExceeded, Message: fmt.Sprintf("GlobalSecondaryIndex count exceeds the per-table limit of %d", maxGlobal)}
	}
	return t.newIndex(def, attributes, false), nil
}

// checkRedefined refuses a new index whose key gives another type to an
// attribute of an existing key. Definitions that the new key does not use are
// ignored.
func (t *Table) checkRedefined(req *api.UpdateTable) *api.Error {
	def := Created(req)
	if def == nil || !allDefined(def.Key, req.Attributes) {
		return nil
	}
	for _, a := range req.Attributes {
		used := slices.ContainsFunc(def.Key, func(k api.KeyElement) bool { return k.Name == a.Name })
		if had, ok := t.keyWith(a.Name); used && ok && !slices.Contains(t.Attributes, a) {
			return api.InvalidParameter("Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "+
				"Existing schema: %s New schema: %s", schemaOf(had), schemaOf(keyOf(def.Key, req.Attributes)))
		}
	}
	return nil
}

// keyWith returns the first key with an attribute. The table's key comes before
// those of indexes.
func (t *Table) keyWith(name string) (keys.Schema, bool) {
	if t.Key.Has(name) {
		return t.Key, true
	}
	i := slices.IndexFunc(t.Indexes, func(x Index) bool { return x.Key.Has(name) })
	if i < 0 {
		return keys.Schema{}, false
	}
	return t.Indexes[i].Key, true
}

// schemaOf returns a key as messages show it.
func schemaOf(k keys.Schema) string {
	var elements []string
	for _, p := range k.Hash {
		elements = append(elements, "key{"+p.Name+":"+p.Kind.String()+":"+api.Hash+"}")
	}
	for _, p := range k.Range {
		elements = append(elements, "key{"+p.Name+":"+p.Kind.String()+":"+api.Range+"}")
	}
	return "Schema:[SchemaElement: " + strings.Join(elements, ", ") + "]"
}

// changed returns the index with new settings.
func (x Index) changed(u *api.Index) (Index, *api.Error) {
	switch {
	case !u.Throughput.Set && !u.OnDemand.Set && !u.Warm.Set:
		return x, api.InvalidParameter("ProvisionedThroughput must be specified for index: %s", x.Name)
	case u.Throughput.Set && u.Throughput.Value == x.Throughput:
		return x, unchanged("index "+x.Name, x.Throughput)
	case u.Throughput.Set:
		x.Throughput = u.Throughput.Value
	}

	if u.OnDemand.Set {
		x.Maximum = u.OnDemand
	}

	if u.Warm.Set {
		x.Warm = u.Warm
	}
	return x, nil
}

// billed applies the billing mode of a table to its global indexes. Provisioned
// indexes must have throughput; on demand it is removed. It changes its
// argument.
func billed(indexes []Index, onDemand bool) ([]Index, *api.Error) {
	for i := range indexes {
		x := &indexes[i]
		switch {
		case x.Local || onDemand != x.Throughput.Read.Set:
		case onDemand:
			x.Throughput = api.Throughput{}
		default:
			return nil, api.InvalidParameter("ProvisionedThroughput must be specified for index: %s", x.Name)
		}
	}
	return indexes, nil
}
