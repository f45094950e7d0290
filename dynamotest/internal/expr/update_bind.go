package expr

import "github.com/homeops/ddbpatterns/dynamotest/internal/attr"

// A Change is an update whose placeholders are resolved. It may be used by many
// goroutines.
type Change struct {
	*binding
	actions []boundAction
	tree    *tree // what to change, by path: a leaf's number is that of its action

	// mismatch is the error of an ADD or a DELETE that does not suit what it
	// meets; when nil, errOperandType.
	mismatch error
}

type boundAction struct {
	verb  verb
	path  path // without placeholders
	value *node
}

// Bind resolves the update's placeholders, and checks its paths and operands.
func (u *Update) Bind(params *Params) (*Change, error) {
	b := bind(UpdateExpression, params, u.names, u.values)
	for slot := range u.names {
		b.resolveName(slot)
	}
	for slot := range u.values {
		b.resolveValue(slot)
	}
	c := &Change{binding: b, actions: make([]boundAction, 0, len(u.actions))}
	paths := make([]path, len(u.actions))
	for i := range u.actions {
		a := &u.actions[i]
		paths[i] = b.full(a.path)
		c.actions = append(c.actions, boundAction{a.verb, paths[i], &a.value})
	}
	b.checkPaths(paths)
	for i := range u.actions {
		b.checkAction(&u.actions[i])
	}
	if b.err != nil {
		return nil, b.err
	}
	c.tree = newTree(paths)
	return c, nil
}

// checkAction checks an action's operands as far as that is possible without an
// item.
func (b *binding) checkAction(a *action) {
	switch a.verb {
	case verbSet:
		for _, rule := range []func(*binding, *node){(*binding).checkCount, (*binding).checkFallback, (*binding).checkKinds} {
			if b.err == nil {
				b.walkRule(rule, &a.value)
			}
		}
	case verbAdd, verbDelete:
		if k := b.kind(&a.value); !k.Set() && (a.verb == verbDelete || k != attr.N) && b.err == nil {
			b.fail(msgActionOperand(a.verb.String(), k))
		}
	}
}

// checkFallback refuses an attribute that is to stand in for itself.
func (b *binding) checkFallback(n *node) {
	if n.op == opIfNotExists {
		b.checkDistinct(n)
	}
}

// checkPaths refuses two paths of which one leads to, or through, the other, and
// two that take one value for a map and for a list.
func (b *binding) checkPaths(paths []path) {
	conflict := ""
	for i, q := range paths {
		for _, p := range paths[:i] {
			switch relate(p, q) {
			case overlapping:
				b.fail(msgPaths("overlap", p, q))
				return
			case conflicting:
				if conflict == "" {
					conflict = msgPaths("conflict", p, q)
				}
			}
		}
	}
	if conflict != "" {
		b.fail(conflict)
	}
}

type relation uint8

const (
	apart relation = iota
	overlapping
	conflicting
)

func relate(p, q path) relation {
	for i := range min(len(p), len(q)) {
		switch {
		case p[i].isIndex() != q[i].isIndex():
			return conflicting
		case p[i] != q[i]:
			return apart
		}
	}
	return overlapping
}

// Heads returns the names of the top-level attributes that the update changes,
// each once.
func (c *Change) Heads() []string {
	heads := make([]string, len(c.actions))
	for i, a := range c.actions {
		heads[i] = a.path[0].name
	}
	return distinct(heads)
}

// Old returns what the changed paths held in the item before, as UPDATED_OLD
// shows it.
func (c *Change) Old(before attr.Map) attr.Map { return c.tree.pick(before) }

// New returns what the same paths hold in the item after, as UPDATED_NEW shows
// it: of a removed element of a list, what has moved to its place, and of one
// that was appended by an index past the end, nothing.
func (c *Change) New(after attr.Map) attr.Map { return c.tree.pick(after) }
