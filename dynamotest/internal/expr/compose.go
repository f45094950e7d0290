package expr

import (
	"slices"
	"strconv"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// Conditions, updates and projections can also be composed instead of parsed,
// by a language with another syntax and the same meaning. They have no
// placeholders then, so they are bound at once.

// A Path leads from an item to a value. Its methods never change it.
type Path struct{ steps path }

// NewPath returns the path to a top-level attribute.
func NewPath(name string) Path {
	return Path{path{{name: name, slot: noSlot, index: notIndex}}}
}

// Field returns the path to a member of the map at p.
func (p Path) Field(name string) Path {
	return Path{append(slices.Clip(p.steps), step{name: name, slot: noSlot, index: notIndex})}
}

// Index returns the path to an element of the list at p.
func (p Path) Index(i int) Path {
	return Path{append(slices.Clip(p.steps), step{slot: noSlot, index: i})}
}

// Head returns the name of the top-level attribute.
func (p Path) Head() string { return p.steps[0].name }

// TopLevel reports whether p leads to a top-level attribute.
func (p Path) TopLevel() bool { return len(p.steps) == 1 }

// Equal reports whether two paths lead to the same place.
func (p Path) Equal(q Path) bool { return slices.Equal(p.steps, q.steps) }

// String returns the path as DynamoDB's messages show it.
func (p Path) String() string { return p.steps.String() }

// Leaf returns the last name on the path, with the indexes that follow it. It
// is the name of a column that was not given one.
func (p Path) Leaf() string {
	i := len(p.steps) - 1
	for p.steps[i].isIndex() {
		i--
	}
	name := p.steps[i].name
	for _, s := range p.steps[i+1:] {
		name += "[" + strconv.Itoa(s.index) + "]"
	}
	return name
}

// A Term is a part of a condition, or of a value that an update sets.
type Term struct {
	op    op
	name  string // of an opUnknown
	path  path
	value attr.Value
	args  []Term
}

// Attribute returns the term for the value at a path.
func Attribute(p Path) Term { return Term{op: opPath, path: p.steps} }

// Literal returns the term for a value.
func Literal(v attr.Value) Term { return Term{op: opValue, value: v} }

// Apply returns the term for an operator or a function, by the name that it has
// in expressions: "AND", "<>", "BETWEEN", "IN", "begins_with", "+", and so on.
func Apply(name string, args ...Term) Term {
	t := Term{op: opUnknown, name: name, args: args}
	if i := slices.Index(opNames[opAnd:opUnknown], name); i >= 0 {
		t.op = opAnd + op(i)
	}
	return t
}

// A composer gives the literals of terms their slots.
type composer struct {
	*binding
	operators int
}

func newComposer() *composer { return &composer{binding: &binding{}} }

// node converts a term to a node of a syntax tree, and checks the limits that a
// parser would have checked.
func (c *composer) node(t Term) node {
	n := node{op: t.op, path: t.path}
	switch t.op {
	case opPath:
		if len(t.path) > maxPathDepth {
			c.fail(msgPathDepth(len(t.path)))
		}
		return n
	case opValue:
		n.slot = len(c.values)
		c.values = append(c.values, t.value)
		return n
	case opUnknown:
		c.fail(msgUnknownFunction(t.name))
	case opIn:
		if given := len(t.args) - 1; given > maxInOperands {
			c.fail(msgInOperands(given))
		}
	}

	if c.operators++; c.operators > maxOperators {
		c.fail(msgOperators(c.operators))
	}

	n.args = make([]node, len(t.args))
	for i, arg := range t.args {
		n.args[i] = c.node(arg)
	}

	return n
}

// needConditions refuses operands in the place of conditions, and conditions in
// the place of operands. Only comparisons may have conditions as operands, which
// are true or false.
func (c *composer) needConditions(n *node) {
	if !n.op.condition() {
		c.fail(msgMisused(n.op.String()))
		return
	}

	for i := range n.args {
		switch arg := &n.args[i]; {
		case n.op.logical(), n.op.compares() && arg.op.condition():
			c.needConditions(arg)
		case n.op == opExists || n.op == opNotExists: // check reports that it needs a path
		case arg.op == opIfNotExists || arg.op == opListAppend:
			c.fail(msgNotInCondition(arg.op.String()))
		case arg.op.condition() || arg.op > opSize:
			c.fail(msgMisused(arg.op.String()))
		case arg.op == opSize && len(arg.args) == 1 && arg.args[0].op > opValue:
			c.fail(msgMisused(arg.op.String()))
		}
	}
}

// Predicate returns the condition that t is.
func (t Term) Predicate() (*Predicate, error) {
	c := newComposer()
	root := c.node(t)
	c.needConditions(&root)
	if c.err == nil {
		c.check(&root)
	}
	if c.err != nil {
		return nil, c.err
	}
	return &Predicate{&root, c.binding}, nil
}

// An Action changes the value at one path.
type Action struct {
	verb  verb
	path  path
	value Term
}

// SetTo returns the action SET.
func SetTo(p Path, value Term) Action { return Action{verbSet, p.steps, value} }

// RemoveAt returns the action REMOVE.
func RemoveAt(p Path) Action { return Action{verb: verbRemove, path: p.steps} }

// AddTo returns the action ADD.
func AddTo(p Path, v attr.Value) Action { return Action{verbAdd, p.steps, Literal(v)} }

// DeleteFrom returns the action DELETE.
func DeleteFrom(p Path, v attr.Value) Action { return Action{verbDelete, p.steps, Literal(v)} }

// NewChange returns the update that consists of actions.
func NewChange(actions ...Action) (*Change, error) {
	c := newComposer()
	u := Update{actions: make([]action, len(actions))}
	change := &Change{binding: c.binding, actions: make([]boundAction, len(actions))}
	paths := make([]path, len(actions))

	for i, a := range actions {
		if len(a.path) > maxPathDepth {
			c.fail(msgPathDepth(len(a.path)))
		}
		to := &u.actions[i]
		to.verb, to.path = a.verb, a.path
		if a.verb != verbRemove {
			to.value = c.node(a.value)
			c.needComputable(&to.value)
		}
		change.actions[i] = boundAction{a.verb, a.path, &to.value}
		paths[i] = a.path
	}

	c.checkPaths(paths)
	for i := range u.actions {
		if c.err == nil {
			c.checkAction(&u.actions[i])
		}
	}

	if c.err != nil {
		return nil, c.err
	}

	change.tree = newTree(paths)
	return change, nil
}

// needComputable refuses what SET cannot compute.
func (c *composer) needComputable(n *node) {
	if n.op > opValue && n.op < opIfNotExists {
		c.fail(msgNotInUpdate(n.op.String()))
	}
	for i := range n.args {
		c.needComputable(&n.args[i])
	}
}

// NewColumns returns a projection that puts the selected values side by side,
// each under the Leaf of its path.
func NewColumns(paths ...Path) (*Selection, error) {
	s := &Selection{columns: paths}
	var heads []path
	for i, p := range paths {
		if len(p.steps) > maxPathDepth {
			return nil, &Error{Reason: msgPathDepth(len(p.steps))}
		}
		for _, q := range paths[:i] {
			if relate(q.steps, p.steps) == overlapping {
				return nil, &Error{Reason: msgPaths("overlap", q.steps, p.steps)}
			}
		}
		heads = addHead(heads, p.steps[:min(2, len(p.steps))])
	}

	s.tree = newTree(heads)
	return s, nil
}

// InPlace returns the projection of the same paths that leaves the selected
// values inside their maps and lists, as a ProjectionExpression does.
func (s *Selection) InPlace() (*Selection, error) {
	paths := make([]path, len(s.columns))
	for i, p := range s.columns {
		for _, q := range paths[:i] {
			if relate(q, p.steps) == conflicting {
				return nil, &Error{Reason: msgPaths("conflict", q, p.steps)}
			}
		}
		paths[i] = p.steps
	}
	return &Selection{tree: newTree(paths)}, nil
}

// addHead adds the beginning of a path to a list that has one for each
// attribute. Of two for the same attribute it keeps the one that leads into the
// attribute.
func addHead(heads []path, head path) []path {
	for i, h := range heads {
		if h[0] == head[0] {
			if len(head) > len(h) {
				heads[i] = head
			}
			return heads
		}
	}
	return append(heads, head)
}

// pickColumns is Apply for a projection made by NewColumns.
func (s *Selection) pickColumns(item attr.Map) attr.Map {
	var b binding
	fields := make([]attr.Field, 0, len(s.columns))
	for _, p := range s.columns {
		if v, ok := b.lookup(item, p.steps); ok {
			fields = append(fields, attr.Field{Name: p.Leaf(), Value: v})
		}
	}
	return attr.NewMap(fields...)
}
