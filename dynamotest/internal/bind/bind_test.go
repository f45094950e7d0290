package bind

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/jsonx"
)

func decode[R api.Request](t *testing.T, body string, req R) R {
	t.Helper()
	if err := api.Decode([]byte(body), req); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return req
}

func item(t *testing.T, text string) attr.Map {
	t.Helper()
	m, err := attr.DecodeMap(jsonx.NewReader([]byte(text)))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

// update binds the expressions of an UpdateItem, and query those of a Query.
func update(t *testing.T, members string) (expr.Bound, *api.Error) {
	t.Helper()
	req := decode(t, `{"TableName":"plain","Key":{"id":{"S":"x"}},`+members+`}`, new(api.UpdateItem))
	src := Sources{Condition: req.Condition, Update: req.Update, Valued: ": none is here"}
	if err := src.Check(&req.Expressions); err != nil {
		return expr.Bound{}, err
	}
	return src.Bind(&req.Expressions)
}

func query(t *testing.T, members string) (expr.Bound, *api.Error) {
	t.Helper()
	req := decode(t, `{"TableName":"plain",`+members+`}`, new(api.Query))
	src := Sources{Filter: req.Filter, Projection: req.Projection, Keys: req.KeyCondition, Valued: ": none is there"}
	if err := src.Check(&req.Expressions); err != nil {
		return expr.Bound{}, err
	}
	return src.Bind(&req.Expressions)
}

type binder func(t *testing.T, members string) (expr.Bound, *api.Error)

// A source is parsed only once, even if it is invalid, until the cache is full.
func TestCache(t *testing.T) {
	t.Parallel()
	var c cache[int]
	parsed := 0
	parse := func(src string) (int, error) {
		parsed++
		return strconv.Atoi(src)
	}
	for range 3 {
		if got, err := c.get("7", parse); got != 7 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
		if _, err := c.get("seven", parse); !errors.Is(err, strconv.ErrSyntax) {
			t.Error(err)
		}
	}
	if parsed != 2 {
		t.Errorf("parsed %d times", parsed)
	}
	for i := range 3 * maxCached {
		if got, err := c.get(strconv.Itoa(i), parse); got != i || err != nil {
			t.Fatalf("%d: %d, %v", i, got, err)
		}
		if n := len(c.entries); n > maxCached {
			t.Fatalf("%d entries", n)
		}
	}
}

// A source is a part of a request, and the cache does not keep the whole.
func TestCacheKeepsItsOwnSource(t *testing.T) {
	t.Parallel()
	var c cache[string]
	request := strings.Repeat("x", 1000) + "a = b"
	src := request[1000:]
	_, _ = c.get(src, func(string) (string, error) { return "", nil })
	for kept := range c.entries {
		if kept != src || unsafe.StringData(kept) == unsafe.StringData(src) {
			t.Errorf("%q is kept where the request stands", kept)
		}
	}
}

// Callers share a cache.
func TestCacheIsShared(t *testing.T) {
	t.Parallel()
	var c cache[int]
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 2 * maxCached {
				if got, err := c.get(strconv.Itoa(i), strconv.Atoi); got != i || err != nil {
					t.Errorf("%d: %d, %v", i, got, err)
				}
			}
		})
	}
	all.Wait()
}

