package expr_test

import (
	"slices"
	"strings"
	"testing"
)

func TestNested(t *testing.T) {
	t.Parallel()
	p := params(t, "#d=e", `{":n":{"N":"1"}}`)
	where, err := bindCondition(t, "a = :n AND (b.x > :n OR NOT attribute_exists(#d[1])) AND size(c.y) = b.z", p)
	if err != nil {
		t.Fatal(err)
	}
	change, err := bindUpdate(t, "SET a = b.x, #d.x = :n REMOVE c[1]", p)
	if err != nil {
		t.Fatal(err)
	}
	pick, err := bindProjection(t, "a, c.x, b[0].y", p)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what, want string
		got        []string
	}{
		{"condition", "b e c b", where.Nested()},
		{"update", "b e c", change.Nested()},
		{"projection", "b c", pick.Nested()},
	} {
		if !slices.Equal(tt.got, strings.Fields(tt.want)) {
			t.Errorf("the %s looks into %v, want %s", tt.what, tt.got, tt.want)
		}
	}
}
