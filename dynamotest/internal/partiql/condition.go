package partiql

import (
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// condition reads conditions joined by AND and OR.
func (p *parser) condition() term { return p.chain("OR", p.conjunction) }

func (p *parser) conjunction() term { return p.chain("AND", p.negation) }

// chain reads terms with AND or OR between them into one, so that a long chain
// is not a deep tree. What was joined in parentheses is joined all the same.
func (p *parser) chain(op string, operand func() term) term {
	first := operand()
	if !p.ahead(op) {
		return first
	}
	joined := join(op, nil, first)
	for p.keyword(op) {
		if p.ends() {
			p.fail(noRightSide)
		}
		joined = join(op, joined, operand())
	}
	return call(op, joined...)
}

func join(op string, terms []term, t term) []term {
	if t.is(op) {
		return append(terms, t.args...)
	}
	return append(terms, t)
}

// ends reports whether nothing comes any more.
func (p *parser) ends() bool {
	t := p.peek()
	return t.kind == tokEOF || t.kind == tokSymbol && t.text == ";"
}

func (p *parser) negation() term {
	if !p.keyword("NOT") {
		return p.comparison()
	}
	defer p.leave()
	if !p.enter() {
		return term{}
	}
	return call("NOT", p.negation())
}

var comparators = map[string]string{"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

// comparison reads a comparison, a function, or something in parentheses.
func (p *parser) comparison() term {
	left := p.operand()
	t := p.peek()
	if op, ok := comparators[t.text]; ok && t.kind == tokSymbol {
		p.pos++
		return call(op, left, p.operand())
	}
	if p.keyword("IS") {
		return p.is(left)
	}
	if p.keyword("NOT") {
		return call("NOT", p.ranged(left, "Expected IN or BETWEEN"))
	}
	if p.ahead("IN") || p.ahead("BETWEEN") || p.ahead("LIKE") {
		return p.ranged(left, unexpectedWord)
	}
	return left
}

func (p *parser) ranged(left term, otherwise string) term {
	switch {
	case p.keyword("IN"):
		return call("IN", append([]term{left}, p.candidates()...)...)
	case p.keyword("BETWEEN"):
		low := p.operand()
		p.expectKeyword("AND")
		return call("BETWEEN", left, low, p.operand())
	case p.ahead("LIKE"):
		p.refuse(invalid("Unsupported operation: Like"))
	default:
		p.fail(otherwise)
	}
	return term{}
}

// candidates reads the list after IN.
func (p *parser) candidates() []term {
	closing := "]"
	if !p.symbol("[") {
		p.expect("(")
		closing = ")"
	}
	terms := []term{p.operand()}
	for p.symbol(",") {
		terms = append(terms, p.operand())
	}
	p.expect(closing)
	return terms
}

// typeNames are what may come after IS, besides the two that mean something
// here.
var typeNames = []string{
	"BOOL", "BOOLEAN", "INT", "INT4", "INT8", "INTEGER", "FLOAT", "DOUBLE", "DECIMAL", "NUMERIC", "REAL", "SMALLINT",
	"BIGINT", "CHAR", "CHARACTER", "VARCHAR", "STRING", "SYMBOL", "TIMESTAMP", "DATE", "TIME", "BLOB", "CLOB", "LIST", "BAG", "STRUCT", "TUPLE", "SEXP", "ANY",
}

// is reads what comes after IS. An attribute that is missing is not null.
func (p *parser) is(left term) term {
	not := p.keyword("NOT")
	var t term
	switch {
	case p.keyword("MISSING"):
		t = call("attribute_not_exists", left)
	case p.keyword("NULL"):
		t = call("attribute_type", left, literal(attr.String(attr.NULL.String())))
	default:
		for _, name := range typeNames {
			if p.ahead(name) {
				p.refuse(invalid("Unsupported operation: IsType"))
			}
		}
		p.fail(noTypeName)
	}
	if not {
		return call("NOT", t)
	}
	return t
}

// operand reads a value, an attribute, a function, or a condition in
// parentheses, which may turn out to stand where its surroundings refuse it.
func (p *parser) operand() term {
	switch {
	case p.symbol("?"):
		return p.parameter()
	case p.literalNext():
		v := p.literal("root")
		if v.Depth() >= attr.MaxNesting {
			p.note(invalid(textNesting))
		}
		return literal(v)
	case p.callNext():
		return p.function()
	case p.symbol("("):
		defer p.leave()
		if !p.enter() {
			return term{}
		}
		t := p.condition()
		p.expect(")")
		return t
	}
	return term{kind: termPath, path: p.path()}
}

// callNext reports whether a function's name and an opening parenthesis follow.
func (p *parser) callNext() bool {
	if t := p.peek(); t.kind != tokWord || isKeyword(t.text) {
		return false
	}
	t := p.tokens[p.pos+1]
	return t.kind == tokSymbol && t.text == "("
}

// Functions by where they may be used. Their names are in any case.
var (
	conditionFunctions = []string{"attribute_type", "begins_with", "contains", "size"}
	updateFunctions    = []string{"list_append", "set_add", "set_delete"}
)

// function reads a function of a condition.
func (p *parser) function() term {
	name := p.functionName(conditionFunctions)
	return call(name, p.arguments(p.operand)...)
}

func (p *parser) functionName(known []string) string {
	t := p.next()
	for _, name := range known {
		if strings.EqualFold(name, t.text) {
			return name
		}
	}
	p.note(invalid("Invalid function name; function: %s", t.text))
	return t.text
}

// arguments reads what a function is applied to.
func (p *parser) arguments(operand func() term) []term {
	defer p.leave()
	if !p.enter() {
		return nil
	}
	p.expect("(")
	args := []term{operand()}
	for p.symbol(",") {
		args = append(args, operand())
	}
	p.expect(")")
	return args
}

// actions reads what an UPDATE changes: at least one thing.
func (p *parser) actions(s *Statement) {
	for p.err == nil {
		switch {
		case p.keyword("SET"):
			s.actions = append(s.actions, p.assignment())
			for p.symbol(",") {
				s.actions = append(s.actions, p.assignment())
			}
		case p.keyword("REMOVE"):
			// One path: unlike SET, REMOVE stands before each.
			s.actions = append(s.actions, action{verb: verbRemove, path: p.path()})
		case len(s.actions) == 0:
			p.fail("Expected SET or REMOVE")
		default:
			return
		}
	}
}

func (p *parser) assignment() action {
	a := action{path: p.path()}
	p.expect("=")
	if p.callNext() {
		if t := p.peek(); strings.EqualFold(t.text, "set_add") || strings.EqualFold(t.text, "set_delete") {
			return p.setFunction(a.path)
		}
	}
	a.value = p.assigned()
	for _, op := range []string{"+", "-"} {
		if p.symbol(op) {
			a.value = call(op, a.value, p.assigned())
			break
		}
	}
	return a
}

// assigned reads one operand of what SET assigns.
func (p *parser) assigned() term {
	if p.callNext() {
		name := p.functionName(updateFunctions)
		return call(name, p.arguments(p.assigned)...)
	}
	if t := p.peek(); t.kind == tokSymbol && t.text == "(" {
		p.fail(unexpectedTerm)
	}
	return p.operand()
}

// setFunction reads set_add and set_delete, which change a set in its place.
func (p *parser) setFunction(path expr.Path) action {
	name := p.functionName(updateFunctions)
	a := action{verb: verbAdd, path: path}
	if name == "set_delete" {
		a.verb = verbDelete
	}
	p.expect("(")
	first := p.peek()
	if from := p.assigned(); p.err == nil && (from.kind != termPath || !from.path.Equal(path)) {
		p.note(invalid("The first argument to %s must equal the assignment value %s", strings.ToUpper(name), p.at(first)))
	}
	p.expect(",")
	a.value = p.assigned()
	if v := &a.value; p.err == nil && (v.kind == termPath || v.kind == termCall || v.kind == termLiteral && !v.value.Kind().Set()) {
		p.note(invalid("The second argument to %s must be a value with type SET %s", strings.ToUpper(name), p.at(first)))
	}
	p.expect(")")
	return a
}
