package partiql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
)

// head is what stands in the open of a statement.
type head struct {
	Kind         partiql.Kind
	Table, Index string
	Columns      []string
	OrderBy      []partiql.Order
	Returning    string
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]head{
		`SELECT * FROM music`:                                      {Kind: partiql.Select, Table: "music"},
		"select\n*\tfrom \"my-\"\"table\" ;":                       {Kind: partiql.Select, Table: `my-"table`},
		`SELECT a, "b c".d[0], e['f'] FROM "t"."i"`:                {Kind: partiql.Select, Table: "t", Index: "i", Columns: []string{"[a]", "[b c, d, [0]]", "[e, f]"}},
		`SELECT data FROM t WHERE a = 1 ORDER BY a DESC, b ASC, c`: {Kind: partiql.Select, Table: "t", Columns: []string{"[data]"}, OrderBy: []partiql.Order{{Name: "a", Descending: true}, {Name: "b"}, {Name: "c"}}},
		`SELECT/* all */* FROM t -- of it`:                         {Kind: partiql.Select, Table: "t"},
		`EXISTS (SELECT * FROM t WHERE a = 1)`:                     {Kind: partiql.Exists, Table: "t"},
		`INSERT INTO "t" VALUE {'a': 1}`:                           {Kind: partiql.Insert, Table: "t"},
		`INSERT INTO t value {}`:                                   {Kind: partiql.Insert, Table: "t"},
		`UPDATE t SET a = 1, b = 2 REMOVE c WHERE d = 1`:           {Kind: partiql.Update, Table: "t"},
		`UPDATE t REMOVE c WHERE d = 1 RETURNING MODIFIED NEW *`:   {Kind: partiql.Update, Table: "t", Returning: "MODIFIED NEW"},
		`FROM t WHERE d = 1 REMOVE c RETURNING MODIFIED OLD *`:     {Kind: partiql.Update, Table: "t", Returning: "MODIFIED OLD"},
		`DELETE FROM t WHERE d = 1 RETURNING ALL OLD *`:            {Kind: partiql.Delete, Table: "t", Returning: "ALL OLD"},
	}
	for src, want := range tests {
		s, err := partiql.Parse(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		got := head{Kind: s.Kind, Table: s.Table, Index: s.Index, OrderBy: s.OrderBy, Returning: s.Returning.String()}
		for _, c := range s.Columns {
			got.Columns = append(got.Columns, c.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", src, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	const (
		malformed = "Statement wasn't well formed, can't be processed: "
		leftover  = malformed + "Unexpected token after expression"
		term      = malformed + "Unexpected term"
		word      = malformed + "Unexpected keyword"
		sign      = malformed + "Unexpected operator"
		table     = malformed + "Expected identifier for simple path"
		infix     = malformed + "Missing right-hand side expression of infix operator"
		alias     = "Aliasing is not supported"
		overflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
		underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	)
	tests := map[string]string{
		``:                      malformed + "Expected data manipulation",
		`-- nothing`:            malformed + "Expected data manipulation",
		`SELECTT * FROMM "t"`:   malformed + "Expected data manipulation",
		`(SELECT * FROM t)`:     malformed + "Expected data manipulation",
		`SELECT * FROMM "t"`:    malformed + "Expected FROM",
		`SELECT FROM t`:         word,
		`SELECT *, a FROM t`:    malformed + "Expected FROM",
		`SELECT * FROM`:         term,
		`SELECT * FROM "" `:     "Path component cannot be an empty string",
		`UPDATE t SET "" = 1`:   "Path component cannot be an empty string",
		`SELECT * FROM a."b".c`: "A path may contain at most 2 components in the FROM clause",

		// A token too many.
		`SELECT * FROM t WHERE pk = 1 foo`:       leftover,
		`SELECT * FROM t WHERE pk = 1 e5`:        leftover,
		`SELECT * FROM t WHERE pk = 1)`:          leftover,
		`SELECT * FROM t;;`:                      leftover,
		`SELECT * FROM t ORDER BY a WHERE b=1`:   leftover,
		`INSERT INTO t VALUE {'a': 1} foo`:       leftover,
		`UPDATE t SET a = 9 WHERE b = 1 foo`:     leftover,
		`UPDATE t SET a = 1 + 2 + 3 WHERE b=1`:   leftover,
		`FROM t SET c = 1 WHERE pk = 'x'`:        leftover,
		`DELETE FROM t WHERE b = 1 foo`:          leftover,
		`DELETE FROM t WHERE b = 1 ORDER BY b`:   leftover,
		`INSERT INTO t x VALUE {'a': 1}`:         leftover,
		`INSERT INTO t (a) VALUES (1)`:           leftover,
		`DELETE FROM t WHERE a = 1 SET b = 1`:    leftover,
		`SELECT * FROM t x WHERE a = 1`:          alias,
		`SELECT * FROM t AS x WHERE a = 1`:       alias,
		`SELECT a AS b FROM t`:                   alias,
		`UPDATE t x SET a = 1 WHERE b = 1`:       alias,
		`DELETE FROM t x WHERE b = 1`:            alias,
		`UPDATE t."i" SET a = 1 WHERE b = 1`:     "This operation is not supported on an index",
		`DELETE FROM t.i WHERE b = 1`:            "This operation is not supported on an index",
		`INSERT INTO t.i VALUE {'a': 1}`:         "FROM clause may only contain a single table name",
		`DELETE FROM`:                            table,
		`DELETE FROM;`:                           table,
		`DELETE FROM WHERE pk = 'a'`:             table,
		`UPDATE t WHERE a = 1`:                   malformed + "Expected SET or REMOVE",
		`UPDATE t REMOVE a, b WHERE c = 1`:       malformed + "Unexpected token after expression",
		`DELETE FROM t RETURNING ALL NEW *`:      "Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
		`DELETE FROM t RETURNING MODIFIED OLD *`: "Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements.",

		// Conditions that break off, or begin with what cannot begin one.
		`SELECT * FROM t WHERE`:                  term,
		`SELECT * FROM t WHERE;`:                 term,
		`SELECT * FROM t WHERE NOT`:              term,
		`SELECT * FROM t WHERE (`:                term,
		`SELECT * FROM t WHERE a =`:              term,
		`SELECT * FROM t WHERE a = 1 AND`:        infix,
		`SELECT * FROM t WHERE a = 1 OR;`:        infix,
		`SELECT * FROM t WHERE ORDER BY a`:       word,
		`SELECT * FROM t WHERE IS NULL`:          sign,
		`SELECT * FROM t WHERE a = LIKE`:         sign,
		`SELECT * FROM t WHERE = 1`:              sign,
		`SELECT * FROM t WHERE a LIKE 'x'`:       "Unsupported operation: Like",
		`SELECT * FROM t WHERE a IS FOO`:         malformed + "Expected type name",
		`SELECT * FROM t WHERE a IS INT4`:        "Unsupported operation: IsType",
		`SELECT * FROM t WHERE a NOT = 1`:        malformed + "Expected IN or BETWEEN",
		`SELECT * FROM t WHERE a BETWEEN 1 OR 2`: malformed + "Expected AND",
		`SELECT * FROM t WHERE a IN []`:          term,
		`SELECT * FROM t WHERE a[1.5] = 1`:       malformed + "Expected an attribute name or an index in a path",
		`SELECT * FROM t WHERE a.[1] = 1`:        malformed + "Expected an attribute name or an index in a path",
		`SELECT * FROM t WHERE f(a) = 1`:         "Invalid function name; function: f",
		`UPDATE t SET a = f(a) WHERE b = 1`:      "Invalid function name; function: f",
		`UPDATE t SET a = size(a) WHERE b = 1`:   "Invalid function name; function: size",
		`SELECT * FROM t WHERE a > -b`:           term,
		`SELECT * FROM t WHERE a > -?`:           term,

		// What the lexer cannot read.
		`SELECT * FROM t WHERE pk = 1 # note`:        malformed,
		`SELECT * FROM t WHERE pk = 1 /* note`:       malformed,
		`SELECT * FROM t WHERE pk = 'x`:              malformed,
		`SELECT * FROM "t`:                           malformed,
		`SELECT * FROM t WHERE pk = 1e2147483648`:    malformed,
		`SELECT * FROM t WHERE pk = 1e99999999999`:   malformed,
		`SELECT * FROM t WHERE pk = 1.5e-2147483647`: malformed,
		`SELECT * FROM t WHERE pk = :v`:              term,

		// Values that DynamoDB does not take.
		`SELECT * FROM t WHERE pk = 1e126`:                                     overflow + " under root",
		`SELECT * FROM t WHERE pk = 1e-131`:                                    underflow + " under root",
		`SELECT * FROM t WHERE pk = ` + strings.Repeat("1", 39):                "Attempting to store more than 38 significant digits in a Number under root",
		`INSERT INTO t VALUE {'pk': 1e126}`:                                    overflow + " under root",
		`INSERT INTO t VALUE {'pk': 1, 'm': {'x': 1e126}}`:                     overflow + " under root.x",
		`INSERT INTO t VALUE {'pk': 1, 'l': [1, 1e126]}`:                       overflow + " under root[1]",
		`UPDATE t SET a = 1e-131 WHERE pk = 1`:                                 underflow + " under root",
		`INSERT INTO t VALUE {'s': <<>>}`:                                      "Empty bags are not supported",
		`INSERT INTO t VALUE {'s': <<1, 'a'>>}`:                                "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags",
		`INSERT INTO t VALUE {'s': <<[]>>}`:                                    "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags",
		`INSERT INTO t VALUE {'s': <<'a', 'a'>>}`:                              "One or more parameter values were invalid: Input collection [a, a] contains duplicates.",
		`INSERT INTO t VALUE {'m': {'k': ?}}`:                                  "Unsupported data type: Parameter under key root.k at 1:33:1",
		"UPDATE t\nSET x = [?] WHERE a = 1":                                    "Unsupported data type: Parameter under key root[0] at 2:10:1",
		`SELECT l[-1] FROM t`:                                                  "List index is not within the allowable range; index: [-1] at 1:11:1",
		`SELECT l[2147483648] FROM t`:                                          "List index is not within the allowable range; index: [2147483648] at 1:10:10",
		`UPDATE t SET a = set_add(b, <<'x'>>) WHERE c = 1`:                     "The first argument to SET_ADD must equal the assignment value at 1:26:1",
		"UPDATE t\nSET b = set_delete(b, ['x']) WHERE c = 1":                   "The second argument to SET_DELETE must be a value with type SET at 2:20:1",
		`INSERT INTO t VALUE {'a': ` + brackets(33) + `}`:                      "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
		`SELECT a` + strings.Repeat(".a", 32) + ` FROM t`:                      "The document path has too many nesting elements; nesting levels: 33",
		`INSERT INTO t VALUE {a: 1}`:                                           term,
		`INSERT INTO t VALUE [1]`:                                              "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.",
		`INSERT INTO t VALUE ?`:                                                "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.",
		`SELECT * FROM t WHERE ` + strings.Repeat("(", 500):                    malformed + "The statement is nested too deeply",
		`SELECT * FROM t WHERE a = 1e126 foo` /* the syntax goes before it */ : leftover,
	}
	for src, want := range tests {
		_, err := partiql.Parse(src)
		var wrong *partiql.Error
		if !errors.As(err, &wrong) || wrong.Message != want {
			t.Errorf("%s\ngot  %v\nwant %s", src, err, want)
		}
	}
}

func brackets(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// Literals may be as deep as an item may be.
func TestDeepestLiteral(t *testing.T) {
	t.Parallel()
	s, err := partiql.Parse(`INSERT INTO t VALUE {'a': ` + brackets(32) + `}`)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := b.Item().Get("a"); v.Depth() != attr.MaxNesting-1 {
		t.Errorf("the item is %d deep", v.Depth())
	}
}

func bind(t testing.TB, src string, parameters ...attr.Value) *partiql.Bound {
	t.Helper()
	s, err := partiql.Parse(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	b, err := s.Bind(parameters)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return b
}

// show writes partitions as "pk=x sk>1, pk=y": what is asked of each.
func show(parts []expr.KeyTerms) string {
	ops := []string{"=", "<", "<=", ">", ">=", " between ", " begins "}
	var out []string
	for _, terms := range parts {
		var part []string
		for _, k := range terms {
			text := k.Name + ops[k.Op] + k.Value.Str()
			if k.High.Valid() {
				text += ".." + k.High.Str()
			}
			part = append(part, text)
		}
		out = append(out, strings.Join(part, " "))
	}
	return strings.Join(out, ", ")
}

func TestPartitions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		condition, want string
		exact           bool
	}{
		{"h = 'x'", "h=x", true},
		{"'x' = h AND 1 < s", "h=x s>1", true},
		{"h = ? AND s >= 1 AND s < 2", "h=p s>=1", false},
		{"h = 'x' AND s < 2 AND s = 1", "h=x s=1", false},
		{"h = 'x' AND s BETWEEN 1 AND 2", "h=x s between 1..2", true},
		{"h = 'x' AND begins_with(s, 'a')", "h=x s begins a", true},
		{"h = 'x' AND s <> 1", "h=x", false},
		{"h = 'x' AND s.a = 1", "h=x", false},
		{"h = 'x' AND s = a", "h=x", false},
		{"h = 'x' AND h = 'x'", "h=x", false},
		{"h IN ['x', 'y', 'x'] AND s = 1", "h=x s=1, h=y s=1", true},
		{"h IN ['x', a]", "", false},
		{"h = 'x' OR h = 'y'", "h=x, h=y", false},
		{"h = 'x' AND s = 1 OR h = 'y' AND s = 2 AND a = 3", "h=x s=1, h=y s=2", false},
		{"h = 'x' AND s = 1 OR h = 'x' AND s = 2", "h=x", false},
		{"(h = 'x' OR h IN ['y', 'z']) AND s > 1", "h=x s>1, h=y s>1, h=z s>1", false},
		{"h = 'x' OR a = 1", "", false},
		{"NOT h = 'x'", "", false},
		{"h > 'x'", "", false},
		{"s = 1", "", false},
	}
	for _, tt := range tests {
		b := bind(t, "SELECT * FROM t WHERE "+tt.condition, attr.String("p"))
		parts, exact := b.Where.Partitions([]string{"h"}, []string{"s"})
		if got := show(parts); got != tt.want || exact != tt.exact {
			t.Errorf("%s\ngot  %s, %v\nwant %s, %v", tt.condition, got, exact, tt.want, tt.exact)
		}
	}
}

func TestPartitionsOfManyAttributes(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string]string{
		"h = 1 AND i = 2":                       "h=1 i=2",
		"h = 1 AND i = 2 AND s = 3 AND r > 4":   "h=1 i=2 s=3 r>4",
		"h = 1 AND i = 2 AND s > 3 AND r = 4":   "h=1 i=2 s>3",
		"h = 1 AND i = 2 AND r = 4":             "h=1 i=2",
		"h = 1":                                 "",
		"h IN [1, 2] AND i = 2":                 "",
		"h = 1 AND i = 2 OR h = 2 AND i = 2":    "h=1 i=2, h=2 i=2",
		"h = 1 AND (i = 2 OR i = 3) AND s = 10": "h=1 i=2 s=10, h=1 i=3 s=10",
	} {
		parts, _ := bind(t, "SELECT * FROM t WHERE "+condition).Where.Partitions([]string{"h", "i"}, []string{"s", "r"})
		if got := show(parts); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", condition, got, want)
		}
	}
}
