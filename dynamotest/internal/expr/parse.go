package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The limits of expressions.
const (
	maxSize       = 4096 // bytes
	maxOperators  = 300
	maxInOperands = 100
	maxDepth      = 300 // nested parentheses and NOTs
	maxPathDepth  = 32
	maxIndex      = 1<<31 - 1
)

// A parser reads one expression by recursive descent. The first syntax error
// ends the parsing. Other errors are collected, and the most important one is
// reported at the end.
type parser struct {
	clause    string
	src       string
	tokens    []token
	pos       int
	depth     int
	operators int
	names     []string // the table of #names
	values    []string // the table of :values
	syntax    *Error
	noted     *Error
	rank      rank
}

// A rank is the place of a kind of error in the order of DynamoDB's checks.
type rank uint8

const (
	rankNone rank = iota
	rankParens
	rankReservedInUpdate
	rankFunction
	rankMisused
	rankReserved
	rankSection
	rankLimit
)

func newParser(clause, src string) *parser {
	p := &parser{clause: clause, src: src}
	switch {
	case len(src) > maxSize:
		p.syntax = TooLong(clause, src).(*Error)
	case src == "":
		p.syntax = p.error(msgEmpty)
	}

	if p.syntax == nil {
		p.tokens = lex(src)
	} else {
		p.tokens = []token{{tokEOF, 0, 0}}
	}
	return p
}

// TooLong returns the error of an expression that is too long, or nil.
func TooLong(clause, src string) error {
	if len(src) <= maxSize {
		return nil
	}
	reason := msgTooLong
	if clause != UpdateExpression {
		reason += fmt.Sprintf(" expression size: %d", len(src))
	}
	return &Error{Clause: clause, Reason: reason}
}

func (p *parser) error(reason string) *Error { return &Error{Clause: p.clause, Reason: reason} }

// note keeps an error, unless a more important one is known.
func (p *parser) note(r rank, reason string) {
	if p.rank == rankNone || r < p.rank {
		p.rank, p.noted = r, p.error(reason)
	}
}

// finish returns the error of the whole expression.
func (p *parser) finish() error {
	p.expectEnd()
	if p.syntax == nil && p.operators > maxOperators {
		p.note(rankLimit, msgOperators(p.operators))
	}
	switch {
	case p.syntax != nil:
		return p.syntax
	case p.noted != nil:
		return p.noted
	}
	return nil
}

func (p *parser) expectEnd() {
	if p.peek().kind != tokEOF {
		p.fail()
	}
}

// peek returns the next token. After a syntax error it is the end.
func (p *parser) peek() token {
	if p.syntax != nil {
		return token{kind: tokEOF}
	}
	return p.tokens[p.pos]
}

func (p *parser) text(t token) string { return p.src[t.start:t.end] }

