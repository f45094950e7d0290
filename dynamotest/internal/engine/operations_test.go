package engine_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// Each row of the table of operations has a handler for the row's request.
func TestEveryOperationHasAHandler(t *testing.T) {
	t.Parallel()
	for _, name := range api.Operations(0) {
		eng := engine.New(engine.Options{Log: silent()})
		if err := eng.Do(t.Context(), name, []byte(`{}`)).Err; err != nil && (err.Code == api.UnknownOperation || err.Code == api.InternalServerError) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := engine.New(engine.Options{}).Do(t.Context(), "Nothing", []byte(`{}`)).Err; err == nil || err.Code != api.UnknownOperation {
		t.Errorf("an operation without a row: %v", err)
	}
}
