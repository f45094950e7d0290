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
	checks := make([]string, 16)
	for i := range checks {
		checks[i] = check(i)
	}
	return map[string]string{
		"Scan":               `{"TableName":"music","ScanFilter":` + filter + `}`,
		"Query":              `{"TableName":"music","KeyConditions":{"artist":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"abba"}]}},"QueryFilter":` + filter + `}`,
		"PutItem":            `{"TableName":"plain","Item":{"id":{"S":"0"},"l":` + list + `},"ConditionExpression":"NOT (` + in + strings.Repeat(" OR "+in, 3) + `)",` + values + `}`,
		"TransactWriteItems": `{"TransactItems":[` + strings.Join(checks, ",") + `]}`,
	}
}

// A request that takes long only holds up those that write the same items.
func TestARequestThatTakesLongHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for i := range 600 {
		do(t, eng, "PutItem", fmt.Sprintf(`{"TableName":"music","Item":{"artist":{"S":"abba"},"song":{"N":"%d"},"words":{"S":"la"}}}`, i))
	}
	list := repeated(20_000, `{"S":""}`)
	for i := range 16 {
		do(t, eng, "PutItem", fmt.Sprintf(`{"TableName":"plain","Item":{"id":{"S":"%d"},"l":{"L":[%s]}}}`, i, list))
	}
	for op, body := range slow() {
		// A machine with much else to do may leave no time for others. It does not do
		// so five times in a row.
		for again := range 5 {
			if others := duringSecondHalf(t, eng, op, body); others > 0 {
				t.Logf("%s: %d others in its second half", op, others)
				break
			}
			if again == 4 {
				t.Errorf("no put and get in the second half of a %s", op)
			}
		}
	}
}

// duringSecondHalf performs a request that takes long, and meanwhile puts and gets
// of other items, in pairs. It returns how many pairs began and ended in the second
// half of the long request's time. If it held them up there would be none, because by
// then it has been read and checks conditions.
func duringSecondHalf(t *testing.T, eng *engine.Engine, op, body string) (others int) {
	t.Helper()
	began := time.Now()
	done := make(chan time.Duration, 1)
	go func() {
		if res := eng.Do(t.Context(), op, []byte(body)); res.Err != nil {
			t.Errorf("%s: %v", op, res.Err)
		}
		done <- time.Since(began)
	}()
	type pair struct{ from, to time.Duration }
	var pairs []pair
	for {
		from := time.Since(began)
		do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"}}}`)
		do(t, eng, "GetItem", `{"TableName":"plain","Key":{"id":{"S":"0"}},"ProjectionExpression":"id"}`)
		pairs = append(pairs, pair{from, time.Since(began)})
		select {
		case took := <-done:
			for _, p := range pairs {
				if p.from > took/2 && p.to < took {
					others++
				}
			}
			return others
		default:
		}
	}
}
