package main

import "math/rand/v2"

// A gen makes random requests, most of them valid. It uses few names and values,
// so that requests meet. It never sees a reply: the same seed makes the same
// requests, for any answers.
type gen struct{ *rand.Rand }

// sequence makes the requests of one run over empty tables. It follows from the
// seed and the sequence's number alone.
func sequence(seed, number uint64) []request {
	g := &gen{rand.New(rand.NewPCG(seed, number))}
	out := make([]request, 0, perSequence)
	for len(out) < perSequence {
		req := g.request()
		out = append(out, req)
		if g.one(60) {
			out = append(out, req) // once more, as after a lost reply
		}
	}
	return out[:perSequence]
}

// kinds are the kinds of requests, each as frequent as its weight.
var kinds = []struct {
	weight int
	make   func(*gen) request
}{
	{18, func(g *gen) request { return request{op: "PutItem", body: g.put(g.table(), true)} }},
	{24, func(g *gen) request { return request{op: "UpdateItem", body: g.update(g.table(), true)} }},
	{6, func(g *gen) request { return request{op: "DeleteItem", body: g.delete(g.table(), true)} }},
	{8, func(g *gen) request { return request{op: "GetItem", body: g.get(g.table(), true)} }},
	{14, (*gen).query},
	{8, (*gen).scan},
	{4, (*gen).batchGet},
	{4, (*gen).batchWrite},
	{7, (*gen).transactWrite},
	{4, (*gen).transactGet},
	{8, (*gen).statement},
	{1, (*gen).batchStatement},
	{2, (*gen).transactStatements},
	{4, (*gen).definition},
}

func (g *gen) request() request {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}

	n := g.IntN(total)
	for _, k := range kinds {
		if n -= k.weight; n >= 0 {
			continue
		}
		req := k.make(g)
		if g.one(30) {
			g.mangle(&req)
		}
		return req
	}

	panic("unreachable")
}

// one reports true once in n times.
func (g *gen) one(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *gen, from ...T) T { return from[g.IntN(len(from))] }

// A table is what the generator needs to know about a table.
type table struct {
	name    string
	hash    string
	sort    string            // "" for none
	kinds   map[string]string // of the attributes of keys
	indexes []index
}

type index struct {
	name, hash, sort string
	projection       string
	include          []string
	local            bool
}

var tables = []table{
	{name: "plain", hash: "pk", kinds: map[string]string{"pk": "S"}},
	{
		name: "pairs", hash: "pk", sort: "sk", kinds: map[string]string{"pk": "S", "sk": "N", "a": "S", "b": "N"},
		indexes: []index{
			{name: "global", hash: "a", sort: "b", projection: "ALL"},
			{name: "keys", hash: "b", projection: "KEYS_ONLY"},
			{name: "local", hash: "pk", sort: "b", projection: "ALL", local: true},
		},
	},
	{
		name: "words", hash: "pk", sort: "sk", kinds: map[string]string{"pk": "N", "sk": "S", "c": "B", "d": "S"},
		indexes: []index{
			{name: "turned", hash: "sk", sort: "pk", projection: "INCLUDE", include: []string{"m", "s"}},
			{name: "bytes", hash: "pk", sort: "c", projection: "KEYS_ONLY", local: true},
			{name: "some", hash: "pk", sort: "d", projection: "INCLUDE", include: []string{"a"}, local: true},
		},
	},
}

func (g *gen) table() table { return tables[g.IntN(len(tables))] }

// create returns the request that creates the table.
func (t table) create() request {
	var attributes []object
	for _, name := range sortedNames(t.kinds) {
		attributes = append(attributes, object{"AttributeName": name, "AttributeType": t.kinds[name]})
	}

	body := object{"TableName": t.name, "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": attributes, "KeySchema": keySchema(t.hash, t.sort)}
	for _, x := range t.indexes {
		member := "GlobalSecondaryIndexes"
		if x.local {
			member = "LocalSecondaryIndexes"
		}
		projection := object{"ProjectionType": x.projection}
		if x.include != nil {
			projection["NonKeyAttributes"] = x.include
		}
		list, _ := body[member].([]object)
		body[member] = append(list, object{"IndexName": x.name, "KeySchema": keySchema(x.hash, x.sort), "Projection": projection})
	}

	return request{op: "CreateTable", body: body}
}

func keySchema(hash, sort string) []object {
	out := []object{{"AttributeName": hash, "KeyType": "HASH"}}
	if sort != "" {
		out = append(out, object{"AttributeName": sort, "KeyType": "RANGE"})
	}
	return out
}

// scans returns requests that read everything.
func scans() []request {
	var out []request
	for _, t := range tables {
		out = append(out, request{op: "Scan", body: object{"TableName": t.name}, pages: true, unordered: true})
		for _, x := range t.indexes {
			out = append(out, request{op: "Scan", body: object{"TableName": t.name, "IndexName": x.name}, pages: true, unordered: true})
		}
	}
	return out
}
