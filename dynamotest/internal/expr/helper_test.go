package expr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

// item decodes an item; the empty string is a missing item.
func item(t testing.TB, doc string) attr.Map {
	t.Helper()
	if doc == "" {
		return nil
	}
	r := jsonx.NewReader([]byte(doc))
	m, err := attr.DecodeMap(r)
	r.End()
	if r.Err() != nil || err != nil {
		t.Fatalf("decode %s: %v, %v", doc, r.Err(), err)
	}
	return m
}

// names converts "#a=x #b=y" to placeholders.
func names(list string) map[string]string {
	m := map[string]string{}
	for _, pair := range strings.Fields(list) {
		key, name, _ := strings.Cut(pair, "=")
		m[key] = name
	}
	return m
}

func params(t testing.TB, nameList, valueDoc string) *expr.Params {
	t.Helper()
	p, err := expr.NewParams(names(nameList), item(t, valueDoc))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func bindCondition(t testing.TB, src string, p *expr.Params) (*expr.Predicate, error) {
	t.Helper()
	c, err := expr.ParseCondition(expr.ConditionExpression, src)
	if err != nil {
		return nil, err
	}
	return c.Bind(p)
}

func bindUpdate(t testing.TB, src string, p *expr.Params) (*expr.Change, error) {
	t.Helper()
	u, err := expr.ParseUpdate(src)
	if err != nil {
		return nil, err
	}
	return u.Bind(p)
}

// wantError checks the type and the text of an error.
func wantError(t testing.TB, src string, err error, want string) {
	t.Helper()
	var bad *expr.Error
	if !errors.As(err, &bad) {
		t.Errorf("%s: error is %v, want %q", src, err, want)
	} else if bad.Error() != want {
		t.Errorf("%s: error is\n%q, want\n%q", src, bad, want)
	}
}
