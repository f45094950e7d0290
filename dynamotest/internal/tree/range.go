package tree

import "iter"

// Ascend yields, in rising order, the entries whose keys are at least from.
func (t *Tree[V]) Ascend(from string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		if t.root != nil {
			t.root.ascend(from, true, yield)
		}
	}
}

// Descend yields, in falling order, the entries whose keys are less than below.
func (t *Tree[V]) Descend(below string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		if t.root != nil {
			t.root.descend(below, true, yield)
		}
	}
}

// ascend walks the subtree. Keys must be compared with from only along the left
// edge of the range; bounded says whether n lies on that edge.
func (n *node[V]) ascend(from string, bounded bool, yield func(string, V) bool) bool {
	start := 0
	if bounded {
		start, _ = n.find(from)
	}

	for i := start; i <= len(n.entries); i++ {
		if !n.leaf() && !n.children[i].ascend(from, bounded && i == start, yield) {
			return false
		}
		if i < len(n.entries) && !yield(n.entries[i].key, n.entries[i].value) {
			return false
		}
	}
	return true
}

func (n *node[V]) descend(below string, bounded bool, yield func(string, V) bool) bool {
	end := len(n.entries)
	if bounded {
		end, _ = n.find(below)
	}

	for i := end; i >= 0; i-- {
		if i < end && !yield(n.entries[i].key, n.entries[i].value) {
			return false
		}
		if !n.leaf() && !n.children[i].descend(below, bounded && i == end, yield) {
			return false
		}
	}
	return true
}
