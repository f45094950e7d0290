package partiql

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// A translator converts a tree to a Statement, and keeps the first error of
// what DynamoDB does not support.
type translator struct {
	src     string
	refused *Error
}

// refuse keeps an error, unless there is one: the first counts.
func (t *translator) refuse(format string, args ...any) {
	if t.refused == nil {
		t.refused = invalid(format, args...)
	}
}

// refuseAt is refuse with the place of a token.
func (t *translator) refuseAt(at token, format string, args ...any) {
	t.refuse("%s %s", invalid(format, args...).Message, place(t.src, at))
}

// translate converts a tree to a statement. A statement without a table is an
// error at once; Bind returns all other errors.
func translate(src string, root *node, parameters int) (*Statement, error) {
	t := &translator{src: src}
	s := &Statement{parameters: parameters}
	c := root.parts
	if root.kind == nodeCall { // the name of the function is not checked
		s.Kind = Exists
		if c = existing(root); c == nil {
			return nil, invalid(textExists)
		}
	} else if s.Kind = kinds[root.kind]; s.Kind == 0 {
		return nil, invalid("Unsupported operation: %s", root.class())
	}

	t.table(s, c)
	if t.refused != nil {
		return nil, t.refused
	}

	switch s.Kind {
	case Select, Exists:
		t.selection(s, c)
	case Insert:
		t.insert(s, c)
	default:
		t.change(s, c)
	}

	s.refused = t.refused
	return s, nil
}

var kinds = map[nodeKind]Kind{nodeSelect: Select, nodeInsert: Insert, nodeUpdate: Update, nodeDelete: Delete}

// existing returns the SELECT in EXISTS, or nil without one.
func existing(call *node) *clauses {
	if call.text != "exists" || len(call.args) != 1 || call.args[0].kind != nodeSelect {
		return nil
	}
	return call.args[0].parts
}

// table finds the table or the index that a statement is about.
func (t *translator) table(s *Statement, c *clauses) {
	if c.alias {
		t.refuse(textAlias)
	}

	if c.sources > 1 || c.source == nil {
		t.refuse(textOneSource)
		return
	}

	names := t.names(c.source)
	switch {
	case slices.Contains(names, ""):
		t.refuse(textEmptyName)
	case len(names) == 2 && s.Kind == Insert:
		t.refuse(textOneTable)
	case len(names) == 2 && s.Kind != Select && s.Kind != Exists:
		t.refuse(textNoIndex)
	}

	if t.refused == nil {
		if s.Table = names[0]; len(names) == 2 {
			s.Index = names[1]
		}
	}
}

// names returns the names in a source: a table, or a table and an index.
func (t *translator) names(source *node) []string {
	if source.kind == nodeName {
		return []string{source.text}
	}

	if source.kind != nodePath || source.args[0].kind != nodeName {
		t.refuse(textNoSource)
		return nil
	}

	names := []string{source.args[0].text}
	for _, s := range source.steps {
		names = append(names, s.name)
	}

	switch last := source.steps[len(source.steps)-1]; {
	case len(names) > 2:
		t.refuse(textLongPath)
	case last.bracket:
		t.refuse(textSourceList)
	case last.wildcard:
		t.refuse(textNoSource)
	}
	return names
}

func (t *translator) selection(s *Statement, c *clauses) {
	if c.group {
		t.refuse("Unsupported clause: GROUP BY")
	}

	if c.limit != nil {
		t.refuseAt(c.limit.token, "Unsupported clause: LIMIT")
	}

	if c.value {
		t.refuse(textNoValue)
	}

	if c.distinct {
		t.refuse("Unsupported token in expression: DISTINCT")
	}

	t.columns(s, c)
	t.where(s, c)
	for _, o := range c.order {
		if o.value.kind != nodeName {
			t.refuse("Argument to ORDER BY must be of type VariableReference. Type: %s", o.value.label())
		}
		if o.value.text == "" {
			t.refuse(textEmptyName)
		}
		s.OrderBy = append(s.OrderBy, Order{Name: o.value.text, Descending: o.descending})
	}
}

