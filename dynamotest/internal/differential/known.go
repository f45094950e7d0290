package main

import (
	"encoding/json"
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
	rare     bool   // 100,000 requests may not show it
	explains func(d difference) bool
}

// known are the differences that have a reason. A difference has that of the
// first that explains it.
var known = slices.Concat(knownFailures, knownRequests, knownReads, knownTransactions, knownStatements, knownTables, knownReplies, knownUnits)

// explain names the known difference that one is, if it is one.
func explain(d difference) string {
	for _, k := range known {
		if k.explains(d) {
			return k.name
		}
	}
	return ""
}

// Types of errors.
const (
	cancelled       = "TransactionCanceledException"
	validation      = "ValidationException"
	malformed       = "SerializationException"
	notFound        = "ResourceNotFoundException"
	conditionFailed = "ConditionalCheckFailedException"
)

// refused tells whether both refused the request.
func (d difference) refused() bool {
	return d.ours.status == http.StatusBadRequest && d.theirs.status == http.StatusBadRequest
}

// performed tells whether both did what they were asked for.
func (d difference) performed() bool {
	return d.ours.status == http.StatusOK && d.theirs.status == http.StatusOK
}

// only tells whether both performed the request and answered the same, some
// members aside.
func (d difference) only(names ...string) bool {
	ours, theirs := maps.Clone(d.ours.body), maps.Clone(d.theirs.body)
	for _, name := range names {
		delete(ours, name)
		delete(theirs, name)
	}
	return d.performed() && reflect.DeepEqual(ours, theirs)
}

// op tells whether the request's operation is one of some.
func (d difference) op(names ...string) bool { return slices.Contains(names, d.request.op) }

// asks tells whether the request has a member.
func (d difference) asks(name string) bool { return d.request.body[name] != nil }

func (d difference) isStatement() bool {
	return d.op("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction")
}

// contains tells whether the request has a text anywhere.
func (d difference) contains(part string) bool {
	text, _ := json.Marshal(d.request.body)
	return strings.Contains(string(text), part)
}

// repeatsKey tells whether a batch has one key twice, written alike.
func (d difference) repeatsKey() bool {
	tables, _ := d.request.body["RequestItems"].(object)
	for _, t := range tables {
		keys, _ := t.(object)["Keys"].([]object)
		seen := map[string]bool{}
		for _, key := range keys {
			text, _ := json.Marshal(key)
			if seen[string(text)] {
				return true
			}
			seen[string(text)] = true
		}
	}
	return false
}

// differsAtStart tells whether all items that only one of the replies shows have
// the index's key of the start key.
func (d difference) differsAtStart() bool {
	start, _ := d.request.body["ExclusiveStartKey"].(object)
	if start == nil {
		return false
	}
	start = maps.Clone(start)
	normalize(start, false)
	x := indexNamed(d.request.body["IndexName"])
	equal := func(a, b any) bool { return byText(a, b) == 0 }
	alone := func(list, other []any) bool {
		return !slices.ContainsFunc(list, func(item any) bool {
			at := item.(object)[x.sort]
			shared := slices.ContainsFunc(other, func(o any) bool { return equal(o, item) })
			return !shared && at != nil && !equal(at, start[x.sort])
		})
	}
	ours, theirs := d.ours.list("Items"), d.theirs.list("Items")
	return alone(ours, theirs) && alone(theirs, ours)
}

func indexNamed(name any) index {
	for _, t := range tables {
		for _, x := range t.indexes {
			if x.name == name {
				return x
			}
		}
	}
	return index{}
}

func (a answer) ok() bool { return a.status == http.StatusOK }

func (a answer) says(part string) bool { return strings.Contains(a.message, part) }

func (a answer) hasCode(code string) bool {
	codes, _ := a.body["Codes"].([]any)
	return slices.Contains(codes, any(code))
}

// list is a member of a reply.
func (a answer) list(name string) []any {
	list, _ := a.body[name].([]any)
	return list
}

// units are those of all tables in a reply.
func (a answer) units() float64 {
	list := a.list("ConsumedCapacity")
	if list == nil {
		list = []any{a.body["ConsumedCapacity"]}
	}
	sum := 0.
	for _, e := range list {
		one, _ := e.(object)
		n, _ := one["CapacityUnits"].(float64)
		sum += n
	}
	return sum
}
