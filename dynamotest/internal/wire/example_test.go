package wire_test

import (
	"context"
	"fmt"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

func ExampleDo() {
	ctx, eng := context.Background(), engine.New(engine.Options{})
	for _, request := range []struct{ target, body string }{
		{"CreateTable", `{"TableName":"orders","BillingMode":"PAY_PER_REQUEST",
			"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`},
		{"PutItem", `{"TableName":"orders","Item":{"id":{"S":"7"},"total":{"N":"99.50"}}}`},
		{"GetItem", `{"TableName":"orders","Key":{"id":{"S":"7"}}}`},
		{"PutItem", `{"TableName":"orders","Item":{"id":{"S":"7"}},"ConditionExpression":"attribute_not_exists(id)"}`},
	} {
		reply := wire.Do(ctx, eng, request.target, []byte(request.body))
		if request.target != "CreateTable" {
			fmt.Printf("%d %s\n", reply.Status, reply.Body)
		}
	}
	// Output:
	// 200 {}
	// 200 {"Item":{"id":{"S":"7"},"total":{"N":"99.5"}}}
	// 400 {"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}
}
