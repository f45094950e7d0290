package engine

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

func (e *Engine) updateTable(call *Call, req *api.UpdateTable) (reply, *api.Error) {
	if err := catalog.CheckIndexUpdates(req.Indexes); err != nil {
		return nil, err
	}
	b := e.startBuild(req)
	defer e.endBuild(b)
	if b != nil {
		b.fill()
		e.catchUp(b)
	}
	return e.finishUpdate(call, req, b)
}

// finishUpdate judges a request and carries it out, with the index that was built
// for it.
func (e *Engine) finishUpdate(call *Call, req *api.UpdateTable, b *build) (reply, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, settings, indexes, err := e.judgeUpdate(req)
	if err != nil {
		return nil, err
	}
	now := e.at(call)
	if settings.onDemand != t.settings.onDemand {
		settings.billedSince = now
	}
	t.settings, t.indexes = settings, indexes
	if def := catalog.Created(req); def != nil {
		if b == nil || b.table != t { // the table is not the one that it was
			b = newBuild(t, indexes, def.Name)
			b.fill()
		}
		t.index(def.Name).items = b.finish()
		e.throughput.forgetIndex(t.name, def.Name)
	}
	e.changeStream(t, req.Stream, now)
	e.logRequest(call, now)
	return e.description("TableDescription", t, "ACTIVE"), nil
}

// judgeUpdate returns the table and what its settings and indexes will be. What is
// wrong with any change is found before the first is made.
func (e *Engine) judgeUpdate(req *api.UpdateTable) (t *table, s settings, indexes []*index, err *api.Error) {
	if t, err = e.wholeTable(req.TableName.Value); err != nil {
		return nil, s, nil, err
	}
	if err = catalog.CheckOnline(req.Indexes); err != nil {
		return nil, s, nil, err
	}
	if s, err = t.changedSettings(req); err != nil {
		return nil, s, nil, err
	}
	if indexes, err = t.changedIndexes(req, s.onDemand); err != nil {
		return nil, s, nil, err
	}
	if err = t.checkStream(req.Stream); err != nil {
		return nil, s, nil, err
	}
	if !catalog.ChangesSomething(req) {
		err = api.Invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required")
	}
	return t, s, indexes, err
}

// changedSettings returns what the settings will be, indexes left aside.
func (t *table) changedSettings(req *api.UpdateTable) (settings, *api.Error) {
	s := t.settings
	if onDemand := req.Billing.Value == "PAY_PER_REQUEST"; req.Billing.Set && onDemand != s.onDemand {
		s.onDemand, s.billingSet = onDemand, true
	}
	switch {
	case s.onDemand && req.Throughput.Set:
		return s, api.InvalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case s.onDemand:
		s.throughput = api.Throughput{}
	case t.settings.onDemand && !req.Throughput.Set:
		return s, api.InvalidParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	case req.Throughput.Set && req.Throughput.Value == s.throughput:
		return s, catalog.Unchanged("table", s.throughput)
	case req.Throughput.Set:
		s.throughput = req.Throughput.Value
	}
	if req.OnDemand.Set {
		s.maximum = req.OnDemand
	}
	if req.Warm.Set {
		s.warm = req.Warm
	}
	s.protected = req.Protected.Or(s.protected)
	s.class = req.Class.Or(s.class)
	if req.Encryption.Set {
		s.encryption = req.Encryption
	}
	attributes, err := t.changedAttributes(req)
	s.attributes = attributes
	return s, err
}

// changedAttributes adds the definitions that a new index needs. Those of the
// keys there are may be repeated, not changed.
func (t *table) changedAttributes(req *api.UpdateTable) ([]api.AttributeDefinition, *api.Error) {
	out := slices.Clone(t.settings.attributes)
	if err := catalog.CheckAttributes(req.Attributes); err != nil {
		return nil, err
	}
	for _, a := range req.Attributes {
		i := slices.IndexFunc(out, func(b api.AttributeDefinition) bool { return a.Name == b.Name })
		switch {
		case i < 0:
			out = append(out, a)
		case out[i].Type != a.Type:
			return nil, api.InvalidParameter("Attribute %s is already defined with type %s", a.Name, out[i].Type)
		}
	}
	// What no key uses any more is not described any more.
	used := func(name string) bool {
		return t.key.Has(name) || slices.ContainsFunc(t.indexes, func(x *index) bool { return x.key.Has(name) && !catalog.Deletes(req, x.name) }) ||
			slices.ContainsFunc(req.Indexes, func(u api.IndexUpdate) bool {
				return u.Create != nil && slices.ContainsFunc(u.Create.Key, func(k api.KeyElement) bool { return k.Name == name })
			})
	}
	return slices.DeleteFunc(out, func(a api.AttributeDefinition) bool { return !used(a.Name) }), nil
}

