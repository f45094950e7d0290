package expr

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// Match reports whether the condition is true for an item. A missing item is an
// empty one.
func (p *Predicate) Match(item attr.Map) bool { return p.match(p.root, item) }

func (b *binding) match(n *node, item attr.Map) bool {
	switch n.op {
	case opAnd:
		for i := range n.args {
			if !b.match(&n.args[i], item) {
				return false
			}
		}
		return true
	case opOr:
		for i := range n.args {
			if b.match(&n.args[i], item) {
				return true
			}
		}
		return false
	case opNot:
		return !b.match(&n.args[0], item)
	case opExists, opNotExists:
		_, ok := b.lookup(item, n.args[0].path)
		return ok == (n.op == opExists)
	}

	first, ok := b.eval(&n.args[0], item)
	if !ok {
		return n.op == opNE
	}

	return b.matchOperands(n, first, item)
}

// matchOperands evaluates a comparison or function whose first operand exists.
func (b *binding) matchOperands(n *node, first attr.Value, item attr.Map) bool {
	if n.op == opIn {
		return slices.ContainsFunc(n.args[1:], func(arg node) bool {
			v, ok := b.eval(&arg, item)
			return ok && first.Equal(v)
		})
	}

	second, ok := b.eval(&n.args[1], item)
	if !ok {
		return n.op == opNE
	}

	switch n.op {
	case opEQ:
		return first.Equal(second)
	case opNE:
		return !first.Equal(second)
	case opBetween:
		third, ok := b.eval(&n.args[2], item)
		return ok && compares(opGE, first, second) && compares(opLE, first, third)
	case opType:
		return first.Kind().String() == second.Str()
	case opBeginsWith:
		return beginsWith(first, second)
	case opContains:
		return contains(first, second)
	}
	return compares(n.op, first, second)
}

// eval returns the value of an operand, or false if it has no value.
func (b *binding) eval(n *node, item attr.Map) (attr.Value, bool) {
	switch n.op {
	case opPath:
		return b.lookup(item, n.path)
	case opValue:
		return b.values[n.slot], true
	}

	if n.op.condition() {
		return attr.Bool(b.match(n, item)), true
	}

	v, ok := b.eval(&n.args[0], item)
	if !ok {
		return attr.Value{}, false
	}

	return sizeOf(v)
}

func compares(op op, a, b attr.Value) bool {
	order, ok := attr.Compare(a, b)
	if !ok {
		return false
	}

	switch op {
	case opLT:
		return order < 0
	case opLE:
		return order <= 0
	case opGT:
		return order > 0
	}
	return order >= 0
}

func beginsWith(v, prefix attr.Value) bool {
	return v.Kind() == prefix.Kind() && (v.Kind() == attr.S || v.Kind() == attr.B) &&
		strings.HasPrefix(v.Str(), prefix.Str())
}

// contains reports whether v contains part: as a part of a string or binary, or
// as an element of a set or a list.
func contains(v, part attr.Value) bool {
	switch kind := v.Kind(); {
	case kind == attr.S || kind == attr.B:
		return part.Kind() == kind && strings.Contains(v.Str(), part.Str())
	case kind == attr.L:
		return slices.ContainsFunc(v.List(), part.Equal)
	case kind.Set():
		return attr.HasElement(v, part)
	}
	return false
}

// sizeOf is the function size: the length of a string in UTF-16 units, of a
// binary in bytes, of a set, a list or a map in elements. Numbers, booleans and
// null have no size.
func sizeOf(v attr.Value) (attr.Value, bool) {
	n := 0
	switch kind := v.Kind(); {
	case kind == attr.S:
		for _, r := range v.Str() {
			if n++; r > 0xFFFF {
				n++
			}
		}
	case kind == attr.B:
		n = len(v.Str())
	case kind == attr.L:
		n = len(v.List())
	case kind == attr.M:
		n = len(v.Map())
	case kind.Set():
		n = len(v.Set())
	default:
		return attr.Value{}, false
	}

	return attr.Int(int64(n)), true
}
