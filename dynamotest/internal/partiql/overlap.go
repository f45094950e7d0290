package partiql

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// A branch is one of several conditions joined by OR, each of which pins
// partitions.
type branch struct {
	partitions []expr.KeyTerms
	ranges     []expr.KeyTerm // its conditions on the sort key
	filters    bool           // it has a condition on the key that is not a key condition
}

// branchesOf returns the branches of alternatives, each joined by AND with the
// others. It returns nil if one of them does not pin a partition.
func branchesOf(alternatives, others []term, hash, sort string) []branch {
	all := make([]branch, len(alternatives))
	for i := range alternatives {
		terms := slices.Concat(conjuncts(&alternatives[i]), others)
		b := &all[i]
		if b.partitions, _ = pin(terms, hash, sort); b.partitions == nil {
			return nil
		}
		for j := range terms {
			b.add(&terms[j], hash, sort)
		}
	}
	return all
}

// add records the condition of one of the terms that b joins by AND.
func (b *branch) add(t *term, hash, sort string) {
	k, ok := t.keyTerm()
	switch {
	case ok && k.Name == sort:
		b.ranges = append(b.ranges, k)
	case t.equals(hash) == nil:
		b.filters = b.filters || slices.ContainsFunc(t.heads(), func(name string) bool { return name == hash || name == sort })
	}
}

// heads returns the top-level attributes in t.
func (t *term) heads() []string {
	if t.kind == termPath {
		return []string{t.path.Head()}
	}
	var names []string
	for i := range t.args {
		names = append(names, t.args[i].heads()...)
	}
	return names
}

// overlapping reports whether the sort keys of two branches overlap. DynamoDB
// refuses that, because it would query one item twice. A branch without a condition
// on the sort key overlaps one that has a condition, but not another without. If a
// branch filters by the key, DynamoDB scans, and nothing overlaps.
func overlapping(branches []branch) bool {
	if slices.ContainsFunc(branches, func(b branch) bool { return b.filters }) {
		return false
	}
	for i := range branches {
		for j := range branches[:i] {
			if branches[i].overlaps(&branches[j]) {
				return true
			}
		}
	}
	return false
}

// overlaps reports whether both branches read one partition, and a sort key may meet
// the conditions of both. DynamoDB allows two branches without such a condition.
func (b *branch) overlaps(c *branch) bool {
	if len(b.ranges)+len(c.ranges) == 0 {
		return false
	}
	if !slices.ContainsFunc(b.partitions, func(p expr.KeyTerms) bool { return c.holds(p) }) {
		return false
	}
	for _, k := range b.ranges {
		if slices.ContainsFunc(c.ranges, func(l expr.KeyTerm) bool { return disjoint(k, l) }) {
			return false
		}
	}
	return true
}

// holds reports whether the partition of p is one of b's.
func (b *branch) holds(p expr.KeyTerms) bool {
	return slices.ContainsFunc(b.partitions, func(q expr.KeyTerms) bool {
		return p[0].Value.Equal(q[0].Value)
	})
}

// disjoint reports whether no value of a sort key meets both conditions.
func disjoint(k, l expr.KeyTerm) bool {
	switch {
	case k.Op == expr.Equal:
		return !l.Match(k.Value)
	case l.Op == expr.Equal:
		return !k.Match(l.Value)
	case k.Op == expr.BeginsWith && l.Op == expr.BeginsWith:
		a, b := k.Value.Str(), l.Value.Str()
		return !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a)
	}
	return before(k, l) || before(l, k)
}

// before reports whether the values that meet k are less than those that meet
// l.
func before(k, l expr.KeyTerm) bool {
	last, first := k.Value, l.Value
	switch k.Op {
	case expr.Between:
		last = k.High
	case expr.Less, expr.LessOrEqual:
	default:
		return false // no upper bound
	}

	if l.Op == expr.Less || l.Op == expr.LessOrEqual {
		return false // no lower bound
	}

	order, ok := attr.Compare(last, first)
	return ok && (order < 0 || order == 0 && (k.Op == expr.Less || l.Op == expr.Greater))
}
