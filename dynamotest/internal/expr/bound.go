package expr

import "slices"

// Bound has the expressions of one request, ready for use. Expressions that the
// request lacks are nil.
type Bound struct {
	Condition *Predicate
	Filter    *Predicate
	Change    *Change
	Selection *Selection
	Keys      KeyTerms
}

// Nested lists the attributes whose nested values the paths name.
func (b *Bound) Nested() []string {
	return slices.Concat(b.Condition.Nested(), b.Filter.Nested(), b.Change.Nested(), b.Selection.Nested())
}
