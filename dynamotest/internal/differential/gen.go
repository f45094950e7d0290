package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A gen makes random requests, most of which are valid: out of few names and
// values, so that they meet.
type gen struct {
	*rand.Rand
	prefix string // of the tables' names
}

var tableNames = []string{"plain", "pairs"}

// one tells whether something shall happen that does once in n times.
func (g *gen) one(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *gen, from ...T) T { return from[g.IntN(len(from))] }

func (g *gen) tables() []request {
	attribute := func(name, kind string) object { return object{"AttributeName": name, "AttributeType": kind} }
	key := func(names ...string) []object {
		out := []object{{"AttributeName": names[0], "KeyType": "HASH"}}
		for _, name := range names[1:] {
			out = append(out, object{"AttributeName": name, "KeyType": "RANGE"})
		}
		return out
	}
	index := func(name, projection string, names ...string) object {
		return object{"IndexName": name, "KeySchema": key(names...), "Projection": object{"ProjectionType": projection}}
	}
	plain := object{
		"TableName": g.prefix + "plain", "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": []object{attribute("pk", "S")}, "KeySchema": key("pk"),
	}
	pairs := object{
		"TableName": g.prefix + "pairs", "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions":   []object{attribute("pk", "S"), attribute("sk", "N"), attribute("a", "S"), attribute("b", "N")},
		"KeySchema":              key("pk", "sk"),
		"GlobalSecondaryIndexes": []object{index("global", "ALL", "a", "b"), index("keys", "KEYS_ONLY", "b")},
		"LocalSecondaryIndexes":  []object{index("local", "ALL", "pk", "b")},
	}
	return []request{{op: "CreateTable", body: plain}, {op: "CreateTable", body: pairs}}
}

// scans read everything.
func (g *gen) scans() []request {
	var out []request
	for _, name := range tableNames {
		out = append(out, request{op: "Scan", body: object{"TableName": g.prefix + name}, pages: true, unordered: true})
	}
	for _, name := range []string{"global", "keys", "local"} {
		out = append(out, request{op: "Scan", body: object{"TableName": g.prefix + "pairs", "IndexName": name}, pages: true, unordered: true})
	}
	return out
}

func (g *gen) request() request {
	table := pick(g, tableNames...)
	switch g.IntN(16) {
	case 0, 1, 2:
		return request{op: "PutItem", body: g.put(table, true)}
	case 3, 4, 5, 6:
		return request{op: "UpdateItem", body: g.update(table, true)}
	case 7:
		return request{op: "DeleteItem", body: g.delete(table, true)}
	case 8, 9:
		return request{op: "GetItem", body: g.get(table)}
	case 10, 11:
		return g.query(table)
	case 12:
		return g.scan(table)
	case 13:
		return g.batch(table)
	case 14:
		return g.transactWrite()
	}
	return g.transactGet()
}

func (g *gen) put(table string, alone bool) object {
	e := g.expressions()
	req := object{"TableName": g.prefix + table, "Item": g.item(table)}
	if g.one(2) {
		req["ConditionExpression"] = e.source(e.condition(2))
	}
	if alone {
		g.returnValues(req, "NONE", "ALL_OLD")
	}
	return e.into(req)
}

