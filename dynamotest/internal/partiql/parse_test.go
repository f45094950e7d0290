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

// head has the exported fields of a statement.
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
		`SELECT * FROM t WHERE 'not' IN ['a', 'not']`:              {Kind: partiql.Select, Table: "t"},
		`(SELECT * FROM t WHERE a = (((b))))`:                      {Kind: partiql.Select, Table: "t"},
		`SELECT "inner", a."order" FROM "select"`:                  {Kind: partiql.Select, Table: "select", Columns: []string{"[inner]", "[a, order]"}},
		`UPDATE t SET a = 1 + 2 - b WHERE c = 1`:                   {Kind: partiql.Update, Table: "t"},
		`UPDATE t SET a = if_not_exists(a, 1) WHERE c = 1`:         {Kind: partiql.Update, Table: "t"},
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
		from      = malformed + "Expected FROM after SELECT list"
		alias     = "Aliasing is not supported"
		overflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
		underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	)
	tests := map[string]string{
		``:                      term,
		`-- nothing`:            term,
		`SELECTT * FROMM "t"`:   leftover,
		`SELECT * FROMM "t"`:    from,
		`SELECT FROM t`:         malformed + "Expected data manipulation",
		`SELECT *, a FROM t`:    malformed + "Other expressions may not be present in the select list when '*' is used without dot notation.",
		`SELECT * FROM`:         term,
		`SELECT * FROM "" `:     "Path component cannot be an empty string",
		`UPDATE t SET "" = 1`:   "Path component cannot be an empty string",
		`SELECT * FROM a."b".c`: "A path may contain at most 2 components in the FROM clause",

		// One token too many.
		`SELECT * FROM t WHERE pk = 1 foo`:       leftover,
		`SELECT * FROM t WHERE pk = 1 e5`:        leftover,
		`SELECT * FROM t WHERE pk = 1)`:          leftover,
		`SELECT * FROM t;;`:                      malformed + "Unexpected token after semicolon. (Only one query is allowed.)",
		`SELECT * FROM t ORDER BY a WHERE b=1`:   leftover,
		`INSERT INTO t VALUE {'a': 1} foo`:       leftover,
		`UPDATE t SET a = 9 WHERE b = 1 foo`:     leftover,
		`UPDATE t SET a = 1 b = 2 WHERE b=1`:     leftover,
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
		`UPDATE t WHERE a = 1`:                   malformed + "Expected data manipulation",
		`UPDATE t REMOVE a, b WHERE c = 1`:       malformed + "Unexpected token after expression",
		`DELETE FROM t RETURNING ALL NEW *`:      "Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
		`DELETE FROM t RETURNING MODIFIED OLD *`: "Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements.",

		// Conditions that break off, or begin with a wrong token.
		`SELECT * FROM t WHERE`:                  term,
		`SELECT * FROM t WHERE;`:                 term,
		`SELECT * FROM t WHERE NOT`:              term,
		`SELECT * FROM t WHERE (`:                term,
		`SELECT * FROM t WHERE a =`:              infix,
		`SELECT * FROM t WHERE a = 1 AND`:        infix,
		`SELECT * FROM t WHERE a = 1 OR;`:        term,
		`SELECT * FROM t WHERE ORDER BY a`:       word,
		`SELECT * FROM t WHERE IS NULL`:          sign,
		`SELECT * FROM t WHERE a = LIKE`:         sign,
		`SELECT * FROM t WHERE = 1`:              sign,
		`SELECT * FROM t WHERE a LIKE 'x'`:       "Unsupported operation: Like",
		`SELECT * FROM t WHERE a IS FOO`:         malformed + "Expected type name",
		`SELECT * FROM t WHERE a IS INT4`:        "Unsupported operation: IsType",
		`SELECT * FROM t WHERE a NOT = 1`:        leftover,
		`SELECT * FROM t WHERE a BETWEEN 1 OR 2`: malformed + "Expected AND keyword",
		`SELECT * FROM t WHERE a IN []`:          "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member",
		`SELECT * FROM t WHERE a[1.5] = 1`:       "Unexpected path component at 1:25:3",
		`SELECT * FROM t WHERE a.[1] = 1`:        malformed + "Invalid path dot component",
		`SELECT * FROM t WHERE f(a) = 1`:         "Unrecognized function: f at 1:23:1",
		`UPDATE t SET a = f(a) WHERE b = 1`:      "Unrecognized function: f at 1:18:1",
		`SELECT * FROM t WHERE a > -b`:           "Unsupported operation: Neg",
		`SELECT * FROM t WHERE a > -?`:           "Unsupported operation: Neg",

		// Text that the lexer cannot read.
		`SELECT * FROM t WHERE pk = 1 # note`:        malformed,
		`SELECT * FROM t WHERE pk = 1 /* note`:       malformed,
		`SELECT * FROM t WHERE pk = 'x`:              malformed,
		`SELECT * FROM "t`:                           malformed,
		`SELECT * FROM t WHERE pk = 1e2147483648`:    malformed,
		`SELECT * FROM t WHERE pk = 1e99999999999`:   malformed,
		`SELECT * FROM t WHERE pk = 1.5e-2147483647`: malformed,
		`SELECT * FROM t WHERE pk = :v`:              term,

		// Values that DynamoDB does not accept.
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
		`UPDATE t SET a = set_add(b, <<'x'>>) WHERE c = 1`:                     "The first argument to SET_ADD must equal the assignment value at 1:18:7",
		"UPDATE t\nSET b = set_delete(b, ['x']) WHERE c = 1":                   "The second argument to SET_DELETE must be a value with type SET at 2:20:1",
		`INSERT INTO t VALUE {'a': ` + brackets(33) + `}`:                      "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
		`SELECT a` + strings.Repeat(".a", 32) + ` FROM t`:                      "The document path has too many nesting elements; nesting levels: 33",
		`INSERT INTO t VALUE {'': 1}`:                                          "Path component cannot be an empty string",
		`INSERT INTO t VALUE {'a': [{'': 1}]}`:                                 "Path component cannot be an empty string",
		`UPDATE t SET a = {'': 1} WHERE b = 1`:                                 "Path component cannot be an empty string",
		`SELECT a."" FROM t`:                                                   "Path component cannot be an empty string",
		`SELECT a[''] FROM t`:                                                  "Path component cannot be an empty string",
		`INSERT INTO t VALUE {a: 1}`:                                           "Tuple keys must be of type String. Actual type: Id under root at 1:22:1",
		`INSERT INTO t VALUE [1]`:                                              "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.",
		`INSERT INTO t VALUE ?`:                                                "Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.",
		`SELECT * FROM t WHERE ` + strings.Repeat("(", 500):                    malformed + "The statement is nested too deeply",
		`SELECT * FROM t WHERE a = 1e126 foo` /* the syntax goes before it */ : leftover,

		// Well-formed statements that DynamoDB does not support.
		`x IS DOUBLE PRECISION`:                                          "Unsupported operation: IsType",
		`NONSENSE`:                                                       "Unsupported operation: Id",
		`a = 1`:                                                          "Unsupported operation: Eq",
		`x IS FOO`:                                                       malformed + "Expected type name",
		`EXISTS(x)`:                                                      "EXISTS can only be used in ExecuteTransaction write requests.",
		`SELECT attribute_exists(ss) FROM t`:                             "Unexpected path component at 1:8:16",
		"SELECT a,\n  COUNT(*) FROM t":                                   "Unexpected path component at 2:3:5",
		`SELECT 'x' FROM t`:                                              "Unexpected path component at 1:8:3",
		`SELECT a + b FROM t`:                                            "Unexpected path component at 1:10:1",
		`SELECT m.* FROM t`:                                              "Changing item's hierarchy while reading isn't supported",
		`SELECT VALUE a FROM t`:                                          "Select projection doesn't support value or pivot keywords",
		`SELECT DISTINCT a FROM t`:                                       "Unsupported token in expression: DISTINCT",
		`SELECT a, m.a FROM t`:                                           "Duplicate identifiers in select clause: a",
		`SELECT a, "a" FROM t`:                                           "Duplicate identifiers in select clause: a",
		`SELECT * FROM t, u`:                                             "Only select from a single table or index is supported.",
		`SELECT * FROM t JOIN u ON a = b`:                                "Only select from a single table or index is supported.",
		`SELECT * FROM t WHERE a = 1 ORDER BY ""`:                        "Path component cannot be an empty string",
		`SELECT * FROM t WHERE a = 1 ORDER BY m.k`:                       "Argument to ORDER BY must be of type VariableReference. Type: PATH",
		`SET a = 1`:                                                      "Only select from a single table or index is supported.",
		`SET a = 1 REMOVE b`:                                             leftover,
		`SELECT * FROM t WHERE REMOVE`:                                   table,
		`SELECT * FROM t WHERE DESC`:                                     term,
		`SELECT * FROM t WHERE *`:                                        term,
		`SELECT * FROM t WHERE a ^ 1`:                                    malformed,
		`SELECT * FROM t WHERE @1`:                                       malformed + "Identifier must follow @-operator",
		`SELECT * FROM t ON a = 1`:                                       leftover,
		`SELECT * FROM t WHERE Foo(*)`:                                   malformed + "Foo(*) is not allowed",
		`SELECT * FROM UNPIVOT t`:                                        "Only select from a single table or index is supported.",
		`SELECT * FROM t[0]`:                                             "Invalid list expression in source.",
		`UPDATE t SET a = set_add(a, <<1, 1.0>>) WHERE b = 1`:            "Input collection contains duplicates",
		`UPDATE t SET a = set_add(a, <<1, 1e126>>) WHERE b = 1`:          overflow + " under root",
		`SELECT * FROM 't'`:                                              "Unexpected from source",
		`SELECT COUNT(*) FROM t WHERE f(a) LIMIT 10`:                     "Unsupported clause: LIMIT at 1:41:2",
		`SELECT * FROM t GROUP BY a`:                                     "Unsupported clause: GROUP BY",
		`SELECT * FROM t WHERE a`:                                        "WHERE clause must contain an expression that resolves to a boolean",
		`SELECT * FROM t WHERE a = 1 AND b`:                              "The arguments to AND/OR must be Expressions",
		`SELECT * FROM t WHERE NOT a`:                                    "The argument to NOT must be a Type or Expression",
		`SELECT * FROM t WHERE a + 1 = 2`:                                "Unsupported operation: Plus",
		`SELECT * FROM t WHERE a IN b`:                                   "IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member",
		`SELECT * FROM t WHERE a = MISSING`:                              "MISSING must be compared using IS operator",
		`SELECT * FROM t WHERE size(a) IS STRING`:                        "The left hand side argument to IS must be a Variable Reference, Literal, or Path",
		`SELECT * FROM t WHERE ? IS STRING`:                              "The left hand side argument to IS must be a Variable Reference, Literal, or Path",
		`SELECT * FROM t WHERE a IS NOT DATE`:                            "Unsupported operation: IsType",
		`SELECT * FROM t WHERE EXISTS(a)`:                                "Unrecognized function: exists at 1:23:6",
		`SELECT * FROM t WHERE Set_Add(a, <<1>>) = a`:                    "Unrecognized function: set_add at 1:23:7",
		`SELECT * FROM t WHERE count(a) = 1`:                             "Unsupported token in expression: count at 1:23:5",
		`SELECT * FROM t WHERE a = (SELECT * FROM t)`:                    "Unsupported token in expression: SELECT at 1:28:6",
		`SELECT * FROM t WHERE attribute_exists(m.inner)`:                malformed + "Invalid path dot component",
		`SELECT * FROM t WHERE attribute_exists(inner)`:                  word,
		`SELECT * FROM t WHERE a[*] = 1`:                                 "Wildcard path component like a[*].b are not supported at 1:25:1",
		`SELECT * FROM t WHERE a.* = 1`:                                  "Unpivot path component like a.*.b are not supported at 1:25:1",
		`UPDATE t SET a.* = 1`:                                           malformed + "Invalid path dot component for simple path",
		`UPDATE t SET m.inner = 1`:                                       malformed + "Invalid path dot component",
		`UPDATE t SET inner = 1`:                                         table,
		`UPDATE t SET a`:                                                 malformed + "Expected '='",
		`DELETE t`:                                                       malformed + "Expected FROM after DELETE",
		`SELECT * FROM t WHERE f(a`:                                      malformed + "Expected RIGHT_PAREN",
		`SELECT * FROM t WHERE a = [1`:                                   malformed + "Expected RIGHT_BRACKET",
		`INSERT INTO t VALUE {'a' 1}`:                                    malformed + "Expected COLON",
		`SELECT * FROM t WHERE size(*) = 1`:                              malformed + "size(*) is not allowed",
		`SELECT MAX(a, b) FROM t`:                                        malformed + "Aggregate functions are always unary",
		`SELECT * FROM t WHERE a BETWEEN 1 AND`:                          malformed + "Expected expression after AND",
		`SELECT * FROM t AS WHERE`:                                       malformed + "Expected identifier for AS-alias",
		`UPDATE t SET a = 1 WHERE b = 1 RETURNING OLD`:                   malformed + "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.",
		`UPDATE t SET a = 1 WHERE b = 1 RETURNING ALL OLD a`:             "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause",
		`UPDATE t SET a = set_add(a) WHERE b = 1`:                        "SET_ADD must have exactly two arguments at 1:18:7",
		`UPDATE t SET a = SET_DELETE(a, <<1>>, <<2>>) WHERE b = 1`:       "SET_DELETE must have exactly two arguments at 1:18:10",
		`UPDATE t SET a = set_add(set_add(a, <<1>>), <<2>>) WHERE b = 1`: "The first argument to SET_ADD must equal the assignment value at 1:18:7",
		`UPDATE t SET a = b + set_add(b, <<1>>) WHERE b = 1`:             "Unrecognized function: set_add at 1:22:7",
		`UPDATE t SET a = f(a) WHERE g(b)`:                               "Unrecognized function: g at 1:29:1",
		`UPDATE t SET a = a * 2 WHERE b = 1`:                             "Unsupported operator in Update Expression. Operator: *",
		`UPDATE t SET a = b IS NULL WHERE b = 1`:                         "IS operator is not supported in update expressions",
		`UPDATE t SET a = -b WHERE b = 1`:                                "Incorrect number of operands for operator or function; operator or function: -, number of operands: 1",
		`INSERT INTO t VALUE {'a': set_add(<<1>>, <<2>>)}`:               "Unsupported data type: set_add under key root at 1:27:7",
		`INSERT INTO t VALUE {'a': b}`:                                   "Unsupported data type: b under key root at 1:27:1",
		`INSERT INTO t VALUE {'a': [1, f(b)]}`:                           "Unsupported data type: Call under key root[1] at 1:31:1",
		`INSERT INTO t VALUE {'a': MISSING}`:                             "Unsupported data type: MISSING under key root at 1:27:7",
		`INSERT INTO t VALUE {'a': 1, 'a': 2}`:                           "Duplicate keys in tuple. Key: a under root at 1:21:1",
	}
	for src, want := range tests {
		s, err := partiql.Parse(src)
		if err == nil {
			_, err = s.Bind(nil)
		}
		var wrong *partiql.Error
		if !errors.As(err, &wrong) || wrong.Message != want {
			t.Errorf("%s\ngot  %v\nwant %s", src, err, want)
		}
	}
}

