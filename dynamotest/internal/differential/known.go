package main

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// A knownDifference is one that has a reason.
type knownDifference struct {
	name     string
	reason   string // and who is right
	explains func(d difference) bool
}

const (
	cancelled  = "TransactionCanceledException"
	validation = "ValidationException"
)

var known = []knownDifference{
	{
		name:   "the other server fails",
		reason: "DynamoDB Local answers 500 to UpdateItem with ReturnValues and without an expression; AWS performs it",
		explains: func(d difference) bool {
			return d.theirs.status == http.StatusInternalServerError && d.ours.status < http.StatusInternalServerError
		},
	},
	{
		name: "an action of a transaction that cannot be performed on the item",
		reason: "AWS cancels the transaction and gives the code ValidationError to the action, as its reference of " +
			"TransactWriteItems says; DynamoDB Local refuses the whole request, or stops at the first bad action",
		explains: func(d difference) bool {
			return refused(d) && strings.HasPrefix(d.request.op, "Transact") && d.ours.kind == cancelled && d.ours.hasCode("ValidationError")
		},
	},
	{
		name:   "two actions on one item, and another mistake",
		reason: "both refuse; which is told first no document says. dynamotest looks for it before it reads items",
		explains: func(d difference) bool {
			return refused(d) && d.ours.kind == validation && d.theirs.kind == cancelled && strings.Contains(d.ours.message, "multiple operations on one item")
		},
	},
	{
		name:   "an update that gives the key of an index another type",
		reason: "AWS refuses it, as it does a put; DynamoDB Local takes it and leaves the item out of the index",
		explains: func(d difference) bool {
			return d.theirs.kind != validation && strings.Contains(d.ours.message, "Type mismatch for Index Key")
		},
	},
	{
		name: "REMOVE or DELETE below what an item that does not exist lacks",
		reason: "dynamotest finds nothing to remove and succeeds; DynamoDB Local calls the path invalid. No document says " +
			"what AWS does",
		explains: func(d difference) bool {
			return d.ours.kind != validation && !d.ours.hasCode("ValidationError") && strings.HasPrefix(d.theirs.message, "The document path provided")
		},
	},
	{
		name: "a key that does not fit, and another mistake, in one transaction",
		reason: "both refuse; which is told first no document says. dynamotest judges all values and expressions before " +
			"it looks at any table",
		explains: func(d difference) bool {
			key := slices.ContainsFunc([]string{"number of conditions on the keys", "Type mismatch for key", "required keys was not given"},
				func(text string) bool { return strings.Contains(d.theirs.message, text) })
			return refused(d) && key && d.theirs.kind == cancelled && d.ours.kind == validation
		},
	},
	{
		name: "UPDATED_OLD and UPDATED_NEW of a path inside an attribute",
		reason: "AWS shows what stands at the path, as the public conformance suite has recorded; DynamoDB Local shows " +
			"the whole attribute",
		explains: func(d difference) bool {
			mode, _ := d.request.body["ReturnValues"].(string)
			ours, _ := d.ours.body["Attributes"].(object)
			theirs, _ := d.theirs.body["Attributes"].(object)
			return strings.HasPrefix(mode, "UPDATED_") && len(ours) > 0 &&
				maps.EqualFunc(ours, theirs, func(any, any) bool { return true }) // the names are the same
		},
	},
	{
		name: "a page that its limit ends at the last item",
		reason: "AWS gives a key to go on from, and then an empty page: the reference says that the key does not mean " +
			"more items; DynamoDB Local looks ahead",
		explains: func(d difference) bool {
			limit, _ := d.request.body["Limit"].(int)
			ours := maps.Clone(d.ours.body)
			delete(ours, "LastEvaluatedKey")
			return d.request.op == "Query" && d.ours.body["ScannedCount"] == float64(limit) && reflect.DeepEqual(ours, d.theirs.body)
		},
	},
}

// refused tells whether both refused the request.
func refused(d difference) bool {
	return d.ours.status == http.StatusBadRequest && d.theirs.status == http.StatusBadRequest
}

func (a answer) hasCode(code string) bool {
	codes, _ := a.body["Codes"].([]any)
	return slices.Contains(codes, any(code))
}
