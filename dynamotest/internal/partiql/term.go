package partiql

import (
	"slices"
	"strings"
)

// literals are the keywords that are values.
var literals = map[string]nodeKind{"true": nodeTrue, "false": nodeFalse, "null": nodeNull, "missing": nodeMissing}

// term reads an operand without operators.
func (p *parser) term() *node {
	t := p.peek()
	switch t.kind {
	case tokString:
		p.pos++
		return &node{kind: nodeString, token: t, text: t.text}
	case tokNumber:
		p.pos++
		return &node{kind: nodeNumber, token: t, text: t.text}
	case tokName, tokQuoted:
		if p.pos++; p.peek().is("(") {
			return p.call(t, nodeCall)
		}
		return &node{kind: nodeName, token: t, text: t.text}
	case tokOperator:
		detail := unexpectedSign
		if t.is("*") {
			detail = unexpectedTerm
		}
		p.fail(detail)
		return &node{}
	case tokKeyword:
		return p.keywordTerm(t)
	}

	return p.symbolTerm(t)
}

func (p *parser) keywordTerm(t token) *node {
	if kind, ok := literals[t.text]; ok {
		p.pos++
		return &node{kind: kind, token: t, text: t.text}
	}

	if read, ok := statements[t.text]; ok {
		p.pos++
		n := read(p)
		n.token = t
		return n
	}

	if slices.Contains(particles, t.text) {
		p.fail(unexpectedTerm)
		return &node{}
	}

	aggregate := slices.Contains(aggregates, t.text)
	if !p.after().is("(") || !aggregate && !slices.Contains(functionWords, t.text) {
		p.fail(unexpectedWord)
		return &node{}
	}

	p.pos++
	if !aggregate {
		return p.call(t, nodeCall)
	}

	n := p.call(t, nodeAggregate)
	if len(n.args) != 1 {
		p.fail("Aggregate functions are always unary")
	}

	return n
}

// symbolTerm reads a term that begins with a symbol.
func (p *parser) symbolTerm(t token) *node {
	switch {
	case p.take("?"):
		p.parameters++
		return &node{kind: nodeParameter, token: t, slot: p.parameters - 1}
	case t.is("("):
		n := p.list("(", ")")
		if len(n.args) == 1 {
			return n.args[0]
		}
		return n
	case t.is("["):
		return p.list("[", "]")
	case t.is("<<"):
		n := p.list("<<", ">>")
		n.kind = nodeBag
		return n
	case t.is("{"):
		return p.tuple()
	}

	p.fail(unexpectedTerm)
	return &node{}
}

// list reads terms in brackets. Only parentheses must not be empty.
func (p *parser) list(opening, closing string) *node {
	n := &node{kind: nodeList, token: p.next()}
	if opening != "(" && p.take(closing) {
		return n
	}
	n.args = p.commas(func() *node { return p.expression(lowest) })
	p.symbol(closing)
	return n
}

// commas reads one or more elements, with commas between them.
func (p *parser) commas(read func() *node) []*node {
	all := []*node{read()}
	for p.take(",") {
		all = append(all, read())
	}
	return all
}

func (p *parser) tuple() *node {
	n := &node{kind: nodeTuple, token: p.next()}
	if p.take("}") {
		return n
	}
	for more := true; more; more = p.take(",") {
		name := p.expression(lowest)
		p.symbol(":")
		n.args = append(n.args, name, p.expression(lowest))
	}
	p.symbol("}")
	return n
}

// call reads the arguments of a function. The case of its name does not matter.
func (p *parser) call(name token, kind nodeKind) *node {
	n := &node{kind: kind, token: name, text: strings.ToLower(name.text)}
	p.symbol("(")
	switch star := p.peek(); {
	case star.is("*") && n.text == "count":
		p.pos++
		n.args = []*node{{kind: nodeString, token: star}}
	case star.is("*"):
		p.fail(name.text + "(*) is not allowed")
	case p.take(")"):
		return n
	default:
		n.args = p.commas(func() *node { return p.expression(lowest) })
	}

	p.symbol(")")
	return n
}
