package api

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// olderParameters are the parameters in the order of messages.
var olderParameters = []string{
	expr.AttributesToGet, expr.AttributeUpdates, expr.QueryFilter, expr.ScanFilter, expr.Expected, "ConditionalOperator", expr.KeyConditions,
}

// translate makes the trees of the parameters, or finds their error.
func (o *Older) translate() {
	slices.SortFunc(o.Given, func(a, b string) int { return slices.Index(olderParameters, a) - slices.Index(olderParameters, b) })
	o.Given = slices.Compact(o.Given)
	err := o.complete()
	anyOf := o.operator.Value == "OR"
	if err == nil && len(o.expected) > 0 {
		o.Condition, err = expr.Compare(expr.Expected, comparisonsOf(o.expected), anyOf)
	}
	if err == nil && len(o.filter) > 0 {
		o.Filter, err = expr.Compare(o.filterName(), comparisonsOf(o.filter), anyOf)
	}
	if err == nil && o.keys != nil {
		o.Keys, err = expr.CompareKeys(comparisonsOf(o.keys))
	}
	if err == nil && len(o.updates) > 0 {
		o.Change, err = expr.UpdateAttributes(o.updates)
	}
	if err == nil && o.Attributes != nil {
		o.Selection, err = expr.SelectAttributes(o.Attributes)
	}
	if refused, ok := err.(*Error); ok {
		o.Err = refused
	} else if err != nil {
		o.Err = Wrong(err)
	}
}

// complete completes the entries of Expected, unless something is wrong.
func (o *Older) complete() error {
	err := o.wrong
	if err == nil {
		err = o.checkOperator()
	}
	for i := 0; i < len(o.expected) && err == nil; i++ {
		err = o.expected[i].expect()
	}
	return err
}

// checkOperator refuses a ConditionalOperator without conditions to join.
func (o *Older) checkOperator() error {
	if !o.operator.Set {
		return nil
	}
	switch max(len(o.expected), len(o.filter)) {
	case 0:
		return Invalid("ConditionalOperator cannot be used without Filter or Expected")
	case 1:
		return Invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")
	}
	return nil
}

func (o *Older) filterName() string {
	if slices.Contains(o.Given, expr.ScanFilter) {
		return expr.ScanFilter
	}
	return expr.QueryFilter
}

func comparisonsOf(in []comparison) []expr.Comparison {
	out := make([]expr.Comparison, len(in))
	for i, c := range in {
		out[i] = c.Comparison
	}
	return out
}

// expect completes an entry of Expected. One without an operator says that an
// attribute does not exist, or which value it has.
func (c *comparison) expect() error {
	check := c.checkExistence
	if c.operator.Set {
		check = c.checkComparison
	}
	if c.listed && c.value.Set {
		return InvalidParameter("Value and AttributeValueList cannot be used together for Attribute: %s", c.Name)
	}
	if err := check(); err != nil {
		return err
	}
	switch {
	case !c.operator.Set && c.exists.Or(true):
		c.Operator = "EQ"
	case !c.operator.Set:
		c.Operator = "NULL"
	}
	if c.value.Set {
		c.Operands = []attr.Value{c.value.Value}
	}
	return nil
}

// checkComparison checks an entry with an operator.
func (c *comparison) checkComparison() error {
	unary := c.Operator == "NULL" || c.Operator == "NOT_NULL"
	switch {
	case c.exists.Set:
		return InvalidParameter("Exists and ComparisonOperator cannot be used together for Attribute: %s", c.Name)
	case !c.listed && !c.value.Set && !unary:
		return InvalidParameter("Value or AttributeValueList must be used with ComparisonOperator: %s for Attribute: %s", c.Operator, c.Name)
	}
	return nil
}

// checkExistence checks an entry without an operator.
func (c *comparison) checkExistence() error {
	exists, shown := c.exists.Or(true), "null"
	if c.exists.Set {
		shown = "true" // if false, no value is necessary
	}
	switch {
	case c.listed:
		return InvalidParameter("AttributeValueList can only be used with a ComparisonOperator for Attribute: %s", c.Name)
	case exists && !c.value.Set:
		return InvalidParameter("Value must be provided when Exists is %s for Attribute: %s", shown, c.Name)
	case !exists && c.value.Set:
		return InvalidParameter("Value cannot be used when Exists is false for Attribute: %s", c.Name)
	}
	return nil
}
