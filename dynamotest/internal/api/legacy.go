package api

import (
	"errors"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// Older are the parameters that expressions have replaced, as trees whose origins
// are the parameters.
type Older struct {
	expr.Bound
	Err *Error // of a parameter, reported if the constraints are met

	Given      []string // the names of the parameters, as messages list them
	Attributes []string // AttributesToGet

	filter, expected, keys []comparison
	updates                []expr.AttributeUpdate
	operator               Opt[string] // ConditionalOperator
	wrong                  error       // the first of a value
}

// A comparison is an entry of Expected, a filter or KeyConditions. Operator is ""
// if it is absent.
type comparison struct {
	expr.Comparison
	operator Opt[string]
	listed   bool            // it has an AttributeValueList
	exists   Opt[bool]       // of Expected, like value
	value    Opt[attr.Value] // the short form of one operand
}

// legacy reads a parameter that expressions have replaced. Each operation calls
// it for the parameters that it has.
func (e *Expressions) legacy(r *jsonx.Reader, member string) {
	if e.Older == nil {
		e.Older = new(Older)
	}

	o := e.Older
	o.Given = append(o.Given, member)
	switch member {
	case expr.AttributesToGet:
		o.Attributes = list(r, maxAttributesToGet, (*jsonx.Reader).Name)
	case expr.AttributeUpdates:
		o.updates = entries(r, o, o.attributeUpdate, "The update of an attribute cannot be null: ")
	case expr.QueryFilter, expr.ScanFilter:
		o.filter = entries(r, o, o.comparison, "The filter condition for an attribute cannot be null: ")
	case expr.Expected:
		o.expected = entries(r, o, o.comparison, "One or more parameter values were invalid: ExpectedAttributeValue must not be null for Attribute: ")
	case "ConditionalOperator":
		o.operator = name(r)
	case expr.KeyConditions:
		o.keys = entries(r, o, o.comparison, "The filter condition for an attribute cannot be null: ")
	}
}

// entries reads an object; entry reads each member by its name. A member must
// not be null.
func entries[T any](r *jsonx.Reader, o *Older, entry func(r *jsonx.Reader, attribute string) T, null string) []T {
	out := []T{}
	mapped(r, func(r *jsonx.Reader, attribute string, isNull bool) {
		if isNull {
			o.fail(errors.New(null + attribute))
		} else {
			out = append(out, entry(r, attribute))
		}
	})
	return out
}

// fail keeps the first error.
func (o *Older) fail(err error) {
	if o.wrong == nil {
		o.wrong = err
	}
}

func (o *Older) value(r *jsonx.Reader) attr.Value {
	v, err := attr.Decode(r)
	if err != nil {
		o.fail(err)
	}
	return v
}

func (o *Older) comparison(r *jsonx.Reader, attribute string) comparison {
	c := comparison{Comparison: expr.Comparison{Name: attribute}}
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "ComparisonOperator":
			c.operator = name(r)
			c.Operator = c.operator.Value
		case "AttributeValueList":
			c.Operands, c.listed = list(r, unbounded, o.value), true
		case "Exists":
			c.exists = boolean(r)
		case "Value":
			c.value = Some(o.value(r))
		default:
			r.Skip()
		}
	})

	return c
}

func (o *Older) attributeUpdate(r *jsonx.Reader, attribute string) expr.AttributeUpdate {
	u := expr.AttributeUpdate{Name: attribute, Action: "PUT"}
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "Action":
			u.Action = r.Name()
		case "Value":
			u.Value, u.Valued = o.value(r), true
		default:
			r.Skip()
		}
	})
	return u
}

// older checks the constraints of the parameters, which may be nil, and makes
// their trees.
func (c *checker) older(o *Older) {
	if o == nil {
		return
	}

	c.attributesToGet("attributesToGet", o)
	for _, u := range o.updates {
		c.enum("attributeUpdates."+u.Name+".member.action", Some(u.Action), expr.AttributeActions...)
	}

	c.comparisons("expected", o.expected, false)
	filter := o.filterName()
	c.comparisons(strings.ToLower(filter[:1])+filter[1:], o.filter, true)
	c.comparisons("keyConditions", o.keys, true)
	c.enum("conditionalOperator", o.operator, conditionalOperators...)
	c.translate(o)
}

// translate makes the trees of parameters whose constraints are met.
func (c *checker) translate(o *Older) {
	if c.ok() {
		o.translate()
	}
}

var conditionalOperators = []string{"OR", "AND"}

func (c *checker) comparisons(member string, comparisons []comparison, operator bool) {
	for _, x := range comparisons {
		at := member + "." + x.Name + ".member.comparisonOperator"
		if operator {
			c.require(at, x.operator.Set)
		}
		c.enum(at, x.operator, expr.ComparisonOperators...)
	}
}

func (c *checker) attributesToGet(member string, o *Older) {
	if o.Attributes != nil {
		shown := strings.Join(o.Attributes[:min(len(o.Attributes), maxAttributesToGet+1)], ", ")
		c.length(member, "["+shown+"]", len(o.Attributes), 1, maxAttributesToGet)
	}
}

const maxAttributesToGet = 255

// olderParameters are the parameters in the order of messages.
var olderParameters = []string{
	expr.AttributesToGet, expr.AttributeUpdates, expr.QueryFilter, expr.ScanFilter, expr.Expected, "ConditionalOperator", expr.KeyConditions,
}

// translate makes the trees of the parameters, or sets Err to what is wrong with them.
func (o *Older) translate() {
	// Messages list each name once, in an order of their own.
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

// checkOperator refuses a ConditionalOperator without two conditions to join.
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

// expect completes an entry of Expected. Without an operator, it says which value an
// attribute has, or, if Exists is false, that the attribute does not exist.
func (c *comparison) expect() error {
	if c.listed && c.value.Set {
		return InvalidParameter("Value and AttributeValueList cannot be used together for Attribute: %s", c.Name)
	}

	check := c.checkExistence
	if c.operator.Set {
		check = c.checkComparison
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
