package expr

import (
	"cmp"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// A tree has paths that do not overlap, joined at their common beginnings. Its
// branches are sorted like maps and lists.
type tree struct {
	step     step
	branches []*tree
	leaf     int // the number of the path that ends here; only without branches
}

// newTree joins paths. No path may be the beginning of another.
func newTree(paths []path) *tree {
	root := &tree{branches: make([]*tree, 0, len(paths))}
	size := 0
	for _, p := range paths {
		size += len(p)
	}

	nodes := make([]tree, size) // the most that can be necessary, in one piece
	for i, p := range paths {
		t := root
		for _, s := range p {
			next := t.branch(s)
			if next == nil {
				next, nodes = &nodes[0], nodes[1:]
				next.step = s
				t.branches = append(t.branches, next)
			}
			t = next
		}
		t.leaf = i
	}

	root.sort()
	return root
}

// branch returns the branch for a step, or nil.
func (t *tree) branch(s step) *tree {
	for _, b := range t.branches {
		if b.step == s {
			return b
		}
	}
	return nil
}

func (t *tree) sort() {
	slices.SortFunc(t.branches, func(a, b *tree) int {
		return cmp.Or(strings.Compare(a.step.name, b.step.name), cmp.Compare(a.step.index, b.step.index))
	})
	for _, b := range t.branches {
		b.sort()
	}
}

func (t *tree) isLeaf() bool { return len(t.branches) == 0 }

// pick returns the part of an item at the tree's paths: maps with the named
// attributes, and lists with the named elements side by side.
func (t *tree) pick(item attr.Map) attr.Map {
	var out attr.Map
	for _, b := range t.branches {
		if v, ok := item.Get(b.step.name); ok {
			if part, ok := b.pickValue(v); ok {
				out = append(out, attr.Field{Name: b.step.name, Value: part})
			}
		}
	}
	return out
}

func (t *tree) pickValue(v attr.Value) (attr.Value, bool) {
	if t.isLeaf() {
		return v, true
	}

	if !t.branches[0].step.isIndex() {
		m := t.pick(v.Map())
		return attr.MapOf(m), len(m) > 0
	}

	var elems []attr.Value
	list := v.List()
	for _, b := range t.branches {
		if b.step.index < len(list) {
			if part, ok := b.pickValue(list[b.step.index]); ok {
				elems = append(elems, part)
			}
		}
	}

	return attr.List(elems...), len(elems) > 0
}