// A quoted word is not a keyword, and a number may have several signs.
func TestValuesInStatements(t *testing.T) {
	t.Parallel()
	b := bind(t, `INSERT INTO t VALUE {'not': 'is', 'n': - -1, 'm': -+-+-2.50, 'b': <<1, 2e0>>, 'l': [TRUE, null, {'x': (1)}]}`)
	const want = `{"b":{"NS":["1","2"]},"l":{"L":[{"BOOL":true},{"NULL":true},{"M":{"x":{"N":"1"}}}]},"m":{"N":"-2.5"},"n":{"N":"1"},"not":{"S":"is"}}`
	if got := string(b.Item().AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The parameter of set_add and set_delete must be a set.
func TestParametersOfSetFunctions(t *testing.T) {
	t.Parallel()
	s, err := partiql.Parse("UPDATE t\n SET a = set_delete(a, ?) WHERE b = 1")
	if err != nil {
		t.Fatal(err)
	}
	set, err := attr.StringSet("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bind([]attr.Value{set}); err != nil {
		t.Error(err)
	}
	const want = "The second argument to SET_DELETE must be a value with type SET at 2:21:1"
	if _, err := s.Bind([]attr.Value{attr.String("x")}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func brackets(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// Literals may be as deep as an item.
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

// show writes partitions by their conditions: "pk=x sk>1, pk=y".
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
		{"h = 'x' AND s <> 1 OR h = 'x' AND s = 2", "h=x", false},
		{"h = 'x' AND NOT s IN [1, 3] OR h = 'x' AND s = 2", "h=x", false},
		{"h = 'x' OR h = 'x' AND NOT s = 1", "h=x", false},
		{"h = 'x' AND s > 1 OR h = 'x' AND s IN [1, 2] AND a = 1", "h=x", false},
		{"h = 'x' AND s > 1 OR h = 'x' AND s = 2 OR h = 'y' AND attribute_exists(h)", "h=x, h=y", false},
		{"h = 'x' AND s > 1 AND s < 3 OR h = 'x' AND s = 3", "h=x", false},
		{"h = 'x' AND a = 1 OR h = 'x' AND a = 2", "h=x", false},
		{"h = 'x' AND a = 1 OR h = 'y' AND s = 2", "h=x, h=y s=2", false},
		{"h = 'x' AND s = 1 AND a = 1 OR h = 'x' AND s = 2", "h=x", false},
		{"h = 'x' AND s < 2 AND a = 1 OR h = 'x' AND s >= 2", "h=x", false},
		{"h = 'x' AND s BETWEEN 1 AND 2 OR h = 'x' AND s > 2 AND a = 1", "h=x", false},
		{"h = 'x' AND begins_with(s, 'a') AND a = 1 OR h = 'x' AND begins_with(s, 'b')", "h=x", false},
		{"h > 'x'", "", false},
		{"s = 1", "", false},
	}
	for _, tt := range tests {
		b := bind(t, "SELECT * FROM t WHERE "+tt.condition, attr.String("p"))
		found, err := b.Where.Partitions("h", "s")
		if got := show(found.List); err != nil || got != tt.want || found.Exact != tt.exact {
			t.Errorf("%s\ngot  %s, %v, %v\nwant %s, %v", tt.condition, got, found.Exact, err, tt.want, tt.exact)
		}
	}
}

// Branches of an OR whose sort keys overlap are refused, unless one of them filters by
// the key.
func TestOverlappingConditions(t *testing.T) {
	t.Parallel()
	for _, condition := range []string{
		"h = 'x' AND a = 1 OR h = 'x' AND s = 2",
		"h = 'x' AND a <> 1 OR h = 'x' AND s = 2",
		"h = 'x' AND s = 2 OR h = 'x' AND attribute_exists(a)",
		"h = 'x' AND s <= 2 AND a = 1 OR h = 'x' AND s >= 2",
		"h = 'x' AND s BETWEEN 1 AND 2 OR h = 'x' AND s >= 2 AND a = 1",
		"h = 'x' OR h = 'x' AND s = 1",
		"h = 'x' AND s = 1 OR h = 'x' AND s = 1",
		"h = 'x' AND s > 2 OR h = 'x' AND s > 5",
		"h = 'x' AND s < 2 OR h = 'x' AND s < 5 AND a = 1",
		"h = 'x' AND begins_with(s, 'a') AND a = 1 OR h = 'x' AND begins_with(s, 'ab')",
		"h IN ['x', 'y'] AND a = 1 OR h = 'y' AND s = 2",
		"(h = 'x' AND a = 1 OR h = 'y' OR h = 'x' AND s = 1) AND b = 1",
	} {
		_, err := bind(t, "SELECT * FROM t WHERE "+condition).Where.Partitions("h", "s")
		if err == nil || err.Error() != "Overlapping conditions with range keys are not supported in where clause" {
			t.Errorf("%s: %v", condition, err)
		}
	}
}