// Legacy parameters have the same meaning as expressions.
func TestLegacy(t *testing.T) {
	t.Parallel()
	items := []string{
		`{"id":{"S":"x"}}`, `{"id":{"S":"x"},"n":{"N":"1"}}`, `{"id":{"S":"x"},"n":{"N":"5"},"s":{"S":"yes"}}`, `{"id":{"S":"x"},"n":{"S":"5"},"s":{"S":"no"},"set":{"SS":["a","b"]}}`,
	}
	const five = `"ExpressionAttributeValues":{":n":{"N":"5"}}`
	for name, tt := range map[string]struct {
		bind          binder
		legacy, newer string
	}{
		"a value":     {update, `"Expected":{"n":{"Value":{"N":"5"}}}`, `"ConditionExpression":"n = :n",` + five},
		"none":        {update, `"Expected":{"n":{"Exists":false}}`, `"ConditionExpression":"attribute_not_exists(n)"`},
		"an operator": {update, `"Expected":{"n":{"ComparisonOperator":"LT","AttributeValueList":[{"N":"5"}]}}`, `"ConditionExpression":"n < :n",` + five},
		"all of two":  {update, `"Expected":{"n":{"Value":{"N":"5"}},"s":{"ComparisonOperator":"NOT_NULL"}}`, `"ConditionExpression":"n = :n AND attribute_exists(s)",` + five},
		"one of two":  {update, `"ConditionalOperator":"OR","Expected":{"n":{"Value":{"N":"5"}},"s":{"ComparisonOperator":"NULL"}}`, `"ConditionExpression":"n = :n OR attribute_not_exists(s)",` + five},
		"updates": {
			update, `"AttributeUpdates":{"a":{"Value":{"N":"5"}},"b":{"Action":"ADD","Value":{"N":"5"}},"s":{"Action":"DELETE"}}`,
			`"UpdateExpression":"SET a = :n ADD b :n REMOVE s",` + five,
		},
		"a part of a set": {update, `"AttributeUpdates":{"set":{"Action":"DELETE","Value":{"SS":["a"]}}}`, `"UpdateExpression":"DELETE #s :s","ExpressionAttributeNames":{"#s":"set"},"ExpressionAttributeValues":{":s":{"SS":["a"]}}`},
		"keys and a filter": {
			query, `"KeyConditions":{"id":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]},"n":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"1"},{"N":"5"}]}},
				"QueryFilter":{"s":{"ComparisonOperator":"BEGINS_WITH","AttributeValueList":[{"S":"y"}]}}`,
			`"KeyConditionExpression":"id = :id AND n BETWEEN :one AND :n","FilterExpression":"begins_with(s, :y)","ExpressionAttributeValues":{":id":{"S":"x"},":one":{"N":"1"},":n":{"N":"5"},":y":{"S":"y"}}`,
		},
		"attributes": {query, `"AttributesToGet":["n","s"]`, `"ProjectionExpression":"n, s"`},
		"keys beside expressions": {
			query, `"KeyConditions":{"id":{"ComparisonOperator":"EQ","AttributeValueList":[{"N":"5"}]}},"FilterExpression":"n = :n","ProjectionExpression":"n",` + five,
			`"KeyConditionExpression":"id = :n","FilterExpression":"n = :n","ProjectionExpression":"n",` + five,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			older, err := tt.bind(t, tt.legacy)
			if err != nil {
				t.Fatal(err)
			}
			newer, err := tt.bind(t, tt.newer)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(newer.Keys, older.Keys); diff != "" {
				t.Error(diff)
			}
			for _, text := range items {
				if diff := cmp.Diff(effect(newer, item(t, text)), effect(older, item(t, text))); diff != "" {
					t.Errorf("%s: -expressions +older parameters\n%s", text, diff)
				}
			}
		})
	}
}

// effect returns the results of bound expressions for an item, as text.
func effect(b expr.Bound, item attr.Map) (out []string) {
	if b.Condition != nil {
		out = append(out, "condition holds: "+strconv.FormatBool(b.Condition.Match(item)))
	}
	if b.Filter != nil {
		out = append(out, "filter lets through: "+strconv.FormatBool(b.Filter.Match(item)))
	}
	if b.Selection != nil {
		out = append(out, "selects: "+string(b.Selection.Apply(item).AppendJSON(nil)))
	}
	if b.Change != nil {
		after, err := b.Change.Apply(item)
		out = append(out, "makes: "+string(after.AppendJSON(nil)))
		if err != nil {
			out = append(out, "fails")
		}
	}
	return out
}

// Nested has the attributes of every kind of expression.
func TestNested(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bind    binder
		members string
		want    string
	}{
		{update, `"UpdateExpression":"REMOVE a, b, #c","ExpressionAttributeNames":{"#c":"c.d"}`, ""},
		{update, `"UpdateExpression":"REMOVE a.x, b[1]","ConditionExpression":"attribute_exists(c.y) AND attribute_exists(d)"`, "a b c"},
		{update, `"UpdateExpression":"SET a = b.x"`, "b"},
		{query, `"FilterExpression":"attribute_exists(f.x)","ProjectionExpression":"#p[0], q","ExpressionAttributeNames":{"#p":"list"}`, "f list"},
		{query, `"AttributesToGet":["a.b"]`, ""},
	} {
		b, err := tt.bind(t, tt.members)
		if err != nil {
			t.Errorf("%s: %v", tt.members, err)
			continue
		}
		got := b.Nested()
		if slices.Sort(got); strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.members, got, tt.want)
		}
	}
}

