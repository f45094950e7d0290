package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Conditions of the known differences, about a difference and each answer.

// refused reports whether both refused the request.
func (d difference) refused() bool {
	return d.ours.status == http.StatusBadRequest && d.theirs.status == http.StatusBadRequest
}

// performed reports whether both performed the request.
func (d difference) performed() bool { return d.ours.ok() && d.theirs.ok() }

// only reports whether both performed the request and their answers are the
// same except for some members.
func (d difference) only(names ...string) bool {
	return d.performed() && reflect.DeepEqual(without(d.ours.body, names...), without(d.theirs.body, names...))
}

func without(body object, names ...string) object {
	out := maps.Clone(body)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// op reports whether the request's operation is one of some.
func (d difference) op(names ...string) bool { return slices.Contains(names, d.request.op) }

// asks reports whether the request has a member.
func (d difference) asks(name string) bool { return d.asked[name] != nil }

// lacksAction reports whether the request updates an attribute without an action.
func (d difference) lacksAction() bool {
	updates, _ := d.request.body["AttributeUpdates"].(object)
	for _, update := range updates {
		if update, ok := update.(object); ok && update["Action"] == nil {
			return true
		}
	}
	return false
}

func (d difference) isStatement() bool {
	return d.op("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction")
}

func (d difference) isTransaction() bool {
	return d.op("TransactWriteItems", "TransactGetItems", "ExecuteTransaction")
}

// text is the JSON of one member of the request, or of all of it.
func (d difference) text(member string) string {
	var v any = d.asked
	if member != "" {
		v = d.asked[member]
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// contains reports whether the request has a text anywhere.
func (d difference) contains(part string) bool { return strings.Contains(d.text(""), part) }

// eachReply reports whether both answered a batch of statements, and alike is
// true of each pair of unequal replies.
func (d difference) eachReply(alike func(statement string, ours, theirs object) bool) bool {
	ours, theirs, statements := d.ours.list("Responses"), d.theirs.list("Responses"), d.statements()
	if !d.op("BatchExecuteStatement") || !d.only("Responses") || len(ours) != len(theirs) || len(ours) != len(statements) {
		return false
	}
	for i := range ours {
		a, _ := ours[i].(object)
		b, _ := theirs[i].(object)
		if !reflect.DeepEqual(a, b) && !alike(statements[i], a, b) {
			return false
		}
	}
	return true
}

// strange reports whether a request names a table that the generator does not
// have, or is about tables that come and go.
func (d difference) strange() bool {
	if d.request.raw != "" || slices.ContainsFunc(spareNames, d.contains) {
		return true
	}

	for _, key := range d.keys() {
		if tableNamed(key["table"].(string)).name == "" {
			return true
		}
	}

	name, named := d.asked["TableName"].(string)
	tables, _ := d.asked["RequestItems"].(object)
	for name := range tables {
		if tableNamed(name).name == "" {
			return true
		}
	}

	return named && tableNamed(name).name == "" || slices.ContainsFunc(d.statements(), strangeStatement)
}

func (d difference) statements() []string {
	var out []string
	for _, s := range slices.Concat([]any{any(d.asked)}, elements(d.asked["Statements"]), elements(d.asked["TransactStatements"])) {
		s, _ := s.(object)
		if text, ok := s["Statement"].(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func strangeStatement(text string) bool {
	return !slices.ContainsFunc(tables, func(t table) bool {
		return regexp.MustCompile(`(FROM|UPDATE|INTO) "?` + t.name + `"?( |\.|;|$)`).MatchString(text)
	})
}

// code returns the code of the error in a reply to one statement of a batch.
func code(reply object) any {
	err, _ := reply["Error"].(object)
	return err["Code"]
}

// repeats reports whether a request names one item twice: keys are compared as
// they are written, or normalized.
func (d difference) repeats(normalized bool) bool {
	seen := map[string]bool{}
	for _, key := range d.keys() {
		text, _ := json.Marshal(key)
		if normalized {
			var again object
			_ = json.Unmarshal(text, &again)
			normalize(again, false)
			text, _ = json.Marshal(again)
		}
		if seen[string(text)] {
			return true
		}
		seen[string(text)] = true
	}

	return false
}

// keys returns the keys of the items that a batch or a transaction names, each
// with the name of its table.
func (d difference) keys() []object {
	var out []object
	var walk func(table string, v any)
	walk = func(table string, v any) {
		for _, e := range elements(v) {
			walk(table, e)
		}

		action, _ := v.(object)
		if name, ok := action["TableName"].(string); ok {
			table = name
		}

		t := tableNamed(table)
		for member, v := range action {
			item, ok := v.(object)
			if ok && (member == "Key" || member == "Item") {
				out = append(out, object{"table": table, "hash": item[t.hash], "sort": item[t.sort]})
			} else {
				walk(table, v)
			}
		}
	}

	tables, _ := d.asked["RequestItems"].(object)
	for table, entries := range tables {
		walk(table, entries)
		read, _ := entries.(object)
		for _, key := range elements(read["Keys"]) {
			walk(table, object{"Key": key})
		}
	}

	walk("", d.asked["TransactItems"])
	return out
}

func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// descends reports whether a statement asks for descending order, and by that
// attribute the first of the items is greater than the last.
func (d difference) descends(items []any) bool {
	statement, _ := d.asked["Statement"].(string)
	_, order, _ := strings.Cut(statement, "ORDER BY ")
	name, direction, _ := strings.Cut(order, " ")
	if direction != "DESC" || len(items) < 2 {
		return false
	}

	at := func(item any) object {
		value, _ := item.(object)[strings.Trim(name, `"`)].(object)
		return value
	}

	first, last := at(items[0]), at(items[len(items)-1])
	if n, ok := first["N"].(string); ok {
		a, _ := new(big.Rat).SetString(n)
		b, _ := new(big.Rat).SetString(last["N"].(string))
		return a.Cmp(b) > 0
	}

	return byText(first, last) > 0
}

// filtersByLack reports whether a request that reads an index filters by
// attributes that are in the table and not in the index.
func (d difference) filtersByLack() bool {
	name, filter := d.asked["IndexName"], d.text("FilterExpression")+d.text("ScanFilter")
	if statement, ok := d.asked["Statement"].(string); ok {
		from, where, _ := strings.Cut(statement, "WHERE")
		if at := strings.LastIndex(from, `."`); at >= 0 {
			name, _, _ = strings.Cut(from[at+2:], `"`)
		}
		filter = where
	}

	t, x := indexNamed(name)
	return x.projection != "ALL" && slices.ContainsFunc(attributes, func(name string) bool {
		held := slices.Contains(append([]string{t.hash, t.sort, x.hash, x.sort}, x.include...), name)
		return !held && regexp.MustCompile(`\b`+name+`\b`).MatchString(filter)
	})
}

// differsAtStart reports whether all items that only one of the replies shows have
// the same index key as the start key.
func (d difference) differsAtStart() bool {
	start, _ := d.asked["ExclusiveStartKey"].(object)
	if start == nil {
		return false
	}

	start = maps.Clone(start)
	normalize(start, false)
	_, x := indexNamed(d.asked["IndexName"])
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

func indexNamed(name any) (table, index) {
	for _, t := range tables {
		for _, x := range t.indexes {
			if x.name == name {
				return t, x
			}
		}
	}
	return table{}, index{}
}

func tableNamed(name string) table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	return table{}
}

// withoutIndexUnits describes a table without the throughput of its indexes.
func withoutIndexUnits(description any) object {
	table, _ := description.(object)
	out := object{}
	maps.Copy(out, table)
	var stripped []any
	for _, x := range elements(table["GlobalSecondaryIndexes"]) {
		stripped = append(stripped, without(x.(object), "ProvisionedThroughput"))
	}
	out["GlobalSecondaryIndexes"] = stripped
	return out
}

// within reports whether a value is a part of another: some members of its maps,
// some elements of its lists.
func within(part, whole any) bool {
	switch part := part.(type) {
	case object:
		whole, ok := whole.(object)
		for name, v := range part {
			isSet := name == "SS" || name == "NS" || name == "BS"
			if isSet && !reflect.DeepEqual(v, whole[name]) || !within(v, whole[name]) {
				return false
			}
		}
		return ok
	case []any:
		whole, ok := whole.([]any)
		found := 0
		for _, e := range whole {
			if found < len(part) && within(part[found], e) {
				found++
			}
		}
		return ok && found == len(part)
	}
	return reflect.DeepEqual(part, whole)
}

func (a answer) ok() bool { return a.status == http.StatusOK }

func (a answer) says(parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(a.message, part) })
}

func (a answer) hasCode(code string) bool { return slices.Contains(a.list("Codes"), any(code)) }

// cancelsAs reports whether a transaction's reasons agree with those of b: an
// action that cannot be performed may be passed over, and the actions after it
// need not be looked at.
func (a answer) cancelsAs(b answer) bool {
	others := b.list("Codes")
	stopped := false
	for i, code := range a.list("Codes") {
		over := i < len(others) && code == "None" && (stopped || others[i] == "ValidationError")
		if !over && (i >= len(others) || code != others[i]) {
			return false
		}
		stopped = stopped || code == "ValidationError"
	}
	return a.kind == cancelled && b.kind == cancelled
}

// list returns a member of a reply.
func (a answer) list(name string) []any { return elements(a.body[name]) }

// units returns the units of each table in a reply.
func (a answer) units() map[string]float64 {
	list, ok := a.accounts["ConsumedCapacity"].([]any)
	if one := a.accounts["ConsumedCapacity"]; !ok && one != nil {
		list = []any{one}
	}
	out := map[string]float64{}
	for _, e := range list {
		n, _ := e.(object)["CapacityUnits"].(float64)
		out[fmt.Sprint(e.(object)["TableName"])] += n
	}
	return out
}
