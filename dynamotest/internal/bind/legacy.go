package bind

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// refuseMixed refuses a request with both legacy parameters and expressions.
// Only legacy key conditions are allowed together with a filter expression or a
// projection expression.
func (s *Sources) refuseMixed(l *api.Legacy) *api.Error {
	var older, newer []string
	add := func(to *[]string, name string, set bool) {
		if set {
			*to = append(*to, name)
		}
	}
	add(&older, "AttributesToGet", l.Attributes.Set)
	add(&older, "AttributeUpdates", l.Updates.Set)
	add(&older, s.filterName(), l.Filter.Set)
	add(&older, "Expected", l.Expected.Set)
	add(&older, "ConditionalOperator", l.Operator.Set)
	add(&newer, expr.ProjectionExpression, s.Projection.Set)
	add(&newer, expr.FilterExpression, s.Filter.Set)
	add(&newer, expr.UpdateExpression, s.Update.Set)
	add(&newer, expr.ConditionExpression, s.Condition.Set)
	add(&newer, expr.KeyConditionExpression, s.Keys.Set)
	if len(older) == 0 && !s.Keys.Set {
		return nil
	}
	add(&older, "KeyConditions", l.Keys.Set)
	if len(older) == 0 || len(newer) == 0 {
		return nil
	}
	return Mixed(older, newer)
}

// filterName returns the name of the operation's legacy filter. Only Query has
// a key condition.
func (s *Sources) filterName() string {
	if s.Query {
		return "QueryFilter"
	}
	return "ScanFilter"
}

// addLegacy converts legacy parameters to bound expressions.
func (b *Bound) addLegacy(l *api.Legacy) *api.Error {
	if l.Err != nil {
		return api.Wrong(l.Err)
	}
	if err := checkOperator(l); err != nil {
		return err
	}
	err := b.translate(l)
	if refused, ok := err.(*api.Error); ok {
		return refused
	}
	if err != nil {
		return api.Wrong(err)
	}
	return nil
}

// translate returns an *api.Error or an *expr.Error.
func (b *Bound) translate(l *api.Legacy) (err error) {
	expected := make([]expr.Comparison, len(l.Expected.Value))
	for i := range expected {
		c, err := expectation(&l.Expected.Value[i])
		if err != nil {
			return err
		}
		expected[i] = c
	}
	anyOf := l.Operator.Value == "OR"
	if len(expected) > 0 {
		b.Condition, err = expr.Compare(expected, anyOf)
	}
	if err == nil && len(l.Filter.Value) > 0 {
		b.Filter, err = expr.Compare(comparisons(l.Filter.Value), anyOf)
	}
	if err == nil && l.Keys.Set {
		b.Keys, err = expr.CompareKeys(comparisons(l.Keys.Value))
	}
	if err == nil && len(l.Updates.Value) > 0 {
		b.Change, err = expr.UpdateAttributes(updatesOf(l.Updates.Value))
	}
	if err == nil && l.Attributes.Set {
		b.Selection, err = expr.SelectAttributes(l.Attributes.Value)
	}
	return err
}

// checkOperator refuses a ConditionalOperator without conditions to join.
func checkOperator(l *api.Legacy) *api.Error {
	if !l.Operator.Set {
		return nil
	}
	switch max(len(l.Expected.Value), len(l.Filter.Value)) {
	case 0:
		return api.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	case 1:
		return api.Invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
	}
	return nil
}

func comparisons(in []api.Comparison) []expr.Comparison {
	out := make([]expr.Comparison, len(in))
	for i, c := range in {
		out[i] = expr.Comparison{Name: c.Attribute, Operator: c.Operator.Value, Operands: c.Operands.Value}
	}
	return out
}

func updatesOf(in []api.AttributeUpdate) []expr.AttributeUpdate {
	out := make([]expr.AttributeUpdate, len(in))
	for i, u := range in {
		out[i] = expr.AttributeUpdate{Name: u.Attribute, Action: u.Action.Or("PUT"), Value: u.Value.Value, Valued: u.Value.Set}
	}
	return out
}

// expectation converts an entry of Expected to a comparison. An entry without
// an operator says that an attribute does not exist, or which value it has.
func expectation(c *api.Comparison) (expr.Comparison, error) {
	out := expr.Comparison{Name: c.Attribute, Operator: c.Operator.Value, Operands: c.Operands.Value}
	check := checkExistence
	if c.Operator.Set {
		check = checkComparison
	}
	if c.Operands.Set && c.Value.Set {
		return out, api.InvalidParameter("Value and AttributeValueList cannot be used together for Attribute: %s", c.Attribute)
	}
	if err := check(c); err != nil {
		return out, err
	}
	switch {
	case !c.Operator.Set && c.Exists.Or(true):
		out.Operator = "EQ"
	case !c.Operator.Set:
		out.Operator = "NULL"
	}
	if c.Value.Set {
		out.Operands = []attr.Value{c.Value.Value}
	}
	return out, nil
}

// checkComparison checks an entry with an operator.
func checkComparison(c *api.Comparison) error {
	unary := c.Operator.Value == "NULL" || c.Operator.Value == "NOT_NULL"
	switch {
	case c.Exists.Set:
		return api.InvalidParameter("Exists and ComparisonOperator cannot be used together for Attribute: %s", c.Attribute)
	case !c.Operands.Set && !c.Value.Set && !unary:
		return api.InvalidParameter("Value or AttributeValueList must be used with ComparisonOperator: %s for Attribute: %s", c.Operator.Value, c.Attribute)
	}
	return nil
}

// checkExistence checks an entry without an operator.
func checkExistence(c *api.Comparison) error {
	exists := c.Exists.Or(true)
	switch {
	case c.Operands.Set:
		return api.InvalidParameter("AttributeValueList can only be used with a ComparisonOperator for Attribute: %s", c.Attribute)
	case exists && !c.Value.Set:
		return api.InvalidParameter("Value must be provided when Exists is %s for Attribute: %s", shownExists(c.Exists), c.Attribute)
	case !exists && c.Value.Set:
		return api.InvalidParameter("Value cannot be used when Exists is false for Attribute: %s", c.Attribute)
	}
	return nil
}

func shownExists(exists api.Opt[bool]) string {
	if exists.Set {
		return "true" // if false, no value is necessary
	}
	return "null"
}
