package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

func TestWhatAHookRefusesOfABatchComesBack(t *testing.T) {
	t.Parallel()
	refuse := func(_ context.Context, call *engine.Call) engine.Decision {
		d := engine.Decision{Refuse: make([]*api.Error, len(call.Targets))}
		for i := range d.Refuse {
			if i%2 == 1 {
				d.Refuse[i] = engine.ErrInternal
			}
		}
		return d
	}
	eng := newEngine(t, engine.Options{Hook: refuse})
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
