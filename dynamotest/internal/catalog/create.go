package catalog

import (
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// The most indexes of a table.
const (
	maxLocal  = 5
	maxGlobal = 20
)

// The billing modes.
const (
	provisionedMode = "PROVISIONED"
	onDemandMode    = "PAY_PER_REQUEST"
)

// Create returns the table that a request defines, without its id and its
// creation time, see Made.
func Create(req *api.CreateTable, arn string) (Table, *api.Error) {
	if err := checkCreate(req); err != nil {
		return Table{}, err
	}

	onDemand := req.Billing.Value == onDemandMode
	t := Table{
		Name:       req.TableName.Value,
		ARN:        arn,
		Key:        keyOf(req.Key, req.Attributes),
		Attributes: req.Attributes,
		OnDemand:   onDemand,
		BillingSet: onDemand,
		Throughput: req.Throughput.Value,
		Maximum:    req.OnDemand,
		Warm:       req.Warm,
		Protected:  req.Protected.Value,
		Class:      req.Class.Value,
		Encryption: req.Encryption,
		Tags:       req.Tags,
	}

	for i := range req.Local {
		t.Indexes = append(t.Indexes, t.newIndex(&req.Local[i], req.Attributes, true))
	}

	for i := range req.Global {
		t.Indexes = append(t.Indexes, t.newIndex(&req.Global[i], req.Attributes, false))
	}
	return t, nil
}

// Made returns the table with its id and its creation time.
func (t Table) Made(id string, at time.Time) Table {
	t.ID, t.Created, t.BilledSince = id, at, at
	return t
}

// checkCreate checks a table's definition as a whole.
func checkCreate(req *api.CreateTable) *api.Error {
	provisioned := req.Billing.Or(provisionedMode) == provisionedMode
	if err := checkThroughput(provisioned, req.Throughput); err != nil {
		return err
	}
	if err := checkAttributes(req.Attributes); err != nil {
		return err
	}
	if err := checkKey(req.Key, req.Attributes, false); err != nil {
		return err
	}
	if err := checkLists(req); err != nil {
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

// maxUnits is the most units that a request may ask for, whatever the quotas are.
const maxUnits = 1_000_000_000_000

// checkUnits refuses throughput that no table can have.
func checkUnits(t api.Throughput) *api.Error {
	switch {
	case t.Read.Value > maxUnits:
		return api.Invalid("Given value %d for ReadCapacityUnits is out of bounds", t.Read.Value)
	case t.Write.Value > maxUnits:
		return api.Invalid("Given value %d for WriteCapacityUnits is out of bounds", t.Write.Value)
	}
	return nil
}

func checkThroughput(provisioned bool, t api.Opt[api.Throughput]) *api.Error {
	switch {
	case provisioned && !t.Set:
		return api.InvalidParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	case !provisioned && t.Set:
		return api.InvalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	}
	return checkUnits(t.Value)
}

// checkAttributes refuses two definitions of one attribute.
func checkAttributes(attributes []api.AttributeDefinition) *api.Error {
	for i, a := range attributes {
		for _, b := range attributes[:i] {
			if a.Name == b.Name {
				return api.Invalid("Attribute Name is duplicated: %s", a.Name)
			}
		}
	}
	return nil
}

// checkLists refuses lists of indexes that are present but empty.
func checkLists(req *api.CreateTable) *api.Error {
	for _, list := range []struct {
		name string
		of   []api.Index
	}{{"LocalSecondaryIndexes", req.Local}, {"GlobalSecondaryIndexes", req.Global}} {
		if list.of != nil && len(list.of) == 0 {
			return api.InvalidParameter("List of %s is empty", list.name)
		}
	}
	return nil
}

// checkKey checks the definitions and the order of a key's elements. Only the key
// of a global index may have several of a type. The texts were seen on AWS, the
// last ones in October 2026.
func checkKey(key []api.KeyElement, attributes []api.AttributeDefinition, global bool) *api.Error {
	if !global && len(attributes) < len(key) {
		return api.Invalid("Invalid KeySchema: Some index key attribute have no definition")
	}
	if !allDefined(key, attributes) {
		return api.InvalidParameter("Some index key attributes are not defined in AttributeDefinitions. Keys: %s, AttributeDefinitions: %s", keyNames(key), definedNames(attributes))
	}
	if err := checkTwice(key, global); err != nil {
		return err
	}

	for i, el := range key {
		switch {
		case i == 0 && el.Type != api.Hash:
			return api.Invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
		case i > 0 && el.Type == api.Hash && !global:
			return api.Invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
		case i > 0 && el.Type == api.Hash && key[i-1].Type == api.Range:
			return api.InvalidParameter("All HASH key attributes must precede RANGE key attributes in the KeySchema")
		}
	}
	return nil
}

// allDefined reports whether each element of a key has a definition.
func allDefined(key []api.KeyElement, attributes []api.AttributeDefinition) bool {
	for _, el := range key {
		if !slices.ContainsFunc(attributes, func(a api.AttributeDefinition) bool { return a.Name == el.Name }) {
			return false
		}
	}
	return true
}

// checkTwice refuses a key that has an attribute twice.
func checkTwice(key []api.KeyElement, global bool) *api.Error {
	for i, el := range key {
		if !slices.ContainsFunc(key[:i], func(k api.KeyElement) bool { return k.Name == el.Name }) {
			continue
		}
		if len(key) == 2 && (!global || el.Type == api.Range) {
			return api.Invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
		}
		return api.Invalid("The KeySchema contains multiple key attributes with the same name")
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

// maxParts is the most elements of one type in the key of a global index.
const maxParts = 4

// checkGlobal checks a global index of a table that is provisioned or not.
func checkGlobal(x *api.Index, attributes []api.AttributeDefinition, provisioned bool) *api.Error {
	if err := checkKey(x.Key, attributes, true); err != nil {
		return err
	}

	k := keyOf(x.Key, attributes)
	const tooMany = "The KeySchema exceeds the maximum allowed number of %s key attributes"
	switch {
	case len(k.Hash) > maxParts:
		return api.InvalidParameter(tooMany, api.Hash)
	case len(k.Range) > maxParts:
		return api.InvalidParameter(tooMany, api.Range)
	}

	if err := checkProjection(x); err != nil {
		return err
	}

	switch {
	case provisioned && !x.Throughput.Set:
		return api.InvalidParameter("ProvisionedThroughput is not specified for index: %s", x.Name)
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
			return api.InvalidParameter("Duplicate element in NonKeyAttributes: %s", name)
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

	// Each attribute is defined once, and those of all keys are, as was checked before. So
	// equal numbers mean that all are used.
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
