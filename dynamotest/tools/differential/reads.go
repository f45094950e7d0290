package main

// Requests that read many items of one table.

func (g *gen) query() request {
	t := g.table()
	req := object{"TableName": t.name}
	out := request{op: "Query", body: req, pages: g.one(3)}
	hash, sort := t.hash, t.sort
	if x, ok := g.index(t, req); ok {
		hash, sort = x.hash, x.sort
		out.unordered = true // of items with equal keys
	}

	e := g.expressions()
	if g.one(8) {
		req["KeyConditions"] = g.keyConditions(t, hash, sort)
		if g.one(3) {
			req["QueryFilter"] = g.filter()
			g.conditionalOperator(req)
		}
	} else {
		req["KeyConditionExpression"] = e.source(e.keyCondition(t, hash, sort))
		if g.one(3) {
			req["FilterExpression"] = e.source(e.condition(2))
		}
		if g.one(200) {
			req["QueryFilter"] = g.filter()
		}
	}

	if g.one(2) && (out.pages || !out.unordered) {
		req["Limit"] = g.limit()
	}

	if g.one(2) {
		req["ScanIndexForward"] = g.one(2)
	}

	if g.one(6) {
		g.startKey(t, req, hash, sort)
	}

	g.shown(req, e)
	e.into(req)
	return out
}

// index makes some requests read an index.
func (g *gen) index(t table, req object) (index, bool) {
	if g.one(100) {
		req["IndexName"] = "none"
	}
	if len(t.indexes) == 0 || g.one(2) {
		return index{}, false
	}
	x := t.indexes[g.IntN(len(t.indexes))]
	req["IndexName"] = x.name
	return x, true
}

func (g *gen) limit() int {
	if g.one(60) {
		return pick(g, 0, -1, 1000)
	}
	return 1 + g.IntN(5)
}

// startKey makes up a start key.
func (g *gen) startKey(t table, req object, hash, sort string) {
	key := g.key(t)
	for _, name := range []string{hash, sort} {
		if name != "" {
			key[name] = g.of(t.kinds[name])
		}
	}

	if g.one(12) {
		delete(key, sort)
	}

	if g.one(100) {
		key = object{}
	}

	req["ExclusiveStartKey"] = key
}

// shown chooses the attributes that are returned.
func (g *gen) shown(req object, e *expressions) {
	g.projection(req, e, 4, true)
	if g.one(8) {
		req["Select"] = pick(g, "COUNT", "COUNT", "ALL_ATTRIBUTES", "ALL_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
	}
	if g.one(4) {
		req["ConsistentRead"] = g.one(2)
	}
	g.units(req)
}

func (g *gen) scan() request {
	t := g.table()
	req := object{"TableName": t.name}
	out := request{op: "Scan", body: req, unordered: true}
	g.index(t, req)

	e := g.expressions()
	switch {
	case g.one(8):
		req["ScanFilter"] = g.filter()
		g.conditionalOperator(req)
	case g.one(2):
		req["FilterExpression"] = e.source(e.condition(2))
	}

	if g.one(4) {
		// The items of a page or a segment follow from a hash that differs
		// between servers, so all pages and segments are compared together.
		req["Limit"], out.pages = g.limit(), true
	}

	if g.one(8) {
		n := 1 + g.IntN(4)
		req["TotalSegments"], out.segments = n, n
		if g.one(20) {
			// No such segment: the request is refused, so it is sent as it is.
			req["Segment"], out.segments = pick(g, -1, n, n+1), 0
		}
	}

	g.shown(req, e)
	e.into(req)
	return out
}
