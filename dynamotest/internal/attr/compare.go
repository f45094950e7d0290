package attr

import (
	"slices"
	"strings"
)

// Equal reports whether a and b are the same value. It compares numbers by
// value, and sets and maps without regard to their original order.
func (a Value) Equal(b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case S, N, B:
		return a.text == b.text
	case BOOL:
		return a.yes == b.yes
	case L:
		return a.many == b.many || slices.EqualFunc(a.many.list, b.many.list, Value.Equal)
	case M:
		return a.many == b.many || a.many.m.Equal(b.many.m)
	case SS, NS, BS:
		return a.many == b.many || slices.Equal(a.many.set, b.many.set)
	}
	return true
}

// Equal reports whether two maps have the same attributes.
func (a Map) Equal(b Map) bool {
	return slices.EqualFunc(a, b, func(x, y Field) bool {
		return x.Name == y.Name && x.Value.Equal(y.Value)
	})
}

// Compare orders two values of one kind, strings and binaries by bytes, numbers
// by value. For values of different kinds, or of kinds without an order, ok is
// false.
func Compare(a, b Value) (order int, ok bool) {
	if a.kind != b.kind {
		return 0, false
	}
	switch a.kind {
	case S, B:
		return strings.Compare(a.text, b.text), true
	case N:
		return CompareNumbers(a.text, b.text), true
	}
	return 0, false
}

// HasElement reports whether the set has the scalar as an element.
func HasElement(set, scalar Value) bool {
	if set.kind.Element() != scalar.kind || !scalar.kind.Scalar() {
		return false
	}
	_, found := slices.BinarySearchFunc(set.many.set, scalar.text, elementOrder(set.kind))
	return found
}

// Union returns the elements of two sets of one kind.
func Union(a, b Value) Value {
	order := elementOrder(a.kind)
	out := slices.Concat(a.many.set, b.many.set)
	slices.SortFunc(out, order)
	return Value{kind: a.kind, many: &container{set: slices.Compact(out)}}
}

// Difference returns the elements of a that are not in b, two sets of one kind.
// It returns false if no element is left, because DynamoDB has no empty sets.
func Difference(a, b Value) (Value, bool) {
	order := elementOrder(a.kind)
	var out []string
	for _, e := range a.many.set {
		if _, found := slices.BinarySearchFunc(b.many.set, e, order); !found {
			out = append(out, e)
		}
	}
	return Value{kind: a.kind, many: &container{set: out}}, len(out) > 0
}
