package itemtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Table is the body of CreateTable. The items have one partition, and an index that
// has those with an attribute s.
const Table = `{"TableName":"pair","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[
	{"AttributeName":"p","AttributeType":"S"},{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"s","AttributeType":"S"}],
	"KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"id","KeyType":"RANGE"}],
	"GlobalSecondaryIndexes":[{"IndexName":"by-s","Projection":{"ProjectionType":"ALL"},
		"KeySchema":[{"AttributeName":"s","KeyType":"HASH"},{"AttributeName":"id","KeyType":"RANGE"}]}]}`

const (
	a, b   = 0, 1
	keyA   = `"p":{"S":"p"},"id":{"S":"a"}`
	keyB   = `"p":{"S":"p"},"id":{"S":"b"}`
	whole  = "id n s"
	allOld = "ALL_OLD"
)

var (
	one, two, named = Item{true, "1", ""}, Item{true, "2", ""}, Item{true, "1", "x"}

	absent = condition{"attribute_not_exists(id)", func(it Item) bool { return !it.There }}
	there  = condition{"attribute_exists(id)", Item.exists}
	isOne  = condition{"n = :one", Item.isOne}

	set = update{"SET n = :two REMOVE s", "n s", func(Item) (Item, bool) { return two, true }}
	add = update{"ADD n :one", "n", func(it Item) (Item, bool) { return Item{true, next(it.N), it.S}, true }}
	inc = update{"SET n = n + :one", "n", func(it Item) (Item, bool) { return Item{true, next(it.N), it.S}, it.N != "" }}
	cut = update{"REMOVE n", "n", func(it Item) (Item, bool) { return Item{it.There, "", it.S}, true }}
	has = update{"SET s = if_not_exists(s, :x)", "s", func(it Item) (Item, bool) { return Item{true, it.N, "x"}, true }}
)

// next returns a number and one; a missing number counts as 0.
func next(n string) string {
	sum, _ := strconv.Atoi(n)
	return strconv.Itoa(sum + 1)
}

// Requests returns the requests. The conditions of slow ones take a while, so that
// others come meanwhile.
func Requests(slow bool) []Request {
	pad := ""
	if slow {
		pad = strings.Repeat(" AND NOT contains(:long, :end)", 10)
	}

	return append([]Request{
		action{kind: "Put", at: a, put: one, shows: allOld}.alone(pad),
		action{kind: "Put", at: a, put: Item{true, "2", "x"}, when: absent, onFailure: allOld}.alone(pad),
		action{kind: "Put", at: b, put: named, when: isOne, onFailure: "NONE"}.alone(pad),
		action{kind: "Update", at: a, update: set, shows: "UPDATED_OLD"}.alone(pad),
		action{kind: "Update", at: a, update: add, when: isOne, shows: "UPDATED_NEW", onFailure: allOld}.alone(pad),
		action{kind: "Update", at: b, update: cut, shows: "ALL_NEW"}.alone(pad),
		action{kind: "Update", at: a, update: has, when: there, shows: allOld}.alone(pad),
		action{kind: "Update", at: b, update: inc, shows: "UPDATED_NEW"}.alone(pad),
		action{kind: "Update", at: b, update: add}.alone(pad),
		action{kind: "Delete", at: a, shows: allOld}.alone(pad),
		action{kind: "Delete", at: b, when: isOne, onFailure: allOld}.alone(pad),
		together(pad, "", action{kind: "Put", at: a, put: one, when: absent, onFailure: allOld}, action{kind: "Update", at: b, update: add}),
		together(pad, "", action{kind: "Update", at: b, update: inc}, action{kind: "Delete", at: a, when: there}),
		together(pad, "token", action{kind: "Update", at: a, update: add}, action{kind: "ConditionCheck", at: b, when: isOne, onFailure: allOld}),
		together(pad, "token", action{kind: "Put", at: b, put: named}, action{kind: "Update", at: a, update: set, when: there}),
		{
			Op: "BatchWriteItem", Body: `{"RequestItems":{"pair":[{"DeleteRequest":{"Key":{` + keyB + `}}},{"PutRequest":{"Item":` + named.json(a, whole) + `}}]}}`,
			Do: func(s State) (State, string) { s.Items = [2]Item{named, {}}; return s, `{"UnprocessedItems":{}}` },
		},
		reads("GetItem", `"TableName":"pair","ConsistentRead":true,"Key":{`+keyA+`}`, func(s State) string {
			return shown("Item", s.Items[a].json(a, whole))
		}),
		reads("BatchGetItem", `"RequestItems":{"pair":{"ConsistentRead":true,"ProjectionExpression":"n","Keys":[{`+keyA+`},{`+keyB+`}]}}`, func(s State) string {
			return `"Responses":{"pair":[` + strings.Join(list(s, Item.exists, "n"), ",") + `]},"UnprocessedKeys":{}`
		}),
		reads("TransactGetItems", `"TransactItems":[{"Get":{"TableName":"pair","Key":{`+keyA+`}}},{"Get":{"TableName":"pair","Key":{`+keyB+`}}}]`, func(s State) string {
			return `"Responses":[` + object(shown("Item", s.Items[a].json(a, whole))) + `,` + object(shown("Item", s.Items[b].json(b, whole))) + `]`
		}),
		reads("Query", query+`,"FilterExpression":"n = :one",`+values("p = :p n = :one"), func(s State) string { return page(s, Item.exists, Item.isOne) }),
	}, Look...)
}

