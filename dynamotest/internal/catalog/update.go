package catalog

import (
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// Created returns the index that a request makes, or nil. A request makes at
// most one.
func Created(req *api.UpdateTable) *api.Index {
	for _, u := range req.Indexes {
		if u.Create != nil {
			return u.Create
		}
	}
	return nil
}

// CheckUpdate refuses a request that is invalid for any table: it must change
// something, no table has so much throughput, and each change of a global index
// must be exactly one action, and the only one on its index.
func CheckUpdate(req *api.UpdateTable) *api.Error {
	if !changesSomething(req) {
		return api.Invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required")
	}
	if err := checkUnits(req.Throughput.Value); err != nil {
		return err
	}
	return checkIndexUpdates(req.Indexes)
}

func checkIndexUpdates(updates []api.IndexUpdate) *api.Error {
	seen := map[string]bool{}
	for _, u := range updates {
		name, actions := "", 0
		if u.Update != nil {
			name, actions = u.Update.Name, actions+1
		}

		if u.Create != nil {
			name, actions = u.Create.Name, actions+1
		}

		if u.Delete.Set {
			name, actions = u.Delete.Value, actions+1
		}

		switch {
		case actions == 0:
			return api.InvalidParameter("One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null")
		case actions > 1:
			return api.InvalidParameter("Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object")
		case seen[name]:
			return api.InvalidParameter("Only one global secondary index update per index is allowed simultaneously. Index: %s", name)
		}

		seen[name] = true
	}

	return nil
}

// Updated returns the table after a request; streaming says whether it has an
// open stream. Errors of all changes are found here, before the first is made.
// Afterwards Billed adds the time of a new billing mode.
func (t Table) Updated(req *api.UpdateTable, streaming bool) (Table, *api.Error) {
	if err := checkOnline(req.Indexes); err != nil {
		return t, err
	}

	out, err := t.changedSettings(req)
	if err != nil {
		return t, err
	}
	if err := t.checkRedefined(req); err != nil {
		return t, err
	}
	if out.Indexes, err = t.changedIndexes(req, out.OnDemand); err != nil {
		return t, err
	}
	if err := t.checkStream(req.Stream, streaming); err != nil {
		return t, err
	}

	return out, nil
}

// Billed returns the table with the time of a change of its billing mode, if it
// differs from the mode of the table before.
func (t Table) Billed(before *Table, at time.Time) Table {
	if t.OnDemand != before.OnDemand {
		t.BilledSince = at
	}
	return t
}

// checkOnline refuses to make or delete more than one index.
func checkOnline(updates []api.IndexUpdate) *api.Error {
	online := 0
	for _, u := range updates {
		if u.Update == nil {
			online++
		}
	}
	if online > 1 {
		return &api.Error{Code: api.LimitExceeded, Message: "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"}
	}
	return nil
}

// changesSomething reports whether a request asks for any change.
func changesSomething(req *api.UpdateTable) bool {
	return req.Billing.Set || req.Throughput.Set || req.OnDemand.Set || req.Warm.Set || req.Protected.Set ||
		req.Class.Set || req.Stream.Set || req.Encryption.Set || len(req.Indexes) > 0
}

// changedSettings returns the table with its new settings, except those of
// indexes.
func (t Table) changedSettings(req *api.UpdateTable) (Table, *api.Error) {
	out := t
	if onDemand := req.Billing.Value == onDemandMode; req.Billing.Set && onDemand != out.OnDemand {
		out.OnDemand, out.BillingSet = onDemand, true
	}

	switch {
	case out.OnDemand && req.Throughput.Set:
		return t, api.InvalidParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case out.OnDemand:
		out.Throughput = api.Throughput{}
	case t.OnDemand && !req.Throughput.Set:
		return t, api.InvalidParameter("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	case req.Throughput.Set && req.Throughput.Value == out.Throughput:
		return t, unchanged("table", out.Throughput)
	case req.Throughput.Set:
		out.Throughput = req.Throughput.Value
	}

	if req.OnDemand.Set {
		out.Maximum = req.OnDemand
	}

	if req.Warm.Set {
		out.Warm = req.Warm
	}

	out.Protected = req.Protected.Or(out.Protected)
	out.Class = req.Class.Or(out.Class)
	if req.Encryption.Set {
		out.Encryption = req.Encryption
	}

	attributes, err := t.changedAttributes(req)
	out.Attributes = attributes
	return out, err
}

// changedAttributes adds the definitions that a new index needs. A definition
// of an attribute that has one already is ignored: DynamoDB keeps the existing
// type.
func (t *Table) changedAttributes(req *api.UpdateTable) ([]api.AttributeDefinition, *api.Error) {
	out := slices.Clone(t.Attributes)
	if err := checkAttributes(req.Attributes); err != nil {
		return nil, err
	}
	for _, a := range req.Attributes {
		if !slices.ContainsFunc(out, func(b api.AttributeDefinition) bool { return a.Name == b.Name }) {
			out = append(out, a)
		}
	}
	// An attribute that no key uses any more is removed from the definitions.
	return slices.DeleteFunc(out, func(a api.AttributeDefinition) bool { return !t.willUse(req, a.Name) }), nil
}

// willUse reports whether a key uses an attribute after a request.
func (t *Table) willUse(req *api.UpdateTable, name string) bool {
	return t.Key.Has(name) ||
		slices.ContainsFunc(t.Indexes, func(x Index) bool { return x.Key.Has(name) && !deletes(req, x.Name) }) ||
		slices.ContainsFunc(req.Indexes, func(u api.IndexUpdate) bool {
			return u.Create != nil && slices.ContainsFunc(u.Create.Key, func(k api.KeyElement) bool { return k.Name == name })
		})
}

// deletes reports whether a request deletes an index.
func deletes(req *api.UpdateTable, indexName string) bool {
	return slices.ContainsFunc(req.Indexes, func(u api.IndexUpdate) bool { return u.Delete.Set && u.Delete.Value == indexName })
}

// checkStream refuses a change of the stream that changes nothing.
func (t *Table) checkStream(spec api.Opt[api.Stream], streaming bool) *api.Error {
	switch {
	case !spec.Set:
	case spec.Value.Enabled.Value && streaming:
		return api.Invalid("Table already has an enabled stream: TableName: %s", t.Name)
	case !spec.Value.Enabled.Value && !streaming:
		return api.Invalid("Table has no stream to disable: TableName: %s", t.Name)
	}
	return nil
}

// unchanged returns the error of setting the throughput that a table or an
// index already has.
func unchanged(what string, t api.Throughput) *api.Error {
	return api.Invalid("The provisioned throughput for the %[1]s will not change. The requested value equals the current value. "+
		"Current ReadCapacityUnits provisioned for the %[1]s: %[2]d. Requested ReadCapacityUnits: %[2]d. Current WriteCapacityUnits provisioned for the %[1]s: %[3]d. "+
		"Requested WriteCapacityUnits: %[3]d. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
		what, t.Read.Value, t.Write.Value)
}
