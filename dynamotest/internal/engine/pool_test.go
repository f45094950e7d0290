package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

const (
	figures = `"ProvisionedThroughput":{"ReadCapacityUnits":%d,"WriteCapacityUnits":%[1]d}`
	byDay   = `{"IndexName":"by-day","KeySchema":[{"AttributeName":"day","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"},` + figures + `}`
	defined = `"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"day","AttributeType":"S"}]`
)

// paid returns a request for a table and its index, with the given units of each
// kind.
func paid(own, index int) string {
	return fmt.Sprintf(`{"TableName":"paid","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],`+defined+`,`+figures, own) +
		fmt.Sprintf(`,"GlobalSecondaryIndexes":[`+byDay+`]}`, index)
}

// attempts returns how often a request succeeds. A %d in it is replaced by the
// number of the attempt.
func attempts(t *testing.T, eng *engine.Engine, op, body string) (done int) {
	t.Helper()
	for ; done < 2000; done++ {
		res := eng.Do(t.Context(), op, []byte(strings.ReplaceAll(body, "%d", fmt.Sprint(done))))
		if res.Err != nil && res.Err.Code != api.ThroughputExceeded {
			t.Fatalf("%s: %v", op, res.Err)
		}
		if res.Err != nil {
			return done
		}
	}
	return done
}

const (
	plainPut   = `{"TableName":"paid","Item":{"id":{"S":"a"}}}`
	datedPut   = `{"TableName":"paid","Item":{"id":{"S":"a"},"day":{"S":"x"},"n":{"N":"%d"}}}` // each time one unit of the index
	plainGet   = `{"TableName":"paid","Key":{"id":{"S":"a"}},"ConsistentRead":true}`
	tableScan  = `{"TableName":"paid","ConsistentRead":true}`
	indexScan  = `{"TableName":"paid","IndexName":"by-day"}`
	toOnDemand = `{"TableName":"paid","BillingMode":"PAY_PER_REQUEST"}`
	indexTo    = `{"TableName":"paid","GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"by-day",` + figures + `}}]}`
	paidAgain  = `{"TableName":"paid","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":30,"WriteCapacityUnits":30},
		"GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"by-day","ProvisionedThroughput":{"ReadCapacityUnits":30,"WriteCapacityUnits":30}}}]}`
)

// Unused units are kept for 300 seconds, separately for each kind of unit and for
// each index.
func TestPools(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		own, index int
		steps      []any // durations, updates, and an operation, a body and how often it succeeds
	}{
		"refill and burst": {3, 100, []any{
			"PutItem", plainPut, 3, "GetItem", plainGet, 3,
			time.Second, "PutItem", plainPut, 3,
			10 * time.Second, "PutItem", plainPut, 30,
			time.Hour, "PutItem", plainPut, 900,
			-time.Hour, "PutItem", plainPut, 0,
			time.Hour, "GetItem", plainGet, 900,
			time.Hour, "GetItem", plainGet, 900, time.Hour, "PutItem", plainPut, 900, // not twice the units that are kept
		}},
		"scans": {3, 1, []any{"Scan", tableScan, 3, "Scan", indexScan, 2}}, // of an empty table
		"an index": {200, 2, []any{
			"PutItem", datedPut, 2, "PutItem", plainPut, 0, // this removes the entry of the index
			2 * time.Second, "PutItem", datedPut, 4, "Scan", indexScan, 12,
		}},
		"other figures": {10, 1000, []any{
			9 * time.Second, fmt.Sprintf(`{"TableName":"paid",`+figures+`}`, 20), "PutItem", plainPut, 100,
			time.Second, "PutItem", plainPut, 20,
			time.Minute, fmt.Sprintf(`{"TableName":"paid",`+figures+`}`, 2), "PutItem", plainPut, 600,
			time.Hour, fmt.Sprintf(indexTo, 1), "PutItem", datedPut, 300, // the index kept as many units as the new settings allow
			time.Second, "PutItem", datedPut, 1,
		}},
		"on demand meanwhile": {10, 10, []any{
			time.Hour, toOnDemand, "PutItem", plainPut, 2000,
			time.Hour, paidAgain, "PutItem", plainPut, 30,
		}},
		"another index": {10, 10, []any{
			time.Hour, `{"TableName":"paid","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"by-day"}}]}`,
			`{"TableName":"paid",` + defined + fmt.Sprintf(`,"GlobalSecondaryIndexUpdates":[{"Create":`+byDay+`}]}`, 7), "PutItem", datedPut, 7,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := newClock()
			eng := newEngine(t, engine.Options{Now: now.Now, Provisioned: true})
			do(t, eng, "CreateTable", paid(tt.own, tt.index))
			for i := 0; i < len(tt.steps); i++ {
				switch s := tt.steps[i].(type) {
				case time.Duration:
					now.Advance(s)
				case string:
					if strings.HasPrefix(s, "{") {
						do(t, eng, "UpdateTable", s)
						continue
					}
					if got := attempts(t, eng, s, tt.steps[i+1].(string)); got != tt.steps[i+2] {
						t.Errorf("step %d: %s got through %d times, want %v", i, s, got, tt.steps[i+2])
					}
					i += 2
				}
			}
		})
	}
}

