package expr

import "strings"

var conditionKeywords = []string{"AND", "OR", "NOT", "BETWEEN", "IN"}

// A Condition is a parsed condition, filter or key condition.
type Condition struct {
	clause string
	root   node
	names  []string
	values []string
}

// ParseCondition parses a condition; clause is ConditionExpression or
// FilterExpression, for the errors.
func ParseCondition(clause, src string) (*Condition, error) {
	p := newParser(clause, src)
	c := &Condition{clause: clause, root: p.or()}
	p.needCondition(&c.root)
	if err := p.finish(); err != nil {
		return nil, err
	}
	c.names, c.values = p.names, p.values
	return c, nil
}

func (p *parser) or() node { return p.chain(opOr, p.and) }

func (p *parser) and() node { return p.chain(opAnd, p.not) }

// chain reads terms with AND or OR between them into one node, so that a long
// chain does not make a deep tree.
func (p *parser) chain(op op, term func() node) node {
	first := term()
	var terms []node
	for p.syntax == nil && p.ahead(op.String()) {
		if terms == nil {
			p.needCondition(&first)
			terms = []node{first}
		}
		p.next()
		p.operators++
		t := term()
		p.needCondition(&t)
		terms = append(terms, t)
	}

	if terms == nil {
		return first
	}
	return node{op: op, args: terms}
}

func (p *parser) not() node {
	if !p.keyword("NOT") {
		return p.predicate()
	}
	p.enter()
	defer p.leave()
	p.operators++
	if p.syntax != nil {
		return node{}
	}
	term := p.not()
	p.needCondition(&term)
	return node{op: opNot, args: []node{term}}
}

// predicate reads a comparison, a function, or something in parentheses. The
// latter may be an operand, which its surroundings must refuse.
func (p *parser) predicate() node {
	left := p.primary()
	op, ok := p.comparator()
	if !ok {
		return left
	}

	p.needOperand(&left)
	p.next()
	p.operators++

	switch op {
	case opBetween:
		low := p.operand()
		if !p.keyword("AND") {
			p.fail()
		}
		return node{op: op, args: []node{left, low, p.operand()}}
	case opIn:
		p.expect("(")
		args := append([]node{left}, p.operandList(p.operand)...)
		if n := len(args) - 1; n > maxInOperands {
			p.note(rankLimit, msgInOperands(n))
		}
		return node{op: op, args: args}
	}
	return node{op: op, args: []node{left, p.operand()}}
}

// comparator returns the comparison if it is the next token, without consuming
// it.
func (p *parser) comparator() (op, bool) {
	word := p.text(p.peek())
	for op := opEQ; op <= opIn; op++ {
		if strings.EqualFold(word, op.String()) {
			return op, true
		}
	}
	return 0, false
}

// primary reads an operand, a function, or anything in parentheses.
func (p *parser) primary() node {
	switch t := p.peek(); {
	case t.kind == tokValue:
		return p.value()
	case p.callNext() && !isKeyword(conditionKeywords, p.text(t)):
		p.enter()
		defer p.leave()
		return p.call(p.operand)
	case t.kind == tokSymbol && p.symbol("("):
		return p.group()
	}
	return node{op: opPath, path: p.path(conditionKeywords)}
}

// group reads the rest of a pair of parentheses, after the opening one.
func (p *parser) group() node {
	p.enter()
	defer p.leave()
	if p.syntax != nil {
		return node{}
	}
	return p.closed(p.or())
}

// closed consumes the closing parenthesis after inner.
func (p *parser) closed(inner node) node {
	p.expect(")")
	if inner.parens {
		p.note(rankParens, msgParens)
	}
	inner.parens = true
	return inner
}

// operand reads an operand: a part that has a value.
func (p *parser) operand() node {
	n := p.primary()
	p.needOperand(&n)
	return n
}

// needCondition refuses an operand in the place of a condition. The error is at
// the next token, which should continue the condition.
func (p *parser) needCondition(n *node) {
	switch {
	case n.op == opSize:
		p.note(rankMisused, msgMisused(n.op.String()))
	case n.op == opPath || n.op == opValue:
		p.fail()
	}
}

// needOperand refuses a condition in the place of an operand.
func (p *parser) needOperand(n *node) {
	switch {
	case n.op.condition() && n.op.function():
		p.note(rankMisused, msgMisused(n.op.String()))
	case n.op.condition():
		p.fail()
	}
}
