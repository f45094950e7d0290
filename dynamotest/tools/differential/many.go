package main

import "fmt"

// Requests that name many items.

func (g *gen) batchGet() request {
	tables := object{}
	for range pick(g, 1, 1, 2) {
		t := g.table()
		e := g.expressions()
		keys := make([]object, g.count(4, 100))

		for i := range keys {
			keys[i] = g.key(t)
			spread(t, keys[i], i, len(keys))
		}

		read := object{"Keys": keys}
		g.projection(read, e, 3, true)
		if g.one(6) {
			read["ConsistentRead"] = g.one(2)
		}

		tables[g.named(t)] = e.into(read)
	}

	req := object{"RequestItems": tables}
	g.units(req)
	return request{op: "BatchGetItem", body: req, unordered: true}
}

func (g *gen) batchWrite() request {
	tables := object{}
	for range pick(g, 1, 1, 2) {
		t := g.table()
		writes := make([]object, g.count(4, 25))
		for i := range writes {
			switch {
			case g.one(100):
				writes[i] = pick(g, object{}, object{"PutRequest": object{"Item": g.item(t)}, "DeleteRequest": object{"Key": g.key(t)}})
			case g.one(3):
				writes[i] = object{"DeleteRequest": object{"Key": g.key(t)}}
			default:
				item := g.item(t)
				spread(t, item, i, len(writes))
				writes[i] = object{"PutRequest": object{"Item": item}}
			}
		}

		tables[g.named(t)] = writes
	}

	req := object{"RequestItems": tables}
	g.metrics(req)
	return request{op: "BatchWriteItem", body: req}
}

// count returns a small number, and rarely one near the limit.
func (g *gen) count(small, limit int) int {
	if g.one(100) {
		return pick(g, 0, limit, limit+1)
	}
	return g.IntN(small) + 1
}

// spread gives the entries of a large batch keys of their own.
func spread(t table, key object, i, n int) {
	if n > 10 && t.kinds[t.hash] == "S" {
		key[t.hash] = object{"S": fmt.Sprint("p", i)}
	} else if n > 10 {
		key[t.hash] = object{"N": fmt.Sprint(i)}
	}
}

// named returns the table's name, rarely another one.
func (g *gen) named(t table) string {
	if g.one(100) {
		return pick(g, "nowhere", "x", "bad name")
	}
	return t.name
}

func (g *gen) transactWrite() request {
	actions := make([]object, g.count(3, 100))
	for i := range actions {
		actions[i] = g.action()
	}

	req := object{"TransactItems": actions}
	g.metrics(req)
	if g.one(6) {
		// Few tokens, so that some come again: with another payload, or with the
		// whole request.
		req["ClientRequestToken"] = fmt.Sprintf("once-%d", g.IntN(40))
	}

	if g.one(30) && len(actions) > 1 {
		actions[0] = actions[1] // one item twice
	}
	return request{op: "TransactWriteItems", body: req}
}

func (g *gen) action() object {
	t := g.table()
	t.name = g.named(t)
	switch g.IntN(10) {
	case 0, 1, 2, 3:
		return object{"Put": g.put(t, false)}
	case 4, 5:
		return object{"Update": g.update(t, false)}
	case 6, 7:
		return object{"Delete": g.delete(t, false)}
	}

	e := g.expressions()
	check := object{"TableName": t.name, "Key": g.key(t)}
	if !g.one(60) {
		check["ConditionExpression"] = e.source(e.condition(2))
	}

	g.returned(check, false)
	return object{"ConditionCheck": e.into(check)}
}

func (g *gen) transactGet() request {
	gets := make([]object, g.count(3, 100))
	for i := range gets {
		gets[i] = object{"Get": g.get(g.table(), false)}
	}
	req := object{"TransactItems": gets}
	g.units(req)
	return request{op: "TransactGetItems", body: req}
}
