package expr

var updateKeywords = []string{"SET", "REMOVE", "ADD", "DELETE"}

// An Update is a parsed update expression.
type Update struct {
	actions []action
	names   []string
	values  []string
}

// A verb is the section of an action.
type verb uint8

const (
	verbSet verb = iota
	verbRemove
	verbAdd
	verbDelete
)

func (v verb) String() string { return updateKeywords[v] }

// An action changes one path.
type action struct {
	verb  verb
	path  path
	value node // for SET the value to compute, for ADD and DELETE a placeholder
}

// ParseUpdate parses an UpdateExpression.
func ParseUpdate(src string) (*Update, error) {
	p := newParser(UpdateExpression, src)
	u := &Update{}
	var seen [verbDelete + 1]bool

	for p.syntax == nil {
		v, ok := p.section()
		if !ok {
			break
		}
		if seen[v] {
			p.note(rankSection, msgSection(v.String()))
		}
		seen[v] = true
		u.actions = append(u.actions, p.action(v))
		for p.symbol(",") {
			u.actions = append(u.actions, p.action(v))
		}
	}

	if len(u.actions) == 0 {
		p.fail()
	}

	if err := p.finish(); err != nil {
		return nil, err
	}

	u.names, u.values = p.names, p.values
	return u, nil
}

// section consumes the keyword at the beginning of a section.
func (p *parser) section() (verb, bool) {
	for v := verbSet; v <= verbDelete; v++ {
		if p.keyword(v.String()) {
			return v, true
		}
	}
	return 0, false
}

func (p *parser) action(v verb) action {
	a := action{verb: v, path: p.path(updateKeywords)}
	switch v {
	case verbSet:
		p.expect("=")
		a.value = p.setValue()
	case verbAdd, verbDelete:
		a.value = p.value()
	}
	return a
}

// setValue reads one operand, or two with a plus or a minus between them.
func (p *parser) setValue() node {
	left := p.updateOperand(true)
	if left.op == opPlus || left.op == opMinus {
		return left
	}
	for _, op := range []op{opPlus, opMinus} {
		if p.symbol(op.String()) {
			p.operators++
			return node{op: op, args: []node{left, p.updateOperand(false)}}
		}
	}
	return left
}

// updateOperand reads a path, a placeholder or a function. Parentheses may
// contain a sum only if sum is true.
func (p *parser) updateOperand(sum bool) node {
	p.enter()
	defer p.leave()
	switch {
	case p.peek().kind == tokValue:
		return p.value()
	case p.callNext():
		return p.updateCall()
	case p.symbol("("):
		var inner node
		if sum {
			inner = p.setValue()
		} else {
			inner = p.updateOperand(false)
		}
		return p.closed(inner)
	}

	return node{op: opPath, path: p.path(updateKeywords)}
}

// updateCall reads a function. Only if_not_exists may stand inside another.
func (p *parser) updateCall() node {
	return p.call(func() node {
		n := p.updateOperand(false)
		if n.op == opListAppend {
			p.note(rankMisused, msgMisused(n.op.String()))
		}
		return n
	})
}
