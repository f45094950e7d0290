package attr

import (
	"slices"
	"strings"
)

// Equal reports whether a and b are the same value. It compares numbers by
// value, and sets and maps without regard to their original order.
func (a Value) Equal(b Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}

	switch a.Kind() {
	case S, N, B:
		return a.text == b.text
	case BOOL:
		return a.held == b.held
	case L:
		return a.held == b.held || slices.EqualFunc(a.held.list, b.held.list, Value.Equal)
	case M:
		return a.held == b.held || a.held.m.Equal(b.held.m)
	case SS, NS, BS:
		return a.held == b.held || slices.Equal(a.held.set, b.held.set)
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
	if a.Kind() != b.Kind() {
		return 0, false
	}
	switch a.Kind() {
	case S, B:
		return strings.Compare(a.text, b.text), true
	case N:
		return CompareNumbers(a.text, b.text), true
	}
	return 0, false
}

// HasElement reports whether the set has the scalar as an element.
func HasElement(set, scalar Value) bool {
	if set.Kind().Element() != scalar.Kind() || !scalar.Kind().Scalar() {
		return false
	}
	_, found := slices.BinarySearchFunc(set.held.set, scalar.text, elementOrder(set.Kind()))
	return found
}

// Union returns the elements of two sets of one kind.
func Union(a, b Value) Value {
	order := elementOrder(a.Kind())
	out := slices.Concat(a.held.set, b.held.set)
	slices.SortFunc(out, order)
	return Value{held: &content{kind: a.Kind(), set: slices.Compact(out)}}
}

// Difference returns the elements of a that are not in b, two sets of one kind.
// It returns false if no element is left, because DynamoDB has no empty sets.
func Difference(a, b Value) (Value, bool) {
	order := elementOrder(a.Kind())
	var out []string
	for _, e := range a.held.set {
		if _, found := slices.BinarySearchFunc(b.held.set, e, order); !found {
			out = append(out, e)
		}
	}
	return Value{held: &content{kind: a.Kind(), set: out}}, len(out) > 0
}
