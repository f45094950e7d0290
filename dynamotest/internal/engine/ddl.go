package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

// The most indexes of a table.
const (
	maxLocal  = 5
	maxGlobal = 20
)

func (e *Engine) createTable(call *Call, req *api.CreateTable) (reply, *api.Error) {
	if err := checkCreate(req); err != nil {
		return nil, err
	}
	name := req.TableName.Value
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tables[name] != nil {
		return nil, &api.Error{Code: api.ResourceInUse, Message: "Table already exists: " + name}
	}
	e.serial++
	t := &table{
		name:    name,
		id:      tableID(e.serial),
		arn:     e.tableARN(name),
		created: e.at(call),
		key:     keyOf(req.Key, req.Attributes),
		tags:    req.Tags,
		past:    new(past),
		settings: settings{
			attributes: req.Attributes,
			throughput: req.Throughput.Value,
			onDemand:   req.Billing.Value == "PAY_PER_REQUEST",
			billingSet: req.Billing.Value == "PAY_PER_REQUEST",
			maximum:    req.OnDemand,
			warm:       req.Warm,
			protected:  req.Protected.Value,
			class:      req.Class.Value,
			encryption: req.Encryption,
		},
	}
	t.settings.billedSince = t.created
	for i := range req.Local {
		t.indexes = append(t.indexes, t.newIndex(&req.Local[i], req.Attributes, true))
	}
	for i := range req.Global {
		t.indexes = append(t.indexes, t.newIndex(&req.Global[i], req.Attributes, false))
	}
	e.place(t)
	if req.Stream.Value.Enabled.Value {
		e.openStream(t, req.Stream.Value.View.Value, t.created)
	}
	e.logRequest(call, t.created)
	return e.description("TableDescription", t, "ACTIVE"), nil
}

// place puts a new table under its name.
func (e *Engine) place(t *table) {
	e.tables[t.name] = t
	e.throughput.forgetTable(t.name)
}

func (e *Engine) tableARN(name string) string {
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", e.opt.Region, e.opt.Account, name)
}

func tableID(serial int64) string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", serial, serial)
}

// newIndex returns an empty index of t.
func (t *table) newIndex(def *api.Index, attributes []api.AttributeDefinition, local bool) *index {
	return &index{
		name:       def.Name,
		local:      local,
		arn:        t.arn + "/index/" + def.Name,
		key:        keyOf(def.Key, attributes),
		all:        def.Projection.Type.Value == "ALL",
		projection: def.Projection,
		include:    def.Projection.Include,
		items:      new(data),
		past:       new(past),
		throughput: def.Throughput.Value,
		maximum:    def.OnDemand,
		warm:       def.Warm,
	}
}

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

// checkCreate checks what can be wrong with a table's definition as a whole.
func checkCreate(req *api.CreateTable) *api.Error {
	provisioned := req.Billing.Or("PROVISIONED") == "PROVISIONED"
	if err := checkThroughput(provisioned, req.Throughput); err != nil {
		return err
	}
	if err := checkAttributes(req.Attributes); err != nil {
		return err
	}
	if err := checkKey(req.Key, req.Attributes, false); err != nil {
		return err
	}
	if err := checkLocal(req); err != nil {
		return err
	}
	if len(req.Global) > maxGlobal {
		return api.InvalidParameter("GlobalSecondaryIndex count exceeds the per-table limit of %d", maxGlobal)
	}
	for i := range req.Global {
		if err := checkGlobal(&req.Global[i], req.Attributes, provisioned); err != nil {
			return err
		}
	}
	if err := checkIndexNames(req); err != nil {
		return err
	}
	if err := checkUnused(req); err != nil {
		return err
	}
	return checkNewTags(req.Tags)
}

func checkThroughput(provisioned bool, t api.Opt[api.Throughput]) *api.Error {
	switch {
	case provisioned && !t.Set:
		return api.InvalidParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	case !provisioned && t.Set:
		return api.InvalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	}
	return nil
}

func checkAttributes(attributes []api.AttributeDefinition) *api.Error {
	for i, a := range attributes {
		for _, b := range attributes[:i] {
			if a.Name == b.Name {
				return api.InvalidParameter("Duplicate AttributeName in AttributeDefinitions: %s", a.Name)
			}
		}
	}
	return nil
}

// checkKey checks the order and the definitions of a key's elements. Only the
// key of a global index may have several of a type.
func checkKey(key []api.KeyElement, attributes []api.AttributeDefinition, global bool) *api.Error {
	seen := map[string]bool{}
	for i, el := range key {
		defined := slices.ContainsFunc(attributes, func(a api.AttributeDefinition) bool { return a.Name == el.Name })
		switch {
		case !defined:
			return api.InvalidParameter("Some index key attributes are not defined in AttributeDefinitions. Keys: %s, AttributeDefinitions: %s", keyNames(key), definedNames(attributes))
		case i == 0 && el.Type != api.Hash:
			return api.Invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
		case seen[el.Name]:
			return api.Invalid("Invalid KeySchema: Some index key attribute have no definition")
		case i > 0 && el.Type == api.Hash && (!global || key[i-1].Type == api.Range):
			return api.Invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
		}
		seen[el.Name] = true
	}
	return nil
}

