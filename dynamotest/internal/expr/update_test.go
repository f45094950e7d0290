package expr_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

const updateValues = `{":n":{"N":"3"},":one":{"N":"1"},":s":{"S":"x"},":l":{"L":[{"S":"new"}]},":e":{"L":[]},":ss":{"SS":["b","c"]},` +
	`":ab":{"SS":["a","b"]},":ns":{"NS":["1"]},":m":{"M":{}},":yes":{"BOOL":true},":huge":{"N":"1E125"},":half":{"N":"0.5"}}`

func TestUpdates(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ before, update, after, old, new string }{
		"set on nothing":       {"", "SET a = :n", `{"a":{"N":"3"}}`, `{}`, `{"a":{"N":"3"}}`},
		"replace":              {`{"a":{"N":"1"},"b":{"N":"2"}}`, "SET a = :s", `{"a":{"S":"x"},"b":{"N":"2"}}`, `{"a":{"N":"1"}}`, `{"a":{"S":"x"}}`},
		"in between":           {`{"a":{"N":"1"},"z":{"N":"2"}}`, "SET k = :n, b = :n", `{"a":{"N":"1"},"b":{"N":"3"},"k":{"N":"3"},"z":{"N":"2"}}`, `{}`, `{"b":{"N":"3"},"k":{"N":"3"}}`},
		"copy":                 {`{"a":{"N":"1"}}`, "SET b = a", `{"a":{"N":"1"},"b":{"N":"1"}}`, `{}`, `{"b":{"N":"1"}}`},
		"itself":               {`{"a":{"N":"1"}}`, "SET a = a", `{"a":{"N":"1"}}`, `{"a":{"N":"1"}}`, `{"a":{"N":"1"}}`},
		"swap":                 {`{"a":{"N":"1"},"b":{"N":"2"}}`, "SET a = b, b = a", `{"a":{"N":"2"},"b":{"N":"1"}}`, `{"a":{"N":"1"},"b":{"N":"2"}}`, `{"a":{"N":"2"},"b":{"N":"1"}}`},
		"reads the pre-image":  {`{"a":{"N":"1"}}`, "SET a = a + :n, b = a + :n REMOVE c", `{"a":{"N":"4"},"b":{"N":"4"}}`, `{"a":{"N":"1"}}`, `{"a":{"N":"4"},"b":{"N":"4"}}`},
		"removed and read":     {`{"a":{"N":"1"}}`, "REMOVE a SET b = a", `{"b":{"N":"1"}}`, `{"a":{"N":"1"}}`, `{"b":{"N":"1"}}`},
		"minus":                {`{"a":{"N":"1"}}`, "SET a = (a - :n)", `{"a":{"N":"-2"}}`, `{"a":{"N":"1"}}`, `{"a":{"N":"-2"}}`},
		"two attributes":       {`{"a":{"N":"1"},"b":{"N":"2"}}`, "SET c = a+b", `{"a":{"N":"1"},"b":{"N":"2"},"c":{"N":"3"}}`, `{}`, `{"c":{"N":"3"}}`},
		"if_not_exists, not":   {`{"a":{"N":"1"}}`, "SET a = if_not_exists(a, :n)", `{"a":{"N":"1"}}`, `{"a":{"N":"1"}}`, `{"a":{"N":"1"}}`},
		"if_not_exists":        {`{"a":{"N":"1"}}`, "SET b = if_not_exists(b, :n) + :n", `{"a":{"N":"1"},"b":{"N":"6"}}`, `{}`, `{"b":{"N":"6"}}`},
		"if_not_exists twice":  {`{"c":{"N":"1"}}`, "SET b = if_not_exists(a, if_not_exists(b, c))", `{"b":{"N":"1"},"c":{"N":"1"}}`, `{}`, `{"b":{"N":"1"}}`},
		"list_append":          {`{"l":{"L":[{"S":"old"}]}}`, "SET l = list_append(l, :l)", `{"l":{"L":[{"S":"old"},{"S":"new"}]}}`, `{"l":{"L":[{"S":"old"}]}}`, `{"l":{"L":[{"S":"old"},{"S":"new"}]}}`},
		"prepend":              {`{"l":{"L":[{"S":"old"}]}}`, "SET k = list_append(:l, l)", `{"k":{"L":[{"S":"new"},{"S":"old"}]},"l":{"L":[{"S":"old"}]}}`, `{}`, `{"k":{"L":[{"S":"new"},{"S":"old"}]}}`},
		"append to nothing":    {"", "SET l = list_append(if_not_exists(l, :e), :l)", `{"l":{"L":[{"S":"new"}]}}`, `{}`, `{"l":{"L":[{"S":"new"}]}}`},
		"remove":               {`{"a":{"N":"1"},"b":{"N":"2"}}`, "REMOVE a, c", `{"b":{"N":"2"}}`, `{"a":{"N":"1"}}`, `{}`},
		"remove from nothing":  {"", "REMOVE a.b, c[1].d", `{}`, `{}`, `{}`},
		"nested set":           {`{"m":{"M":{"x":{"N":"1"},"y":{"N":"2"}}}}`, "SET m.x = :n, m.z = :s", `{"m":{"M":{"x":{"N":"3"},"y":{"N":"2"},"z":{"S":"x"}}}}`, `{"m":{"M":{"x":{"N":"1"}}}}`, `{"m":{"M":{"x":{"N":"3"},"z":{"S":"x"}}}}`},
		"nested remove":        {`{"m":{"M":{"x":{"N":"1"}}}}`, "REMOVE m.x, m.gone", `{"m":{"M":{}}}`, `{"m":{"M":{"x":{"N":"1"}}}}`, `{}`},
		"deep":                 {`{"a":{"M":{"l":{"L":[{"S":"hi"},{"M":{"x":{"L":[{"N":"3"},{"N":"5"},{"N":"7"}]},"q":{"N":"2"}}}]}}}}`, "REMOVE a.l[1].x[1], a.l[1].q SET a.l[1].x[0] = :n", `{"a":{"M":{"l":{"L":[{"S":"hi"},{"M":{"x":{"L":[{"N":"3"},{"N":"7"}]}}}]}}}}`, `{"a":{"M":{"l":{"L":[{"M":{"q":{"N":"2"},"x":{"L":[{"N":"3"},{"N":"5"}]}}}]}}}}`, `{"a":{"M":{"l":{"L":[{"M":{"x":{"L":[{"N":"3"},{"N":"7"}]}}}]}}}}`},
		"element":              {`{"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]}}`, "SET l[1] = :s", `{"l":{"L":[{"N":"0"},{"S":"x"},{"N":"2"}]}}`, `{"l":{"L":[{"N":"1"}]}}`, `{"l":{"L":[{"S":"x"}]}}`},
		"past the end":         {`{"l":{"L":[{"N":"0"}]}}`, "SET l[84] = :s, l[7] = :n, l[50] = :one", `{"l":{"L":[{"N":"0"},{"N":"3"},{"N":"1"},{"S":"x"}]}}`, `{}`, `{}`},
		"indexes are old":      {`{"l":{"L":[{"N":"2"},{"N":"3"},{"N":"4"},{"N":"5"},{"N":"6"}]}}`, "REMOVE l[1] SET l[3] = :s", `{"l":{"L":[{"N":"2"},{"N":"4"},{"S":"x"},{"N":"6"}]}}`, `{"l":{"L":[{"N":"3"},{"N":"5"}]}}`, `{"l":{"L":[{"N":"4"},{"N":"6"}]}}`},
		"remove several":       {`{"l":{"L":[{"N":"0"},{"N":"1"},{"N":"2"}]}}`, "REMOVE l[0], l[2], l[9]", `{"l":{"L":[{"N":"1"}]}}`, `{"l":{"L":[{"N":"0"},{"N":"2"}]}}`, `{"l":{"L":[{"N":"1"}]}}`},
		"append and remove":    {`{"l":{"L":[{"N":"0"}]}}`, "SET l[9] = :s, l[8] = :n REMOVE l[1], l[0]", `{"l":{"L":[{"N":"3"},{"S":"x"}]}}`, `{"l":{"L":[{"N":"0"}]}}`, `{"l":{"L":[{"N":"3"},{"S":"x"}]}}`},
		"add":                  {`{"n":{"N":"1"}}`, "ADD n :n", `{"n":{"N":"4"}}`, `{"n":{"N":"1"}}`, `{"n":{"N":"4"}}`},
		"add to nothing":       {"", "ADD n :n, s :ss", `{"n":{"N":"3"},"s":{"SS":["b","c"]}}`, `{}`, `{"n":{"N":"3"},"s":{"SS":["b","c"]}}`},
		"add elements":         {`{"s":{"SS":["a","b"]}}`, "ADD s :ss", `{"s":{"SS":["a","b","c"]}}`, `{"s":{"SS":["a","b"]}}`, `{"s":{"SS":["a","b","c"]}}`},
		"add nested":           {`{"m":{"M":{"n":{"N":"1"}}}}`, "ADD m.n :n, m.k :n", `{"m":{"M":{"k":{"N":"3"},"n":{"N":"4"}}}}`, `{"m":{"M":{"n":{"N":"1"}}}}`, `{"m":{"M":{"k":{"N":"3"},"n":{"N":"4"}}}}`},
		"delete elements":      {`{"s":{"SS":["a","b","d"]}}`, "DELETE s :ss", `{"s":{"SS":["a","d"]}}`, `{"s":{"SS":["a","b","d"]}}`, `{"s":{"SS":["a","d"]}}`},
		"delete all":           {`{"s":{"SS":["a","b"]},"z":{"N":"0"}}`, "DELETE s :ab", `{"z":{"N":"0"}}`, `{"s":{"SS":["a","b"]}}`, `{}`},
		"delete from nothing":  {`{"z":{"N":"0"}}`, "DELETE s :ab", `{"z":{"N":"0"}}`, `{}`, `{}`},
		"keywords in any case": {"", "sEt x = :n aDd d :n ReMoVe c dElEtE e :ss", `{"d":{"N":"3"},"x":{"N":"3"}}`, `{}`, `{"d":{"N":"3"},"x":{"N":"3"}}`},
		"a dot in a name":      {"", "SET #dot = :n", `{"a.b":{"N":"3"}}`, `{}`, `{"a.b":{"N":"3"}}`},
		"documents":            {"", "SET a = :m, b = :e, c = :yes", `{"a":{"M":{}},"b":{"L":[]},"c":{"BOOL":true}}`, `{}`, `{"a":{"M":{}},"b":{"L":[]},"c":{"BOOL":true}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := item(t, tt.before)
			c, err := bindUpdate(t, tt.update, params(t, "#dot=a.b #a=a", updateValues))
			if err != nil {
				t.Fatal(err)
			}
			after, err := c.Apply(before)
			if err != nil {
				t.Fatal(err)
			}
			for what, got := range map[string][2]string{
				"after":  {string(after.AppendJSON(nil)), tt.after},
				"old":    {string(c.Old(before).AppendJSON(nil)), tt.old},
				"new":    {string(c.New(after).AppendJSON(nil)), tt.new},
				"before": {string(before.AppendJSON(nil)), string(item(t, tt.before).AppendJSON(nil))},
			} {
				if got[0] != got[1] {
					t.Errorf("%s:\n%s, want\n%s", what, got[0], got[1])
				}
			}
		})
	}
}

// Errors that depend on the item.
func TestUpdateFailures(t *testing.T) {
	t.Parallel()
	const (
		path    = "The document path provided in the update expression is invalid for update"
		absent  = "The provided expression refers to an attribute that does not exist in the item"
		operand = "An operand in the update expression has an incorrect data type"
	)
	const it = `{"s":{"S":"x"},"n":{"N":"1"},"l":{"L":[{"S":"x"}]},"m":{"M":{}},"ss":{"SS":["a"]},"huge":{"N":"9E125"}}`
	tests := []struct{ before, update, want string }{
		{it, "SET s.x = :n", path},
		{it, "SET l.x = :n", path},
		{it, "SET gone.x = :n", path},
		{it, "SET m[0] = :n", path},
		{it, "SET gone[0] = :n", path},
		{it, "SET m.x.y = :n", path},
		{it, "SET l[5].x = :n", path},
		{it, "SET l[0][0] = :n", path},
		{it, "REMOVE s.x", path},
		{it, "REMOVE gone.x", path},
		{it, "REMOVE m[0]", path},
		{it, "ADD gone.x :n", path},
		{it, "DELETE gone.x :ss", path},
		{"", "SET gone.x = :n", path},
		{"", "SET gone.x = :n REMOVE gone.y", path},
		{"", "ADD gone.x :n", path},
		{it, "SET a = gone", absent},
		{it, "SET a = n + gone", absent},
		{it, "SET a = m.x", absent},
		{"", "SET a = a + :n", absent},
		{it, "SET a = :n, b = a", absent},
		{it, "SET a = list_append(gone, :l)", absent},
		{it, "SET a = if_not_exists(b, c)", absent},
		{it, "SET a = s + :n", operand},
		{it, "SET a = :n - l", operand},
		{it, "SET a = list_append(s, :l)", operand},
		{it, "SET a = list_append(:l, n)", operand},
		{it, "ADD s :n", operand},
		{it, "ADD ss :n", operand},
		{it, "ADD ss :ns", operand},
		{it, "DELETE s :ss", operand},
		{it, "DELETE ss :ns", operand},
		{it, "DELETE n :ss", operand},
		{it, "SET a = huge + :huge", "Number overflow. Attempting to store a number with magnitude larger than supported range"},
		{it, "ADD huge :half", "Number overflow. Attempting to store a number with magnitude larger than supported range"},
	}
	for _, tt := range tests {
		c, err := bindUpdate(t, tt.update, params(t, "", updateValues))
		if err != nil {
			t.Errorf("%s: %v", tt.update, err)
			continue
		}
		before := item(t, tt.before)
		after, err := c.Apply(before)
		wantError(t, tt.update, err, tt.want)
		if after != nil {
			t.Errorf("%s: an item came with the error", tt.update)
		}
		if got, want := string(before.AppendJSON(nil)), string(item(t, tt.before).AppendJSON(nil)); got != want {
			t.Errorf("%s: the item before became %s", tt.update, got)
		}
	}
}

func TestUpdateNesting(t *testing.T) {
	t.Parallel()
	deep := func(n int) string {
		return strings.Repeat(`{"L":[`, n) + `{"S":"x"}` + strings.Repeat(`]}`, n)
	}
	tests := []struct {
		before, update, value string
		fits                  bool
	}{
		{`{"a":{"L":[]}}`, "SET a[0] = :v", deep(30), true},
		{`{"a":{"L":[]}}`, "SET a[0] = :v", deep(31), false},
		{`{"a":` + deep(31) + `}`, "SET b = a", "", true},
		{`{"a":` + deep(31) + `,"l":{"L":[]}}`, "SET l[0] = a", "", false},
		{`{"a":` + deep(31) + `}`, "SET a" + strings.Repeat("[0]", 31) + " = :v", `{"S":"y"}`, true},
		{`{"a":` + deep(31) + `}`, "SET a" + strings.Repeat("[0]", 31) + " = :v", deep(1), false},
	}
	for _, tt := range tests {
		values := ""
		if tt.value != "" {
			values = `{":v":` + tt.value + `}`
		}
		c, err := bindUpdate(t, tt.update, params(t, "", values))
		if err != nil {
			t.Fatal(err)
		}
		after, err := c.Apply(item(t, tt.before))
		if !tt.fits {
			wantError(t, tt.update, err, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit")
		} else if err != nil {
			t.Errorf("%s: %v", tt.update, err)
		} else if again := item(t, string(after.AppendJSON(nil))); !again.Equal(after) {
			t.Errorf("%s: the item is not what its JSON is", tt.update)
		}
	}
}

func TestUpdateErrors(t *testing.T) {
	t.Parallel()
	const operand = "Incorrect operand type for operator or function; operator or function: "
	overlap := func(a, b string) string {
		return "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: " + a + ", path two: " + b
	}
	conflict := func(a, b string) string {
		return "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: " + a + ", path two: " + b
	}
	tests := map[string]string{
		"":                               "The expression can not be empty;",
		"  ":                             `Syntax error; token: "<EOF>", near: "  "`,
		"SET a = ((b))":                  "The expression has redundant parentheses;",
		"SET a = ((b)) + c":              "The expression has redundant parentheses;",
		"SET a = ((b + c))":              "The expression has redundant parentheses;",
		"SET a = f(b, ((c)))":            "The expression has redundant parentheses;",
		"SET a = if_not_exists(b, b)":    "The first operand must be distinct from the remaining operands for this operator or function; operator: if_not_exists, first operand: [b]",
		"SET a = if_not_exists(b, (b))":  "The first operand must be distinct from the remaining operands for this operator or function; operator: if_not_exists, first operand: [b]",
		"INVALID SYNTAX HERE":            `Syntax error; token: "INVALID", near: "INVALID SYNTAX"`,
		"SET":                            `Syntax error; token: "<EOF>", near: "SET"`,
		"SET a":                          `Syntax error; token: "<EOF>", near: "a"`,
		"SET a = ":                       `Syntax error; token: "<EOF>", near: "="`,
		"SET a = :n,":                    `Syntax error; token: "<EOF>", near: ","`,
		"SET a = :n, REMOVE b":           `Syntax error; token: "REMOVE", near: ", REMOVE b"`,
		"SET a : n":                      `Syntax error; token: ":", near: "a : n"`,
		"SET _123 = :n":                  `Syntax error; token: "_", near: "SET _123"`,
		"SET :n = :n":                    `Syntax error; token: ":n", near: "SET :n ="`,
		"SET a = :n + :n + :n":           `Syntax error; token: "+", near: ":n + :n"`,
		"SET a = (b + c) + :n":           `Syntax error; token: "+", near: ") + :n"`,
		"SET a = :n + (b + c)":           `Syntax error; token: "+", near: "b + c"`,
		"SET a = f(:n + :n)":             `Syntax error; token: "+", near: ":n + :n"`,
		"SET a = (:n":                    `Syntax error; token: "<EOF>", near: ":n"`,
		"SET add = :n":                   `Syntax error; token: "add", near: "SET add ="`,
		"SET a = -b":                     `Syntax error; token: "-", near: "= -b"`,
		"SET a = b = c":                  `Syntax error; token: "=", near: "b = c"`,
		"ADD n n":                        `Syntax error; token: "n", near: "n n"`,
		"ADD n :n + :n":                  `Syntax error; token: "+", near: ":n + :n"`,
		"DELETE n (:n)":                  `Syntax error; token: "(", near: "n (:n"`,
		"REMOVE a = :n":                  `Syntax error; token: "=", near: "a = :n"`,
		"REMOVE a, :n":                   `Syntax error; token: ":n", near: ", :n"`,
		"SET hi-there = :n":              `Syntax error; token: "-", near: "hi-there"`,
		"SET a = :n SET b = :n":          `The "SET" section can only be used once in an update expression;`,
		"SET a = :n ADD n :n SET b = :n": `The "SET" section can only be used once in an update expression;`,
		"REMOVE a REMOVE b":              `The "REMOVE" section can only be used once in an update expression;`,
		"SET hour = :n":                  "Attribute name is a reserved keyword; reserved keyword: hour",
		"SET a = b.day":                  "Attribute name is a reserved keyword; reserved keyword: day",
		"SET a = f(b, c, d)":             "Invalid function name; function: f",
		"SET a = LIST_APPEND(b,c)":       "Invalid function name; function: LIST_APPEND",
		"SET a = size(b)":                "The function is not allowed in an update expression; function: size",

		"SET a = list_append(list_append(:l,:l),:l)":  "The function is not allowed to be used this way in an expression; function: list_append",
		"SET a = list_append(b)":                      "Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1",
		"SET a = if_not_exists(b,c,d)":                "Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 3",
		"SET a = if_not_exists(:n,b)":                 "Operator or function requires a document path; operator or function: if_not_exists",
		"SET a = if_not_exists(if_not_exists(a,b),c)": "Operator or function requires a document path; operator or function: if_not_exists",
		"SET a = #x":                         "An expression attribute name used in the document path is not defined; attribute name: #x",
		"SET a = :x":                         "An expression attribute value used in expression is not defined; attribute value: :x",
		"SET a = :x, b = #x":                 "An expression attribute name used in the document path is not defined; attribute name: #x",
		"SET a = if_not_exists(:x,b)":        "An expression attribute value used in expression is not defined; attribute value: :x",
		"SET a = :n + :s":                    operand + "+, operand type: S",
		"SET a = :l - :n":                    operand + "-, operand type: L",
		"SET a = list_append(a, :s)":         operand + "list_append, operand type: S",
		"SET a = list_append(a, b) + :n":     operand + "+, operand type: L",
		"ADD a :s":                           "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
		"ADD a :l":                           "Incorrect operand type for operator or function; operator: ADD, operand type: LIST, typeSet: ALLOWED_FOR_ADD_OPERAND",
		"DELETE a :n":                        "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND",
		"DELETE a :yes":                      "Incorrect operand type for operator or function; operator: DELETE, operand type: BOOLEAN, typeSet: ALLOWED_FOR_DELETE_OPERAND",
		"SET a = :n REMOVE a":                overlap("[a]", "[a]"),
		"SET #a = :n, a = :n":                overlap("[a]", "[a]"),
		"SET a = :n, a.b = :n":               overlap("[a]", "[a, b]"),
		"SET a.b.c = :n, a.b = :n":           overlap("[a, b, c]", "[a, b]"),
		"SET a[1][2] = :n, a[1] = :n":        overlap("[a, [1], [2]]", "[a, [1]]"),
		"SET b = :n ADD a :n DELETE a.b :ss": overlap("[a]", "[a, b]"),
		"SET a.b = :n, a[1] = :n":            conflict("[a, b]", "[a, [1]]"),
		"SET a.b.c = :n, a.b[2] = :n":        conflict("[a, b, c]", "[a, b, [2]]"),
		// An overlap is reported before a conflict, and both before errors of
		// operands.
		"SET a.b = :n + :s, a[1] = :n, c = :n, c.d = :n":           overlap("[c]", "[c, d]"),
		"SET a.b = :n + :s, a[1] = :n":                             conflict("[a, b]", "[a, [1]]"),
		"SET a = :x REMOVE a, day":                                 "Attribute name is a reserved keyword; reserved keyword: day",
		"SET a = " + strings.Repeat("(", 2000):                     "The expression is nested too deeply",
		"SET a = " + strings.Repeat("if_not_exists(a,", 255) + "b": `Syntax error; token: "<EOF>", near: "b"`,
		"REMOVE a" + strings.Repeat(".a", 32):                      "The document path has too many nesting elements; nesting levels: 33",
	}
	for src, want := range tests {
		_, err := bindUpdate(t, src, params(t, "#a=a", updateValues))
		wantError(t, src, err, "Invalid UpdateExpression: "+want)
	}
}

// The charge of an update follows from its expression: see charge.go for the
// source of the figures.
func TestChangeHeadsAndCharge(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		heads  string
		charge int
	}{
		"SET a = :n":                           {"a", 3 + 19 + 1 + 2},
		"SET #a = :n":                          {"a", 3 + 19 + 1 + 2},
		"SET b = :n, c = :n":                   {"b c", 3 + 2*(19+1+2)},
		"SET m.xyz = :n, l[10] = :n REMOVE r":  {"m l r", 3 + (19 + 1 + 4 + 3 + 2) + (19 + 1 + 4 + 2 + 2) + (1 + 1)},
		"SET b = :n DELETE s :ss":              {"b s", 3 + (19 + 1 + 2) + (1 + 1)},
		"SET b = :n ADD n :n REMOVE xx, y, #a": {"b n xx y a", 3 + 2*(19+1+2) + (1 + 2) + (1 + 1) + (1 + 1)},
		"ADD s :ss":                            {"s", 3 + 19 + 1 + 2},
		"SET b = xyz":                          {"b", 3 + 19 + 1 + 1 + 14 + 3},
		"SET b = #a.xyz[12]":                   {"b", 3 + 19 + 1 + 1 + (14 + 1) + (14 + 3) + (14 + 2)},
		"SET n = n + :n":                       {"n", 3 + 19 + 1 + 34 + (1 + 14 + 1) + 2},
		"SET n = :n - n":                       {"n", 3 + 19 + 1 + 37 + 2 + (1 + 14 + 1)},
		"SET l = list_append(l, :l)":           {"l", 3 + 19 + 1 + 37 + (1 + 14 + 1) + (3 + 1 + 3)},
		"SET n = if_not_exists(n, :n)":         {"n", 3 + 19 + 1 + 39 + (1 + 14 + 1) + 2},
		"SET n = if_not_exists(n, :n) + :n":    {"n", 3 + 19 + 1 + 34 + (39 + (1 + 14 + 1) + 2) + 2},
		"REMOVE m.x, l[3]":                     {"m l", 3 + (1 + 1 + 4 + 1) + (1 + 1 + 4 + 1)},
	}
	for src, tt := range tests {
		c, err := bindUpdate(t, src, params(t, "#a=a", updateValues))
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := c.Heads(); !slices.Equal(got, strings.Fields(tt.heads)) {
			t.Errorf("%s changes %v, want %s", src, got, tt.heads)
		}
		if got := c.Charge(); got != tt.charge {
			t.Errorf("%s charges %d bytes, want %d", src, got, tt.charge)
		}
		if want := !strings.Contains(src, "SET") && !strings.Contains(src, "ADD"); c.Clears() != want {
			t.Errorf("%s only clears: %v, want %v", src, c.Clears(), want)
		}
	}
}

// Every value that an update does not change is shared, not copied.
func TestApplyLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	before := item(t, sample)
	c, err := bindUpdate(t, "SET m.k = :n, l[0] = :n, added = :n REMOVE s", params(t, "", updateValues))
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Apply(before)
	if err != nil {
		t.Fatal(err)
	}
	want := before.Without("s").With("added", attr.Int(3))
	m, _ := before.Get("m")
	l, _ := before.Get("l")
	want = want.With("m", attr.MapOf(m.Map().With("k", attr.Int(3))))
	want = want.With("l", attr.List(append([]attr.Value{attr.Int(3)}, l.List()[1:]...)...))
	if !after.Equal(want) {
		t.Errorf("after is\n%s, want\n%s", after.AppendJSON(nil), want.AppendJSON(nil))
	}
}
