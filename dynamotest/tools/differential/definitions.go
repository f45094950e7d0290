package main

// Requests about tables. Those that create, change and delete have tables of
// their own, so that the tables of all other requests always exist.

var spareNames = []string{"spare1", "spare2", "spare3"}

func (g *gen) definition() request {
	name := pick(g, spareNames...)
	if g.one(40) {
		name = pick(g, "", "xy", "bad name", "nowhere")
	}

	body := object{"TableName": name}
	switch g.IntN(14) {
	case 0, 1, 2, 3, 4:
		return request{op: "CreateTable", body: g.createTable(name)}
	case 5, 6:
		return request{op: "UpdateTable", body: g.updateTable(name)}
	case 7:
		return request{op: "DeleteTable", body: body}
	case 8:
		return request{op: "DescribeTable", body: object{"TableName": pick(g, name, g.table().name)}}
	case 9:
		return request{op: "ListTables", body: g.listTables()}
	case 10:
		return request{op: "DescribeTimeToLive", body: body}
	case 11:
		body["TimeToLiveSpecification"] = object{"AttributeName": pick(g, "ttl", "expires", ""), "Enabled": g.one(2)}
		return request{op: "UpdateTimeToLive", body: body}
	}

	return request{op: pick(g, "DescribeLimits", "DescribeTable", "NoSuchOperation"), body: body}
}

func (g *gen) listTables() object {
	out := object{}
	if g.one(2) {
		out["Limit"] = pick(g, 1, 2, 3, 100, 0, 101)
	}
	if g.one(3) {
		out["ExclusiveStartTableName"] = pick(g, "plain", "spare1", "spare2", "x")
	}
	return out
}

// schema makes the members that define the keys of a table or an index.
func (g *gen) schema() []object {
	names := []string{"pk", "sk", "a", "b"}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	out := keySchema(names[0], pick(g, "", names[1]))
	switch {
	case g.one(40):
		return nil
	case g.one(8):
		return append(out, object{"AttributeName": names[2], "KeyType": "RANGE"})
	case g.one(40):
		out[0]["KeyType"] = pick(g, "RANGE", "hash", "")
	case g.one(40):
		out = append(out, object{"AttributeName": names[0], "KeyType": "RANGE"})
	}

	return out
}

func (g *gen) secondary(name string, schema []object, provisioned bool) object {
	projection := object{"ProjectionType": pick(g, "ALL", "KEYS_ONLY", "INCLUDE")}
	if (projection["ProjectionType"] == "INCLUDE") != g.one(30) {
		projection["NonKeyAttributes"] = pick(g, []string{"c"}, []string{"c", "d"}, []string{"c", "c"}, []string{"pk"})
	}
	out := object{"IndexName": name, "KeySchema": schema, "Projection": projection}
	if provisioned != g.one(30) {
		out["ProvisionedThroughput"] = g.throughput()
	}
	if g.one(30) {
		delete(out, pick(g, "IndexName", "KeySchema", "Projection"))
	}
	return out
}

// define lists the attributes of the schemas, and rarely others.
func (g *gen) define(schemas ...[]object) []object {
	var out []object
	seen := map[any]bool{}
	for _, schema := range schemas {
		for _, element := range schema {
			if name := element["AttributeName"]; !seen[name] && !g.one(60) {
				seen[name] = true
				out = append(out, object{"AttributeName": name, "AttributeType": pick(g, "S", "N", "B")})
			}
		}
	}

	if g.one(10) {
		out = append(out, object{"AttributeName": pick(g, "pk", "other"), "AttributeType": pick(g, "S", "BOOL", "X")})
	}
	return out
}

