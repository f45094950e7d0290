package partiql

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// A Where is a condition whose parameters are filled in.
type Where struct{ root term }

// conjuncts returns the conditions that t joins by AND.
func conjuncts(t *term) []term {
	if t.is("AND") {
		return t.args
	}
	return []term{*t}
}

// Predicate returns the whole condition.
func (w *Where) Predicate() (*expr.Predicate, error) { return w.root.expr().Predicate() }

// keyOps are the comparisons of key conditions.
var keyOps = map[string]expr.Op{
	"=": expr.Equal, "<": expr.Less, "<=": expr.LessOrEqual, ">": expr.Greater, ">=": expr.GreaterOrEqual,
	"BETWEEN": expr.Between, "begins_with": expr.BeginsWith,
}

// keyTerm returns t as a key condition, if t is a condition on a single
// top-level attribute that a key condition may have.
func (t *term) keyTerm() (expr.KeyTerm, bool) {
	op, known := keyOps[t.op]
	if t.kind != termCall || !known || len(t.args) < 2 {
		return expr.KeyTerm{}, false
	}

	name, values := &t.args[0], t.args[1:]
	if mirrored, ok := op.Mirrored(); ok && name.kind == termLiteral {
		op, name, values = mirrored, &t.args[1], t.args[:1]
	}

	literals := !slices.ContainsFunc(values, func(v term) bool { return v.kind != termLiteral })
	if name.kind != termPath || !name.path.TopLevel() || !literals {
		return expr.KeyTerm{}, false
	}

	k := expr.KeyTerm{Name: name.path.Head(), Op: op, Value: values[0].value}
	if op == expr.Between {
		if len(values) != 2 {
			return expr.KeyTerm{}, false
		}
		k.High = values[1].value
	}

	return k, true
}

// equals returns the values to which t limits an attribute by equality or by
// IN.
func (t *term) equals(name string) []attr.Value {
	if k, ok := t.keyTerm(); ok && k.Name == name && k.Op == expr.Equal {
		return []attr.Value{k.Value}
	}
	if !t.is("IN") || t.args[0].kind != termPath || !t.args[0].path.Equal(expr.NewPath(name)) {
		return nil
	}

	var values []attr.Value
	for _, arg := range t.args[1:] {
		if arg.kind != termLiteral {
			return nil
		}
		values = append(values, arg.value)
	}

	return values
}

// Key returns the key that the condition pins by equality, and the other
// conditions. It returns nil if the key is not pinned.
func (w *Where) Key(names []string) (key attr.Map, rest []expr.Term, err error) {
	if w == nil {
		return nil, nil, invalid(textKeyEquality)
	}

	terms := conjuncts(&w.root)
	for i := range terms {
		k, ok := terms[i].keyTerm()
		if !ok || k.Op != expr.Equal || !slices.Contains(names, k.Name) {
			rest = append(rest, terms[i].expr())
			continue
		}
		if v, twice := key.Get(k.Name); twice && !v.Equal(k.Value) {
			return nil, nil, invalid("Multiple conditions on same key %s. Only single item Update/Insert/Delete are supported", k.Name)
		}
		key = key.With(k.Name, k.Value)
	}

	if len(key) < len(names) {
		return nil, nil, invalid(textKeyEquality)
	}
	return key, rest, nil
}

// Partitions are the places of the items that can meet a condition.
type Partitions struct {
	List  []expr.KeyTerms // key conditions, one for each; nil if it may be any
	Exact bool            // they are the whole condition
	ByOr  bool            // they come from conditions joined by OR
}

// Partitions returns the partitions that the condition pins. sort is empty for a
// key without a sort key.
func (w *Where) Partitions(hash, sort string) (Partitions, error) {
	if w == nil {
		return Partitions{}, nil
	}

	terms := conjuncts(&w.root)
	if parts, used := pin(terms, hash, sort); parts != nil {
		return Partitions{List: parts, Exact: used == len(terms)}, nil
	}

	for i := range terms {
		if !terms[i].is("OR") {
			continue
		}

		others := slices.Concat(terms[:i], terms[i+1:])
		branches := branchesOf(terms[i].args, others, hash, sort)
		if branches == nil {
			continue
		}
		if overlapping(branches) {
			return Partitions{}, invalid(textOverlap)
		}

		var all []expr.KeyTerms
		for _, b := range branches {
			for _, part := range b.partitions {
				all = addPartition(all, part)
			}
		}

		return Partitions{List: all, ByOr: true}, nil
	}
	return Partitions{}, nil
}

// Listed returns the most values that an IN lists for the partition key, or 0.
func (w *Where) Listed(hash string) int {
	if w == nil {
		return 0
	}
	return listed(&w.root, hash)
}

func listed(t *term, hash string) (most int) {
	switch {
	case t.is("IN"):
		most = len(t.equals(hash))
	case t.is("AND"), t.is("OR"):
		for i := range t.args {
			most = max(most, listed(&t.args[i], hash))
		}
	}
	return most
}

// addPartition adds a partition. If the list has it already, the two become the
// whole partition.
func addPartition(all []expr.KeyTerms, part expr.KeyTerms) []expr.KeyTerms {
	for i, p := range all {
		if p[0].Value.Equal(part[0].Value) {
			all[i] = p[:1]
			return all
		}
	}
	return append(all, part)
}

// pin returns the partitions that terms, joined by AND, pin by equality, with
// their conditions on the sort key. used is how many of the terms these are.
func pin(terms []term, hash, sort string) (parts []expr.KeyTerms, used int) {
	i := slices.IndexFunc(terms, func(t term) bool { return t.equals(hash) != nil })
	if i < 0 {
		return nil, 0
	}

	var seen []attr.Value
	of, sorted := sortTerm(terms, sort)
	for _, v := range terms[i].equals(hash) {
		if slices.ContainsFunc(seen, v.Equal) {
			continue
		}
		seen = append(seen, v)
		part := expr.KeyTerms{{Name: hash, Op: expr.Equal, Value: v}}
		if sorted {
			part = append(part, of)
		}
		parts = append(parts, part)
	}

	if sorted {
		return parts, 2
	}
	return parts, 1
}

// sortTerm returns a condition on the sort key, preferably an equality.
func sortTerm(terms []term, name string) (expr.KeyTerm, bool) {
	var found expr.KeyTerm
	ok := false
	for i := range terms {
		k, is := terms[i].keyTerm()
		if is && k.Name == name && (!ok || k.Op == expr.Equal && found.Op != expr.Equal) {
			found, ok = k, true
		}
	}
	return found, ok
}
