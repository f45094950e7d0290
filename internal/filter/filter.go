// Package filter composes the filters that query the caller's own data in a record.
// It is apart from package payload because the SDK's builder would be in the go.sum
// of every service that imports package record.
package filter

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/payload"
	"github.com/homeops/ddbpatterns/record"
)

// Attribute is an attribute of the row that must have a value.
type Attribute struct {
	Name  string
	Value types.AttributeValue
}

// Filter is what the rows of a query must meet. All rows meet the zero Filter.
type Filter struct {
	expression *string
	names      map[string]string
	values     ddb.Item
}

// New composes a filter from attributes and comparisons. A row must meet
// all of them. A condition in other lets in other rows, too. The same input
// always makes the same expression. Refused input is bad input of field.
func New(pkg, field string, attributes []Attribute, data []record.Compare, other ...expression.ConditionBuilder) (Filter, error) {
	if len(data) > payload.MaxEntries {
		return Filter{}, event.BadInput(pkg, field, fmt.Sprintf("must have at most %d comparisons, has %d", payload.MaxEntries, len(data)))
	}
	if len(attributes)+len(data) == 0 {
		return Filter{}, nil
	}

	var names aliases
	var all expression.ConditionBuilder
	for _, a := range attributes {
		all = and(all, names.of(a.Name).Equal(expression.Value(a.Value)))
	}

	for i, c := range data {
		condition, err := condition(pkg, fmt.Sprintf("%s[%d]", field, i), c, &names)
		if err != nil {
			return Filter{}, err
		}
		all = and(all, condition)
	}

	for _, besides := range other {
		all = all.Or(besides)
	}

	built, err := expression.NewBuilder().WithFilter(all).Build()
	if err != nil {
		return Filter{}, fmt.Errorf("%s: composing a filter: %w", pkg, err)
	}

	return Filter{expression: built.Filter(), names: names.resolve(built.Names()), values: built.Values()}, nil
}

func and(all, condition expression.ConditionBuilder) expression.ConditionBuilder {
	if !all.IsSet() {
		return condition
	}
	return all.And(condition)
}

// operators are the comparisons with an entry, by Compare.Op.
var operators = map[string]func(expression.NameBuilder, expression.OperandBuilder) expression.ConditionBuilder{
	"":   expression.NameBuilder.Equal,
	"=":  expression.NameBuilder.Equal,
	"<":  expression.NameBuilder.LessThan,
	"<=": expression.NameBuilder.LessThanEqual,
	">":  expression.NameBuilder.GreaterThan,
	">=": expression.NameBuilder.GreaterThanEqual,
}

// condition checks the comparison and returns it as a condition of the SDK.
func condition(pkg, field string, c record.Compare, names *aliases) (none expression.ConditionBuilder, err error) {
	value, err := payload.Value(c.Value)
	_, flag := c.Value.(bool)
	compares := operators[c.Op]
	switch {
	case !payload.ValidName(c.Name):
		return none, event.BadInput(pkg, field+".Name", "must be "+payload.NameBound)
	case err != nil:
		return none, event.BadInput(pkg, field+".Value", err.Error())
	case flag && c.Op != "" && c.Op != "=":
		return none, event.BadInput(pkg, field+".Op", "must be = for a bool, which has no order")
	case compares == nil:
		return none, event.BadInput(pkg, field+".Op", fmt.Sprintf("must be one of =, <, <=, > and >=, is %q", c.Op))
	}

	entry := expression.Name(payload.Attr).AppendName(names.of(c.Name))
	return compares(entry, expression.Value(value)), nil
}

// aliases replace names while the expression is composed, because the builder
// reads brackets in a name as the index of a list, and dots as steps into a
// map.
type aliases struct{ names []string }

// stand is the beginning of each alias: name0, name1 and so on.
const stand = "name"

// of returns a new alias for the name.
func (a *aliases) of(name string) expression.NameBuilder {
	a.names = append(a.names, name)
	return expression.NameNoDotSplit(stand + strconv.Itoa(len(a.names)-1))
}

// resolve replaces the aliases with the names.
func (a *aliases) resolve(built map[string]string) map[string]string {
	for placeholder, name := range built {
		if n, ok := strings.CutPrefix(name, stand); ok {
			i, _ := strconv.Atoi(n)
			built[placeholder] = a.names[i]
		}
	}
	return built
}

// None reports whether every row meets the filter.
func (f Filter) None() bool { return f.expression == nil }

// Apply adds the filter to the query. The query gets copies of its maps.
func (f Filter) Apply(in *dynamodb.QueryInput) {
	if f.None() {
		return
	}
	in.FilterExpression = f.expression
	in.ExpressionAttributeNames = maps.Clone(in.ExpressionAttributeNames)
	in.ExpressionAttributeValues = maps.Clone(in.ExpressionAttributeValues)
	maps.Copy(in.ExpressionAttributeNames, f.names)
	maps.Copy(in.ExpressionAttributeValues, f.values)
}

// ID is different for different filters. A cursor belongs to a query with this
// ID. Without a filter it is "".
func (f Filter) ID() string {
	if f.None() {
		return ""
	}
	return fmt.Sprintf(" where %s %v %s", aws.ToString(f.expression), f.names, id(f.values))
}

// id writes the values in the order of their placeholders, which are numbered from
// :0. It writes their types, too: "1" is another value than 1.
func id(values ddb.Item) string {
	var b strings.Builder
	for i := range len(values) {
		placeholder := ":" + strconv.Itoa(i)
		fmt.Fprintf(&b, "%T %q;", values[placeholder], fmt.Sprint(payload.Read[json.Number](values[placeholder])))
	}
	return b.String()
}
