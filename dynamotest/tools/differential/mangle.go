package main

import (
	"encoding/json"
	"strings"
)

// mangle spoils a request, so that only a caller without an SDK could send it.
func (g *gen) mangle(req *request) {
	req.mangled = true
	text, _ := json.Marshal(req.body) // maps of strings and lists marshal
	// A scan's pages can only be compared all together.
	if g.one(12) && req.op != "Scan" {
		at := g.IntN(len(text))
		req.raw = string(text[:at]) + pick(g, "", "]", "}", ",", "\"", "null", "\xff") + string(text[at+g.IntN(2):])
		return
	}

	var body object
	_ = json.Unmarshal(text, &body)
	for _, name := range []string{"AttributeUpdates", "Expected", "KeyConditions", "QueryFilter", "ScanFilter"} {
		if m, ok := body[name].(object); ok && g.one(8) {
			m[g.attribute()] = nil
			req.body = body
			return
		}
	}

	var spots []spot
	walk(body, &spots)
	if len(spots) > 0 {
		g.spoil(spots[g.IntN(len(spots))])
	}

	req.body = body
}

// A spot is a member of an object or an element of a list.
type spot struct {
	object object
	name   string
	list   []any
	at     int
}

func walk(v any, spots *[]spot) {
	switch v := v.(type) {
	case object:
		for _, name := range sortedNames(v) {
			*spots = append(*spots, spot{object: v, name: name})
			walk(v[name], spots)
		}
	case []any:
		for i, e := range v {
			*spots = append(*spots, spot{list: v, at: i})
			walk(e, spots)
		}
	}
}

func (g *gen) spoil(s spot) {
	if s.object != nil && g.one(3) {
		switch g.IntN(4) {
		case 0:
			s.object["Unknown"] = "x"
		case 1:
			s.object[strings.ToLower(s.name)] = s.object[s.name]
			delete(s.object, s.name)
		default:
			delete(s.object, s.name)
		}
		return
	}

	var wrong any // stays null in some of the ten cases
	switch g.IntN(10) {
	case 1:
		wrong = "x"
	case 2:
		wrong = ""
	case 3:
		wrong = pick(g, 1., 1.5, -1., 1e20)
	case 4:
		wrong = g.one(2)
	case 5:
		wrong = []any{}
	case 6:
		wrong = object{}
	case 7:
		wrong = []any{"x", nil}
	}

	if s.object != nil {
		s.object[s.name] = wrong
	} else {
		s.list[s.at] = wrong
	}
}