// Errors come in DynamoDB's order: mixed parameters, legacy parameters,
// placeholders as a whole, then the syntax and the placeholders of each expression.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const (
		names  = `"ExpressionAttributeNames":{"#n":"n"}`
		values = `"ExpressionAttributeValues":{":v":{"N":"1"}}`
		mixed  = "Can not use both expression and non-expression parameters in the same request: "
	)
	for _, tt := range []struct {
		bind          binder
		members, want string
	}{
		{update, `"ReturnValues":"NONE"`, ""},
		{update, names, "ExpressionAttributeNames can only be specified when using expressions"},
		{update, values, "ExpressionAttributeValues can only be specified when using expressions: none is here"},
		{update, `"UpdateExpression":"REMOVE a","ExpressionAttributeNames":{}`, "ExpressionAttributeNames must not be empty"},
		{update, `"UpdateExpression":"REMOVE a","ExpressionAttributeValues":{}`, "ExpressionAttributeValues must not be empty"},
		{update, `"UpdateExpression":"REMOVE","ExpressionAttributeValues":{":v":{"N":"x"}}`, "The parameter cannot be converted to a numeric value: x"},
		{update, `"UpdateExpression":"REMOVE a","ExpressionAttributeValues":{"":{"N":"1"}}`, "contains an empty key"},
		{update, `"UpdateExpression":"REMOVE a",` + values, "unused in expressions: keys: {:v}"},
		{query, `"KeyConditions":{},"ProjectionExpression":"a",` + values, "ExpressionAttributeValues can only be specified when using expressions: none is there"},
		{update, `"UpdateExpression":"REMOVE #x","ConditionExpression":"a ="`, "Invalid UpdateExpression: An expression attribute name used in the document path is not defined; attribute name: #x"},
		{update, `"UpdateExpression":"REMOVE #x","ConditionExpression":"a = :y"`, "Invalid UpdateExpression: An expression attribute name used in the document path is not defined; attribute name: #x"},
		{update, `"UpdateExpression":"REMOVE a,","ConditionExpression":""`, "Invalid UpdateExpression: Syntax error"},
		{query, `"FilterExpression":"","KeyConditionExpression":"#x = :y"`, "Invalid KeyConditionExpression"},
		{query, `"FilterExpression":"","KeyConditionExpression":"a > b"`, "Invalid FilterExpression"},
		{query, `"FilterExpression":"#x = a","ProjectionExpression":""`, "Invalid FilterExpression"},
		{query, `"ProjectionExpression":"#x","KeyConditionExpression":"id = :y"`, "Invalid KeyConditionExpression"},

		{update, `"AttributeUpdates":{},"UpdateExpression":"REMOVE a"`, mixed + "Non-expression parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}"},
		{query, `"QueryFilter":{},"FilterExpression":"a = b"`, mixed + "Non-expression parameters: {QueryFilter} Expression parameters: {FilterExpression}"},
		{query, `"KeyConditions":{},"KeyConditionExpression":"a = b"`, mixed + "Non-expression parameters: {KeyConditions} Expression parameters: {KeyConditionExpression}"},
		{update, `"ConditionalOperator":"OR"`, "ConditionalOperator cannot be used without Filter or Expected"},
		{update, `"ConditionalOperator":"OR","Expected":{"a":{"Exists":false}}`, "when Filter or Expected has two or more elements"},
		{update, `"Expected":{"a":{"Value":{"N":"x"}}},"ConditionalOperator":"OR"`, "The parameter cannot be converted to a numeric value"},
		{update, `"Expected":{"a":{}}`, "Value must be provided when Exists is null for Attribute: a"},
		{update, `"Expected":{"a":{"Exists":true}}`, "Value must be provided when Exists is true for Attribute: a"},
		{update, `"Expected":{"a":{"Exists":false,"Value":{"N":"1"}}}`, "Value cannot be used when Exists is false for Attribute: a"},
		{update, `"Expected":{"a":{"AttributeValueList":[{"N":"1"}]}}`, "AttributeValueList can only be used with a ComparisonOperator for Attribute: a"},
		{update, `"Expected":{"a":{"AttributeValueList":[{"N":"1"}],"Value":{"N":"1"}}}`, "Value and AttributeValueList cannot be used together for Attribute: a"},
		{update, `"Expected":{"a":{"ComparisonOperator":"EQ","Exists":true}}`, "Exists and ComparisonOperator cannot be used together for Attribute: a"},
		{update, `"Expected":{"a":{"ComparisonOperator":"EQ"}}`, "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a"},
	} {
		_, err := tt.bind(t, tt.members)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Message, tt.want) {
			t.Errorf("%s:\n%v, want\n%s", tt.members, err, tt.want)
		}
	}
}

// A statement is parsed and gets its parameters. An invalid parameter is reported
// first.
func TestStatement(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ members, want, item string }{
		{`"Statement":"INSERT INTO plain VALUE {'id': ?}","Parameters":[{"S":"x"}]`, "", `{"id":{"S":"x"}}`},
		{`"Statement":"INSERT INTO plain VALUE {'id': ?}","Parameters":[{"S":"y"}]`, "", `{"id":{"S":"y"}}`},
		{`"Statement":"INSERT INTO plain VALUE {'id': ?}"`, "Number of parameters in request and statement don't match", ""},
		{`"Statement":"NONSENSE"`, "Unsupported operation", ""},
		{`"Statement":"NONSENSE","Parameters":[{"N":"x"}]`, "The parameter cannot be converted to a numeric value", ""},
	} {
		req := decode(t, `{`+tt.members+`}`, new(api.ExecuteStatement))
		b, err := Statement(&req.Statement, nil)
		switch {
		case (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Message, tt.want):
			t.Errorf("%s: %v, want %s", tt.members, err, tt.want)
		case err == nil && string(b.Item().AppendJSON(nil)) != tt.item:
			t.Errorf("%s: %s, want %s", tt.members, b.Item().AppendJSON(nil), tt.item)
		}
	}
}
