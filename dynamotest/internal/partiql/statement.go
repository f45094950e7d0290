package partiql

import (
	"slices"
	"strings"
)

// statements are the keywords that begin a statement, each with the function
// that reads the rest.
var statements map[string]func(p *parser) *node

func init() {
	statements = map[string]func(p *parser) *node{
		"select": (*parser).selection, "insert into": (*parser).insert, "update": (*parser).update, "from": (*parser).updateFrom,
		"delete": (*parser).delete, "set": (*parser).changes, "remove": (*parser).changes,
	}
}

func (p *parser) selection() *node {
	c := &clauses{}
	switch {
	case p.take("distinct"):
		c.distinct = true
	case p.take("all"):
	case p.take("value"):
		c.value = true
	}

	for more := true; more && p.err == nil; more = p.take(",") {
		if star := p.take("*"); star {
			c.all = true
			continue
		}
		col := column{value: p.expression(lowest)}
		col.alias = p.alias("as")
		c.columns = append(c.columns, col)
	}

	if c.all && len(c.columns) > 0 {
		p.fail("Other expressions may not be present in the select list when '*' is used without dot notation.")
	}

	p.expect("from", "Expected FROM after SELECT list")
	p.sources(c)
	p.where(c)

	if p.take("group") {
		c.group = true
		p.take("partial")
		p.expect("by", "Expected BY")
		p.commas(func() *node { return p.expression(lowest) })
	}

	p.order(c)
	if p.take("limit") {
		c.limit = p.expression(lowest)
	}

	return &node{kind: nodeSelect, parts: c}
}

func (p *parser) order(c *clauses) {
	if !p.take("order") {
		return
	}
	p.expect("by", "Expected BY")
	for more := true; more && p.err == nil; more = p.take(",") {
		o := ordering{value: p.expression(lowest)}
		if o.descending = p.take("desc"); !o.descending {
			p.take("asc")
		}
		c.order = append(c.order, o)
	}
}

// joins are the words between two sources.
var joins = []string{"join", "inner", "left", "right", "full", "outer", "cross"}

// sources reads the sources after FROM. Only the first is kept.
func (p *parser) sources(c *clauses) {
	for more := true; more && p.err == nil; {
		if p.take("unpivot") {
			c.sources++ // no table
		}

		source := p.expression(lowest)
		if c.sources++; c.source == nil {
			c.source = source
		}

		c.alias = p.aliases() || c.alias
		if c.sources > 1 && p.take("on") {
			p.expression(lowest)
		}

		for more = p.take(","); slices.Contains(joins, p.peek().text); more = true {
			p.pos++
		}
	}
}

// aliases reads the aliases of a source.
func (p *parser) aliases() bool {
	as, at, by := p.alias("as"), p.alias("at"), p.alias("by")
	return as || at || by
}

// alias reads a name after a word. The word may be missing if it is AS.
func (p *parser) alias(word string) bool {
	if p.take(word) {
		if t := p.next(); !t.isName() {
			p.fail("Expected identifier for " + strings.ToUpper(word) + "-alias")
		}
		return true
	}
	if word == "as" && p.peek().isName() {
		p.pos++
		return true
	}
	return false
}

func (p *parser) insert() *node {
	c := &clauses{source: p.simplePath()}
	c.bare = !p.take("value")
	c.item = p.expression(lowest)
	if c.at = p.take("at"); c.at {
		p.expression(lowest)
	}
	return &node{kind: nodeInsert, parts: c}
}

func (p *parser) update() *node {
	c := &clauses{source: p.simplePath(), sources: 1}
	c.alias = p.aliases()
	p.actions(c)
	p.where(c)
	p.returning(c)
	return &node{kind: nodeUpdate, parts: c}
}

// updateFrom reads the form of UPDATE that begins with FROM and has its WHERE
// before what it sets.
func (p *parser) updateFrom() *node {
	c := &clauses{}
	p.sources(c)
	p.where(c)
	p.actions(c)
	p.returning(c)
	return &node{kind: nodeUpdate, parts: c}
}

func (p *parser) delete() *node {
	p.expect("from", "Expected FROM after DELETE")
	c := &clauses{source: p.simplePath(), sources: 1}
	c.alias = p.aliases()
	p.where(c)
	p.returning(c)
	return &node{kind: nodeDelete, parts: c}
}

func (p *parser) where(c *clauses) {
	if p.take("where") {
		c.where = p.expression(lowest)
	}
}

// changes reads a SET or a REMOVE without a table, after its keyword.
func (p *parser) changes() *node {
	p.pos--
	c := &clauses{}
	p.action(c)
	return &node{kind: nodeUpdate, parts: c}
}

// actions reads the actions of an UPDATE: at least one.
func (p *parser) actions(c *clauses) {
	for p.action(c) {
	}
	if len(c.actions) == 0 {
		p.fail(notAStatement)
	}
}

// action reads one SET or REMOVE, and reports whether it found one. Unlike SET,
// REMOVE stands before each path.
func (p *parser) action(c *clauses) bool {
	if p.take("remove") {
		c.actions = append(c.actions, assignment{path: p.simplePath()})
		return true
	}

	if !p.take("set") {
		return false
	}

	for more := true; more && p.err == nil; more = p.take(",") {
		a := assignment{path: p.simplePath()}
		p.expect("=", "Expected '='")
		a.value = p.expression(lowest)
		c.actions = append(c.actions, a)
	}
	return true
}

// returned are the elements of RETURNING.
var returned = map[string]Returning{
	"all old": AllOld, "all new": AllNew, "modified old": ModifiedOld, "modified new": ModifiedNew,
}

func (p *parser) returning(c *clauses) {
	if !p.take("returning") {
		return
	}

	for more := true; more && p.err == nil; more = p.take(",") {
		r, ok := returned[p.next().text]
		if !ok {
			p.fail("Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.")
		}
		e := returnedElement{returning: r, star: p.take("*")}
		if !e.star {
			p.expression(lowest)
		}
		c.returned = append(c.returned, e)
	}
}
