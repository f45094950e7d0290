package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// For any item, every comparison has the same result as its expression.
func TestCompareMeansItsExpression(t *testing.T) {
	t.Parallel()
	meanings := map[string]string{
		"EQ": "a = :v", "NE": "a <> :v", "LT": "a < :v", "LE": "a <= :v", "GT": "a > :v", "GE": "a >= :v",
		"NULL": "attribute_not_exists(a)", "NOT_NULL": "attribute_exists(a)",
		"CONTAINS": "contains(a, :v)", "NOT_CONTAINS": "attribute_exists(a) AND NOT contains(a, :v)",
		"BEGINS_WITH": "begins_with(a, :v)", "IN": "a IN (:v)", "BETWEEN": "a BETWEEN :v AND :v",
	}
	values := []string{
		`{"S":"b"}`, `{"S":"abc"}`, `{"S":"bcd"}`, `{"N":"1"}`, `{"N":"2"}`, `{"B":"Yg=="}`, `{"B":"YmNk"}`, `{"BOOL":true}`, `{"NULL":true}`,
		`{"SS":["a","b"]}`, `{"NS":["1","2"]}`, `{"BS":["Yg=="]}`, `{"L":[{"S":"b"},{"N":"1"}]}`, `{"M":{"b":{"S":"b"}}}`,
	}
	stored := []attr.Map{nil, item(t, `{"other":{"S":"b"}}`)}
	for _, v := range values {
		stored = append(stored, item(t, `{"a":`+v+`}`))
	}
	if len(meanings) != len(expr.ComparisonOperators) {
		t.Fatalf("%d meanings for %d operators", len(meanings), len(expr.ComparisonOperators))
	}
	for _, operator := range expr.ComparisonOperators {
		accepted := 0
		for _, v := range values {
			operand, _ := item(t, `{":v":`+v+`}`).Get(":v")
			c := expr.Comparison{Name: "a", Operator: operator}
			doc := ""
			if n := strings.Count(meanings[operator], ":v"); n > 0 {
				doc = `{":v":` + v + `}`
				for range n {
					c.Operands = append(c.Operands, operand)
				}
			}
			got, err := expr.Compare(expr.Expected, []expr.Comparison{c}, false)
			if err != nil {
				continue // see TestCompareRefuses
			}
			accepted++
			want, err := bindCondition(t, meanings[operator], params(t, "", doc))
			if err != nil {
				t.Fatal(operator, v, err)
			}
			for _, it := range stored {
				if got.Match(it) != want.Match(it) {
					t.Errorf("%s %s of %s is %t", operator, v, it.AppendJSON(nil), got.Match(it))
				}
			}
		}
		if accepted == 0 {
			t.Errorf("%s takes no operand", operator)
		}
	}
}

