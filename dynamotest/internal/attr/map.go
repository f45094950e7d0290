package attr

import (
	"slices"
	"strings"
)

// A Field is one attribute: a name and its value.
type Field struct {
	Name  string
	Value Value
}

// A Map is a list of attributes, sorted by name, each name once. An item is a
// Map. Its methods never change it.
type Map []Field

// NewMap sorts fields, and takes over the slice. Of two with the same name the
// later is kept.
func NewMap(fields ...Field) Map {
	m := Map(fields)
	byName := func(a, b Field) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(m, byName) {
		slices.SortStableFunc(m, byName)
	}

	unique := m[:0]
	for i, f := range m {
		if i+1 < len(m) && m[i+1].Name == f.Name {
			continue
		}
		unique = append(unique, f)
	}

	return unique
}

// Find returns the index of name, or the index at which it would be inserted.
func (m Map) Find(name string) (int, bool) {
	return slices.BinarySearchFunc(m, name, func(f Field, name string) int {
		return strings.Compare(f.Name, name)
	})
}

// short is the greatest length of a map in which a linear search for a name is the
// fastest, because most names differ in their length.
const short = 8

// Get returns the value of an attribute.
func (m Map) Get(name string) (Value, bool) {
	if len(m) <= short {
		for i := range m {
			if m[i].Name == name {
				return m[i].Value, true
			}
		}
		return Value{}, false
	}

	i, ok := m.Find(name)
	if !ok {
		return Value{}, false
	}

	return m[i].Value, true
}

// Has reports whether m has an attribute with that name.
func (m Map) Has(name string) bool {
	_, ok := m.Find(name)
	return ok
}

// With returns a copy of m in which name has value v.
func (m Map) With(name string, v Value) Map {
	i, ok := m.Find(name)
	if ok {
		out := slices.Clone(m)
		out[i].Value = v
		return out
	}
	out := make(Map, 0, len(m)+1)
	out = append(out, m[:i]...)
	out = append(out, Field{name, v})
	return append(out, m[i:]...)
}

// Without returns a copy of m without name, or m itself if it does not have
// name.
func (m Map) Without(name string) Map {
	i, ok := m.Find(name)
	if !ok {
		return m
	}
	out := make(Map, 0, len(m)-1)
	out = append(out, m[:i]...)
	return append(out, m[i+1:]...)
}

// Pick returns the named attributes of m. Names may repeat.
func (m Map) Pick(names ...string) Map {
	out := make(Map, 0, min(len(names), len(m)))
	for _, f := range m {
		if slices.Contains(names, f.Name) {
			out = append(out, f)
		}
	}
	return out
}
