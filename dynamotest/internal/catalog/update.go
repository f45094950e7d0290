package catalog

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// Created is the index that a request makes, nil for none: there is one at most.
func Created(req *api.UpdateTable) *api.Index {
	for _, u := range req.Indexes {
		if u.Create != nil {
			return u.Create
		}
	}
	return nil
}

// CheckIndexUpdates refuses changes of global indexes that say too little or too
// much, whatever the table has: each is one action, the only one on its index.
func CheckIndexUpdates(updates []api.IndexUpdate) *api.Error {
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

// CheckOnline refuses to make or delete more than one index.
func CheckOnline(updates []api.IndexUpdate) *api.Error {
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

// ChangesSomething reports whether a request asks for any change.
func ChangesSomething(req *api.UpdateTable) bool {
	return req.Billing.Set || req.Throughput.Set || req.OnDemand.Set || req.Warm.Set || req.Protected.Set ||
		req.Class.Set || req.Stream.Set || req.Encryption.Set || len(req.Indexes) > 0
}

// Unchanged refuses to set the throughput that a table or an index has.
func Unchanged(what string, t api.Throughput) *api.Error {
	return api.Invalid("The provisioned throughput for the %[1]s will not change. The requested value equals the current value. "+
		"Current ReadCapacityUnits provisioned for the %[1]s: %[2]d. Requested ReadCapacityUnits: %[2]d. Current WriteCapacityUnits provisioned for the %[1]s: %[3]d. "+
		"Requested WriteCapacityUnits: %[3]d. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
		what, t.Read.Value, t.Write.Value)
}

// Deletes reports whether a request deletes an index.
func Deletes(req *api.UpdateTable, indexName string) bool {
	return slices.ContainsFunc(req.Indexes, func(u api.IndexUpdate) bool { return u.Delete.Set && u.Delete.Value == indexName })
}