const query = `"TableName":"pair","KeyConditionExpression":"p = :p"`

// Look shows all that is stored, in the table and in its index.
var Look = []Request{
	reads("Query", query+`,"ConsistentRead":true,`+values(":p"), func(s State) string { return page(s, Item.exists, Item.exists) }),
	reads("Scan", `"TableName":"pair","IndexName":"by-s"`, func(s State) string { return page(s, Item.isX, Item.isX) }),
}

func (it Item) exists() bool { return it.There }
func (it Item) isOne() bool  { return it.N == "1" }
func (it Item) isX() bool    { return it.S == "x" }

// list returns the items that hold, with some of their attributes.
func list(s State, holds func(Item) bool, which string) (all []string) {
	for at, it := range s.Items {
		if holds(it) {
			all = append(all, it.json(at, which))
		}
	}
	return all
}

// page is the reply of a query that reads some items and shows some of them.
func page(s State, read, shown func(Item) bool) string {
	items := list(s, shown, whole)
	return fmt.Sprintf(`"Items":[%s],"Count":%d,"ScannedCount":%d`, strings.Join(items, ","), len(items), len(list(s, read, whole)))
}

// object returns an object with those members that are not "".
func object(members ...string) string {
	return "{" + strings.Join(slices.DeleteFunc(members, func(m string) bool { return m == "" }), ",") + "}"
}

// text returns a member, or "" if its value is "".
func text(name, value string) string {
	if value == "" {
		return ""
	}
	return `"` + name + `":"` + value + `"`
}

// shown returns a member with attributes, or "" without any.
func shown(name, attributes string) string {
	if attributes == "{}" {
		return ""
	}
	return `"` + name + `":` + attributes
}

// json returns the item's attributes whose names are in which.
func (it Item) json(at int, which string) string {
	var all [3]string
	if strings.Contains(which, "id") && it.There {
		all[0] = []string{keyA, keyB}[at]
	}
	if strings.Contains(which, "n") && it.N != "" {
		all[1] = `"n":{"N":"` + it.N + `"}`
	}
	if strings.Contains(which, "s") && it.S != "" {
		all[2] = `"s":{"S":"` + it.S + `"}`
	}
	return object(all[:]...)
}

func (a action) json(slow string) string {
	subject, when := `"Key":{`+[]string{keyA, keyB}[a.at]+`}`, a.when.text
	if a.kind == "Put" {
		subject = `"Item":` + a.put.json(a.at, whole)
	}
	if when != "" {
		when += slow
	}
	return object(`"TableName":"pair"`, subject, text("UpdateExpression", a.update.text), text("ConditionExpression", when),
		text("ReturnValues", a.shows), text("ReturnValuesOnConditionCheckFailure", a.onFailure), values(a.update.text+when))
}

// values returns the values of the placeholders in expressions.
func values(expressions string) string {
	all := map[string]string{
		":one": `{"N":"1"}`, ":two": `{"N":"2"}`, ":x": `{"S":"x"}`, ":p": `{"S":"p"}`,
		":long": `{"S":"` + strings.Repeat("a", 20_000) + `"}`, ":end": `{"S":"` + strings.Repeat("a", 100) + `b"}`,
	}
	var used []string
	for name, value := range all {
		if strings.Contains(expressions, name) {
			used = append(used, `"`+name+`":`+value)
		}
	}
	return shown("ExpressionAttributeValues", object(used...))
}