func (g *gen) update(table string, alone bool) object {
	e := g.expressions()
	req := object{"TableName": g.prefix + table, "Key": g.key(table)}
	if !alone || !g.one(12) {
		req["UpdateExpression"] = e.source(e.update())
	}
	if g.one(3) {
		req["ConditionExpression"] = e.source(e.condition(2))
	}
	if alone {
		g.returnValues(req, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
	}
	return e.into(req)
}

func (g *gen) delete(table string, alone bool) object {
	e := g.expressions()
	req := object{"TableName": g.prefix + table, "Key": g.key(table)}
	if g.one(2) {
		req["ConditionExpression"] = e.source(e.condition(2))
	}
	if alone {
		g.returnValues(req, "NONE", "ALL_OLD")
	}
	return e.into(req)
}

func (g *gen) returnValues(req object, modes ...string) {
	if g.one(2) {
		req["ReturnValues"] = pick(g, modes...)
	}
	if g.one(4) {
		req["ReturnValuesOnConditionCheckFailure"] = pick(g, "ALL_OLD", "NONE")
	}
	if g.one(100) {
		req["ReturnValues"] = pick(g, "ALL_NEW", "SOME")
	}
}

func (g *gen) get(table string) object {
	e := g.expressions()
	req := object{"TableName": g.prefix + table, "Key": g.key(table), "ConsistentRead": g.one(2)}
	if g.one(2) {
		req["ProjectionExpression"] = e.source(e.projection())
	}
	return e.into(req)
}

func (g *gen) query(table string) request {
	e := g.expressions()
	req := object{"TableName": g.prefix + table}
	out := request{op: "Query", body: req, pages: g.one(2)}
	index := ""
	if table == "pairs" && g.one(2) {
		index = pick(g, "global", "keys", "local")
		req["IndexName"] = index
		out.unordered = true // of items with equal keys
	}
	hash, sort := "pk", "sk"
	hashValue := func() any { return g.hash() }
	switch {
	case table == "plain":
		sort = ""
	case index == "local":
		sort = "b"
	case index == "global":
		hash, sort = "a", "b"
		hashValue = func() any { return object{"S": g.text()} }
	case index == "keys":
		hash, sort = "b", ""
		hashValue = func() any { return g.number() }
	}
	req["KeyConditionExpression"] = e.source(e.keyCondition(hash, hashValue(), sort))
	if !out.pages && g.one(2) && !out.unordered || out.pages && g.one(2) {
		req["Limit"] = 1 + g.IntN(5)
	}
	if g.one(3) {
		req["FilterExpression"] = e.source(e.condition(2))
	}
	if g.one(4) {
		req["ProjectionExpression"] = e.source(e.projection())
	}
	if g.one(2) {
		req["ScanIndexForward"] = g.one(2)
	}
	if g.one(10) {
		req["Select"] = pick(g, "COUNT", "ALL_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
	}
	e.into(req)
	return out
}

func (g *gen) scan(table string) request {
	e := g.expressions()
	req := object{"TableName": g.prefix + table}
	if g.one(2) {
		req["FilterExpression"] = e.source(e.condition(2))
	}
	if g.one(4) {
		req["ProjectionExpression"] = e.source(e.projection())
	}
	if g.one(10) {
		req["Select"] = pick(g, "COUNT", "ALL_ATTRIBUTES", "SPECIFIC_ATTRIBUTES")
	}
	return request{op: "Scan", body: e.into(req), unordered: true}
}

func (g *gen) batch(table string) request {
	if g.one(2) {
		keys := make([]object, g.IntN(4)+1)
		for i := range keys {
			keys[i] = g.key(table)
		}
		e := g.expressions()
		read := object{"Keys": keys}
		if g.one(3) {
			read["ProjectionExpression"] = e.source(e.projection())
		}
		req := object{"RequestItems": object{g.prefix + table: e.into(read)}}
		return request{op: "BatchGetItem", body: req, unordered: true}
	}
	writes := make([]object, g.IntN(4)+1)
	for i := range writes {
		if g.one(3) {
			writes[i] = object{"DeleteRequest": object{"Key": g.key(table)}}
		} else {
			writes[i] = object{"PutRequest": object{"Item": g.item(table)}}
		}
	}
	return request{op: "BatchWriteItem", body: object{"RequestItems": object{g.prefix + table: writes}}}
}

func (g *gen) transactWrite() request {
	actions := make([]object, g.IntN(3)+1)
	for i := range actions {
		table := pick(g, tableNames...)
		switch g.IntN(5) {
		case 0, 1:
			actions[i] = object{"Put": g.put(table, false)}
		case 2:
			actions[i] = object{"Update": g.update(table, false)}
		case 3:
			actions[i] = object{"Delete": g.delete(table, false)}
		default:
			check := g.delete(table, false)
			e := g.expressions()
			check["ConditionExpression"] = e.source(e.condition(2))
			delete(check, "ExpressionAttributeNames")
			delete(check, "ExpressionAttributeValues")
			actions[i] = object{"ConditionCheck": e.into(check)}
		}
	}
	return request{op: "TransactWriteItems", body: object{"TransactItems": actions}}
}

func (g *gen) transactGet() request {
	gets := make([]object, g.IntN(3)+1)
	for i := range gets {
		req := g.get(pick(g, tableNames...))
		delete(req, "ConsistentRead")
		gets[i] = object{"Get": req}
	}
	return request{op: "TransactGetItems", body: object{"TransactItems": gets}}
}

// The attributes of items.
var attributes = []string{"a", "b", "c", "d", "name", "m", "l", "s"}

func (g *gen) attribute() string { return pick(g, attributes...) }

func (g *gen) text() string { return pick(g, "x", "y", "xy", "zebra", "é", "x\u0000", "", "0", "10") }

func (g *gen) number() object {
	if g.one(60) {
		return object{"N": pick(g, "", "one", "1e126", "1e-131", "123456789012345678901234567890123456789", "0x1", "NaN", " 1", "--1")}
	}
	return object{"N": pick(g, "0", "1", "2", "-1", "10", "1.50", "1e2", "-0", "99999999999999999999999999999999999999", "0.1", "1E-130", "+3", "007")}
}

func (g *gen) hash() object {
	if g.one(80) {
		return pick(g, object{"S": ""}, object{"N": "1"}, object{"NULL": true})
	}
	return object{"S": pick(g, "p", "q", "r")}
}

func (g *gen) sort() object {
	if g.one(80) {
		return pick(g, object{"S": "1"}, object{"BOOL": true}, g.number())
	}
	return object{"N": strconv.Itoa(g.IntN(8) - 2)}
}

func (g *gen) key(table string) object {
	key := object{"pk": g.hash()}
	if table == "pairs" {
		key["sk"] = g.sort()
	}
	if g.one(80) {
		key["extra"] = g.number()
	}
	if g.one(80) {
		delete(key, "pk")
	}
	return key
}

func (g *gen) item(table string) object {
	item := g.key(table)
	for range g.IntN(6) {
		name := g.attribute()
		switch {
		case table == "pairs" && name == "a" && !g.one(12):
			item[name] = object{"S": pick(g, "x", "y", "xy")}
		case table == "pairs" && name == "b" && !g.one(12):
			item[name] = object{"N": strconv.Itoa(g.IntN(4))}
		case name == "m" && !g.one(4):
			item[name] = object{"M": object{g.attribute(): g.value(1), g.attribute(): g.value(1)}}
		case name == "l" && !g.one(4):
			item[name] = object{"L": []any{g.value(1), g.value(1), g.value(1)}}
		default:
			item[name] = g.value(2)
		}
	}
	return item
}

// value makes an attribute value, nested at most so deep.
func (g *gen) value(deep int) object {
	kinds := 7
	if deep > 0 {
		kinds = 10
	}
	if g.one(150) {
		return pick(g, object{}, object{"S": "x", "N": "1"}, object{"SS": []string{}}, object{"NS": []string{"1", "1.0"}}, object{"NULL": false}, object{"SS": []string{"x", "x"}})
	}
	switch g.IntN(kinds) {
	case 0:
		return object{"BOOL": g.one(2)}
	case 1:
		return object{"NULL": true}
	case 2:
		return object{"B": pick(g, "eA==", "", "AAE=")}
	case 3:
		return pick(g, object{"SS": []string{"x", "y"}}, object{"SS": []string{"y"}}, object{"NS": []string{"1", "2.0"}}, object{"BS": []string{"eA=="}})
	case 4:
		return object{"S": g.text()}
	case 5, 6:
		return g.number()
	case 7:
		return object{"M": object{g.attribute(): g.value(deep - 1)}}
	case 8:
		return object{"M": object{}}
	}
	list := make([]any, g.IntN(3))
	for i := range list {
		list[i] = g.value(deep - 1)
	}
	return object{"L": list}
}

// expressions are those of one request, with their placeholders.
type expressions struct {
	*gen
	names, values object
}

func (g *gen) expressions() *expressions {
	return &expressions{gen: g, names: object{}, values: object{}}
}

// into adds the placeholders to a request.
func (e *expressions) into(req object) object {
	if e.one(150) {
		e.names["#unused"] = "x"
	}
	if e.one(150) {
		e.values[":unused"] = e.number()
	}
	if len(e.names) > 0 {
		req["ExpressionAttributeNames"] = e.names
	}
	if len(e.values) > 0 {
		req["ExpressionAttributeValues"] = e.values
	}
	return req
}

// source damages an expression once in a while.
func (e *expressions) source(text string) string {
	if len(text) < 2 || !e.one(60) {
		return text
	}
	at := e.IntN(len(text))
	switch e.IntN(3) {
	case 0:
		return text[:at] + text[at+1:]
	case 1:
		return text[:at] + pick(e.gen, "(", ")", ",", " AND ", "#", ":", "[", "=", "@") + text[at:]
	}
	return text[:at]
}

func (e *expressions) placeholder(v any) string {
	name := ":v" + strconv.Itoa(len(e.values))
	e.values[name] = v
	return name
}

func (e *expressions) any() string { return e.placeholder(e.value(1)) }

func (e *expressions) name(name string) string {
	if name == "name" || !e.one(3) {
		short := "#" + name
		if name == "name" && e.one(60) {
			return name // reserved
		}
		e.names[short] = name
		return short
	}
	return name
}

func (e *expressions) path() string {
	switch e.IntN(8) {
	case 0:
		return e.name("m") + "." + e.name(e.attribute())
	case 1:
		return e.name("l") + fmt.Sprintf("[%d]", e.IntN(4))
	case 2:
		if e.one(4) {
			return e.name("m") + "." + e.name(e.attribute()) + pick(e.gen, "[0]", ".a")
		}
	case 3:
		if e.one(4) {
			return e.name(pick(e.gen, "pk", "sk"))
		}
	}
	return e.name(e.attribute())
}

func (e *expressions) operand() string {
	switch e.IntN(5) {
	case 0:
		return "size(" + e.path() + ")"
	case 1, 2:
		return e.any()
	}
	return e.path()
}

func (e *expressions) condition(deep int) string {
	if deep > 0 {
		switch e.IntN(6) {
		case 0:
			return e.condition(deep-1) + " AND " + e.condition(deep-1)
		case 1:
			return "(" + e.condition(deep-1) + ") OR " + e.condition(deep-1)
		case 2:
			return "NOT " + e.condition(deep-1)
		}
	}
	switch e.IntN(10) {
	case 0, 1:
		return "attribute_exists(" + e.path() + ")"
	case 2, 3:
		return "attribute_not_exists(" + e.path() + ")"
	case 4:
		return "attribute_type(" + e.path() + ", " + e.placeholder(object{"S": pick(e.gen, "S", "N", "L", "M", "SS", "BOOL", "NULL", "X")}) + ")"
	case 5:
		return "begins_with(" + e.path() + ", " + e.placeholder(pick(e.gen, object{"S": e.text()}, object{"B": "AA=="}, e.number())) + ")"
	case 6:
		return "contains(" + e.path() + ", " + e.operand() + ")"
	case 7:
		return e.operand() + " BETWEEN " + e.operand() + " AND " + e.operand()
	case 8:
		return e.operand() + " IN (" + e.any() + ", " + e.operand() + ")"
	}
	return e.operand() + pick(e.gen, " = ", " <> ", " < ", " <= ", " > ", " >= ") + e.operand()
}

func (e *expressions) projection() string {
	paths := make([]string, e.IntN(3)+1)
	for i := range paths {
		paths[i] = e.path()
	}
	return strings.Join(paths, ", ")
}

func (e *expressions) keyCondition(hash string, value any, sort string) string {
	out := e.name(hash) + " = " + e.placeholder(value)
	if sort == "" && !e.one(40) || e.one(3) {
		return out
	}
	if sort == "" {
		sort = e.attribute()
	}
	number := func() string { return e.placeholder(e.sort()) }
	sort = e.name(sort)
	switch e.IntN(8) {
	case 0:
		return out + " AND " + sort + " BETWEEN " + number() + " AND " + number()
	case 1:
		return number() + " < " + sort + " AND " + out
	case 2:
		if e.one(6) {
			return out + " AND begins_with(" + sort + ", " + number() + ")"
		}
	case 3:
		if e.one(10) {
			return out + " OR " + sort + " = " + number()
		}
	}
	return out + " AND " + sort + pick(e.gen, " = ", " < ", " <= ", " > ", " >= ") + number()
}

func (e *expressions) update() string {
	var clauses []string
	for _, clause := range []func() string{e.set, e.remove, e.add, e.remains} {
		if e.one(2) {
			clauses = append(clauses, clause())
		}
	}
	if len(clauses) == 0 {
		return e.set()
	}
	return strings.Join(clauses, " ")
}

func (e *expressions) set() string {
	actions := make([]string, e.IntN(2)+1)
	for i := range actions {
		actions[i] = e.path() + " = " + e.right()
	}
	return "SET " + strings.Join(actions, ", ")
}

func (e *expressions) right() string {
	term := func() string {
		switch e.IntN(4) {
		case 0:
			return e.path()
		case 1:
			return "if_not_exists(" + e.path() + ", " + e.any() + ")"
		case 2:
			return e.placeholder(e.number())
		}
		return e.any()
	}
	switch e.IntN(5) {
	case 0:
		return e.path() + pick(e.gen, " + ", " - ") + e.placeholder(e.number())
	case 1:
		return "list_append(" + term() + ", " + e.placeholder(object{"L": []any{e.value(0)}}) + ")"
	}
	return term()
}

func (e *expressions) remove() string { return "REMOVE " + e.path() }

func (e *expressions) add() string {
	return "ADD " + e.path() + " " + e.placeholder(pick(e.gen, e.number(), object{"SS": []string{"x", "z"}}, object{"NS": []string{"1", "3"}}, e.value(0)))
}

func (e *expressions) remains() string {
	return "DELETE " + e.path() + " " + e.placeholder(pick(e.gen, object{"SS": []string{"x", "y"}}, object{"NS": []string{"1"}}, e.value(0)))
}
