package expr

import "github.com/homeops/ddbpatterns/dynamotest/internal/attr"

// A Change is an update whose placeholders are resolved. It may be used by many
// goroutines.
type Change struct {
	*binding
	actions []boundAction
	tree    *tree // what to change, by path: a leaf has the number of its action
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
		// The first rule that an operand breaks gives the error.
		for _, rule := range []func(*binding, *node){(*binding).checkCount, (*binding).checkFallback, (*binding).checkKinds} {
			if b.err == nil {
				b.walkRule(rule, &a.value)
			}
		}
	case verbAdd, verbDelete:
		k := b.kind(&a.value)
		allowed := k.Set() || a.verb == verbAdd && k == attr.N // a set, or to add a number
		if !allowed && b.err == nil {
			b.fail(msgActionOperand(a.verb.String(), k))
		}
	}
}

// checkFallback refuses if_not_exists with the same attribute as the fallback.
func (b *binding) checkFallback(n *node) {
	if n.op == opIfNotExists {
		b.checkDistinct(n)
	}
}

// checkPaths refuses two paths if they are equal or one leads through the other.
// It also refuses two paths if one treats a value as a map and the other as a
// list.
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

// Old returns the values at the changed paths before the update, for
// UPDATED_OLD.
func (c *Change) Old(before attr.Map) attr.Map { return c.tree.pick(before) }

// New returns the values at the same paths after the update, for UPDATED_NEW.
// For a removed element of a list that is the element that has moved to its
// place. For an element that was appended by an index past the end it is
// nothing.
func (c *Change) New(after attr.Map) attr.Map { return c.tree.pick(after) }
