package partiql

import "strings"

// maxDepth is the limit for nested parentheses, NOTs, signs and literals. An
// item has at most 32 levels.
const maxDepth = 128

// A parser reads one statement. It is a Pratt parser, and ends at the first
// error.
type parser struct {
	src        string
	tokens     []token
	pos        int
	depth      int
	parameters int
	err        *Error
}

// Parse parses a statement. A well-formed statement that DynamoDB refuses is a
// Statement, too: Bind returns the error.
func Parse(src string) (*Statement, error) {
	p := &parser{src: src, tokens: lex(src)}
	if p.tokens[len(p.tokens)-1].kind == tokIllegal {
		return nil, malformed(noDetail)
	}

	root := p.expression(lowest)
	if !p.ended() {
		if p.peek().is(";") {
			p.fail(secondStatement)
		}
		p.fail(leftover)
	}

	if p.err != nil {
		return nil, p.err
	}
	return translate(src, root, p.parameters)
}

// fail keeps an error, unless there is one: the first counts.
func (p *parser) fail(detail string) {
	if p.err == nil {
		p.err = malformed(detail)
	}
}

// peek returns the next token. After an error it is the end.
func (p *parser) peek() token {
	if p.err != nil {
		return token{kind: tokEOF}
	}
	return p.tokens[p.pos]
}

// after returns the token after the next.
func (p *parser) after() token {
	if p.err != nil || p.pos+1 == len(p.tokens) {
		return token{kind: tokEOF}
	}
	return p.tokens[p.pos+1]
}

func (p *parser) next() token {
	t := p.peek()
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

// take consumes a keyword, an operator or a symbol if it is the next token, and
// reports whether it was.
func (p *parser) take(s string) bool {
	if !p.peek().is(s) {
		return false
	}
	p.pos++
	return true
}

// expect consumes s, or else fails with detail.
func (p *parser) expect(s, detail string) {
	if !p.take(s) {
		p.fail(detail)
	}
}

// symbolNames are the symbols that close something, in DynamoDB's texts.
var symbolNames = map[string]string{
	")": "RIGHT_PAREN", "]": "RIGHT_BRACKET", "}": "RIGHT_CURLY", ">>": "RIGHT_DOUBLE_ANGLE_BRACKET", ":": "COLON", "(": "LEFT_PAREN",
}

func (p *parser) symbol(s string) { p.expect(s, "Expected "+symbolNames[s]) }

// ended reports whether the statement is over.
func (p *parser) ended() bool {
	return p.peek().kind == tokEOF || p.peek().is(";") && p.after().kind == tokEOF
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

// expression reads operands and the operators between them, as long as the
// operators bind stronger than the precedence above.
func (p *parser) expression(above int) *node {
	defer p.leave()
	if !p.enter() {
		return &node{}
	}

	left := p.unary()
	for p.err == nil {
		op := p.peek()
		if op.kind != tokOperator || precedence[op.text] <= above {
			break
		}
		left = p.infix(left, op)
	}

	return left
}

// infix reads an operator and what follows it.
func (p *parser) infix(left *node, op token) *node {
	n := &node{kind: nodeOperator, token: op, text: op.text, args: []*node{left}}
	if p.pos++; op.text == "is" || op.text == "is not" {
		return p.is(left, op)
	}

	if (op.text == "in" || op.text == "not in") && p.peek().is("(") && !p.after().is("select") {
		n.args = append(n.args, p.list("(", ")"))
		return n
	}

	if p.peek().kind == tokEOF {
		p.fail(noRightSide)
	}

	right := p.expression(precedence[op.text])
	if op.text == "and" || op.text == "or" {
		return n.join(left, right)
	}

	n.args = append(n.args, right)
	if op.text == "between" || op.text == "not between" {
		p.expect("and", "Expected AND keyword")
		if p.ended() {
			p.fail("Expected expression after AND")
		}
		n.args = append(n.args, p.expression(precedence[op.text]))
	}

	return n
}

// join joins two conditions by n, an AND or an OR. A long chain does not make a
// deep tree, with or without parentheses.
func (n *node) join(left, right *node) *node {
	more := []*node{right}
	if right.operator(n.text) {
		more = right.args
	}
	if left.operator(n.text) {
		left.args = append(left.args, more...)
		return left
	}
	n.args = append(n.args, more...)
	return n
}

// is reads the type after IS.
func (p *parser) is(left *node, op token) *node {
	t := p.next()
	name := strings.ToLower(t.text)
	if _, known := typeNames[name]; !known || t.kind != tokKeyword && t.kind != tokName {
		p.fail(noTypeName)
	}

	if p.take("(") {
		p.expression(lowest)
		p.symbol(")")
	}

	n := &node{kind: nodeIs, token: op, text: name, args: []*node{left}}
	if op.text == "is not" {
		return &node{kind: nodeOperator, token: op, text: "not", args: []*node{n}}
	}

	return n
}

// unary reads an operand, with NOT or signs before it.
func (p *parser) unary() *node {
	op := p.peek()
	if !op.is("not") && !op.is("+") && !op.is("-") && !op.is("@") {
		return p.path(p.term())
	}
	defer p.leave()
	if !p.enter() {
		return &node{}
	}

	p.pos++
	n := &node{kind: nodeOperator, token: op, text: op.text}
	switch {
	case op.is("not"):
		n.args = []*node{p.expression(notPrecedence)}
		return n
	case op.is("@"): // only a name may follow
		t := p.next()
		if !t.isName() {
			p.fail("Identifier must follow @-operator")
		}
		return p.path(&node{kind: nodeName, token: t, text: t.text})
	}

	operand := p.unary()
	switch {
	case operand.kind == nodeNumber && op.is("-"):
		operand.text = negated(operand.text)
		return operand
	case operand.kind == nodeNumber:
		return operand
	}

	n.args = []*node{operand}
	return n
}

func negated(number string) string {
	if number != "" && number[0] == '-' {
		return number[1:]
	}
	return "-" + number
}

// path reads the steps that follow a term.
func (p *parser) path(root *node) *node {
	n := &node{kind: nodePath, token: root.token, args: []*node{root}}
	for p.err == nil {
		switch {
		case p.take("."):
			s := step{token: p.next()}
			s.name, s.wildcard = s.token.text, s.token.is("*")
			if !s.token.isName() && !s.wildcard {
				p.fail(noPathComponent)
			}
			n.steps = append(n.steps, s)
		case p.take("["):
			s := step{token: p.peek(), wildcard: p.take("*"), bracket: true}
			if !s.wildcard {
				s.index = p.expression(lowest)
				s.token = s.index.token
			}
			p.symbol("]")
			n.steps = append(n.steps, s)
		case len(n.steps) == 0:
			return root
		default:
			return n
		}
	}

	return root // after an error the result is not used
}

// simplePath reads a path that begins with a name.
func (p *parser) simplePath() *node {
	t := p.next()
	if !t.isName() {
		p.fail(noIdentifier)
	}
	n := p.path(&node{kind: nodeName, token: t, text: t.text})
	if n.kind == nodePath && n.steps[len(n.steps)-1].token.is("*") {
		p.fail(noPathComponent + " for simple path")
	}
	return n
}
