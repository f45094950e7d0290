package api_test

import (
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// DynamoDB's newer code checks some members of a write on its own, before the
// others. The older code reads a request that lacks a member or is nested deeply.
func TestMembersInNewerCode(t *testing.T) {
	t.Parallel()
	const (
		must     = " failed to satisfy constraint: Member must "
		name     = "1 validation error detected: Value at 'TableName'" + must + "have length greater than or equal to 1"
		returns  = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
		xor      = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
		older    = "Value 'x' at 'returnValues'" + must + "satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
		capacity = "Value 'y' at 'returnConsumedCapacity'" + must + "satisfy enum value set: [INDEXES, TOTAL, NONE]"
		both     = `"ReturnValues":"x","ReturnConsumedCapacity":"y"`
	)
	nested := func(levels int) string {
		return strings.Repeat(`{"M":{"n":`, levels) + `{"S":"x"}` + strings.Repeat(`}}`, levels)
	}
	requests := map[string]func() api.Request{
		"PutItem":    func() api.Request { return new(api.PutItem) },
		"UpdateItem": func() api.Request { return new(api.UpdateItem) },
		"DeleteItem": func() api.Request { return new(api.DeleteItem) },
	}
	for _, tt := range []struct{ members, one, want string }{ // one is UpdateItem's, if it is different
		{`"TableName":"","Key":{},"Item":{},` + both, "", name},
		{`"TableName":"t","Key":{},"Item":{},"ReturnValues":"x"`, "", "1 validation error detected: " + returns},
		{`"TableName":"t","Key":{},"Item":{},` + both, "1 validation error detected: " + returns, "2 validation errors detected: " + returns + "; " + capacity},
		{`"TableName":"t","Key":{},"Item":{},"ConditionalOperator":"XOR","Expected":{}`, "", "1 validation error detected: " + xor},
		{`"TableName":"t","Key":{},"Item":{},"ReturnConsumedCapacity":"y"`, "", "1 validation error detected: " + capacity},
		{`"TableName":"t","Key":{"a":` + nested(62) + `},"Item":{},"ReturnValues":"x"`, "", "1 validation error detected: " + returns},
		{`"TableName":"t","Key":{"a":` + nested(63) + `},"Item":{},"ReturnValues":"x"`, "", "1 validation error detected: " + older},
	} {
		for op, request := range requests {
			want := tt.want
			if op == "UpdateItem" && tt.one != "" {
				want = tt.one
			}
			err := api.Decode([]byte("{"+tt.members+"}"), request())
			if err == nil {
				t.Fatalf("%s takes %.200s", op, tt.members)
			}
			if got := api.OperationNamed(op).Told(err).Message; got != want {
				t.Errorf("%s {%.200s}:\n%s\nwant %s", op, tt.members, got, want)
			}
		}
	}
	for levels, want := range map[int]string{62: "1 validation error detected: ReturnValues can only be ALL_OLD or NONE", 63: "ReturnValues can only be ALL_OLD or NONE"} {
		err := api.Decode([]byte(`{"TableName":"t","Key":{"a":`+nested(levels)+`},"ReturnValues":"UPDATED_NEW"}`), new(api.DeleteItem))
		if got := api.OperationNamed("DeleteItem").Told(err).Message; got != want {
			t.Errorf("%d levels: %s\nwant %s", levels, got, want)
		}
	}
}

// The errors of each layer are reported in the operation's form. The original
// error is not changed.
func TestTold(t *testing.T) {
	t.Parallel()
	ofModel := api.Decode([]byte(`{"TableName":"a!","ReturnConsumedCapacity":"x"}`), new(api.Scan))
	missing := api.Decode([]byte(`{"TableName":""}`), new(api.UpdateItem))
	_, err := attr.Number("")
	value := api.ByRequest(api.Wrong(err))
	ofTable := api.Invalid("The provided key element does not match the schema")
	noTable := api.ByRequest(&api.Error{Code: api.ResourceNotFound, Message: "Requested resource not found"})
	const (
		envelope = "1 validation error detected: "
		number   = "The parameter cannot be converted to a numeric value"
		capacity = "Value 'x' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
		pattern  = "Value 'a!' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
		name     = "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
		two      = "2 validation errors detected: "
	)
	for _, tt := range []struct {
		err  *api.Error
		want map[string]string
	}{
		{ofModel, map[string]string{
			"UpdateItem": envelope + capacity,
			"PutItem":    two + capacity + "; " + pattern,
		}},
		{missing, map[string]string{"UpdateItem": two + name + "; Value null at 'key' failed to satisfy constraint: Member must not be null"}},
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
