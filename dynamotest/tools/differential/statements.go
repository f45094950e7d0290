package main

import (
	"fmt"
	"slices"
	"strings"
)

// PartiQL.

// A partiql is a statement that is being written, with its parameters.
type partiql struct {
	*gen
	parameters []object
}

func (g *gen) statement() request {
	p := &partiql{gen: g}
	text, unordered := p.statement()
	sent := p.damaged(text)
	unordered = unordered || sent != text // it may now be a scan
	req := p.into(object{"Statement": sent})
	if g.one(6) {
		req["ConsistentRead"] = g.one(2)
	}

	out := request{op: "ExecuteStatement", body: req, unordered: unordered}
	if g.one(8) {
		req["Limit"], out.pages = g.limit(), strings.HasPrefix(text, "SELECT")
	}

	if g.one(8) {
		req["ReturnValuesOnConditionCheckFailure"] = pick(g, "ALL_OLD", "NONE")
	}

	g.units(req)
	return out
}

func (p *partiql) statement() (text string, unordered bool) {
	t := p.table()
	switch p.IntN(8) {
	case 0, 1:
		return p.insert(t), false
	case 2, 3:
		return p.update(t), false
	case 4:
		return p.delete(t), false
	}
	return p.selection(t)
}

func (g *gen) batchStatement() request {
	statements := make([]object, g.count(3, 25))
	write := g.one(2)
	for i := range statements {
		p := &partiql{gen: g}
		t := g.table()
		var text string
		switch {
		case write != g.one(60):
			text = pick(g, p.insert, p.update, p.delete)(t)
		default:
			text = "SELECT " + p.columns() + " FROM " + p.quoted(t.name) + " WHERE " + p.wholeKey(t)
		}
		statements[i] = p.into(object{"Statement": p.damaged(text)})
	}

	req := object{"Statements": statements}
	g.units(req)
	return request{op: "BatchExecuteStatement", body: req}
}

func (g *gen) transactStatements() request {
	statements := make([]object, g.count(3, 100))
	write := g.one(2)
	for i := range statements {
		p := &partiql{gen: g}
		t := g.table()
		var text string
		switch {
		case write == g.one(60):
			text = "SELECT " + p.columns() + " FROM " + p.quoted(t.name) + " WHERE " + p.wholeKey(t)
		case g.one(4):
			text = "EXISTS(SELECT * FROM " + p.quoted(t.name) + " WHERE " + p.wholeKey(t) + " AND " + p.condition(1) + ")"
		default:
			text = pick(g, p.insert, p.update, p.delete)(t)
		}
		statements[i] = p.into(object{"Statement": p.damaged(text)})
	}

	req := object{"TransactStatements": statements}
	g.units(req)
	if g.one(12) {
		req["ClientRequestToken"] = fmt.Sprintf("statements-%d", g.IntN(10))
	}

	return request{op: "ExecuteTransaction", body: req}
}

func (p *partiql) into(req object) object {
	if p.one(80) {
		p.parameters = append(p.parameters, p.value(0))
	}
	if len(p.parameters) > 0 {
		req["Parameters"] = p.parameters
	}
	return req
}

func (p *partiql) damaged(text string) string {
	if !p.one(40) {
		return text
	}
	at := p.IntN(len(text))
	switch p.IntN(3) {
	case 0:
		return text[:at] + text[at+1:]
	case 1:
		return text[:at] + pick(p.gen, "(", ")", ",", " AND ", "'", "\"", "[", "=", "?", "<<", ";") + text[at:]
	}
	return text[:at]
}

func (p *partiql) quoted(name string) string {
	if p.one(50) {
		name = "nowhere"
	}
	if p.one(4) && name != "name" {
		return name
	}
	return `"` + name + `"`
}

// operand returns a parameter or a literal.
func (p *partiql) operand(v object) string {
	if !p.one(3) {
		p.parameters = append(p.parameters, v)
		return "?"
	}
	return literal(v)
}

