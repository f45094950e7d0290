package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

const usersTable = `{"TableName":"users","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`

const byName = `{"TableName":"users","AttributeDefinitions":[{"AttributeName":"name","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[
	{"Create":{"IndexName":"by-name","KeySchema":[{"AttributeName":"name","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`

// newUsers returns an engine with a table whose item anna has a long list.
func newUsers(t *testing.T) *Engine {
	t.Helper()
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	e := New(Options{Now: func() time.Time { return now }})
	perform(t, e, "CreateTable", usersTable)
	perform(t, e, "UpdateTimeToLive", `{"TableName":"users","TimeToLiveSpecification":{"AttributeName":"until","Enabled":true}}`)
	perform(t, e, "PutItem", fmt.Sprintf(`{"TableName":"users","Item":{"id":{"S":"anna"},"name":{"S":"Anna"},"until":{"N":"%d"},"l":{"L":[%s]}}}`,
		now.Add(-time.Hour).Unix(), strings.TrimSuffix(strings.Repeat(`{"S":""},`, 50_000), ",")))
	return e
}

func perform(t *testing.T, e *Engine, op, body string) string {
	t.Helper()
	res := e.Do(t.Context(), op, []byte(body))
	if res.Err != nil {
		t.Fatalf("%s %.200s: %v", op, body, res.Err)
	}
	return string(res.Body)
}

// rename gives anna a new name. Its condition takes a while, and is true with and
// without the item. It is an Update for UpdateItem and for TransactWriteItems.
var rename = fmt.Sprintf(`{"TableName":"users","Key":{"id":{"S":"anna"}},"UpdateExpression":"SET #n = :n REMOVE #u, l","ConditionExpression":"NOT (%s)",
	"ExpressionAttributeNames":{"#n":"name","#u":"until"},"ExpressionAttributeValues":{":n":{"S":"Anne"}}}`,
	strings.TrimSuffix(strings.Repeat("contains(l, :n) OR ", 100), " OR "))

// writers returns requests that write anna, by operation.
func writers() map[string]string {
	return map[string]string{
		"UpdateItem":         rename,
		"TransactWriteItems": `{"TransactItems":[{"Update":` + rename + `}]}`,
		"BatchWriteItem":     `{"RequestItems":{"users":[{"PutRequest":{"Item":{"id":{"S":"anna"},"name":{"S":"Anne"}}}}]}}`,
	}
}

// start sends a request, and returns when the request holds or wants the latch
// of its item, or is done.
func start(t *testing.T, e *Engine, op, body string) <-chan Result {
	t.Helper()
	before := e.latches.Wanted()
	done := make(chan Result, 1)
	go func() { done <- e.Do(t.Context(), op, []byte(body)) }()
	for len(done) == 0 && e.latches.Wanted() == before {
		runtime.Gosched()
	}
	return done
}

// scanned returns the items in the table users, or in an index if its name is
// given.
func scanned(t *testing.T, e *Engine, index string) string {
	t.Helper()
	if index != "" {
		index = `,"IndexName":"` + index + `"`
	}
	return perform(t, e, "Scan", `{"TableName":"users","ProjectionExpression":"#n","ExpressionAttributeNames":{"#n":"name"}`+index+`}`)
}

const anne = `{"Items":[{"name":{"S":"Anne"}}],"Count":1,"ScannedCount":1}`

// A change between the plan of a write and its commit makes the write begin
// again.
func TestWhatComesBetweenPlanAndCommit(t *testing.T) {
	t.Parallel()
	for op, body := range writers() {
		t.Run("an expiry and "+op, func(t *testing.T) {
			t.Parallel()
			e := newUsers(t)
			done := start(t, e, op, body)
			e.ExpireTTL()
			if res := <-done; res.Err != nil {
				t.Fatal(res.Err)
			}
			if got := scanned(t, e, ""); got != anne {
				t.Error(got)
			}
			if n := e.tables["users"].items.bytes; n > 100 {
				t.Errorf("the table counts %d bytes", n)
			}
		})
		t.Run("a new index and "+op, func(t *testing.T) {
			t.Parallel()
			e := newUsers(t)
			done := start(t, e, op, body)
			perform(t, e, "UpdateTable", byName)
			if res := <-done; res.Err != nil {
				t.Fatal(res.Err)
			}
			if got := scanned(t, e, "by-name"); got != anne {
				t.Error(got)
			}
		})
	}
}

