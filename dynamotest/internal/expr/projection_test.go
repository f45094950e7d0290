package expr_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

func bindProjection(t testing.TB, src string, p *expr.Params) (*expr.Selection, error) {
	t.Helper()
	proj, err := expr.ParseProjection(src)
	if err != nil {
		return nil, err
	}
	return proj.Bind(p)
}

func TestProjections(t *testing.T) {
	t.Parallel()
	const doc = `{"a":{"N":"1"},"b":{"S":"x"},"l":{"L":[{"N":"0"},{"M":{"x":{"N":"1"},"y":{"N":"2"}}},{"N":"2"}]},"m":{"M":{"x":{"L":[]},"y":{"N":"2"}}}}`
	tests := map[string]string{
		"a":                   `{"a":{"N":"1"}}`,
		"b, a":                `{"a":{"N":"1"},"b":{"S":"x"}}`,
		"gone":                `{}`,
		"a, gone, a2.b[3]":    `{"a":{"N":"1"}}`,
		"m.y":                 `{"m":{"M":{"y":{"N":"2"}}}}`,
		"m.x":                 `{"m":{"M":{"x":{"L":[]}}}}`,
		"m.gone":              `{}`,
		"m.y.z":               `{}`,
		"m.x[0]":              `{}`,
		"a.b, a2[0]":          `{}`,
		"l[2], l[0]":          `{"l":{"L":[{"N":"0"},{"N":"2"}]}}`,
		"l[7], l[1].y":        `{"l":{"L":[{"M":{"y":{"N":"2"}}}]}}`,
		"l[1].x, l[1].y, m.y": `{"l":{"L":[{"M":{"x":{"N":"1"},"y":{"N":"2"}}}]},"m":{"M":{"y":{"N":"2"}}}}`,
		"#m.#y , #m . x":      `{"m":{"M":{"x":{"L":[]},"y":{"N":"2"}}}}`,
	}
	for src, want := range tests {
		s, err := bindProjection(t, src, params(t, "#m=m #y=y", ""))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := string(s.Apply(item(t, doc)).AppendJSON(nil)); got != want {
			t.Errorf("%s selects %s, want %s", src, got, want)
		}
	}
}

func TestProjectionErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":           "The expression can not be empty;",
		"!!invalid":  `Syntax error; token: "!", near: "!!"`,
		"a,":         `Syntax error; token: "<EOF>", near: ","`,
		"a b":        `Syntax error; token: "b", near: "a b"`,
		"a..b":       `Syntax error; token: ".", near: "..b"`,
		"a[0":        `Syntax error; token: "<EOF>", near: "0"`,
		":v":         `Syntax error; token: ":v", near: ":v"`,
		"size(a)":    `Syntax error; token: "(", near: "size(a"`,
		"set":        "Attribute name is a reserved keyword; reserved keyword: set",
		"a, #x":      "An expression attribute name used in the document path is not defined; attribute name: #x",
		"a, a":       "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]",
		"a.b, a":     "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]",
		"a.b, #a[0]": "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [0]]",
	}
	for src, want := range tests {
		_, err := bindProjection(t, src, params(t, "#a=a", ""))
		wantError(t, src, err, "Invalid ProjectionExpression: "+want)
	}
}

func TestSelectionHeads(t *testing.T) {
	t.Parallel()
	s, err := bindProjection(t, "c[1], a, b.x, b.y", params(t, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Heads(), strings.Fields("a b c"); !slices.Equal(got, want) {
		t.Errorf("Heads = %v, want %v", got, want)
	}
}