// literal writes a value as PartiQL does.
func literal(v any) string {
	for kind, member := range v.(object) {
		switch kind {
		case "S":
			return "'" + strings.ReplaceAll(member.(string), "'", "''") + "'"
		case "N":
			return member.(string)
		case "BOOL":
			return fmt.Sprint(member)
		case "NULL":
			return "null"
		case "SS":
			return "<<'" + strings.Join(member.([]string), "', '") + "'>>"
		case "NS":
			return "<<" + strings.Join(member.([]string), ", ") + ">>"
		case "L":
			var parts []string
			switch list := member.(type) {
			case []any:
				for _, e := range list {
					parts = append(parts, literal(e))
				}
			case []object:
				for _, e := range list {
					parts = append(parts, literal(e))
				}
			}
			return "[" + strings.Join(parts, ", ") + "]"
		case "M":
			var parts []string
			for _, name := range sortedNames(member.(object)) {
				parts = append(parts, "'"+name+"': "+literal(member.(object)[name]))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		}
	}
	return "missing"
}

func (p *partiql) path() string {
	switch p.IntN(10) {
	case 0:
		return p.quoted("m") + "." + p.quoted(p.attribute())
	case 1:
		return fmt.Sprintf("%s[%d]", p.quoted("l"), p.IntN(4))
	case 2:
		if p.one(3) {
			return p.quoted(pick(p.gen, "pk", "sk"))
		}
	}
	return p.quoted(p.attribute())
}

func (p *partiql) any() string { return p.operand(p.value(1)) }

func (p *partiql) wholeKey(t table) string {
	out := p.quoted(t.hash) + " = " + p.operand(p.of(t.kinds[t.hash]))
	if t.sort != "" && !p.one(60) {
		out += " AND " + p.quoted(t.sort) + " = " + p.operand(p.of(t.kinds[t.sort]))
	}
	return out
}

func (p *partiql) columns() string {
	if p.one(2) {
		return "*"
	}
	paths := make([]string, p.IntN(2)+1)
	for i := range paths {
		paths[i] = p.path()
	}
	return strings.Join(paths, ", ")
}

func (p *partiql) selection(t table) (text string, unordered bool) {
	from, hash, sort := p.quoted(t.name), t.hash, t.sort
	if len(t.indexes) > 0 && p.one(3) {
		x := t.indexes[p.IntN(len(t.indexes))]
		from, hash, sort = from+`."`+x.name+`"`, x.hash, x.sort
		unordered = true
	}

	text = "SELECT " + p.columns() + " FROM " + from
	var where []string
	if p.one(3) { // a scan
		unordered = true
	} else {
		where = append(where, p.quoted(hash)+" = "+p.operand(p.of(t.kinds[hash])))
		if sort != "" && p.one(2) {
			kind := t.kinds[sort]
			if p.one(3) {
				where = append(where, p.quoted(sort)+" BETWEEN "+p.operand(p.of(kind))+" AND "+p.operand(p.of(kind)))
			} else {
				where = append(where, p.quoted(sort)+pick(p.gen, " = ", " < ", " <= ", " > ", " >= ")+p.operand(p.of(kind)))
			}
		}
	}

	if p.one(3) {
		where = append(where, p.condition(1))
	}

	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}

	if sort != "" && p.one(6) {
		text += " ORDER BY " + p.quoted(sort) + pick(p.gen, "", " ASC", " DESC")
	}
	return text, unordered
}

func (p *partiql) condition(deep int) string {
	if deep > 0 {
		switch p.IntN(6) {
		case 0:
			return p.condition(deep-1) + " AND " + p.condition(deep-1)
		case 1:
			return "(" + p.condition(deep-1) + " OR " + p.condition(deep-1) + ")"
		case 2:
			return "NOT " + p.condition(deep-1)
		}
	}

	switch p.IntN(10) {
	case 0:
		return p.path() + pick(p.gen, " IS MISSING", " IS NOT MISSING", " IS NULL", " IS NOT NULL")
	case 1:
		return "begins_with(" + p.path() + ", " + p.operand(object{"S": p.text()}) + ")"
	case 2:
		return "contains(" + p.path() + ", " + p.any() + ")"
	case 3:
		return "attribute_type(" + p.path() + ", " + p.operand(object{"S": pick(p.gen, "S", "N", "L", "M", "SS")}) + ")"
	case 4:
		return "size(" + p.path() + ") > " + p.operand(p.number())
	case 5:
		return p.path() + " BETWEEN " + p.any() + " AND " + p.any()
	case 6:
		return p.path() + " IN [" + p.any() + ", " + p.any() + "]"
	}
	return p.path() + pick(p.gen, " = ", " <> ", " < ", " <= ", " > ", " >= ") + p.any()
}

func (p *partiql) insert(t table) string {
	item := p.item(t)
	if p.one(60) {
		p.parameters = append(p.parameters, object{"M": item})
		return "INSERT INTO " + p.quoted(t.name) + " VALUE ?"
	}
	var members []string
	for _, name := range sortedNames(item) {
		members = append(members, "'"+name+"': "+p.operand(item[name].(object)))
	}
	return "INSERT INTO " + p.quoted(t.name) + " VALUE {" + strings.Join(members, ", ") + "}"
}

func (p *partiql) update(t table) string {
	text := "UPDATE " + p.quoted(t.name)
	for range p.IntN(2) + 1 {
		if p.one(4) {
			text += " REMOVE " + p.path()
			continue
		}

		text += " SET " + p.path() + " = "
		switch p.IntN(6) {
		case 0:
			text += p.path() + pick(p.gen, " + ", " - ") + p.operand(p.number())
		case 1:
			text += "list_append(" + p.path() + ", " + p.operand(object{"L": []any{p.value(0)}}) + ")"
		case 2:
			text += pick(p.gen, "set_add", "set_delete") + "(" + p.path() + ", " + p.operand(object{"SS": []string{"x", "z"}}) + ")"
		default:
			text += p.any()
		}
	}

	text += " WHERE " + p.wholeKey(t)
	if p.one(3) {
		text += " AND " + p.condition(1)
	}

	if p.one(3) {
		text += " RETURNING " + pick(p.gen, "ALL OLD *", "ALL NEW *", "MODIFIED OLD *", "MODIFIED NEW *")
	}
	return text
}

func (p *partiql) delete(t table) string {
	text := "DELETE FROM " + p.quoted(t.name) + " WHERE " + p.wholeKey(t)
	if p.one(3) {
		text += " AND " + p.condition(1)
	}
	if p.one(3) {
		text += " RETURNING " + pick(p.gen, "ALL OLD *", "ALL OLD *", "ALL NEW *")
	}
	return text
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
