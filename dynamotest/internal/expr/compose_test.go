package expr_test

import (
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

func at(name string) expr.Term { return expr.Attribute(expr.NewPath(name)) }

func num(n int64) expr.Term { return expr.Literal(attr.Int(n)) }

// A composed condition has the same meaning as the parsed one.
func TestComposedConditions(t *testing.T) {
	t.Parallel()
	it := item(t, sample)
	for src, term := range map[string]expr.Term{
		"n = :five":                             expr.Apply("=", at("n"), num(5)),
		"n <> :five":                            expr.Apply("<>", at("n"), num(5)),
		"NOT n > :five":                         expr.Apply("NOT", expr.Apply(">", at("n"), num(5))),
		"n BETWEEN :one AND :five":              expr.Apply("BETWEEN", at("n"), num(1), num(5)),
		"n IN (:one, :five)":                    expr.Apply("IN", at("n"), num(1), num(5)),
		"attribute_exists(gone)":                expr.Apply("attribute_exists", at("gone")),
		"size(s) = :five":                       expr.Apply("=", expr.Apply("size", at("s")), num(5)),
		"n = :one OR n = :five AND n <= :five":  expr.Apply("OR", expr.Apply("=", at("n"), num(1)), expr.Apply("AND", expr.Apply("=", at("n"), num(5)), expr.Apply("<=", at("n"), num(5)))),
		"attribute_not_exists(m.gone2)":         expr.Apply("attribute_not_exists", expr.Attribute(expr.NewPath("m").Field("gone2"))),
		"attribute_exists(l[0]) AND n >= :five": expr.Apply("AND", expr.Apply("attribute_exists", expr.Attribute(expr.NewPath("l").Index(0))), expr.Apply(">=", at("n"), num(5))),
	} {
		want, err := bindCondition(t, src, params(t, "", `{":one":{"N":"1"},":five":{"N":"5"}}`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := term.Predicate()
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		for _, it := range []attr.Map{it, nil} {
			if got.Match(it) != want.Match(it) {
				t.Errorf("%s is %v of %s, composed it is %v", src, want.Match(it), it.AppendJSON(nil), got.Match(it))
			}
		}
	}
}

func TestComposedConditionErrors(t *testing.T) {
	t.Parallel()
	yes := expr.Apply("=", at("a"), num(1))
	many := make([]expr.Term, 101)
	for i := range many {
		many[i] = num(int64(i))
	}
	const misused = "The function is not allowed to be used this way in an expression; function: "
	for name, tt := range map[string]struct {
		term expr.Term
		want string
	}{
		"an attribute":          {at("a"), misused},
		"a sum":                 {expr.Apply("=", expr.Apply("+", at("a"), num(1)), num(2)), misused + "+"},
		"a size alone":          {expr.Apply("AND", expr.Apply("size", at("a")), yes), misused + "size"},
		"a condition inside":    {expr.Apply("contains", at("a"), yes), misused + "="},
		"a condition in order":  {expr.Apply("<", yes, num(1)), "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
		"a sum in a condition":  {expr.Apply("=", yes, expr.Apply("=", at("b"), expr.Apply("+", at("a"), num(1)))), misused + "+"},
		"a size of a condition": {expr.Apply("=", expr.Apply("size", yes), num(1)), misused + "size"},
		"an unknown function":   {expr.Apply("f", at("a")), "Invalid function name; function: f"},
		"too few operands":      {expr.Apply("contains", at("a")), "Incorrect number of operands for operator or function; operator or function: contains, number of operands: 1"},
		"a wrong operand":       {expr.Apply("begins_with", at("a"), num(1)), "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"},
		"the same operand":      {expr.Apply("=", at("a"), at("a")), "The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]"},
		"too many candidates":   {expr.Apply("IN", append([]expr.Term{at("a")}, many...)...), "The IN operator is provided with too many operands; number of operands: 101"},
		"too many operators":    {expr.Apply("OR", repeat(yes, 300)...), "The expression contains too many operators; number of operators: 301"},
	} {
		_, err := tt.term.Predicate()
		wantError(t, name, err, tt.want)
	}
}

// A condition that is compared is a Boolean.
func TestComparedConditions(t *testing.T) {
	t.Parallel()
	it := item(t, `{"n":{"N":"5"},"yes":{"BOOL":true}}`)
	is := func(b bool) expr.Term { return expr.Literal(attr.Bool(b)) }
	exists, absent := expr.Apply("attribute_exists", at("n")), expr.Apply("attribute_exists", at("gone"))
	for name, tt := range map[string]struct {
		term expr.Term
		want bool
	}{
		"equal to true":       {expr.Apply("=", exists, is(true)), true},
		"true is equal to it": {expr.Apply("=", is(true), exists), true},
		"equal to false":      {expr.Apply("=", exists, is(false)), false},
		"absent and false":    {expr.Apply("=", absent, is(false)), true},
		"not false":           {expr.Apply("<>", exists, is(false)), true},
		"one of a list":       {expr.Apply("IN", absent, is(true), is(false)), true},
		"not one of a list":   {expr.Apply("IN", absent, is(true)), false},
		"two conditions":      {expr.Apply("=", exists, expr.Apply("=", at("n"), num(5))), true},
		"joined conditions":   {expr.Apply("=", expr.Apply("AND", exists, absent), is(false)), true},
		"an attribute":        {expr.Apply("=", at("yes"), exists), true},
		"a number":            {expr.Apply("=", at("n"), exists), false},
		"compared with 1":     {expr.Apply("=", exists, num(1)), false},
		"negated":             {expr.Apply("NOT", expr.Apply("=", exists, is(true))), false},
	} {
		got, err := tt.term.Predicate()
		if err != nil || got.Match(it) != tt.want {
			t.Errorf("%s: %v, want a condition that is %v", name, err, tt.want)
		}
	}
}

func repeat(t expr.Term, n int) []expr.Term {
	out := make([]expr.Term, n)
	for i := range out {
		out[i] = t
	}
	return out
}

func TestComposedUpdates(t *testing.T) {
	t.Parallel()
	set, _ := attr.StringSet("b")
	before := item(t, `{"l":{"L":[{"N":"1"}]},"n":{"N":"5"},"s":{"SS":["a","b"]},"z":{"N":"0"}}`)
	c, err := expr.NewChange(
		expr.SetTo(expr.NewPath("n"), expr.Apply("+", at("n"), num(1))),
		expr.SetTo(expr.NewPath("l"), expr.Apply("list_append", at("l"), expr.Literal(attr.List(attr.Int(2))))),
		expr.DeleteFrom(expr.NewPath("s"), set),
		expr.AddTo(expr.NewPath("t"), set),
		expr.RemoveAt(expr.NewPath("z")),
	)
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Apply(before)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(after.AppendJSON(nil)), `{"l":{"L":[{"N":"1"},{"N":"2"}]},"n":{"N":"6"},"s":{"SS":["a"]},"t":{"SS":["b"]}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for want, actions := range map[string][]expr.Action{
		"Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]": {expr.RemoveAt(expr.NewPath("a")), expr.RemoveAt(expr.NewPath("a"))},
		"The function is not allowed in an update expression; function: =":                                                    {expr.SetTo(expr.NewPath("a"), expr.Apply("=", at("b"), num(1)))},
		"Incorrect operand type for operator or function; operator or function: +, operand type: S":                           {expr.SetTo(expr.NewPath("a"), expr.Apply("+", at("b"), expr.Literal(attr.String("x"))))},
	} {
		_, err := expr.NewChange(actions...)
		wantError(t, want, err, want)
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	m := expr.NewPath("m")
	s, err := expr.NewColumns(m.Field("k").Field("x"), m.Field("l").Index(1).Index(0), expr.NewPath("gone"), expr.NewPath("n"))
	if err != nil {
		t.Fatal(err)
	}
	it := item(t, `{"m":{"M":{"k":{"M":{"x":{"S":"deep"}}},"l":{"L":[{"N":"1"},{"L":[{"N":"2"}]}]}}},"n":{"N":"3"},"o":{"N":"4"}}`)
	want := it.Pick("n").With("x", attr.String("deep")).With("l[1][0]", attr.Int(2))
	if got := s.Apply(it); !got.Equal(want) {
		t.Errorf("got  %s\nwant %s", got.AppendJSON(nil), want.AppendJSON(nil))
	}
	if got := strings.Join(s.Heads(), " "); got != "gone m n" {
		t.Errorf("heads are %s", got)
	}
	if got := strings.Join(s.Nested(), " "); got != "m" {
		t.Errorf("nested are %s", got)
	}
	if _, err := expr.NewColumns(m, m.Field("k")); err == nil {
		t.Error("an attribute and a part of it are two columns")
	}
}
