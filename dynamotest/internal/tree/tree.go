package tree

import "slices"

// maxEntries is the most entries of a node. They are few enough that a copied
// path stays small, and enough that a million entries need only four levels.
// Two nodes of minEntries and the entry between them fit into one node. Nodes
// on the right edge may have fewer than minEntries.
const (
	maxEntries = 63
	minEntries = maxEntries / 2

	growth = 8 // how many entries a full leaf gets room for
)

// Tree is an ordered map from keys, compared byte by byte, to values. The zero
// value is an empty tree.
type Tree[V any] struct {
	root  *node[V]
	owner *owner
	size  int
}

// owner is compared by address only. It has a field because pointers to two
// values of size zero may be equal.
type owner struct{ _ byte }

type node[V any] struct {
	owner    *owner
	entries  []entry[V]
	children []*node[V] // nil in a leaf, otherwise one more than entries
}

type entry[V any] struct {
	key   string
	value V
}

// Len returns the number of entries.
func (t *Tree[V]) Len() int { return t.size }

// Clone returns a tree with the same entries, in constant time. It counts as a
// write to t, so it must not run at the same time as readers or writers of t.
func (t *Tree[V]) Clone() *Tree[V] {
	t.owner = new(owner)
	return &Tree[V]{root: t.root, owner: new(owner), size: t.size}
}

// Get returns the value under key.
func (t *Tree[V]) Get(key string) (V, bool) {
	for n := t.root; n != nil; {
		i, found := n.find(key)
		if found {
			return n.entries[i].value, true
		}
		if n.leaf() {
			break
		}
		n = n.children[i]
	}
	var none V
	return none, false
}

// Set puts value under key and returns the value that it replaced, if any.
func (t *Tree[V]) Set(key string, value V) (old V, replaced bool) {
	if t.owner == nil {
		t.owner = new(owner)
	}

	if t.root == nil {
		t.root = &node[V]{owner: t.owner}
	}

	t.root = t.root.mutable(t.owner)
	if len(t.root.entries) == maxEntries {
		left := t.root
		middle, right := left.split(t.owner, maxEntries/2)
		t.root = &node[V]{
			owner:    t.owner,
			entries:  []entry[V]{middle},
			children: []*node[V]{left, right},
		}
	}

	old, replaced = t.root.set(key, value)
	if !replaced {
		t.size++
	}

	return old, replaced
}

// Delete removes the entry under key, if any, and returns its value.
func (t *Tree[V]) Delete(key string) (old V, removed bool) {
	// A key that does not exist must not copy a path, so look first.
	if _, ok := t.Get(key); !ok {
		return old, false
	}

	t.root = t.root.mutable(t.owner)
	old = t.root.remove(key)
	t.size--

	for t.root != nil && len(t.root.entries) == 0 {
		if t.root.leaf() {
			t.root = nil
		} else {
			t.root = t.root.children[0]
		}
	}
	return old, true
}

func (n *node[V]) leaf() bool { return len(n.children) == 0 }

// find returns the position of the first entry that is not less than key.
func (n *node[V]) find(key string) (int, bool) {
	low, high := 0, len(n.entries)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if n.entries[middle].key < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(n.entries) && n.entries[low].key == key
}

// mutable returns n itself when its tree may change it, and a copy otherwise.
func (n *node[V]) mutable(o *owner) *node[V] {
	if n.owner == o {
		return n
	}
	return &node[V]{owner: o, entries: slices.Clone(n.entries), children: slices.Clone(n.children)}
}

// child returns the i-th child, made mutable first.
func (n *node[V]) child(i int) *node[V] {
	n.children[i] = n.children[i].mutable(n.owner)
	return n.children[i]
}

// split cuts n at entry i and returns that entry and the node right of it.
// The entries of both halves get arrays of their own size, so that a half-full node
// keeps neither the entries of its neighbour alive nor room for them.
func (n *node[V]) split(o *owner, i int) (entry[V], *node[V]) {
	middle := n.entries[i]
	right := &node[V]{owner: o, entries: slices.Clone(n.entries[i+1:])}
	n.entries = slices.Clone(n.entries[:i])

	if !n.leaf() {
		right.children = slices.Clone(n.children[i+1:])
		clear(n.children[i+1:]) // so that n does not keep them alive
		n.children = n.children[:i+1]
	}

	return middle, right
}

