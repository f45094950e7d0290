package expr_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

const sample = `{"s":{"S":"hello"},"t":{"S":"world"},"n":{"N":"5"},"m5":{"N":"-5"},"big":{"N":"1E100"},"b":{"B":"aGk="},` +
	`"yes":{"BOOL":true},"nil":{"NULL":true},"l":{"L":[{"N":"1"},{"S":"x"},{"M":{"deep":{"L":[{"N":"7"}]}}}]},` +
	`"m":{"M":{"k":{"S":"v"},"and":{"N":"3"}}},"ss":{"SS":["a","b"]},"ns":{"NS":["1","2.5"]},"bs":{"BS":["aGk="]},` +
	`"broom":{"S":"🧹å"}}`

const sampleValues = `{":hello":{"S":"hello"},":hell":{"S":"hell"},":world":{"S":"world"},":five":{"N":"5.0"},":six":{"N":"6"},` +
	`":one":{"N":"1"},":three":{"N":"3"},":seven":{"N":"7"},":zero":{"N":"0"},":hi":{"B":"aGk="},":h":{"B":"aA=="},` +
	`":a":{"S":"a"},":true":{"BOOL":true},":null":{"NULL":true},":S":{"S":"S"},":M":{"S":"M"},":half":{"N":"2.50"},` +
	`":ab":{"SS":["b","a"]},":x":{"S":"x"},":list":{"L":[{"N":"1"}]},":empty":{"S":""}}`

func TestConditions(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"s = :hello": true, "s = :world": false, "s = n": false, "n = :five": true, ":five = n": true, "s = t": false,
		"yes = :true": true, "nil = :null": true, "ss = :ab": true, "b = :hi": true, "absent = :one": false,
		"s <> :world": true, "s <> :hello": false, "s <> n": true, "absent <> :one": true, ":one <> absent": true,
		"s < :world": true, "n < :six": true, "n < :hello": false, "n <= :five": true, "n > :one": true, "n >= :five": true,
		"n > :five": false, "m5 < :one": true, "big > :six": true, "b > :h": true, "absent < :one": false, "yes < n": false,
		"n BETWEEN :one AND :six": true, "n BETWEEN :six AND :seven": false, "n between m5 and big": true,
		"n BETWEEN :five AND :five": true, "s BETWEEN :one AND :six": false, ":three BETWEEN :one AND n": true,
		"absent BETWEEN :one AND :six": false, "n BETWEEN absent AND :six": false, "n BETWEEN :one AND absent": false,
		"n IN (:one, :five)": true, "n IN (:one)": false, "s in (:one, :hello)": true, "absent IN (:one)": false, "n IN (absent, :five)": true,
		"attribute_exists(s)": true, "attribute_exists(absent)": false, "attribute_exists (m.k)": true,
		"attribute_exists(l[2].deep[0])": true, "attribute_exists(l[3])": false, "attribute_exists(s.k)": false, "attribute_exists(m[0])": false,
		"attribute_not_exists(s)": false, "attribute_not_exists(absent)": true, "attribute_not_exists(absent.x.y[1])": true,
		"attribute_type(s, :S)": true, "attribute_type(n, :S)": false, "attribute_type(m, :M)": true, "attribute_type(:one, :S)": false, "attribute_type(absent, :S)": false,
		"begins_with(s, :hell)": true, "begins_with(t, :hell)": false, "begins_with(b, :h)": true, "begins_with(s, :h)": false,
		"begins_with(n, :hell)": false, "begins_with(s, :empty)": true, "begins_with(s, s2)": false,
		"contains(s, :hell)": true, "contains(s, :world)": false, "contains(s, :one)": false, "contains(ss, :a)": true, "contains(ss, :x)": false,
		"contains(ns, :half)": true, "contains(ns, :a)": false, "contains(bs, :hi)": true, "contains(l, :one)": true, "contains(l, :x)": true,
		"contains(l, :six)": false, "contains(b, :h)": true, "contains(b, :a)": false, "contains(n, :one)": false, "contains(m, :x)": false,
		"size(s) = :five": true, "size(broom) = :three": true, "size(b) > :one": true, "size(l) = :three": true, "size(m) < :three": true,
		"size(ss) < :three": true, "size(n) = :one": false, "size(n) <> :one": true, "size(absent) = :zero": false, "size(s) = n": true,
		"size(s) = :hello": false, ":six > size(s)": true, "size(s) BETWEEN :one AND :six": true, "size(s) IN (:five)": true,
		"s = :hello AND n = :five": true, "s = :hello AND n = :six": false, "s = :world OR n = :five": true, "s = :world OR n = :six": false,
		"NOT s = :world": true, "NOT NOT NOT s = :world": true, "NOT (s = :hello OR n = :six)": false, "not attribute_exists(absent)": true,
		// AND binds stronger than OR, NOT stronger than AND.
		"s = :hello OR s = :hello AND n = :six": true, "(s = :hello OR s = :hello) AND n = :six": false,
		"NOT s = :hello AND n = :six": false, "NOT (s = :hello AND n = :six)": true, "n BETWEEN :one AND :six AND s = :hello": true,
		"n BETWEEN :one AND :six AND s = :world":       false,
		"(s = :hello) AND ((n = :five) OR (n = :six))": true, "(NOT (s = :world))": true, "(s) = (:hello)": true,
		"l[0] = :one": true, "l[2].deep[0] = :seven": true, "m.#and = :three": true, "#s = :hello": true, " s\t=\r\n:hello ": true,
		"l [ 0 ] = :one": true, "m . k = m.k2": false, "ns = ss": false,
	}
	it := item(t, sample)
	for src, want := range tests {
		p := params(t, "#and=and #s=s", sampleValues)
		c, err := bindCondition(t, src, p)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := c.Match(it); got != want {
			t.Errorf("%s is %v, want %v", src, got, want)
		}
	}
}

