package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// repeated joins n copies of s with commas.
func repeated(n int, s string) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }

// slow returns requests that take long. Their conditions have thousands of
// values or elements, and are checked for each item.
func slow() map[string]string {
	filter := `{"words":{"ComparisonOperator":"IN","AttributeValueList":[` + repeated(15_000, `{"S":"lb"}`) + `]}}`
	list := `{"L":[` + repeated(20_000, `{"S":""}`) + `]}`
	in := `l IN (` + repeated(100, ":o") + `)`
	values := `"ExpressionAttributeValues":{":o":{"L":[` + repeated(19_999, `{"S":""}`) + `,{"S":"x"}]}}`
	contains := `NOT (` + strings.TrimSuffix(strings.Repeat("contains(l, :x) OR ", 50), " OR ") + `)`
	check := func(id int) string {
		return fmt.Sprintf(`{"ConditionCheck":{"TableName":"plain","Key":{"id":{"S":"%d"}},"ConditionExpression":%q,"ExpressionAttributeValues":{":x":{"S":"x"}}}}`, id, contains)
	}
	checks := make([]string, 40)
	for i := range checks {
		checks[i] = check(i)
	}
	return map[string]string{
		"Scan":               `{"TableName":"music","ScanFilter":` + filter + `}`,
		"Query":              `{"TableName":"music","KeyConditions":{"artist":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"abba"}]}},"QueryFilter":` + filter + `}`,
		"PutItem":            `{"TableName":"plain","Item":{"id":{"S":"0"},"l":` + list + `},"ConditionExpression":"NOT (` + in + strings.Repeat(" OR "+in, 10) + `)",` + values + `}`,
		"TransactWriteItems": `{"TransactItems":[` + strings.Join(checks, ",") + `]}`,
	}
}

// A request that takes long only holds up those that write the same items.
func TestARequestThatTakesLongHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for i := range 1500 {
		do(t, eng, "PutItem", fmt.Sprintf(`{"TableName":"music","Item":{"artist":{"S":"abba"},"song":{"N":"%d"},"words":{"S":"la"}}}`, i))
	}
	list := repeated(20_000, `{"S":""}`)
	for i := range 40 {
		do(t, eng, "PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"S":"%d"},"l":{"L":[%s]}}}`, i, list))
	}
	for op, body := range slow() {
		checkHoldsNobodyUp(t, eng, op, body)
	}
}

func checkHoldsNobodyUp(t *testing.T, eng *engine.Engine, op, body string) {
	t.Helper()
	done := make(chan time.Duration)
	go func() {
		began := time.Now()
		if res := eng.Do(t.Context(), op, []byte(body)); res.Err != nil {
			t.Errorf("%s: %v", op, res.Err)
		}
		done <- time.Since(began)
	}()
	var longest, took time.Duration
	for took == 0 {
		began := time.Now()
		do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"}}}`)
		do(t, eng, "GetItem", `{"TableName":"plain","Key":{"id":{"S":"0"}},"ProjectionExpression":"id"}`)
		longest = max(longest, time.Since(began))
		select {
		case took = <-done:
		default:
		}
	}
	if longest > took/2 {
		t.Errorf("a put and a get took %v while a %s took %v", longest, op, took)
	}
	t.Logf("%s took %v, meanwhile a put and a get at most %v", op, took, longest)
}
