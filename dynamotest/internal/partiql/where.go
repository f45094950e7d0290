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

// mirrored are the comparisons read from right to left.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// keyOps are the comparisons that a key condition knows.
var keyOps = map[string]expr.Op{
	"=": expr.Equal, "<": expr.Less, "<=": expr.LessOrEqual, ">": expr.Greater, ">=": expr.GreaterOrEqual,
	"BETWEEN": expr.Between, "begins_with": expr.BeginsWith,
}

// keyTerm returns what t asks of a single top-level attribute, if it does just
// that in a way that a key condition could.
func (t *term) keyTerm() (expr.KeyTerm, bool) {
	op, known := keyOps[t.op]
	if t.kind != termCall || !known || len(t.args) < 2 {
		return expr.KeyTerm{}, false
	}
	name, values := &t.args[0], t.args[1:]
	if name.kind == termLiteral && mirrored[t.op] != "" {
		op = keyOps[mirrored[t.op]]
		name, values = &t.args[1], t.args[:1]
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

// equals returns the values that t asks an attribute to be one of: by equality,
// or by IN.
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

// Key returns the key that the condition pins by equality, and the conditions
// besides, or nothing when the key is not pinned.
func (w *Where) Key(names []string) (key attr.Map, rest []expr.Term, err error) {
	if w == nil {
		return nil, nil, invalid(textKeyEquality)
	}
	terms := conjuncts(&w.root)
	for i := range terms {
		k, ok := terms[i].keyTerm()
		if !ok || k.Op != expr.Equal || !contains(names, k.Name) {
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

// Partitions returns key conditions, one for each partition that an item may
// stand in for which the condition is true; none when it may stand in any. It
// also returns whether they say all that the condition says.
func (w *Where) Partitions(hash, sort []string) (parts []expr.KeyTerms, exact bool) {
	if w == nil {
		return nil, false
	}
	terms := conjuncts(&w.root)
	if parts, used := pin(terms, hash, sort); parts != nil {
		return parts, used == len(terms)
	}
	for i := range terms {
		if !terms[i].is("OR") {
			continue
		}
		if parts := branches(terms[i].args, terms, hash, sort); parts != nil {
			return parts, false
		}
	}
	return nil, false
}

// Listed returns how many values an IN lists at most for an attribute of a
// partition key, or 0.
func (w *Where) Listed(hash []string) int {
	if w == nil {
		return 0
	}
	return listed(&w.root, hash)
}

func listed(t *term, hash []string) (most int) {
	switch {
	case t.is("IN"):
		for _, name := range hash {
			most = max(most, len(t.equals(name)))
		}
	case t.is("AND"), t.is("OR"):
		for i := range t.args {
			most = max(most, listed(&t.args[i], hash))
		}
	}
	return most
}

// branches returns the partitions of conditions joined by OR, each of which
// stands beside the others, or none when one of them does not pin a partition.
func branches(alternatives, others []term, hash, sort []string) []expr.KeyTerms {
	var all []expr.KeyTerms
	for i := range alternatives {
		parts, _ := pin(slices.Concat(conjuncts(&alternatives[i]), others), hash, sort)
		if parts == nil {
			return nil
		}
		for _, part := range parts {
			all = addPartition(all, part, len(hash))
		}
	}
	return all
}

// addPartition adds a partition. When it is there already, the two are joined
// into all of the partition.
func addPartition(all []expr.KeyTerms, part expr.KeyTerms, hash int) []expr.KeyTerms {
	for i, p := range all {
		same := true
		for j := range hash {
			same = same && p[j].Value.Equal(part[j].Value)
		}
		if same {
			all[i] = p[:hash]
			return all
		}
	}
	return append(all, part)
}

// pin returns the partitions that terms, joined by AND, pin by equality, with
// what they ask of the sort key, and how many of the terms that took.
func pin(terms []term, hash, sort []string) (parts []expr.KeyTerms, used int) {
	parts = []expr.KeyTerms{nil}
	for _, name := range hash {
		i := slices.IndexFunc(terms, func(t term) bool { return t.equals(name) != nil })
		if i < 0 {
			return nil, 0
		}
		values := terms[i].equals(name)
		if len(values) > 1 && len(hash) > 1 {
			return nil, 0
		}
		parts = times(parts, name, values)
		used++
	}
	for _, name := range sort {
		k, ok := sortTerm(terms, name)
		if !ok {
			break
		}
		for i := range parts {
			parts[i] = append(slices.Clip(parts[i]), k)
		}
		if used++; k.Op != expr.Equal {
			break
		}
	}
	return parts, used
}

// sortTerm returns a condition on a sort key attribute, an equality if there is
// one.
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

// times returns the parts with each of the values, which count once.
func times(parts []expr.KeyTerms, name string, values []attr.Value) []expr.KeyTerms {
	var out []expr.KeyTerms
	for i, v := range values {
		if slices.ContainsFunc(values[:i], v.Equal) {
			continue
		}
		for _, p := range parts {
			out = append(out, append(slices.Clip(p), expr.KeyTerm{Name: name, Op: expr.Equal, Value: v}))
		}
	}
	return out
}

func contains(names []string, name string) bool { return slices.Contains(names, name) }
