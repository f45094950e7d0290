package expr_test

import (
	"fmt"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// A conditional update, from its sources to the resulting item.
func Example() {
	condition, err := expr.ParseCondition(expr.ConditionExpression, "attribute_not_exists(#count) OR #count < :cap")
	if err != nil {
		fmt.Println(err)
		return
	}
	update, err := expr.ParseUpdate("ADD #count :one SET seen = :now")
	if err != nil {
		fmt.Println(err)
		return
	}

	params, err := expr.NewParams(
		map[string]string{"#count": "count"},
		attr.NewMap(
			attr.Field{Name: ":cap", Value: attr.Int(3)},
			attr.Field{Name: ":one", Value: attr.Int(1)},
			attr.Field{Name: ":now", Value: attr.String("2026-03-29")},
		),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	where, err := condition.Bind(params)
	if err != nil {
		fmt.Println(err)
		return
	}
	change, err := update.Bind(params)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("unused:", params.Unused())

	item := attr.NewMap(attr.Field{Name: "count", Value: attr.Int(2)})
	for where.Match(item) {
		if item, err = change.Apply(item); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s\n", item.AppendJSON(nil))
	}
	// Output:
	// unused: <nil>
	// {"count":{"N":"3"},"seen":{"S":"2026-03-29"}}
}