// set works on a mutable node with room for one more entry.
func (n *node[V]) set(key string, value V) (old V, replaced bool) {
	i, found := n.find(key)
	if found {
		old, n.entries[i].value = n.entries[i].value, value
		return old, true
	}

	if n.leaf() {
		if len(n.entries) == cap(n.entries) { // by less than append does, because most leaves stay half full
			n.entries = append(make([]entry[V], 0, min(len(n.entries)+growth, maxEntries)), n.entries...)
		}
		n.entries = slices.Insert(n.entries, i, entry[V]{key, value})
		return old, false
	}

	if child := n.child(i); len(child.entries) == maxEntries {
		cut := maxEntries / 2
		if i == len(n.children)-1 {
			cut = maxEntries - maxEntries/8 // rising keys fill their nodes instead of leaving halves behind
		}
		middle, right := child.split(n.owner, cut)
		n.entries = slices.Insert(n.entries, i, middle)
		n.children = slices.Insert(n.children, i+1, right)
		switch {
		case key == middle.key:
			old, n.entries[i].value = n.entries[i].value, value
			return old, true
		case key > middle.key:
			i++
		}
	}
	return n.child(i).set(key, value)
}

// remove works on a mutable node that has key in its subtree. A child is filled
// up before it is entered, so that it can lose an entry.
func (n *node[V]) remove(key string) V {
	i, found := n.find(key)
	switch {
	case n.leaf():
		old := n.entries[i].value
		n.entries = slices.Delete(n.entries, i, i+1)
		return old
	case n.thin(i):
		n.refill(i)
		return n.remove(key)
	case found:
		old := n.entries[i].value
		n.entries[i] = n.child(i).removeLast()
		return old
	default:
		return n.child(i).remove(key)
	}
}

// removeLast takes the greatest entry out of the subtree of a mutable node. Like
// remove, it fills a child up before it enters it.
func (n *node[V]) removeLast() entry[V] {
	if n.leaf() {
		last := n.entries[len(n.entries)-1]
		n.entries = slices.Delete(n.entries, len(n.entries)-1, len(n.entries))
		return last
	}

	i := len(n.children) - 1
	if n.thin(i) {
		n.refill(i)
		return n.removeLast() // the last child may be another one now
	}
	return n.child(i).removeLast()
}

// thin reports whether the i-th child should get entries before one is removed
// from it. An only child has no neighbour to get them from; Delete puts it in
// the place of its empty parent.
func (n *node[V]) thin(i int) bool {
	return len(n.entries) > 0 && len(n.children[i].entries) <= minEntries
}

// refill gives the i-th child one more entry. It takes it from a neighbour that
// can spare one, or else merges the child with a neighbour.
func (n *node[V]) refill(i int) {
	switch {
	case i > 0 && len(n.children[i-1].entries) > minEntries:
		child, left := n.child(i), n.child(i-1)
		last := len(left.entries) - 1
		child.entries = slices.Insert(child.entries, 0, n.entries[i-1])
		n.entries[i-1] = left.entries[last]
		left.entries = slices.Delete(left.entries, last, last+1)
		if !left.leaf() {
			child.children = slices.Insert(child.children, 0, left.children[last+1])
			left.children = slices.Delete(left.children, last+1, last+2)
		}
	case i < len(n.entries) && len(n.children[i+1].entries) > minEntries:
		child, right := n.child(i), n.child(i+1)
		child.entries = append(child.entries, n.entries[i])
		n.entries[i] = right.entries[0]
		right.entries = slices.Delete(right.entries, 0, 1)
		if !right.leaf() {
			child.children = append(child.children, right.children[0])
			right.children = slices.Delete(right.children, 0, 1)
		}
	default:
		n.merge(min(i, len(n.entries)-1))
	}
}

// merge joins the i-th entry and the children on both sides of it. Each of them
// has at most minEntries.
func (n *node[V]) merge(i int) {
	left, right := n.child(i), n.children[i+1]
	left.entries = append(append(left.entries, n.entries[i]), right.entries...)
	left.children = append(left.children, right.children...)
	n.entries = slices.Delete(n.entries, i, i+1)
	n.children = slices.Delete(n.children, i+1, i+2)
}
