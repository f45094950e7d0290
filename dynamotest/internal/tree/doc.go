// Package tree holds ordered data. It is a copy-on-write B-tree from byte keys
// to values, and its Clone costs the same for ten entries and for ten million.
//
// A clone shares every node with its origin. Each tree has an owner mark, and a
// node has the mark of the tree that may change it in place; any other tree
// copies the node first. So writes to a tree that was never cloned copy
// nothing, and writes after a clone copy only the path from the root to the
// changed leaf.
//
// A Tree is not safe for concurrent use while it is written. Any number of
// goroutines may read it at the same time. Different goroutines may use a tree
// and its clones without synchronization.
package tree
