package api

import (
	"errors"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// Legacy are the parameters that expressions have replaced.
type Legacy struct {
	Attributes Opt[[]string]          // AttributesToGet
	Updates    Opt[[]AttributeUpdate] // AttributeUpdates
	Filter     Opt[[]Comparison]      // QueryFilter or ScanFilter
	Expected   Opt[[]Comparison]
	Operator   Opt[string]       // ConditionalOperator
	Keys       Opt[[]Comparison] // KeyConditions

	// Err is the error of a value, reported if the constraints are met.
	Err error
}

// A Comparison is an entry of Expected, a filter or KeyConditions.
type Comparison struct {
	Attribute string
	Operator  Opt[string]
	Operands  Opt[[]attr.Value]
	Exists    Opt[bool]       // of Expected, like Value
	Value     Opt[attr.Value] // the short form of one operand
}

// An AttributeUpdate is an entry of AttributeUpdates.
type AttributeUpdate struct {
	Attribute string
	Action    Opt[string]
	Value     Opt[attr.Value]
}

// legacy reads a parameter that expressions have replaced. Each operation calls
// it for the parameters that it has.
func (e *Expressions) legacy(r *jsonx.Reader, member string) {
	if e.Legacy == nil {
		e.Legacy = new(Legacy)
	}
	l := e.Legacy
	switch member {
	case "AttributesToGet":
		l.Attributes = Some(list(r, maxAttributesToGet, (*jsonx.Reader).Name))
	case "AttributeUpdates":
		l.Updates = Some(entries(r, l, l.attributeUpdate, "The update of an attribute cannot be null: "))
	case "QueryFilter", "ScanFilter":
		l.Filter = Some(entries(r, l, l.comparison, "The filter condition for an attribute cannot be null: "))
	case "Expected":
		l.Expected = Some(entries(r, l, l.comparison, "One or more parameter values were invalid: ExpectedAttributeValue must not be null for Attribute: "))
	case "ConditionalOperator":
		l.Operator = name(r)
	case "KeyConditions":
		l.Keys = Some(entries(r, l, l.comparison, "The filter condition for an attribute cannot be null: "))
	}
}

// entries reads an object; entry reads each member by its name. A member must
// not be null.
func entries[T any](r *jsonx.Reader, l *Legacy, entry func(r *jsonx.Reader, attribute string) T, null string) []T {
	out := []T{}
	mapped(r, func(r *jsonx.Reader, attribute string, isNull bool) {
		if isNull {
			l.fail(errors.New(null + attribute))
		} else {
			out = append(out, entry(r, attribute))
		}
	})
	return out
}

// fail keeps the first error.
func (l *Legacy) fail(err error) {
	if l.Err == nil {
		l.Err = err
	}
}

func (l *Legacy) value(r *jsonx.Reader) attr.Value {
	v, err := attr.Decode(r)
	if err != nil {
		l.fail(err)
	}
	return v
}

func (l *Legacy) comparison(r *jsonx.Reader, attribute string) Comparison {
	c := Comparison{Attribute: attribute}
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "ComparisonOperator":
			c.Operator = name(r)
		case "AttributeValueList":
			c.Operands = Some(list(r, unbounded, l.value))
		case "Exists":
			c.Exists = boolean(r)
		case "Value":
			c.Value = Some(l.value(r))
		default:
			r.Skip()
		}
	})
	return c
}

func (l *Legacy) attributeUpdate(r *jsonx.Reader, attribute string) AttributeUpdate {
	u := AttributeUpdate{Attribute: attribute}
	object(r, func(r *jsonx.Reader, member string) {
		switch member {
		case "Action":
			u.Action = name(r)
		case "Value":
			u.Value = Some(l.value(r))
		default:
			r.Skip()
		}
	})
	return u
}

// legacy checks the constraints of legacy parameters. filter is the name of the
// operation's filter.
func (c *checker) legacy(l *Legacy, filter string) {
	if l == nil {
		return
	}
	c.attributesToGet("attributesToGet", l)
	for _, u := range l.Updates.Value {
		c.enum("attributeUpdates."+u.Attribute+".member.action", u.Action, expr.AttributeActions...)
	}
	c.comparisons("expected", l.Expected, false)
	c.comparisons(filter, l.Filter, true)
	c.comparisons("keyConditions", l.Keys, true)
	c.enum("conditionalOperator", l.Operator, conditionalOperators...)
}

var conditionalOperators = []string{"OR", "AND"}

func (c *checker) comparisons(member string, comparisons Opt[[]Comparison], operator bool) {
	for _, x := range comparisons.Value {
		at := member + "." + x.Attribute + ".member.comparisonOperator"
		if operator {
			c.require(at, x.Operator.Set)
		}
		c.enum(at, x.Operator, expr.ComparisonOperators...)
	}
}

func (c *checker) attributesToGet(member string, l *Legacy) {
	if l != nil && l.Attributes.Set {
		names := l.Attributes.Value
		shown := strings.Join(names[:min(len(names), maxAttributesToGet+1)], ", ")
		c.length(member, "["+shown+"]", len(names), 1, maxAttributesToGet)
	}
}

const maxAttributesToGet = 255