func TestCompareJoins(t *testing.T) {
	t.Parallel()
	both := []expr.Comparison{
		{Name: "a", Operator: "EQ", Operands: []attr.Value{attr.String("x")}},
		{Name: "b.c", Operator: "NOT_NULL"}, // a name, not a path
	}
	for _, test := range []struct {
		doc      string
		all, any bool
	}{
		{`{}`, false, false},
		{`{"a":{"S":"x"}}`, false, true},
		{`{"b":{"M":{"c":{"S":"y"}}}}`, false, false},
		{`{"b.c":{"S":"y"}}`, false, true},
		{`{"a":{"S":"x"},"b.c":{"S":"y"}}`, true, true},
	} {
		for anyOf, want := range map[bool]bool{false: test.all, true: test.any} {
			p, err := expr.Compare(expr.Expected, both, anyOf)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Match(item(t, test.doc)); got != want {
				t.Errorf("%s with any=%t: %t", test.doc, anyOf, got)
			}
			if diff := cmp.Diff([]string{"a", "b.c"}, p.Heads()); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	s, n, set := attr.String("a"), attr.Int(1), item(t, `{"v":{"SS":["a"]}}`)[0].Value
	for _, test := range []struct {
		c    expr.Comparison
		want string
	}{
		{expr.Comparison{"", "NULL", nil}, "Empty attribute name"},
		{expr.Comparison{"a", "EQ", nil}, "Invalid number of argument(s) for the EQ ComparisonOperator"},
		{expr.Comparison{"a", "IN", nil}, "Invalid number of argument(s) for the IN ComparisonOperator"},
		{expr.Comparison{"a", "NULL", []attr.Value{s}}, "Invalid number of argument(s) for the NULL ComparisonOperator"},
		{expr.Comparison{"a", "BETWEEN", []attr.Value{s}}, "Invalid number of argument(s) for the BETWEEN ComparisonOperator"},
		{expr.Comparison{"a", "BETWEEN", []attr.Value{s, n}}, "must be of same type"},
		{expr.Comparison{"a", "IN", []attr.Value{s, n}}, "must be of same type"},
		{expr.Comparison{"a", "BETWEEN", []attr.Value{attr.Int(2), n}}, "lower bound is greater than the upper bound"},
		{expr.Comparison{"a", "BEGINS_WITH", []attr.Value{n}}, "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"},
		{expr.Comparison{"a", "LT", []attr.Value{set}}, "ComparisonOperator LT is not valid for SS AttributeValue type"},
		{expr.Comparison{"a", "CONTAINS", []attr.Value{set}}, "ComparisonOperator CONTAINS is not valid for SS AttributeValue type"},
		{expr.Comparison{"a", "IN", []attr.Value{attr.Bool(true)}}, "ComparisonOperator IN is not valid for BOOL AttributeValue type"},
	} {
		_, err := expr.Compare(expr.Expected, []expr.Comparison{test.c}, false)
		var refused *expr.Error
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, test.want) {
			t.Errorf("%v: %v, want … %s …", test.c, err, test.want)
		}
	}
}

func TestCompareKeys(t *testing.T) {
	t.Parallel()
	one := []attr.Value{attr.Int(1)}
	hash := expr.Comparison{"h", "EQ", one}
	for _, test := range []struct {
		comparisons []expr.Comparison
		want        string // the error's text, or the condition on the sort key
	}{
		{nil, "Conditions can be of length 1 or 2 only"},
		{[]expr.Comparison{hash, hash, hash}, "The number of query conditions (3) exceeds the number of key attributes"},
		{[]expr.Comparison{hash}, "<nil>"},
		{[]expr.Comparison{{"r", "LT", one}, hash}, "1"},
		{[]expr.Comparison{hash, {"r", "BETWEEN", []attr.Value{attr.Int(1), attr.Int(2)}}}, "5"},
		{[]expr.Comparison{{"h", "LT", one}}, "Query key condition not supported"},
		{[]expr.Comparison{{"r", "EQ", one}}, "Query condition missed key schema element: h"},
		{[]expr.Comparison{hash, {"x", "EQ", one}}, "Query condition missed key schema element: r"},
		{[]expr.Comparison{hash, hash}, "Query condition missed key schema element: r"},
		{[]expr.Comparison{hash, {"r", "IN", one}}, "Attempted conditional constraint is not an indexable operation"},
		{[]expr.Comparison{hash, {"r", "NULL", nil}}, "Attempted conditional constraint is not an indexable operation"},
		{[]expr.Comparison{hash, {"r", "EQ", nil}}, "Invalid number of argument(s) for the EQ ComparisonOperator"},
	} {
		got := ""
		terms, err := expr.CompareKeys(test.comparisons)
		if err == nil {
			var q *expr.KeyQuery
			if q, err = terms.Resolve([]string{"h"}, []string{"r"}); err == nil {
				got = "<nil>"
				if q.Range != nil {
					got = fmt.Sprint(q.Range.Op)
				}
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%v: %s, want %s", test.comparisons, got, test.want)
		}
	}
}

func TestSelectAttributes(t *testing.T) {
	t.Parallel()
	s, err := expr.SelectAttributes([]string{"z", "m.k", "a", "none"})
	if err != nil {
		t.Fatal(err)
	}
	it := item(t, `{"a":{"N":"1"},"m":{"M":{"k":{"S":"v"}}},"m.k":{"N":"2"},"q":{"N":"3"},"z":{"N":"4"}}`)
	if got, want := string(s.Apply(it).AppendJSON(nil)), `{"a":{"N":"1"},"m.k":{"N":"2"},"z":{"N":"4"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"a", "m.k", "none", "z"}, s.Heads()); diff != "" {
		t.Error(diff)
	}
	for _, names := range [][]string{{""}, {"a", "b", "a"}} {
		if _, err := expr.SelectAttributes(names); err == nil {
			t.Errorf("%q are accepted", names)
		}
	}
}

func TestUpdateAttributes(t *testing.T) {
	t.Parallel()
	const before = `{"l":{"L":[{"S":"x"}]},"n":{"N":"5"},"s":{"S":"abc"},"ss":{"SS":["a","b"]}}`
	for _, test := range []struct{ name, action, value, before, want string }{
		{"n", "PUT", `{"S":"z"}`, before, `{"l":{"L":[{"S":"x"}]},"n":{"S":"z"},"s":{"S":"abc"},"ss":{"SS":["a","b"]}}`},
		{"x", "PUT", `{"S":"z"}`, "", `{"x":{"S":"z"}}`},
		{"n", "ADD", `{"N":"-2"}`, before, `{"l":{"L":[{"S":"x"}]},"n":{"N":"3"},"s":{"S":"abc"},"ss":{"SS":["a","b"]}}`},
		{"x", "ADD", `{"N":"1"}`, "", `{"x":{"N":"1"}}`},
		{"ss", "ADD", `{"SS":["c"]}`, before, `{"l":{"L":[{"S":"x"}]},"n":{"N":"5"},"s":{"S":"abc"},"ss":{"SS":["a","b","c"]}}`},
		{"l", "ADD", `{"L":[{"N":"1"}]}`, before, `{"l":{"L":[{"S":"x"},{"N":"1"}]},"n":{"N":"5"},"s":{"S":"abc"},"ss":{"SS":["a","b"]}}`},
		{"x", "ADD", `{"L":[{"N":"1"}]}`, "", `{"x":{"L":[{"N":"1"}]}}`},
		{"ss", "DELETE", `{"SS":["a","q"]}`, before, `{"l":{"L":[{"S":"x"}]},"n":{"N":"5"},"s":{"S":"abc"},"ss":{"SS":["b"]}}`},
		{"ss", "DELETE", `{"SS":["a","b"]}`, before, `{"l":{"L":[{"S":"x"}]},"n":{"N":"5"},"s":{"S":"abc"}}`},
		{"ss", "DELETE", ``, before, `{"l":{"L":[{"S":"x"}]},"n":{"N":"5"},"s":{"S":"abc"}}`},
		{"x", "DELETE", ``, "", `{}`},
		{"s", "ADD", `{"N":"1"}`, before, "Type mismatch for attribute to update"},
		{"ss", "ADD", `{"L":[]}`, before, "Type mismatch for attribute to update"},
		{"n", "DELETE", `{"NS":["5"]}`, before, "Type mismatch for attribute to update"},
		{"s", "ADD", `{"S":"x"}`, before, "One or more parameter values were invalid: ADD action is not supported for the type STRING"},
		{"l", "DELETE", `{"L":[]}`, before, "One or more parameter values were invalid: DELETE action with value is not supported for the type LIST"},
		{"n", "ADD", ``, before, "One or more parameter values were invalid: Only DELETE action is allowed when no attribute value is specified"},
		{"", "DELETE", ``, before, "Empty attribute name"},
	} {
		u := expr.AttributeUpdate{Name: test.name, Action: test.action, Valued: test.value != ""}
		if u.Valued {
			u.Value = item(t, `{"v":`+test.value+`}`)[0].Value
		}
		got := ""
		c, err := expr.UpdateAttributes([]expr.AttributeUpdate{u})
		if err == nil {
			var after attr.Map
			if after, err = c.Apply(item(t, test.before)); err == nil {
				got = string(after.AppendJSON(nil))
			}
		}
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s %s %s:\ngot  %s\nwant %s", test.action, test.name, test.value, got, test.want)
		}
	}
}

// Actions on several attributes take effect together. If two are on the same
// attribute, the later one counts.
func TestUpdateAttributesTogether(t *testing.T) {
	t.Parallel()
	c, err := expr.UpdateAttributes([]expr.AttributeUpdate{
		{Name: "b", Action: "PUT", Value: attr.Int(1), Valued: true},
		{Name: "c", Action: "DELETE"},
		{Name: "a", Action: "ADD", Value: attr.Int(2), Valued: true},
		{Name: "b", Action: "PUT", Value: attr.Int(3), Valued: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := item(t, `{"a":{"N":"1"},"c":{"N":"1"},"d":{"N":"1"}}`)
	after, err := c.Apply(before)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		got  attr.Map
		want string
	}{
		{"after", after, `{"a":{"N":"3"},"b":{"N":"3"},"d":{"N":"1"}}`},
		{"old", c.Old(before), `{"a":{"N":"1"},"c":{"N":"1"}}`},
		{"new", c.New(after), `{"a":{"N":"3"},"b":{"N":"3"}}`},
	} {
		if got := string(test.got.AppendJSON(nil)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, c.Heads()); diff != "" {
		t.Error(diff)
	}
}
