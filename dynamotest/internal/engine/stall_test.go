package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// A filter may take long: this one compares every item with thousands of values.
// A writer must not wait until it has judged them all.
func TestAFilterThatTakesLongHoldsNoWriterUp(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	for i := range 1500 {
		do(t, eng, "PutItem", fmt.Sprintf(`{"TableName":"music","Item":{"artist":{"S":"abba"},"song":{"N":"%d"},"words":{"S":"la"}}}`, i))
	}
	values := strings.TrimSuffix(strings.Repeat(`{"S":"lb"},`, 40_000), ",")
	filter := `{"words":{"ComparisonOperator":"IN","AttributeValueList":[` + values + `]}}`
	for op, body := range map[string]string{
		"Scan":  `{"TableName":"music","ScanFilter":` + filter + `}`,
		"Query": `{"TableName":"music","KeyConditions":{"artist":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"abba"}]}},"QueryFilter":` + filter + `}`,
	} {
		judged := make(chan time.Duration)
		go func() {
			began := time.Now()
			if res := eng.Do(t.Context(), op, []byte(body)); res.Err != nil {
				t.Errorf("%s: %v", op, res.Err)
			}
			judged <- time.Since(began)
		}()
		var longest, took time.Duration
		for took == 0 {
			began := time.Now()
			do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"}}}`)
			longest = max(longest, time.Since(began))
			select {
			case took = <-judged:
			default:
			}
		}
		if longest > took/2 {
			t.Errorf("a put took %v while a %s took %v", longest, op, took)
		}
	}
}
