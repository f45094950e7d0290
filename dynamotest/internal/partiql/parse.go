package partiql

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// maxDepth is how deep parentheses, NOTs, signs and literals may be nested. An
// item has at most 32 levels.
const maxDepth = 128

// maxPath is how many steps a path may have: more than an item has levels.
const maxPath = 32

// A parser reads one statement by recursive descent. The first error of the
// syntax ends the parsing. A value that is well-formed but not allowed is noted,
// and reported if nothing worse turns up.
type parser struct {
	src        string
	tokens     []token
	pos        int
	depth      int
	parameters int
	err        *Error
	noted      *Error
}

// Parse parses a statement.
func Parse(src string) (*Statement, error) {
	p := &parser{src: src, tokens: lex(src)}
	if p.tokens[len(p.tokens)-1].kind == tokIllegal {
		return nil, malformed(noDetail)
	}
	s := p.statement()
	p.symbol(";")
	if p.peek().kind != tokEOF {
		p.fail(leftover)
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case p.noted != nil:
		return nil, p.noted
	}
	s.parameters = p.parameters
	return s, nil
}

// fail ends the parsing.
func (p *parser) fail(detail string) { p.refuse(malformed(detail)) }

func (p *parser) refuse(err *Error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *parser) note(err *Error) {
	if p.noted == nil {
		p.noted = err
	}
}

// peek returns the next token. After an error there is none.
func (p *parser) peek() token {
	if p.err != nil {
		return token{kind: tokEOF}
	}
	return p.tokens[p.pos]
}

func (p *parser) next() token {
	t := p.peek()
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

// symbol consumes the symbol s and reports whether it was there.
func (p *parser) symbol(s string) bool {
	if t := p.peek(); t.kind != tokSymbol || t.text != s {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(s string) {
	if !p.symbol(s) {
		p.fail("Expected " + s)
	}
}

// ahead reports whether a keyword comes next, in any case.
func (p *parser) ahead(word string) bool {
	t := p.peek()
	return t.kind == tokWord && strings.EqualFold(t.text, word)
}

// keyword consumes a keyword and reports whether it was there.
func (p *parser) keyword(word string) bool {
	if !p.ahead(word) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expectKeyword(word string) {
	if !p.keyword(word) {
		p.fail("Expected " + word)
	}
}

// enter counts a level of nesting and reports whether it is allowed; leave must
// follow.
func (p *parser) enter() bool {
	if p.depth++; p.depth > maxDepth {
		p.fail(tooDeep)
	}
	return p.err == nil
}

func (p *parser) leave() { p.depth-- }

// keywords cannot be names unless they are quoted.
var keywords = []string{
	"AND", "AS", "ASC", "BETWEEN", "BY", "DELETE", "DESC", "EXISTS", "FALSE", "FROM", "IN", "INSERT", "INTO", "IS", "LIKE",
	"MISSING", "NOT", "NULL", "OR", "ORDER", "REMOVE", "RETURNING", "SELECT", "SET", "TRUE", "UPDATE", "VALUE", "WHERE",
}

func isKeyword(word string) bool {
	_, found := slices.BinarySearchFunc(keywords, word, func(k, word string) int {
		return strings.Compare(k, strings.ToUpper(word))
	})
	return found
}

// nameNext reports whether an identifier comes next.
func (p *parser) nameNext() bool {
	t := p.peek()
	return t.kind == tokQuoted || t.kind == tokWord && !isKeyword(t.text)
}

func (p *parser) statement() *Statement {
	s := &Statement{}
	switch {
	case p.ahead("SELECT"):
		p.selection(s)
	case p.keyword("INSERT"):
		p.insert(s)
	case p.keyword("UPDATE"):
		p.update(s)
	case p.ahead("FROM"):
		p.updateFrom(s)
	case p.keyword("DELETE"):
		p.delete(s)
	case p.keyword("EXISTS"):
		p.expect("(")
		p.selection(s)
		p.expect(")")
		s.Kind = Exists
	default:
		p.fail(notAStatement)
	}
	return s
}

func (p *parser) selection(s *Statement) {
	s.Kind = Select
	p.expectKeyword("SELECT")
	if !p.symbol("*") {
		s.Columns = append(s.Columns, p.column())
		for p.symbol(",") {
			s.Columns = append(s.Columns, p.column())
		}
	}
	p.expectKeyword("FROM")
	p.table(s, unexpectedTerm)
	p.where(s)
	if !p.keyword("ORDER") {
		return
	}
	p.expectKeyword("BY")
	for more := true; more; more = p.symbol(",") {
		o := Order{Name: p.name(unexpectedTerm)}
		if o.Descending = p.keyword("DESC"); !o.Descending {
			p.keyword("ASC")
		}
		s.OrderBy = append(s.OrderBy, o)
	}
}

func (p *parser) column() expr.Path {
	path := p.path()
	if p.ahead("AS") || p.nameNext() {
		p.refuse(invalid(textAlias))
	}
	return path
}

func (p *parser) insert(s *Statement) {
	s.Kind = Insert
	p.expectKeyword("INTO")
	p.tableName(s, noIdentifier)
	if s.Index != "" {
		p.refuse(invalid(textOneTable))
	}
	if !p.keyword("VALUE") {
		p.fail(leftover)
	}
	if !p.symbol("{") {
		p.refuse(invalid(textNoItem))
	}
	if p.symbol("}") {
		return
	}
	for more := true; more && p.err == nil; more = p.symbol(",") {
		name := p.memberName()
		if p.symbol("?") {
			s.item = append(s.item, member{name, p.parameter()})
			continue
		}
		v := p.literal("root")
		if v.Depth() >= attr.MaxNesting {
			p.note(invalid(textNesting))
		}
		s.item = append(s.item, member{name, literal(v)})
	}
	p.expect("}")
}

func (p *parser) update(s *Statement) {
	s.Kind = Update
	p.table(s, noIdentifier)
	p.noIndex(s)
	p.actions(s)
	p.where(s)
	p.returning(s)
}

// updateFrom reads the form of UPDATE that begins with FROM and has its WHERE
// before what it sets.
func (p *parser) updateFrom(s *Statement) {
	s.Kind = Update
	p.expectKeyword("FROM")
	p.table(s, noIdentifier)
	p.noIndex(s)
	p.where(s)
	p.actions(s)
	p.returning(s)
}

func (p *parser) delete(s *Statement) {
	s.Kind = Delete
	p.expectKeyword("FROM")
	p.table(s, noIdentifier)
	p.noIndex(s)
	p.where(s)
	p.returning(s)
	if s.Returning != ReturnNothing && s.Returning != AllOld {
		p.refuse(invalid("Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is allowed in DELETE statements.", s.Returning))
	}
}

func (p *parser) noIndex(s *Statement) {
	if s.Index != "" {
		p.refuse(invalid(textNoIndex))
	}
}

func (p *parser) where(s *Statement) {
	if p.keyword("WHERE") {
		t := p.condition()
		s.where = &t
	}
}

func (p *parser) returning(s *Statement) {
	if !p.keyword("RETURNING") {
		return
	}
	modified := p.keyword("MODIFIED")
	if !modified {
		p.expectKeyword("ALL")
	}
	old := p.keyword("OLD")
	if !old {
		p.expectKeyword("NEW")
	}
	p.expect("*")
	switch {
	case modified && old:
		s.Returning = ModifiedOld
	case modified:
		s.Returning = ModifiedNew
	case old:
		s.Returning = AllOld
	default:
		s.Returning = AllNew
	}
}
