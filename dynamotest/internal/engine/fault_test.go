package engine_test

import (
	"fmt"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

func TestWhatAHookRefusesOfABatchComesBack(t *testing.T) {
	t.Parallel()
	refuse := func(call *engine.Call) *api.Error {
		call.Refuse = make([]bool, len(call.Targets))
		for i := range call.Refuse {
			call.Refuse[i] = i%2 == 1
		}
		return nil
	}
	eng := newEngine(t, engine.Options{Hooks: hooks{refuse, nothing}})
	wrote := do(t, eng, "BatchWriteItem", `{"RequestItems":{"plain":[
		{"PutRequest":{"Item":{"id":{"S":"a"}}}},{"PutRequest":{"Item":{"id":{"S":"b"}}}},
		{"PutRequest":{"Item":{"id":{"S":"c"}}}},{"DeleteRequest":{"Key":{"id":{"S":"d"}}}}]}}`)
	if got, want := fmt.Sprint(wrote["UnprocessedItems"]), "map[plain:[map[PutRequest:map[Item:map[id:map[S:b]]]] map[DeleteRequest:map[Key:map[id:map[S:d]]]]]]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	read := do(t, eng, "BatchGetItem", `{"RequestItems":{"plain":{"Keys":[{"id":{"S":"a"}},{"id":{"S":"c"}},{"id":{"S":"b"}}]}}}`)
	if got, want := fmt.Sprint(read), "map[Responses:map[plain:[map[id:map[S:a]]]] UnprocessedKeys:map[plain:map[Keys:[map[id:map[S:c]]]]]]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