func (p *parser) next() token {
	t := p.peek()
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

// fail reports the next token as a syntax error. The text near it goes from the
// token before to the one after.
func (p *parser) fail() {
	if p.syntax != nil {
		return
	}

	t := p.tokens[p.pos]
	from, to := t.start, t.end
	if p.pos > 0 {
		from = p.tokens[p.pos-1].start
	}

	if p.pos+1 < len(p.tokens) {
		to = p.tokens[p.pos+1].end
	}

	word := p.text(t)
	if t.kind == tokEOF {
		word = "<EOF>"
	}

	near := strings.TrimRight(p.src[from:to], " \t\r\n")
	if len(p.tokens) == 1 {
		near = p.src // only blanks
	}

	p.syntax = p.error(msgSyntax(word, near))
}

// symbol consumes the symbol s if it is the next token, and reports whether it
// was.
func (p *parser) symbol(s string) bool {
	if t := p.peek(); t.kind != tokSymbol || p.text(t) != s {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(s string) {
	if !p.symbol(s) {
		p.fail()
	}
}

// ahead reports whether a keyword comes next, in upper or lower case.
func (p *parser) ahead(word string) bool {
	t := p.peek()
	return t.kind == tokWord && strings.EqualFold(p.text(t), word)
}

// keyword consumes a keyword if it is the next token, and reports whether it
// was.
func (p *parser) keyword(word string) bool {
	if !p.ahead(word) {
		return false
	}
	p.pos++
	return true
}

// enter counts a level of nesting; leave must follow.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth && p.syntax == nil {
		p.syntax = p.error(msgTooDeep)
	}
}

func (p *parser) leave() { p.depth-- }

// path reads an attribute's path. The keywords of the present expression are
// not names.
func (p *parser) path(keywords []string) path {
	out := path{p.name(keywords)}
	for p.syntax == nil {
		switch {
		case p.symbol("."):
			out = append(out, p.name(keywords))
		case p.symbol("["):
			out = append(out, p.index())
			p.expect("]")
		default:
			if len(out) > maxPathDepth {
				p.note(rankLimit, msgPathDepth(len(out)))
			}
			return out
		}
	}

	return out
}

// name reads one name of a path: a #name or a word. A keyword of the present expression is
// a syntax error. A reserved word is read on, and its error noted.
func (p *parser) name(keywords []string) step {
	t := p.peek()
	word := p.text(t)
	switch {
	case t.kind == tokName:
		p.pos++
		return step{slot: intern(&p.names, word), index: notIndex}
	case t.kind != tokWord || isKeyword(keywords, word):
		p.fail()
		return step{slot: noSlot, index: notIndex}
	}

	p.pos++
	if isReserved(word) {
		r := rankReserved
		if p.clause == UpdateExpression { // which DynamoDB checks earlier
			r = rankReservedInUpdate
		}
		p.note(r, msgReserved(word))
	}

	return step{name: word, slot: noSlot, index: notIndex}
}

func (p *parser) index() step {
	t := p.peek()
	if t.kind != tokNumber {
		p.fail()
		return step{slot: noSlot, index: 0}
	}
	p.pos++
	n, err := strconv.Atoi(p.text(t))
	if err != nil || n > maxIndex {
		p.note(rankLimit, msgIndex(p.text(t)))
		n = 0
	}
	return step{slot: noSlot, index: n}
}

// value reads a :value.
func (p *parser) value() node {
	t := p.peek()
	if t.kind != tokValue {
		p.fail()
		return node{op: opValue}
	}
	p.pos++
	return node{op: opValue, slot: intern(&p.values, p.text(t))}
}

// callNext reports whether a function's name and an opening parenthesis follow.
func (p *parser) callNext() bool {
	if p.peek().kind != tokWord {
		return false
	}
	t := p.tokens[p.pos+1]
	return t.kind == tokSymbol && p.text(t) == "("
}

// call reads a function; operand reads each of its operands.
func (p *parser) call(operand func() node) node {
	name := p.text(p.next())
	p.expect("(")
	args := p.operandList(operand)
	f, known := functions[name]
	inUpdate := p.clause == UpdateExpression
	switch {
	case !known:
		f.op = opUnknown
		p.note(rankFunction, msgUnknownFunction(name))
	case inUpdate && !f.inUpdate:
		p.note(rankFunction, msgNotInUpdate(name))
	case !inUpdate && f.inUpdate:
		p.note(rankFunction, msgNotInCondition(name))
	}

	p.operators++
	return node{op: f.op, args: args}
}

// operandList reads operands and the closing parenthesis.
func (p *parser) operandList(operand func() node) []node {
	args := []node{operand()}
	for p.symbol(",") {
		args = append(args, operand())
	}
	p.expect(")")
	return args
}

func isKeyword(keywords []string, word string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool { return strings.EqualFold(k, word) })
}

// intern returns the place of s in the table. It adds s if it is missing.
func intern(table *[]string, s string) int {
	if i := slices.Index(*table, s); i >= 0 {
		return i
	}
	*table = append(*table, s)
	return len(*table) - 1
}