func (t *translator) columns(s *Statement, c *clauses) {
	for _, col := range c.columns {
		if col.alias {
			t.refuse(textAlias)
		}
	}

	for _, col := range c.columns {
		switch n := col.value; {
		case n.kind == nodePath && n.steps[len(n.steps)-1].wildcard:
			t.refuse(textHierarchy)
		case n.kind != nodeName && n.kind != nodePath:
			t.refuseAt(n.token, textColumn)
		}

		path := t.path(col.value)
		for _, other := range s.Columns {
			if t.refused == nil && other.Leaf() == path.Leaf() {
				t.refuse("Duplicate identifiers in select clause: %s", path.Leaf())
			}
		}

		s.Columns = append(s.Columns, path)
	}
}

func (t *translator) where(s *Statement, c *clauses) {
	if c.where == nil {
		return
	}
	if !c.where.logical() {
		t.refuse(textNoCondition)
	}
	w := t.condition(c.where)
	s.where = &w
}

// change converts the clauses of an UPDATE or a DELETE.
func (t *translator) change(s *Statement, c *clauses) {
	t.where(s, c)
	for _, a := range c.actions {
		s.actions = append(s.actions, t.action(a))
	}

	for i, r := range c.returned {
		switch {
		case i > 0:
			t.refuse(textReturnOne)
		case !r.star:
			t.refuse(textReturnStar)
		}
		s.Returning = r.returning
	}

	if s.Kind == Delete && s.Returning != ReturnNothing && s.Returning != AllOld {
		t.refuse("Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is allowed in DELETE statements.", s.Returning)
	}
}

// action converts one assignment of an UPDATE.
func (t *translator) action(a assignment) action {
	to := action{verb: verbRemove, path: t.path(a.path)}
	if a.value == nil {
		return to
	}
	if verb, ok := setVerbs[a.value.text]; ok && a.value.kind == nodeCall {
		to.verb = verb
		t.setFunction(&to, a.value)
		return to
	}
	to.verb, to.value = verbSet, t.assigned(a.value)
	return to
}

var setVerbs = map[string]verb{"set_add": verbAdd, "set_delete": verbDelete}

// setFunction converts set_add and set_delete, which change a set in place.
func (t *translator) setFunction(to *action, call *node) {
	name := strings.ToUpper(call.text)
	if len(call.args) != 2 {
		t.refuseAt(call.token, "%s must have exactly two arguments", name)
		return
	}

	from, set := call.args[0], call.args[1]
	if from.kind != nodeName && from.kind != nodePath || !t.path(from).Equal(to.path) {
		t.refuseAt(call.token, "The first argument to %s must equal the assignment value", name)
	}

	// The error about the second argument has the place of the first one.
	to.notASet = invalid("The second argument to %s must be a value with type SET %s", name, place(t.src, from.token))
	switch set.kind {
	case nodeParameter, nodeBag:
		to.value = t.operand(set)
	default:
		t.refuse("%s", to.notASet.Message)
	}
}

// path converts a name, or a name and steps, to a path.
func (t *translator) path(n *node) expr.Path {
	root := n
	if n.kind == nodePath {
		root = n.args[0]
	}

	if root.kind != nodeName {
		t.refuseAt(root.token, textColumn)
		return expr.NewPath("")
	}

	if root.text == "" {
		t.refuse(textEmptyName)
	}

	if steps := len(n.steps) + 1; steps > maxPath {
		t.refuse("The document path has too many nesting elements; nesting levels: %d", steps)
		return expr.NewPath("")
	}

	path := expr.NewPath(root.text)
	for _, s := range n.steps {
		path = t.step(path, s)
	}

	return path
}

// maxPath is the limit for the steps of a path: more than an item has levels.
const maxPath = 32

func (t *translator) step(path expr.Path, s step) expr.Path {
	switch {
	case s.wildcard && s.bracket:
		t.refuseAt(s.token, "Wildcard path component like a[*].b are not supported")
	case s.wildcard:
		t.refuseAt(s.token, "Unpivot path component like a.*.b are not supported")
	case s.index == nil:
		return t.field(path, s.name)
	case s.index.kind == nodeString, s.index.kind == nodeName:
		return t.field(path, s.index.text)
	case s.index.kind != nodeNumber || !wholeNumber(s.index.token.text):
		t.refuseAt(s.token, textColumn)
	default:
		i, ok := listIndex(s.index.text)
		if !ok {
			t.refuseAt(s.token, "List index is not within the allowable range; index: [%s]", s.index.text)
		}
		return path.Index(i)
	}
	return path
}

func (t *translator) field(path expr.Path, name string) expr.Path {
	if name == "" {
		t.refuse(textEmptyName)
	}
	return path.Field(name)
}
