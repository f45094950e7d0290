package main

// The legacy parameters that expressions have replaced.

func (g *gen) attributesToGet() []string {
	names := make([]string, g.IntN(3)+1)
	for i := range names {
		names[i] = pick(g, g.attribute(), g.attribute(), "pk", "sk")
	}
	return names
}

func (g *gen) attributeUpdates() object {
	out := object{}
	for range g.IntN(3) + 1 {
		update := object{"Action": "PUT", "Value": g.value(1)}
		switch g.IntN(8) {
		case 0:
			if g.one(10) { // after it the servers may differ
				delete(update, "Action")
			}
		case 3:
			update["Action"] = "DELETE"
			update["Value"] = pick(g, object{"SS": []string{"x", "y"}}, object{"NS": []string{"1"}}, g.value(1))
		case 4:
			update = object{"Action": "DELETE"}
		case 5:
			update["Action"], update["Value"] = "ADD", pick(g, g.number(), object{"SS": []string{"x", "z"}}, object{"L": []object{g.number()}})
		case 6:
			update["Action"] = pick(g, "ADD", "ADD", "ADD", "put")
		}

		out[g.attribute()] = update
	}

	if g.one(60) {
		out["pk"] = object{"Action": "PUT", "Value": g.value(0)}
	}
	return out
}

func (g *gen) expected(req object) {
	out := object{}
	for range g.IntN(2) + 1 {
		switch g.IntN(5) {
		case 0:
			out[g.attribute()] = object{"Exists": g.one(4)} // true requires a value
		case 1:
			out[g.attribute()] = object{"Value": g.value(1)}
		case 2:
			out[g.attribute()] = object{"Value": g.value(1), "Exists": !g.one(6)}
		default:
			out[g.attribute()] = g.comparison()
		}
	}

	req["Expected"] = out
	g.conditionalOperator(req)
}

func (g *gen) conditionalOperator(req object) {
	if g.one(3) {
		req["ConditionalOperator"] = pick(g, "AND", "OR")
	}
	if g.one(60) {
		req["ConditionalOperator"] = "NOT"
	}
}

var comparisons = []string{
	"EQ", "NE", "LT", "LE", "GT", "GE", "NOT_NULL", "NULL", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH", "IN", "BETWEEN",
}

// comparison returns a condition on one attribute.
func (g *gen) comparison() object {
	op := pick(g, comparisons...)
	n := 1
	switch op {
	case "NULL", "NOT_NULL":
		n = 0
	case "IN":
		n = g.IntN(3) + 1
	case "BETWEEN":
		n = 2
	}

	if g.one(40) {
		n = g.IntN(4)
	}

	out := object{"ComparisonOperator": op}
	if n > 0 || g.one(3) {
		list := make([]object, n)
		for i := range list {
			list[i] = g.value(0)
		}
		out["AttributeValueList"] = list
	}

	return out
}

func (g *gen) filter() object {
	out := object{}
	for range g.IntN(2) + 1 {
		out[g.attribute()] = g.comparison()
	}
	return out
}

// keyConditions returns conditions on the keys of a table or of an index.
func (g *gen) keyConditions(t table, hash, sort string) object {
	eq := func(kind string) object {
		return object{"ComparisonOperator": "EQ", "AttributeValueList": []object{g.of(kind)}}
	}

	out := object{hash: eq(t.kinds[hash])}
	if sort != "" && !g.one(3) {
		condition := eq(t.kinds[sort])
		switch g.IntN(6) {
		case 0:
			condition = object{"ComparisonOperator": "BETWEEN", "AttributeValueList": []object{g.of(t.kinds[sort]), g.of(t.kinds[sort])}}
		case 1:
			condition["ComparisonOperator"] = "BEGINS_WITH"
		case 2, 3, 4:
			condition["ComparisonOperator"] = pick(g, "LT", "LE", "GT", "GE")
		}
		if g.one(30) {
			condition = g.comparison()
		}
		out[sort] = condition
	}

	if g.one(60) {
		out[g.attribute()] = g.comparison()
	}

	if g.one(60) {
		out[hash] = g.comparison()
	}
	return out
}
