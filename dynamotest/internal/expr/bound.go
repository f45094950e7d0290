package expr

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
	var nested []string
	if b.Condition != nil {
		nested = append(nested, b.Condition.Nested()...)
	}
	if b.Filter != nil {
		nested = append(nested, b.Filter.Nested()...)
	}
	if b.Change != nil {
		nested = append(nested, b.Change.Nested()...)
	}
	if b.Selection != nil {
		nested = append(nested, b.Selection.Nested()...)
	}
	return nested
}
