// Package tree holds ordered data: a copy-on-write B-tree from byte keys to
// values, whose Clone costs the same for ten entries and for ten million.
//
// A clone shares every node with the tree it was taken from. Each tree has an
// owner mark, and a node carries the mark of the tree that may change it in
// place; a tree that meets a foreign node copies it first. So writes to a tree
// that was never cloned copy nothing, and after a clone only the path from the
// root to the touched leaf.
//
// A Tree is not safe for concurrent use while it is written. Any number of
// goroutines may read one at the same time, and trees that were cloned from
// one another may be used by different goroutines without care.
package tree
