package main

import (
	"fmt"
	"strconv"
	"strings"
)

// expressions are the expressions of one request, with their placeholders.
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

// keyCondition returns a condition on the keys of a table or of an index.
func (e *expressions) keyCondition(t table, hash, sort string) string {
	out := e.name(hash) + " = " + e.placeholder(e.of(t.kinds[hash]))
	if sort == "" && !e.one(40) || e.one(3) {
		return out
	}

	if sort == "" {
		sort = e.attribute()
	}

	bound := func() string { return e.placeholder(e.of(t.kinds[sort])) }
	name := e.name(sort)
	switch e.IntN(8) {
	case 0:
		return out + " AND " + name + " BETWEEN " + bound() + " AND " + bound()
	case 1:
		return bound() + " < " + name + " AND " + out
	case 2:
		if t.kinds[sort] != "N" || e.one(6) {
			return out + " AND begins_with(" + name + ", " + bound() + ")"
		}
	case 3:
		if e.one(10) {
			return out + pick(e.gen, " OR ", " AND NOT ") + name + " = " + bound()
		}
		if e.one(10) {
			return out + " AND " + name + pick(e.gen, " <> "+bound(), " IN ("+bound()+")", " = "+bound()+" AND "+name+" < "+bound())
		}
	}

	return out + " AND " + name + pick(e.gen, " = ", " < ", " <= ", " > ", " >= ") + bound()
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
