package partiql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
)

// checkError checks that an error is a ValidationException with a text.
func checkError(t *testing.T, src string, err error) {
	t.Helper()
	var wrong *partiql.Error
	var inner *expr.Error
	if !errors.As(err, &wrong) && !errors.As(err, &inner) || err.Error() == "" {
		t.Errorf("%q: error is %v", src, err)
	}
}

// parameters are more than most statements need.
var parameters = []attr.Value{attr.String("x"), attr.Int(1), attr.MapOf(attr.NewMap(attr.Field{Name: "a", Value: attr.Null()})), attr.Bool(true)}

// sample is an item that statements are applied to.
var sample = attr.NewMap(
	attr.Field{Name: "h", Value: attr.String("x")},
	attr.Field{Name: "s", Value: attr.Int(1)},
	attr.Field{Name: "l", Value: attr.List(attr.Int(1), attr.String("y"))},
	attr.Field{Name: "m", Value: attr.MapOf(attr.NewMap(attr.Field{Name: "k", Value: attr.Int(2)}))},
)

// use calls everything that a statement can do, and returns the first error.
func use(t *testing.T, src string) error {
	s, err := partiql.Parse(src)
	if err != nil {
		return err
	}
	b, err := s.Bind(parameters)
	if err != nil {
		return err
	}
	if s.Kind == partiql.Insert {
		b.Item()
		return nil
	}
	if s.Kind == partiql.Update {
		change, err := b.Change()
		if err != nil {
			return err
		}
		if _, err = change.Apply(sample); err != nil {
			return err
		}
	}
	columns, err := b.Selection()
	if err != nil {
		return err
	}
	if columns != nil {
		columns.Apply(sample)
		columns.Heads()
		columns.Nested()
	}
	if b.Where == nil {
		return nil
	}
	where, err := b.Where.Predicate()
	if err != nil {
		return err
	}
	if where.Match(sample) {
		checkPartitions(t, src, b.Where)
	}
	_, rest, err := b.Where.Key([]string{"h", "s"})
	if err == nil && len(rest) > 0 {
		_, err = expr.Apply("AND", rest...).Predicate()
	}
	return err
}

// checkPartitions checks that an item for which the condition is true is in one
// of the partitions.
func checkPartitions(t *testing.T, src string, w *partiql.Where) {
	t.Helper()
	found, err := w.Partitions("h", "s")
	if err != nil {
		checkError(t, src, err)
		return
	}
	parts := found.List
	for _, terms := range parts {
		all := true
		for i := range terms {
			v, _ := sample.Get(terms[i].Name)
			all = all && terms[i].Match(v)
		}
		if all {
			return
		}
	}
	if parts != nil {
		t.Errorf("%q is true of an item that none of %s holds", src, show(parts))
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{
		`SELECT * FROM "t"."i" WHERE h = 'x' AND (s > 0 OR NOT begins_with(m.k, ?)) ORDER BY h DESC;`,
		`SELECT a, m.k, l[0] FROM t WHERE h IN ['x', ?] AND s BETWEEN 0 AND 2 AND z IS NOT MISSING`,
		`SELECT * FROM t WHERE h = 'x' AND s = 1 OR h = 'y' OR h IN ('z')`,
		`INSERT INTO t VALUE {'a': [1, -2.5e3, <<'x', 'y'>>, {'b': null}], 'c': ?}`,
		`INSERT INTO t VALUE ?`,
		`UPDATE t SET s = s + 1 SET l = list_append(l, [2]), m.k = ? REMOVE l[1] WHERE h = 'x' AND s = 1 RETURNING MODIFIED OLD *`,
		`UPDATE t SET z = set_add(z, <<1, 2>>) SET y = set_delete(y, ?) WHERE h = ? AND s = 1`,
		`FROM t WHERE h = 'x' AND size(l) <> 3 REMOVE m`,
		`DELETE FROM t WHERE h = 'x' AND s = 1 AND attribute_type(m, 'M') -- gone` + "\n" + `RETURNING ALL OLD *`,
		`EXISTS(SELECT * FROM t WHERE h = 'x' AND s = 1 AND contains(l, 'y') /* or not */)`,
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if err := use(t, src); err != nil {
			checkError(t, src, err)
		}
	})
}

// Hostile sources of every shape quickly end in an error.
func TestHostileStatements(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"(", ")", "NOT ", "size(", "list_append(", "[", "]", "{'a':", "<<", "-", "- ", "+", "?", "a.", "a[0]", "a[", "a = 1 AND ", "a = 1 OR ",
		"SET a=1 ", "REMOVE a,", "/*", "--", "'", "''", `"`, `""`, ",", ":", ";", "\x00", "\xff", "å", "🧹", "1", "1e", ".", "EXISTS(", "SELECT ", "IN [",
	} {
		for _, n := range []int{1, 10, 1000, 20_000} {
			for _, lead := range []string{"", "SELECT * FROM t WHERE ", "SELECT * FROM t WHERE a = ", "UPDATE t SET a = ", "UPDATE t ", "INSERT INTO t VALUE {'a': ", "SELECT "} {
				if err := use(t, lead+strings.Repeat(unit, n)); err != nil {
					checkError(t, lead+unit, err)
				}
			}
		}
	}
}