// The billing mode determines the error, unless the reason or the fault does.
func TestWhoNamesTheErrorOfThrottling(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{})
	do(t, eng, "CreateTable", paid(5, 5))
	for _, tt := range []struct {
		table, index string
		how          engine.Throttling
		want         string
	}{
		{"paid", "", engine.Throttling{}, "ProvisionedThroughputExceededException TableReadKeyRangeThroughputExceeded"},
		{"plain", "", engine.Throttling{}, "ThrottlingException TableReadKeyRangeThroughputExceeded"},
		{"paid", "by-day", engine.Throttling{}, "ProvisionedThroughputExceededException IndexReadKeyRangeThroughputExceeded"},
		{"plain", "", engine.Throttling{Code: api.ThroughputExceeded}, "ProvisionedThroughputExceededException TableReadKeyRangeThroughputExceeded"},
		{"nowhere", "", engine.Throttling{}, "ProvisionedThroughputExceededException TableReadKeyRangeThroughputExceeded"},
	} {
		err := eng.ThrottledTarget(target.Target{Table: tt.table, Index: tt.index, Read: true}, tt.how)
		if got := err.Code + " " + err.Throttled[0].Reason; got != tt.want {
			t.Errorf("%+v: got %s", tt, got)
		}
		if strings.Contains(err.Throttled[0].Resource, "/index/by-day") != (tt.index != "") {
			t.Errorf("%+v: of %s", tt, err.Throttled[0].Resource)
		}
	}
}

// Requests and changes of the throughput may run at the same time.
func TestPoolsWhileTheyChange(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{Provisioned: true})
	do(t, eng, "CreateTable", paid(1000, 1000))
	var group sync.WaitGroup
	for op, body := range map[string]string{
		"PutItem": datedPut, "GetItem": plainGet, "Scan": indexScan,
		"BatchGetItem": `{"RequestItems":{"paid":{"Keys":[{"id":{"S":"a"}}]}}}`, "TransactGetItems": `{"TransactItems":[{"Get":{"TableName":"paid","Key":{"id":{"S":"a"}}}}]}`,
		"ExecuteStatement": `{"Statement":"SELECT * FROM paid WHERE id = 'a'"}`,
	} {
		group.Go(func() {
			for range 50 {
				eng.Do(t.Context(), op, []byte(strings.ReplaceAll(body, "%d", "1")))
			}
		})
	}
	for i := range 20 {
		do(t, eng, "UpdateTable", fmt.Sprintf(`{"TableName":"paid",`+figures+`}`, 1001+i))
	}
	group.Wait()
}
