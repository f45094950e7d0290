package expr

import (
	"errors"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// Apply returns the item after the update. before is the item before it, or nil
// for a missing item. The update reads all values from before.
func (c *Change) Apply(before attr.Map) (attr.Map, error) { return c.apply(before, before == nil) }

// Create returns the item that the update makes if no item exists. It has its
// key from the beginning, so the update can read the key.
func (c *Change) Create(key attr.Map) (attr.Map, error) { return c.apply(key, true) }

func (c *Change) apply(before attr.Map, missing bool) (attr.Map, error) {
	results := make([]result, len(c.actions))
	for i := range c.actions {
		r, err := c.compute(&c.actions[i], before)
		if err != nil {
			return nil, err
		}
		if r.ok && len(c.actions[i].path)-1+r.value.Depth() >= attr.MaxNesting {
			return nil, &Error{Reason: msgNesting}
		}
		results[i] = r
	}

	e := editor{results: results, missing: missing}
	after := e.editMap(before, c.tree)
	if e.badPath {
		return nil, &Error{Reason: msgDocumentPath}
	}

	return after, nil
}

// A result is the value at the path of an action after it, if any.
type result struct {
	verb  verb
	value attr.Value
	ok    bool
}

func (c *Change) compute(a *boundAction, item attr.Map) (result, error) {
	switch a.verb {
	case verbSet:
		v, err := c.evalSet(a.value, item)
		return result{a.verb, v, true}, err
	case verbAdd, verbDelete:
		old, ok := c.lookup(item, a.path)
		v, ok, err := combine(a.verb, old, ok, c.values[a.value.slot])
		if err == errOperandType && c.clause == AttributeUpdates {
			err = errAttributeKind
		}
		return result{a.verb, v, ok}, err
	}
	return result{verb: a.verb}, nil
}

var (
	errMissing       error = &Error{Reason: msgMissing}
	errOperandType   error = &Error{Reason: msgOperandType}
	errAttributeKind error = &Error{Reason: msgAttributeKind}
)

// evalSet computes the right-hand side of SET.
func (c *Change) evalSet(n *node, item attr.Map) (attr.Value, error) {
	switch n.op {
	case opPath:
		if v, ok := c.lookup(item, n.path); ok {
			return v, nil
		}
		return attr.Value{}, errMissing
	case opValue:
		return c.values[n.slot], nil
	case opIfNotExists:
		if v, ok := c.lookup(item, n.args[0].path); ok {
			return v, nil
		}
		return c.evalSet(&n.args[1], item)
	}

	left, err := c.evalSet(&n.args[0], item)
	if err != nil {
		return attr.Value{}, err
	}

	right, err := c.evalSet(&n.args[1], item)
	if err != nil {
		return attr.Value{}, err
	}

	return operate(n.op, left, right)
}

// operate is list_append, + and -.
func operate(op op, left, right attr.Value) (attr.Value, error) {
	kind := attr.N
	if op == opListAppend {
		kind = attr.L
	}

	if left.Kind() != kind || right.Kind() != kind {
		return attr.Value{}, errOperandType
	}

	switch op {
	case opListAppend:
		joined := make([]attr.Value, 0, len(left.List())+len(right.List()))
		joined = append(joined, left.List()...)
		return attr.List(append(joined, right.List()...)...), nil
	case opPlus:
		return arithmetic(attr.Add(left, right))
	}
	return arithmetic(attr.Sub(left, right))
}

// arithmetic converts the error of a sum to an *Error.
func arithmetic(v attr.Value, err error) (attr.Value, error) {
	var bad *attr.Error
	if errors.As(err, &bad) {
		return attr.Value{}, &Error{Reason: bad.Message}
	}
	return v, err
}

// combine is ADD and DELETE: it returns the value after them. The old value may
// not exist.
func combine(v verb, old attr.Value, exists bool, operand attr.Value) (attr.Value, bool, error) {
	if !exists {
		return operand, v == verbAdd, nil
	}
	if old.Kind() != operand.Kind() {
		return attr.Value{}, false, errOperandType
	}

	switch {
	case operand.Kind() == attr.L: // only AttributeUpdates can add to a list
		sum, err := operate(opListAppend, old, operand)
		return sum, true, err
	case v == verbDelete:
		left, ok := attr.Difference(old, operand)
		return left, ok, nil
	case operand.Kind() == attr.N:
		sum, err := arithmetic(attr.Add(old, operand))
		return sum, true, err
	}
	return attr.Union(old, operand), true, nil
}

// An editor writes results into copies of the maps and lists on their paths.
type editor struct {
	results []result
	missing bool // the item does not exist, so removing from it is not an error
	badPath bool
}

// editMap merges the branches into the fields. Both are sorted.
func (e *editor) editMap(m attr.Map, t *tree) attr.Map {
	out := make(attr.Map, 0, len(m)+len(t.branches))
	for _, b := range t.branches {
		for len(m) > 0 && m[0].Name < b.step.name {
			out = append(out, m[0])
			m = m[1:]
		}
		var old attr.Value
		if len(m) > 0 && m[0].Name == b.step.name {
			old = m[0].Value
			m = m[1:]
		}
		if v, ok := e.edit(old, b); ok {
			out = append(out, attr.Field{Name: b.step.name, Value: v})
		}
	}

	return append(out, m...)
}

// editList changes elements in place, then removes those without a value. An
// index past the end appends.
func (e *editor) editList(list []attr.Value, t *tree) []attr.Value {
	out := make([]attr.Value, 0, len(list)+len(t.branches))
	next := 0
	for _, b := range t.branches {
		var old attr.Value
		if at := b.step.index; at < len(list) {
			out = append(out, list[next:at]...)
			old, next = list[at], at+1
		} else {
			out = append(out, list[next:]...)
			next = len(list)
		}
		if v, ok := e.edit(old, b); ok {
			out = append(out, v)
		}
	}

	return append(out, list[next:]...)
}

// edit returns the value after the actions, or false if it is removed. The zero
// Value stands for a missing one.
func (e *editor) edit(old attr.Value, t *tree) (attr.Value, bool) {
	if t.isLeaf() {
		r := e.results[t.leaf]
		return r.value, r.ok
	}

	wantList := t.branches[0].step.isIndex()
	switch {
	case wantList && old.Kind() == attr.L:
		return attr.List(e.editList(old.List(), t)...), true
	case !wantList && old.Kind() == attr.M:
		return attr.MapOf(e.editMap(old.Map(), t)), true
	}

	if !e.missing || e.writes(t) {
		e.badPath = true
	}
	return old, old.Valid()
}

// writes reports whether any action below t is not a REMOVE.
func (e *editor) writes(t *tree) bool {
	if t.isLeaf() {
		return e.results[t.leaf].verb != verbRemove
	}
	for _, b := range t.branches {
		if e.writes(b) {
			return true
		}
	}
	return false
}
