package main

// Requests on one item. Outside of a transaction they have members that its
// actions lack.

func (g *gen) put(t table, alone bool) object {
	req := object{"TableName": t.name, "Item": g.item(t)}
	e := g.expressions()
	g.condition(req, e, 2, alone)
	g.returned(req, alone, "NONE", "ALL_OLD")
	return e.into(req)
}

func (g *gen) update(t table, alone bool) object {
	req := object{"TableName": t.name, "Key": g.key(t)}
	e := g.expressions()
	switch {
	case alone && g.one(40): // neither: an item of its key alone
	case alone && g.one(8):
		req["AttributeUpdates"] = g.attributeUpdates()
		if g.one(60) {
			req["UpdateExpression"] = e.source(e.update())
		}
	default:
		req["UpdateExpression"] = e.source(e.update())
	}

	g.condition(req, e, 3, alone)
	g.returned(req, alone, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
	if req["UpdateExpression"] == nil && req["AttributeUpdates"] == nil && !g.one(10) {
		delete(req, "ReturnValues") // DynamoDB Local fails
	}

	return e.into(req)
}

func (g *gen) delete(t table, alone bool) object {
	req := object{"TableName": t.name, "Key": g.key(t)}
	e := g.expressions()
	g.condition(req, e, 2, alone)
	g.returned(req, alone, "NONE", "ALL_OLD")
	return e.into(req)
}

// condition gives one request in n a condition, of either kind.
func (g *gen) condition(req object, e *expressions, n int, alone bool) {
	if !g.one(n) {
		return
	}
	if alone && g.one(6) {
		g.expected(req)
		if !g.one(60) {
			return
		}
	}
	req["ConditionExpression"] = e.source(e.condition(2))
}

// returned asks for the attributes that a write may return.
func (g *gen) returned(req object, alone bool, modes ...string) {
	if g.one(4) {
		req["ReturnValuesOnConditionCheckFailure"] = pick(g, "ALL_OLD", "NONE")
	}

	if !alone {
		return
	}

	if g.one(2) {
		req["ReturnValues"] = pick(g, modes...)
	}

	if g.one(100) {
		req["ReturnValues"] = pick(g, "ALL_NEW", "SOME")
	}

	g.metrics(req)
}

// metrics asks for units and the sizes of item collections.
func (g *gen) metrics(req object) {
	g.units(req)
	if g.one(10) {
		req["ReturnItemCollectionMetrics"] = pick(g, "SIZE", "NONE")
	}
}

func (g *gen) units(req object) {
	if g.one(4) {
		req["ReturnConsumedCapacity"] = pick(g, "TOTAL", "INDEXES", "NONE")
	}
	if g.one(200) {
		req["ReturnConsumedCapacity"] = "ALL"
	}
}

func (g *gen) get(t table, alone bool) object {
	req := object{"TableName": t.name, "Key": g.key(t)}
	e := g.expressions()
	g.projection(req, e, 2, alone)
	if alone {
		g.units(req)
		if g.one(2) {
			req["ConsistentRead"] = g.one(2)
		}
	}
	return e.into(req)
}

// projection lets one request in n read only a part of the item.
func (g *gen) projection(req object, e *expressions, n int, alone bool) {
	if !g.one(n) {
		return
	}
	if alone && g.one(6) {
		req["AttributesToGet"] = g.attributesToGet()
		if !g.one(60) {
			return
		}
	}
	req["ProjectionExpression"] = e.source(e.projection())
}
