package partiql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// table reads the name of a table or an index, after which no alias may come.
func (p *parser) table(s *Statement, otherwise string) {
	p.tableName(s, otherwise)
	if p.ahead("AS") || p.nameNext() {
		p.refuse(invalid(textAlias))
	}
}

func (p *parser) tableName(s *Statement, otherwise string) {
	names := []string{p.name(otherwise)}
	for p.symbol(".") {
		names = append(names, p.name(noIdentifier))
	}
	switch {
	case p.err != nil:
		return
	case len(names) > 2:
		p.refuse(invalid(textLongPath))
	case slices.Contains(names, ""):
		p.refuse(invalid(textEmptyName))
	}
	s.Table = names[0]
	if len(names) == 2 {
		s.Index = names[1]
	}
}

// name reads an identifier.
func (p *parser) name(otherwise string) string {
	if !p.nameNext() {
		p.fail(otherwise)
		return ""
	}
	return p.next().text
}

// path reads an attribute's path.
func (p *parser) path() expr.Path {
	if !p.nameNext() {
		p.unexpected()
		return expr.NewPath("")
	}
	first := p.next().text
	if first == "" {
		p.refuse(invalid(textEmptyName))
	}
	path := expr.NewPath(first)
	for steps := 1; p.err == nil; steps++ {
		if steps > maxPath {
			p.refuse(invalid("The document path has too many nesting elements; nesting levels: %d", steps))
		}
		switch {
		case p.symbol("."):
			path = path.Field(p.name(noPathComponent))
		case p.symbol("["):
			path = p.subscript(path)
			p.expect("]")
		default:
			return path
		}
	}
	return path
}

// subscript reads what stands between brackets: an index, or a name in quotes.
func (p *parser) subscript(path expr.Path) expr.Path {
	if t := p.peek(); t.kind == tokString {
		p.pos++
		return path.Field(t.text)
	}
	sign, negative := "", p.symbol("-")
	if negative {
		sign = "-"
	}
	t := p.peek()
	if t.kind != tokNumber {
		p.fail(noPathComponent)
		return path
	}
	p.pos++
	n, err := strconv.ParseInt(t.text, 10, 32)
	if err != nil && strings.ContainsAny(t.text, ".eE") {
		p.fail(noPathComponent)
		return path
	}
	if err != nil || negative && n != 0 {
		p.note(invalid("List index is not within the allowable range; index: [%s%s] %s", sign, t.text, p.at(t)))
		return path
	}
	return path.Index(int(n))
}

// at says where a token stands, in DynamoDB's way: line, column and length.
func (p *parser) at(t token) string {
	before := p.src[:t.start]
	line := strings.Count(before, "\n") + 1
	column := t.start - strings.LastIndexByte(before, '\n')
	return "at " + strconv.Itoa(line) + ":" + strconv.Itoa(column) + ":" + strconv.Itoa(t.end-t.start)
}

// unexpected reports that something else than a term comes next.
func (p *parser) unexpected() {
	switch t := p.peek(); {
	case t.kind == tokWord && slices.Contains([]string{"IS", "LIKE", "IN", "BETWEEN", "AND", "OR"}, strings.ToUpper(t.text)):
		p.fail(unexpectedSign)
	case t.kind == tokWord && isKeyword(t.text):
		p.fail(unexpectedWord)
	case t.kind == tokSymbol && strings.ContainsAny(t.text, "=<>!*"):
		p.fail(unexpectedSign)
	default:
		p.fail(unexpectedTerm)
	}
}
