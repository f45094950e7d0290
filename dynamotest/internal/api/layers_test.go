package api_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// The errors of each layer are reported in the operation's form. The original
// error is not changed.
func TestTold(t *testing.T) {
	t.Parallel()
	ofModel := api.Decode([]byte(`{"TableName":"","Key":{},"ReturnValues":"x"}`), new(api.UpdateItem))
	missing := api.Decode([]byte(`{"TableName":""}`), new(api.UpdateItem))
	_, err := attr.Number("")
	value := api.ByRequest(api.Wrong(err))
	ofTable := api.Invalid("The provided key element does not match the schema")
	noTable := api.ByRequest(&api.Error{Code: api.ResourceNotFound, Message: "Requested resource not found"})
	const (
		envelope = "1 validation error detected: "
		number   = "The parameter cannot be converted to a numeric value"
		name     = "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
		two      = "2 validation errors detected: " + name + "; "
	)
	for _, tt := range []struct {
		err  *api.Error
		want map[string]string
	}{
		{ofModel, map[string]string{
			"UpdateItem": envelope + name,
			"PutItem":    two + "Value 'x' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
		}},
		{missing, map[string]string{"UpdateItem": two + "Value null at 'key' failed to satisfy constraint: Member must not be null"}},
		{value, map[string]string{
			"PutItem": envelope + number + ": ", "GetItem": number + ": ", "TransactWriteItems": number + ": ", "BatchWriteItem": number, "ExecuteStatement": number,
		}},
		{ofTable, map[string]string{"PutItem": ofTable.Message, "DeleteItem": ofTable.Message, "Query": ofTable.Message}},
		{noTable, map[string]string{"PutItem": noTable.Message}},
	} {
		before := tt.err.Message
		for op, want := range tt.want {
			if got := api.OperationNamed(op).Told(tt.err).Message; got != want {
				t.Errorf("%s tells it %s\nwant %s", op, got, want)
			}
		}
		if tt.err.Message != before {
			t.Errorf("%s has become %s", before, tt.err.Message)
		}
	}
	if again := api.ByRequest(ofModel); again != ofModel {
		t.Errorf("the model's error is one of the request: %v", again)
	}
}