func keyNames(key []api.KeyElement) string {
	names := make([]string, len(key))
	for i, el := range key {
		names[i] = el.Name
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func definedNames(attributes []api.AttributeDefinition) string {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = a.Name
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func checkLocal(req *api.CreateTable) *api.Error {
	if len(req.Local) > 0 && len(req.Key) < 2 {
		return api.InvalidParameter("Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
	}
	if len(req.Local) > maxLocal {
		return api.InvalidParameter("Number of LocalSecondaryIndexes exceeds per-table limit of %d", maxLocal)
	}
	for i := range req.Local {
		x := &req.Local[i]
		if err := checkKey(x.Key, req.Attributes, false); err != nil {
			return err
		}
		if len(x.Key) < 2 {
			return api.InvalidParameter("Index KeySchema does not have a range key for index: %s", x.Name)
		}
		if x.Key[0].Name != req.Key[0].Name {
			return api.InvalidParameter("Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. index hash key: %s, table hash key: %s",
				x.Name, x.Key[0].Name, req.Key[0].Name)
		}
		if err := checkProjection(x); err != nil {
			return err
		}
	}
	return nil
}

// maxParts is how many elements of one type the key of a global index has at most.
const maxParts = 4

func checkGlobal(x *api.Index, attributes []api.AttributeDefinition, provisioned bool) *api.Error {
	if err := checkKey(x.Key, attributes, true); err != nil {
		return err
	}
	k := keyOf(x.Key, attributes)
	if len(k.Hash) > maxParts || len(k.Range) > maxParts {
		return api.InvalidParameter("Number of HASH or RANGE key elements exceeds the limit of %d for index: %s", maxParts, x.Name)
	}
	if err := checkProjection(x); err != nil {
		return err
	}
	switch {
	case provisioned && !x.Throughput.Set:
		return api.InvalidParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified for index: %s", x.Name)
	case !provisioned && x.Throughput.Set:
		return api.InvalidParameter("ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST", x.Name)
	}
	return nil
}

func checkProjection(x *api.Index) *api.Error {
	p := x.Projection
	switch {
	case !p.Type.Set:
		return api.InvalidParameter("Unknown ProjectionType: null")
	case p.Type.Value == "INCLUDE" && len(p.Include) == 0:
		return api.InvalidParameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	case p.Type.Value != "INCLUDE" && p.IncludeAt:
		return api.InvalidParameter("ProjectionType is %s, but NonKeyAttributes is specified", p.Type.Value)
	}
	for i, name := range p.Include {
		if slices.Contains(p.Include[:i], name) {
			return api.InvalidParameter("Duplicate AttributeName in NonKeyAttributes: %s", name)
		}
	}
	return nil
}

func checkIndexNames(req *api.CreateTable) *api.Error {
	seen := map[string]bool{}
	for _, x := range slices.Concat(req.Local, req.Global) {
		if seen[x.Name] {
			return api.InvalidParameter("Duplicate index name: %s", x.Name)
		}
		seen[x.Name] = true
	}
	return nil
}

// checkUnused checks that every attribute defined is part of a key.
func checkUnused(req *api.CreateTable) *api.Error {
	used := map[string]bool{}
	keys := [][]api.KeyElement{req.Key}
	for _, x := range slices.Concat(req.Local, req.Global) {
		keys = append(keys, x.Key)
	}
	for _, key := range keys {
		for _, el := range key {
			used[el.Name] = true
		}
	}
	switch {
	case len(used) == len(req.Attributes):
		return nil
	case len(keys) == 1:
		return api.InvalidParameter("Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
	}
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, name)
	}
	slices.Sort(names)
	return api.InvalidParameter("Some AttributeDefinitions are not used. AttributeDefinitions: %s, keys used: [%s]", definedNames(req.Attributes), strings.Join(names, ", "))
}

func (e *Engine) deleteTable(call *Call, req *api.DeleteTable) (reply, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.wholeTable(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	if t.settings.protected {
		return nil, api.Invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	delete(e.tables, t.name)
	now := e.at(call)
	t.stream.close(now)
	e.logRequest(call, now)
	return e.description("TableDescription", t, "DELETING"), nil
}

func (e *Engine) describeTable(call *Call, req *api.DescribeTable) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.wholeTable(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	return e.description("Table", t, "ACTIVE"), nil
}

// listed is the most names that one reply lists.
const listed = 100

func (e *Engine) listTables(call *Call, req *api.ListTables) (reply, *api.Error) {
	e.mu.RLock()
	names := e.sortedTables()
	e.mu.RUnlock()
	if start := req.Start; start.Set {
		i, found := slices.BinarySearch(names, start.Value)
		if found {
			i++
		}
		names = names[i:]
	}
	most := int(req.Limit.Or(listed))
	return writeFunc(func(w *api.Writer) {
		w.Array("TableNames", func() {
			for _, name := range names[:min(most, len(names))] {
				w.String(name)
			}
		})
		if len(names) > most {
			w.Text("LastEvaluatedTableName", names[most-1])
		}
	}), nil
}

// writeFunc is a reply that is a function.
type writeFunc func(w *api.Writer)

func (f writeFunc) writeTo(w *api.Writer) { f(w) }
