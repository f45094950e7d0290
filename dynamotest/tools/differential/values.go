package main

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// The attributes of items.
var attributes = []string{"a", "b", "c", "d", "name", "m", "l", "s"}

func (g *gen) attribute() string { return pick(g, attributes...) }

func (g *gen) text() string { return pick(g, "x", "y", "xy", "zebra", "é", "x\u0000", "", "0", "10") }

func (g *gen) bytes() string { return pick(g, "eA==", "", "AAE=", "/w==") }

func (g *gen) number() object {
	if g.one(60) {
		return object{"N": pick(g, "", "one", "1e126", "1e-131", "123456789012345678901234567890123456789", "0x1", "NaN", " 1", "--1",
			"9.9999999999999999999999999999999999999E+125", "10e125", "1e125000000000", "1_0", "1e", ".", "-.5e-131")}
	}
	return object{"N": pick(g, "0", "1", "2", "-1", "10", "1.50", "1e2", "-0", "99999999999999999999999999999999999999", "0.1", "1E-130", "+3", "007",
		"9.9999999999999999999999999999999999999E+125", "-1e125", "0e9999", "1.", ".5", "12345678901234567890.123456789012345678", "1e-128", "100e-2")}
}

// of returns a value for a key attribute of the given type.
func (g *gen) of(kind string) object {
	if g.one(80) {
		return pick(g, object{"S": ""}, object{"N": "1"}, object{"NULL": true}, object{"S": "1"}, object{"B": ""}, g.number(), object{"SS": []string{"x"}})
	}

	switch kind {
	case "S":
		if g.one(300) {
			return object{"S": strings.Repeat("k", pick(g, 1024, 1025, 2048, 2049))}
		}
		return object{"S": pick(g, "p", "q", "r")}
	case "B":
		if g.one(300) {
			return object{"B": base64.StdEncoding.EncodeToString(make([]byte, pick(g, 1024, 1025, 2048, 2049)))}
		}
		return object{"B": pick(g, "eA==", "AAE=", "/w==")}
	}

	if g.one(20) {
		return object{"N": pick(g, "1.5", "1e2", "-0", "0.0", "1E-130", "9.9999999999999999999999999999999999999E+125", "007")}
	}
	return object{"N": strconv.Itoa(g.IntN(8) - 2)}
}

func (g *gen) key(t table) object {
	key := object{t.hash: g.of(t.kinds[t.hash])}
	if t.sort != "" {
		key[t.sort] = g.of(t.kinds[t.sort])
	}
	if g.one(80) {
		key["extra"] = g.number()
	}
	if g.one(80) {
		delete(key, "pk")
	}
	return key
}

func (g *gen) item(t table) object {
	item := g.key(t)
	for range g.IntN(6) {
		name := g.attribute()
		kind, isKey := t.kinds[name]
		switch {
		case isKey && !g.one(12):
			item[name] = g.of(kind)
		case name == "m" && !g.one(4):
			item[name] = object{"M": object{g.attribute(): g.value(1), g.attribute(): g.value(1)}}
		case name == "l" && !g.one(4):
			item[name] = object{"L": []any{g.value(1), g.value(1), g.value(1)}}
		default:
			item[name] = g.value(2)
		}
	}

	if g.one(400) {
		item["big"] = g.big()
	}

	if g.one(200) {
		item["deep"] = g.deep()
	}
	return item
}

// big returns a value about as large as an item may be.
func (g *gen) big() object {
	most := 409_600
	text := strings.Repeat(pick(g, "x", "é"), most/2-100) + strings.Repeat("x", g.IntN(100)) + strings.Repeat("y", pick(g, 0, most/2-100, most/2-50))
	return object{"S": text}
}

// deep returns a value about as deeply nested as a value may be.
func (g *gen) deep() object {
	value := g.number()
	for range 29 + g.IntN(5) {
		value = pick(g, object{"M": object{"m": value}}, object{"L": []object{value}})
	}
	return value
}

// value returns an attribute value that is nested at most so deep.
func (g *gen) value(deep int) object {
	kinds := 7
	if deep > 0 {
		kinds = 10
	}

	if g.one(150) {
		return pick(g, object{}, object{"S": "x", "N": "1"}, object{"SS": []string{}}, object{"NS": []string{"1", "1.0"}}, object{"NULL": false}, object{"SS": []string{"x", "x"}},
			object{"SS": []string{""}}, object{"BS": []string{"eA==", "eA=="}}, object{"BS": []string{""}}, object{"NS": []string{"one"}})
	}
	if g.one(2000) {
		return object{"B": pick(g, "e", "*")} // on which DynamoDB Local fails
	}

	switch g.IntN(kinds) {
	case 0:
		return object{"BOOL": g.one(2)}
	case 1:
		return object{"NULL": true}
	case 2:
		return object{"B": g.bytes()}
	case 3:
		return pick(g, object{"SS": []string{"x", "y"}}, object{"SS": []string{"y"}}, object{"NS": []string{"1", "2.0"}}, object{"BS": []string{"eA=="}})
	case 4:
		return object{"S": g.text()}
	case 5, 6:
		return g.number()
	case 7:
		return object{"M": object{g.attribute(): g.value(deep - 1)}}
	case 8:
		if g.one(60) {
			return object{"M": object{"": g.value(0)}}
		}
		return object{"M": object{}}
	}

	list := make([]any, g.IntN(3))
	for i := range list {
		list[i] = g.value(deep - 1)
	}

	return object{"L": list}
}
