package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

const keyValues = `{":p":{"S":"p"},":s":{"S":"s"},":n":{"N":"1"},":m":{"N":"2"},":b":{"BOOL":true}}`

func bindKeys(t testing.TB, src string) (expr.KeyTerms, error) {
	t.Helper()
	k, err := expr.ParseKeyCondition(src)
	if err != nil {
		return nil, err
	}
	return k.Bind(params(t, "#pk=pk #sk=sk", keyValues))
}

// show writes a query as "hash | equal | range".
func show(q *expr.KeyQuery) string {
	list := func(vs []attr.Value) string {
		var out []string
		for _, v := range vs {
			out = append(out, v.Str())
		}
		return strings.Join(out, ",")
	}
	s := list(q.Hash) + " | " + list(q.Equal) + " |"
	if q.Range != nil {
		s += fmt.Sprintf(" %s %d %s", q.Range.Name, q.Range.Op, q.Range.Value.Str())
		if q.Range.High.Valid() {
			s += " " + q.Range.High.Str()
		}
	}
	return s
}

func TestKeyConditions(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"pk = :p":                                        "p |  |",
		":p = pk":                                        "p |  |",
		"(pk = :p)":                                      "p |  |",
		"pk = :p AND sk = :s":                            "p | s |",
		"sk = :s AND pk = :p":                            "p | s |",
		"(#pk = :p) AND (#sk = :s)":                      "p | s |",
		"(pk = :p AND (sk > :s))":                        "p |  | sk 3 s",
		"pk = :p AND sk < :n":                            "p |  | sk 1 1",
		"pk = :p AND sk <= :n":                           "p |  | sk 2 1",
		"pk = :p AND sk >= :n":                           "p |  | sk 4 1",
		"pk = :p AND :n < sk":                            "p |  | sk 3 1",
		"pk = :p AND :n <= sk":                           "p |  | sk 4 1",
		"pk = :p AND :n > sk":                            "p |  | sk 1 1",
		"pk = :p AND :n >= sk":                           "p |  | sk 2 1",
		"pk = :p AND sk BETWEEN :n AND :m":               "p |  | sk 5 1 2",
		"pk = :p AND begins_with(sk, :s)":                "p |  | sk 6 s",
		"pk = :p AND sk = :s AND tk = :n":                "p | s,1 |",
		"pk = :p AND tk >= :n AND sk = :s":               "p | s | tk 4 1",
		"pk = :p AND (sk = :s AND tk BETWEEN :n AND :m)": "p | s | tk 5 1 2",
	}
	for src, want := range tests {
		terms, err := bindKeys(t, src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		q, err := terms.Resolve([]string{"pk"}, []string{"sk", "tk"})
		if err != nil {
			t.Errorf("%s: %v", src, err)
		} else if got := show(q); got != want {
			t.Errorf("%s is %s, want %s", src, got, want)
		}
	}
	terms, err := bindKeys(t, "pk = :p AND qk = :n AND sk > :s")
	if err != nil {
		t.Fatal(err)
	}
	if q, err := terms.Resolve([]string{"pk", "qk"}, []string{"sk"}); err != nil || show(q) != "p,1 |  | sk 3 s" {
		t.Errorf("two partition key attributes: %v", err)
	}
}