func (g *gen) createTable(name string) object {
	schemas := [][]object{g.schema()}
	body := object{"TableName": name, "KeySchema": schemas[0]}
	g.billing(body)

	if g.one(2) {
		var list []object
		for _, name := range pick(g, []string{"one"}, []string{"one", "two"}, []string{"two", "three"}, []string{"one", "one"}) {
			schema := g.schema()
			schemas = append(schemas, schema)
			list = append(list, g.secondary(name, schema, body["BillingMode"] != "PAY_PER_REQUEST"))
		}
		body["GlobalSecondaryIndexes"] = list
	}

	if g.one(3) {
		schema := g.schema()
		if len(schemas[0]) > 0 && len(schema) > 0 && !g.one(6) {
			schema[0]["AttributeName"] = schemas[0][0]["AttributeName"]
		}
		schemas = append(schemas, schema)
		body["LocalSecondaryIndexes"] = []object{g.secondary(pick(g, "near", "one"), schema, false)}
	}

	body["AttributeDefinitions"] = g.define(schemas...)
	if g.one(6) {
		stream := object{"StreamEnabled": !g.one(4)}
		if g.one(2) == (stream["StreamEnabled"] == true) {
			stream["StreamViewType"] = pick(g, "NEW_IMAGE", "KEYS_ONLY", "ALL")
		}
		body["StreamSpecification"] = stream
	}

	if g.one(4) {
		body["DeletionProtectionEnabled"] = !g.one(3)
	}
	return body
}

func (g *gen) throughput() object {
	out := object{"ReadCapacityUnits": pick(g, 1, 5, 5), "WriteCapacityUnits": pick(g, 1, 5, 5)}
	if g.one(20) {
		out[pick(g, "ReadCapacityUnits", "WriteCapacityUnits")] = pick(g, 0, -1)
	}
	if g.one(30) {
		delete(out, "WriteCapacityUnits")
	}
	return out
}

func (g *gen) billing(body object) {
	switch g.IntN(6) {
	case 0:
		body["BillingMode"], body["ProvisionedThroughput"] = "PROVISIONED", g.throughput()
	case 1:
		body["ProvisionedThroughput"] = g.throughput()
	case 2:
		if g.one(6) {
			body["BillingMode"] = pick(g, "PAY", "PROVISIONED")
		}
		if g.one(3) {
			body["BillingMode"], body["ProvisionedThroughput"] = "PAY_PER_REQUEST", g.throughput()
		}
	default:
		body["BillingMode"] = "PAY_PER_REQUEST"
	}
}

func (g *gen) updateTable(name string) object {
	body := object{"TableName": name}
	switch g.IntN(8) {
	case 0, 1:
		g.billing(body)
	case 2, 3, 4:
		g.indexUpdates(body)
	case 5:
		g.billing(body)
		g.indexUpdates(body)
	case 6:
		body["StreamSpecification"] = object{"StreamEnabled": g.one(2), "StreamViewType": "NEW_IMAGE"}
	case 7:
		body["DeletionProtectionEnabled"] = false
	}

	return body
}

// indexUpdates changes global indexes, mostly one at a time.
func (g *gen) indexUpdates(body object) {
	var updates []object
	var schemas [][]object
	for range pick(g, 1, 1, 1, 2, 2, 0) {
		name := pick(g, "one", "two", "three")
		if g.one(30) {
			name = pick(g, "near", "none")
		}

		update := object{}
		switch g.IntN(3) {
		case 0:
			schemas = append(schemas, g.schema())
			update["Create"] = g.secondary(name, schemas[len(schemas)-1], g.one(3))
		case 1:
			update["Delete"] = object{"IndexName": name}
		default:
			update["Update"] = object{"IndexName": name, "ProvisionedThroughput": g.throughput()}
		}

		if g.one(20) {
			delete(update, pick(g, "Create", "Delete", "Update"))
		}

		if g.one(20) {
			update["Delete"] = object{"IndexName": name}
		}

		updates = append(updates, update)
	}

	body["AttributeDefinitions"] = g.define(schemas...)
	body["GlobalSecondaryIndexUpdates"] = updates
}