// changedIndexes returns what the indexes will be. A new one is still empty: to
// fill it takes as long as there are items, and the request may yet be refused.
func (t *table) changedIndexes(req *api.UpdateTable, onDemand bool) ([]*index, *api.Error) {
	indexes := slices.Clone(t.indexes)
	find := func(name string) int {
		return slices.IndexFunc(indexes, func(x *index) bool { return x.name == name && !x.local })
	}
	for _, u := range req.Indexes {
		switch {
		case u.Create != nil:
			x, err := t.addIndex(u.Create, req.Attributes, onDemand)
			if err != nil {
				return nil, err
			}
			indexes = append(indexes, x)
		case u.Delete.Set:
			i := find(u.Delete.Value)
			if i < 0 {
				return nil, &api.Error{Code: api.ResourceNotFound, Message: "Requested resource not found: Index: " + u.Delete.Value + " not found in table: " + t.name}
			}
			indexes = slices.Delete(indexes, i, i+1)
		case u.Update != nil:
			i := find(u.Update.Name)
			if i < 0 {
				return nil, &api.Error{Code: api.ResourceNotFound, Message: "Requested resource not found: Index: " + u.Update.Name + " not found in table: " + t.name}
			}
			if u.Update.Throughput.Set && onDemand {
				return nil, api.InvalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: %s when BillingMode is PAY_PER_REQUEST", u.Update.Name)
			}
			x, err := indexes[i].changed(u.Update)
			if err != nil {
				return nil, err
			}
			indexes[i] = x
		}
	}
	return billed(indexes, onDemand)
}

// billed holds global indexes to the billing mode of their table: each has
// throughput when it is provisioned, and none when it is not.
func billed(indexes []*index, onDemand bool) ([]*index, *api.Error) {
	for i, x := range indexes {
		switch {
		case x.local || onDemand != x.throughput.Read.Set:
		case onDemand:
			y := *x
			y.throughput = api.Throughput{}
			indexes[i] = &y
		default:
			return nil, api.InvalidParameter("ProvisionedThroughput must be specified for index: %s", x.name)
		}
	}
	return indexes, nil
}

// changed returns the index with other settings.
func (x *index) changed(u *api.Index) (*index, *api.Error) {
	y := *x
	switch {
	case !u.Throughput.Set && !u.OnDemand.Set && !u.Warm.Set:
		return nil, api.InvalidParameter("ProvisionedThroughput must be specified for index: %s", x.name)
	case u.Throughput.Set && u.Throughput.Value == x.throughput:
		return nil, catalog.Unchanged("index "+x.name, x.throughput)
	case u.Throughput.Set:
		y.throughput = u.Throughput.Value
	}
	if u.OnDemand.Set {
		y.maximum = u.OnDemand
	}
	if u.Warm.Set {
		y.warm = u.Warm
	}
	return &y, nil
}

// addIndex makes an empty index of t.
func (t *table) addIndex(def *api.Index, attributes []api.AttributeDefinition, onDemand bool) (*index, *api.Error) {
	if t.index(def.Name) != nil {
		return nil, api.InvalidParameter("Duplicate index name: %s", def.Name)
	}
	if err := catalog.CheckGlobal(def, attributes, !onDemand); err != nil {
		return nil, err
	}
	global := 0
	for _, x := range t.indexes {
		if !x.local {
			global++
		}
	}
	if global >= catalog.MaxGlobal {
		return nil, &api.Error{Code: api.LimitExceeded, Message: "GlobalSecondaryIndex count exceeds the per-table limit of 20"}
	}
	return t.newIndex(def, attributes, false), nil
}