// New settings of an index do not make a write begin again: otherwise a caller
// that keeps changing them would hold up writers.
func TestSettingsLeavePlansStanding(t *testing.T) {
	t.Parallel()
	e := newUsers(t)
	perform(t, e, "UpdateTable", strings.Replace(byName, `"Create":{`, `"Create":{"WarmThroughput":{"ReadUnitsPerSecond":13000,"WriteUnitsPerSecond":5000},`, 1))
	p, release := holdAnna(t, e)
	defer release()
	perform(t, e, "UpdateTable", `{"TableName":"users","GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"by-name",
		"WarmThroughput":{"ReadUnitsPerSecond":14000,"WriteUnitsPerSecond":5000}}}]}`)
	if p.changes[0].indexes[0] == e.tables["users"].indexes[0] {
		t.Fatal("the index has not changed")
	}
	if !e.current(p.located()...) {
		t.Error("the plan does not stand")
	}
	p.changes[0].new = nil
	p.changes[0].planEntries()
	e.commit(e.now(), pointers(p.changes))
	if got := scanned(t, e, "by-name"); got != `{"Items":[],"Count":0,"ScannedCount":0}` {
		t.Error(got)
	}
}

// holdAnna holds the item as a writer does.
func holdAnna(t *testing.T, e *Engine) (p *plan, release func()) {
	t.Helper()
	p = e.locateAll([]*write{{kind: api.Put, table: "users", req: &api.Write{Item: api.Item{Map: attr.NewMap(
		attr.Field{Name: "id", Value: attr.String("anna")},
	)}}}}, nil)
	return p, p.hold(e)
}

// A request that waits for one of several items does not hold the others.
func TestAWaitHoldsNobodyElseUp(t *testing.T) {
	t.Parallel()
	others := map[string]string{
		"TransactWriteItems": `{"TransactItems":[{"Update":` + rename + `},{"Put":{"TableName":"users","Item":{"id":{"S":"aa"}}}},{"Put":{"TableName":"users","Item":{"id":{"S":"zz"}}}}]}`,
		"BatchWriteItem": `{"RequestItems":{"users":[{"PutRequest":{"Item":{"id":{"S":"anna"}}}},{"PutRequest":{"Item":{"id":{"S":"aa"}}}},
			{"PutRequest":{"Item":{"id":{"S":"zz"}}}}]}}`,
	}
	for op, body := range others {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			e := newUsers(t)
			_, release := holdAnna(t, e)
			waiting := start(t, e, op, body)
			free := make(chan Result, 2)
			go func() {
				for _, id := range []string{"aa", "zz"} {
					free <- e.Do(t.Context(), "PutItem", []byte(`{"TableName":"users","Item":{"id":{"S":"`+id+`"}}}`))
				}
			}()
			for range 2 {
				select {
				case <-free:
				case <-time.After(time.Minute):
					t.Error("the items that are free have to wait")
				}
			}
			if len(waiting) > 0 {
				t.Error("it did not wait for its turn")
			}
			release()
			if res := <-waiting; res.Err != nil {
				t.Fatal(res.Err)
			}
		})
	}
}

// Writes of one item take turns. Other writes go on. If the table has changed
// when the turn of a write comes, it begins again.
func TestWritesOfAnItemTakeTurns(t *testing.T) {
	t.Parallel()
	for op, body := range writers() {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			e := newUsers(t)
			_, release := holdAnna(t, e)
			done := start(t, e, op, body)
			perform(t, e, "PutItem", `{"TableName":"users","Item":{"id":{"S":"bo"}}}`)
			perform(t, e, "DeleteTable", `{"TableName":"users"}`)
			perform(t, e, "CreateTable", usersTable)
			if len(done) > 0 {
				t.Error("it did not wait for its turn")
			}
			release()
			if res := <-done; res.Err != nil {
				t.Fatal(res.Err)
			}
			if got := scanned(t, e, ""); got != anne {
				t.Error(got)
			}
			if n := e.latches.Wanted(); n != 0 {
				t.Errorf("%d latches are still wanted", n)
			}
		})
	}
}
