package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// around is a hook that calls one function before a call and one after it.
func around(before, after func(call *engine.Call) *api.Error) engine.Hook {
	return func(_ context.Context, call *engine.Call) engine.Decision {
		return engine.Decision{Answer: before(call), After: func(*api.Error) *api.Error { return after(call) }}
	}
}

func nothing(*engine.Call) *api.Error { return nil }

func TestHooksSeeWhatACallIsAbout(t *testing.T) {
	t.Parallel()
	var seen []string
	see := func(call *engine.Call) *api.Error {
		var targets []string
		for _, about := range call.Targets {
			targets = append(targets, strings.TrimSuffix(about.Table+"/"+about.Index, "/")+string(about.Key.AppendJSON(nil)))
		}
		seen = append(seen, call.Operation+" "+strings.Join(targets, " "))
		return nil
	}
	eng := newEngine(t, engine.Options{Hook: around(nothing, see)})
	seen = nil
	const key = `"Key":{"artist":{"S":"a"},"song":{"N":"1"}}`
	for _, tt := range []struct{ op, body, want string }{
		{"PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"},"v":{"S":"y"}}}`, `plain{"id":{"S":"x"}}`},
		{"GetItem", `{"TableName":"music",` + key + `}`, `music{"artist":{"S":"a"},"song":{"N":"1"}}`},
		{"Query", `{"TableName":"music","IndexName":"genre-title","KeyConditionExpression":"genre = :g","ExpressionAttributeValues":{":g":{"S":"x"}}}`, `music/genre-title{}`},
		{"BatchWriteItem", `{"RequestItems":{"plain":[{"PutRequest":{"Item":{"id":{"S":"a"},"v":{"N":"1"}}}},{"DeleteRequest":{"Key":{"id":{"S":"b"}}}}]}}`, `plain{"id":{"S":"a"}} plain{"id":{"S":"b"}}`},
		{"BatchGetItem", `{"RequestItems":{"plain":{"Keys":[{"id":{"S":"a"}}]}}}`, `plain{"id":{"S":"a"}}`},
		{
			"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"plain","Item":{"id":{"S":"a"},"v":{"N":"1"}}}},{"Delete":{"TableName":"music",` + key + `}}]}`,
			`plain{"id":{"S":"a"}} music{"artist":{"S":"a"},"song":{"N":"1"}}`,
		},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"plain","Key":{"id":{"S":"a"}}}}]}`, `plain{"id":{"S":"a"}}`},
		{"DescribeTable", `{"TableName":"plain"}`, `plain{}`},
		{"UpdateTable", `{"TableName":"plain","DeletionProtectionEnabled":false}`, `plain{}`},
	} {
		do(t, eng, tt.op, tt.body)
		if got, want := seen[len(seen)-1], tt.op+" "+tt.want; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestAHookRefusesBeforeAndAfter(t *testing.T) {
	t.Parallel()
	throttled := &api.Error{Code: "ProvisionedThroughputExceededException", Message: "slow down"}
	refuse := func(call *engine.Call) *api.Error {
		if call.Operation == "PutItem" {
			return throttled
		}
		return nil
	}
	for _, tt := range []struct {
		name  string
		hook  engine.Hook
		items int
	}{
		{"before: nothing happens", around(refuse, nothing), 0},
		{"after: it has happened", around(nothing, refuse), 1},
	} {
		eng := newEngine(t, engine.Options{Hook: tt.hook})
		db := connect(eng)
		if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: plain, Item: item("id", "x")}); code(err) != throttled.Code {
			t.Errorf("%s: %v", tt.name, err)
		}
		if n := len(scanAll(t.Context(), t, db, dynamodb.ScanInput{TableName: plain})); n != tt.items {
			t.Errorf("%s: %d items", tt.name, n)
		}
	}
}

func TestHooksLearnThePriceOfARefusal(t *testing.T) {
	t.Parallel()
	var got string
	eng := newEngine(t, engine.Options{Hook: func(_ context.Context, call *engine.Call) engine.Decision {
		return engine.Decision{After: func(refused *api.Error) *api.Error {
			got = fmt.Sprint(price(call.Cost), " ", refused)
			return nil
		}}
	}})
	eng.Do(t.Context(), "PutItem", []byte(`{"TableName":"plain","Item":{"id":{"S":"x"}},"ConditionExpression":"attribute_exists(id)"}`))
	if want := "plain 1w ConditionalCheckFailedException: The conditional request failed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAPanicIsAnInternalError(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, engine.Options{Log: silent(), Hook: around(func(call *engine.Call) *api.Error {
		if call.Operation == "Scan" {
			panic("a fault of the engine")
		}
		return nil
	}, nothing)})
	if res := eng.Do(t.Context(), "Scan", []byte(`{"TableName":"plain"}`)); res.Err == nil || res.Err.Code != api.InternalServerError {
		t.Errorf("got %v", res.Err)
	}
	do(t, eng, "PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"}}}`) // and the engine works on
}