func TestConditionOfNothing(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"attribute_not_exists(pk)": true, "attribute_exists(pk)": false, "pk <> :x": true, "pk = :x": false, "NOT pk = :x": true,
	} {
		c, err := bindCondition(t, src, params(t, "", `{":x":{"S":"x"}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Match(nil); got != want {
			t.Errorf("%s is %v of no item, want %v", src, got, want)
		}
	}
}

func TestConditionErrors(t *testing.T) {
	t.Parallel()
	const values = `{":s":{"S":"a"},":t":{"S":"b"},":n":{"N":"1"},":m":{"N":"2"},":yes":{"BOOL":true},":l":{"L":[]},":map":{"M":{}},":ss":{"SS":["a"]},":null":{"NULL":true},":bin":{"B":"AA=="}}`
	const operand = "Incorrect operand type for operator or function; operator or function: "
	tests := map[string]string{
		"":                  "The expression can not be empty;",
		" \t\n":             "Syntax error; token: \"<EOF>\", near: \" \t\n\"",
		"a":                 `Syntax error; token: "<EOF>", near: "a"`,
		"a =":               `Syntax error; token: "<EOF>", near: "="`,
		"= :s":              `Syntax error; token: "=", near: "= :s"`,
		"a = :s b":          `Syntax error; token: "b", near: ":s b"`,
		"a == :s":           `Syntax error; token: "=", near: "== :s"`,
		"a = :s AND":        `Syntax error; token: "<EOF>", near: "AND"`,
		"a AND b = :s":      `Syntax error; token: "AND", near: "a AND b"`,
		"(a = :s":           `Syntax error; token: "<EOF>", near: ":s"`,
		"a = :s)":           `Syntax error; token: ")", near: ":s)"`,
		"a IN ()":           `Syntax error; token: ")", near: "()"`,
		"a BETWEEN :n, :m":  `Syntax error; token: ",", near: ":n, :m"`,
		"(a = :s) = :n":     `Syntax error; token: "=", near: ") = :n"`,
		"a.1 = :s":          `Syntax error; token: "1", near: ".1 ="`,
		"a[b] = :s":         `Syntax error; token: "b", near: "[b]"`,
		"a[-1] = :s":        `Syntax error; token: "-", near: "[-1"`,
		"a[:n] = :s":        `Syntax error; token: ":n", near: "[:n]"`,
		"_a = :s":           `Syntax error; token: "_", near: "_a"`,
		"1a = :s":           `Syntax error; token: "1", near: "1a"`,
		"a = # ":            `Syntax error; token: "#", near: "= #"`,
		"a = \"x\"":         `Syntax error; token: """, near: "= "x"`,
		"å = :s":            `Syntax error; token: "å", near: "å ="`,
		"a = :s; b = :s":    `Syntax error; token: ";", near: ":s; b"`,
		"[0] = :s":          `Syntax error; token: "[", near: "[0"`,
		"AND = :s":          `Syntax error; token: "AND", near: "AND ="`,
		"f() = :s":          `Syntax error; token: ")", near: "() ="`,
		"((a = :s))":        "The expression has redundant parentheses;",
		"((a)) = :s":        "The expression has redundant parentheses;",
		"NOT ((a = :s))":    "The expression has redundant parentheses;",
		"status = :s":       "Attribute name is a reserved keyword; reserved keyword: status",
		"a.TimeStamp = :s":  "Attribute name is a reserved keyword; reserved keyword: TimeStamp",
		"f(a)":              "Invalid function name; function: f",
		"SIZE(a) = :n":      "Invalid function name; function: SIZE",
		"size(a)":           "The function is not allowed to be used this way in an expression; function: size",
		"NOT size(a)":       "The function is not allowed to be used this way in an expression; function: size",
		"size(a) AND a = b": "The function is not allowed to be used this way in an expression; function: size",

		"attribute_exists(a) < :n":      "The function is not allowed to be used this way in an expression; function: attribute_exists",
		"contains(contains(a,b),:s)":    "The function is not allowed to be used this way in an expression; function: contains",
		"if_not_exists(a, :s) = :s":     "The function is not allowed in a condition expression; function: if_not_exists",
		"list_append(a, b) = :l":        "The function is not allowed in a condition expression; function: list_append",
		"size(a, b) = :n":               "Incorrect number of operands for operator or function; operator or function: size, number of operands: 2",
		"begins_with(a)":                "Incorrect number of operands for operator or function; operator or function: begins_with, number of operands: 1",
		"attribute_exists(:s)":          "Operator or function requires a document path; operator or function: attribute_exists",
		"attribute_not_exists(size(a))": "Operator or function requires a document path; operator or function: attribute_not_exists",
		"a = a":                         "The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]",
		"a BETWEEN :n AND a":            "The first operand must be distinct from the remaining operands for this operator or function; operator: BETWEEN, first operand: [a]",
		"a IN (b, #a)":                  "The first operand must be distinct from the remaining operands for this operator or function; operator: IN, first operand: [a]",
		"contains(#a[1].b, a[1].b)":     "The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [a, [1], b]",
		"begins_with(a, :n)":            operand + "begins_with, operand type: N",
		"begins_with(:l, a)":            operand + "begins_with, operand type: L",
		"size(:n) = :n":                 operand + "size, operand type: N",
		"size(size(a)) = :n":            operand + "size, operand type: N",
		"size(:null) = :n":              operand + "size, operand type: NULL",
		"a < :yes":                      operand + "<, operand type: BOOL",
		":map >= a":                     operand + ">=, operand type: M",
		"a BETWEEN :l AND :l":           operand + "BETWEEN, operand type: L",
		"attribute_type(a, b)":          operand + "attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}",
		"attribute_type(a, :n)":         operand + "attribute_type, operand type: N",
		"attribute_type(a, :s)":         "Invalid attribute type name found; type: a, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
		"a BETWEEN :n AND :s":           "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}",
		"a BETWEEN :m AND :n":           "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}",
		"a = :x":                        "An expression attribute value used in expression is not defined; attribute value: :x",
		"#x = :s":                       "An expression attribute name used in the document path is not defined; attribute name: #x",
		"a.#x[1] = :y":                  "An expression attribute name used in the document path is not defined; attribute name: #x",
		// Of several errors, the one that DynamoDB checks first.
		"status = :x AND f(a) AND ((a = b))": "The expression has redundant parentheses;",
		"status = :x AND f(a)":               "Invalid function name; function: f",
		"begins_with(a, :n) AND a = :x":      operand + "begins_with, operand type: N",
		"a = :x AND begins_with(a, :n)":      "An expression attribute value used in expression is not defined; attribute value: :x",

		"a[99999999999] = :s":                                 "List index is not within the allowable range; index: [99999999999]",
		"a" + strings.Repeat(".a", 32) + " = :s":              "The document path has too many nesting elements; nesting levels: 33",
		"a IN (:n" + strings.Repeat(",:n", 100) + ")":         "The IN operator is provided with too many operands; number of operands: 101",
		"a=:n" + strings.Repeat(" OR a=:n", 150) + " OR a=:n": "The expression contains too many operators; number of operators: 303",
		"a = :s" + strings.Repeat(" ", 4091):                  "Expression size has exceeded the maximum allowed size; expression size: 4097",
		strings.Repeat("(", 4096):                             "The expression is nested too deeply",
		strings.Repeat("NOT ", 1000) + "a=:n":                 "The expression is nested too deeply",
		strings.Repeat("size(", 800) + "a":                    "The expression is nested too deeply",
	}
	for src, want := range tests {
		_, err := bindCondition(t, src, params(t, "#a=a", values))
		wantError(t, src, err, "Invalid ConditionExpression: "+want)
	}
}

// A condition of exactly the limits is allowed.
func TestConditionLimits(t *testing.T) {
	t.Parallel()
	tests := []string{
		"a = :n" + strings.Repeat(" ", 4090),
		"a" + strings.Repeat(".a", 31) + " = :n",
		"a IN (:n" + strings.Repeat(",:n", 99) + ")",
		"NOT a=:n" + strings.Repeat(" OR a=:n", 149),
		"a[2147483647] = :n",
	}
	for _, src := range tests {
		if _, err := bindCondition(t, src, params(t, "", `{":n":{"N":"1"}}`)); err != nil {
			t.Errorf("%.40s… (%d bytes): %v", src, len(src), err)
		}
	}
}

func TestFilterErrorsNameTheFilter(t *testing.T) {
	t.Parallel()
	_, err := expr.ParseCondition(expr.FilterExpression, "a =")
	wantError(t, "a =", err, `Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="`)
}

func TestPredicateHeads(t *testing.T) {
	t.Parallel()
	c, err := bindCondition(t, "b.x = a AND (size(#c) > :n OR NOT attribute_exists(b[1]))", params(t, "#c=d", `{":n":{"N":"1"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Heads(), []string{"b", "a", "d"}; !slices.Equal(got, want) {
		t.Errorf("Heads = %v, want %v", got, want)
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ names, values, want string }{
		"name without #":     {"a=x", "", `ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		"lone #":             {"#=x", "", `ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		"character":          {"#a-b=x", "", `ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"`},
		"empty key":          {"=x", "", `ExpressionAttributeNames contains invalid key: The expression attribute map contains an empty key;`},
		"empty name":         {"#a=", "", `ExpressionAttributeNames contains invalid value: Empty attribute name for key #a`},
		"value without :":    {"", `{"v":{"S":""}}`, `ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`},
		"lone :":             {"", `{":":{"S":""}}`, `ExpressionAttributeValues contains invalid key: Syntax error; key: ":"`},
		"character in value": {"", `{":a.b":{"S":""}}`, `ExpressionAttributeValues contains invalid key: Syntax error; key: ":a.b"`},
	}
	for name, tt := range tests {
		var values attr.Map
		if tt.values != "" {
			values = item(t, tt.values)
		}
		_, err := expr.NewParams(names(tt.names), values)
		wantError(t, name, err, tt.want)
	}
	if _, err := expr.NewParams(names("#1=a #_=b #A_1=c"), item(t, `{":1":{"S":""},":_":{"S":""}}`)); err != nil {
		t.Error(err)
	}
}

func TestUnused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ names, values, want string }{
		"all used":         {"#a=a #b=b", `{":a":{"S":"x"},":b":{"S":"x"}}`, ""},
		"a name":           {"#a=a #b=b #c=c", `{":a":{"S":"x"},":b":{"S":"x"}}`, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#c}"},
		"two values":       {"#a=a #b=b", `{":a":{"S":"x"},":b":{"S":"x"},":z":{"S":""},":c":{"S":""}}`, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:c, :z}"},
		"names come first": {"#a=a #b=b #z=z #c=c", `{":a":{"S":"x"},":b":{"S":"x"},":c":{"S":""}}`, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#c, #z}"},
	}
	for name, tt := range tests {
		p := params(t, tt.names, tt.values)
		if _, err := bindCondition(t, "#a = :a", p); err != nil {
			t.Fatal(err)
		}
		if _, err := bindUpdate(t, "SET #a = if_not_exists(#b, :b)", p); err != nil {
			t.Fatal(err)
		}
		if err := p.Unused(); tt.want != "" {
			wantError(t, name, err, tt.want)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A parsed expression is shared by goroutines, each with its own placeholders.
func TestParsedIsShared(t *testing.T) {
	t.Parallel()
	c, err := expr.ParseCondition(expr.FilterExpression, "#a = :v AND NOT size(#b) > :v")
	if err != nil {
		t.Fatal(err)
	}
	u, err := expr.ParseUpdate("SET #a = #a + :v REMOVE #b")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		p := params(t, fmt.Sprintf("#a=a%d #b=b", g), fmt.Sprintf(`{":v":{"N":"%d"}}`, g))
		it := item(t, fmt.Sprintf(`{"a%d":{"N":"%d"},"b":{"S":""}}`, g, g))
		wg.Go(func() {
			for range 100 {
				where, err := c.Bind(p)
				if err != nil || !where.Match(it) {
					t.Errorf("goroutine %d: %v, or no match", g, err)
				}
				change, err := u.Bind(p)
				if err != nil {
					t.Errorf("goroutine %d: %v", g, err)
					return
				}
				after, err := change.Apply(it)
				if v, _ := after.Get(fmt.Sprintf("a%d", g)); err != nil || !v.Equal(attr.Int(int64(2*g))) || len(after) != 1 {
					t.Errorf("goroutine %d: %s, %v", g, after.AppendJSON(nil), err)
				}
			}
		})
	}
	wg.Wait()
}

func TestReservedWords(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"ABORT", "abort", "Timestamp", "hour", "DAY", "count", "counter", "status", "ttl", "user", "text", "last", "at", "cursor", "name", "value", "zone", "AUTHORIZATION"} {
		_, err := expr.ParseProjection(word)
		wantError(t, word, err, "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: "+word)
	}
	for _, word := range []string{"pk", "sk", "id", "gsi1pk", "abort1", "statuses"} {
		if _, err := expr.ParseProjection(word); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
}