func TestKeyConditionErrors(t *testing.T) {
	t.Parallel()
	const invalid = "Invalid KeyConditionExpression: "
	tests := map[string]string{
		"":                                      invalid + "The expression can not be empty;",
		"pk":                                    invalid + `Syntax error; token: "<EOF>", near: "pk"`,
		"((pk = :p))":                           invalid + "The expression has redundant parentheses;",
		"pk = :p OR sk = :s":                    "Invalid operator used in KeyConditionExpression: OR",
		"NOT pk = :p":                           "Invalid operator used in KeyConditionExpression: NOT",
		"pk = :p AND sk IN (:s)":                "Invalid operator used in KeyConditionExpression: IN",
		"pk <> :p":                              "Invalid operator used in KeyConditionExpression: <>",
		"pk = :p AND attribute_exists(sk)":      "Invalid operator used in KeyConditionExpression: attribute_exists",
		"pk = :p AND contains(sk, :s)":          "Invalid operator used in KeyConditionExpression: contains",
		"pk = :p AND size(sk) > :n":             "Invalid KeyConditionExpression: KeyConditionExpressions cannot contain nested operations",
		"pk = size(sk)":                         "Invalid KeyConditionExpression: KeyConditionExpressions cannot contain nested operations",
		"pk = :p AND sk.x = :s":                 "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes",
		"pk = :p AND begins_with(sk[0], :s)":    "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes",
		"pk = sk":                               "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
		"pk = :p AND sk BETWEEN :n AND tk":      "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
		":p = :s":                               "Invalid condition in KeyConditionExpression: No key attribute specified",
		"pk = :p AND begins_with(:s, sk)":       "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand",
		"pk = :p AND :n BETWEEN sk AND :m":      "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand",
		"pk = :p AND :n BETWEEN :n AND :m":      "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand",
		"pk = :p AND sk > :n AND sk < :m":       "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
		"pk = :p AND #pk = :p":                  "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
		"pk = pk":                               invalid + "The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [pk]",
		"begins_with(:n, pk) OR sk = :s":        invalid + "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
		"pk = :p OR sk = :x":                    invalid + "An expression attribute value used in expression is not defined; attribute value: :x",
		"pk = :x":                               invalid + "An expression attribute value used in expression is not defined; attribute value: :x",
		"pk = :p AND begins_with(sk, :n)":       invalid + "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
		"pk = :p AND sk BETWEEN :m AND :n":      invalid + "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}",
		"sk = :s":                               "Query condition missed key schema element: pk",
		"extra = :s":                            "Query condition missed key schema element: pk",
		"pk > :p":                               "Query key condition not supported",
		"begins_with(pk, :p)":                   "Query key condition not supported",
		"pk = :p AND extra = :s":                "Query condition missed key schema element: sk",
		"pk = :p AND sk = :s AND extra = :s":    "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
		"pk = :p AND sk > :s AND extra > :s":    "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
		"pk = :p AND extra = :s AND some2 = :s": "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
	}
	for src, want := range tests {
		terms, err := bindKeys(t, src)
		if err == nil {
			_, err = terms.Resolve([]string{"pk"}, []string{"sk"})
		}
		wantError(t, src, err, want)
	}
}

// With several sort key attributes, every attribute before one with a condition
// needs a condition, too. Only the last condition may be other than an
// equality.
func TestKeyConditionGaps(t *testing.T) {
	t.Parallel()
	ranges := func(names, last string) string {
		return "RANGE key attributes " + names + " must have equality conditions specified in the query because a condition is present on key attribute " + last
	}
	tests := map[string]string{
		"pk = :p AND tk = :s":                          ranges("sk", "tk"),
		"pk = :p AND sk > :s AND tk = :s":              ranges("sk", "tk"),
		"pk = :p AND begins_with(sk, :s) AND uk > :s":  ranges("sk, tk", "uk"),
		"pk = :p AND sk = :s AND tk > :s AND uk > :s":  ranges("tk", "uk"),
		"pk = :p AND tk BETWEEN :n AND :m AND uk = :s": ranges("sk, tk", "uk"),
		"sk = :s":                            "HASH key attributes pk must have equality conditions specified in the query",
		"pk > :p AND sk = :s":                "HASH key attributes pk must have equality conditions specified in the query",
		"pk = :p AND sk = :s AND extra = :s": "Query key condition not supported",
		"pk = :p AND extra = :s":             "Query key condition not supported",
	}
	for src, want := range tests {
		terms, err := bindKeys(t, src)
		if err == nil {
			_, err = terms.Resolve([]string{"pk"}, []string{"sk", "tk", "uk"})
		}
		wantError(t, src, err, want)
	}
	for src, want := range map[string]string{
		"pk = :p":                          "HASH key attributes qk, rk must have equality conditions specified in the query",
		"pk = :p AND qk > :n AND rk = :n":  "HASH key attributes qk must have equality conditions specified in the query",
		"qk BETWEEN :n AND :m AND rk = :n": "HASH key attributes pk, qk must have equality conditions specified in the query",
	} {
		terms, err := bindKeys(t, src)
		if err == nil {
			_, err = terms.Resolve([]string{"pk", "qk", "rk"}, nil)
		}
		wantError(t, src, err, want)
	}
	terms, err := bindKeys(t, "pk = :p AND sk = :s")
	if err != nil {
		t.Fatal(err)
	}
	_, err = terms.Resolve([]string{"pk"}, nil)
	wantError(t, "no sort key", err, "The number of query conditions (2) exceeds the number of key attributes defined in the schema (1)")
}

func TestKeyTermMatch(t *testing.T) {
	t.Parallel()
	texts := []string{"", "r", "s", "sa", "s\xff", "t"}
	for src, want := range map[string]string{
		"sk = :s": "s", "sk < :s": ",r", "sk <= :s": ",r,s", "sk > :s": "sa,s\xff,t", "sk >= :s": "s,sa,s\xff,t",
		"sk BETWEEN :p AND :s": "r,s", "begins_with(sk, :s)": "s,sa,s\xff", "sk < :n": "", "sk = :n": "",
	} {
		terms, err := bindKeys(t, src)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, text := range texts {
			if terms[0].Match(attr.String(text)) {
				got = append(got, text)
			}
		}
		if joined := strings.Join(got, ","); joined != want {
			t.Errorf("%s matches %q, want %q", src, joined, want)
		}
	}
}
