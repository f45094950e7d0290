package wire_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

// BenchmarkDo measures the engine without a client: a call without the SDK.
func BenchmarkDo(b *testing.B) {
	eng := engine.New(engine.Options{})
	do := func(b *testing.B, op, body string) {
		b.Helper()
		if rep := wire.Do(b.Context(), eng, op, []byte(body)); rep.Status != 200 {
			b.Fatal(string(rep.Body))
		}
	}
	const items = 4000
	payload := strings.Repeat("x", 200)
	item := func(i int) string {
		return fmt.Sprintf(`{"TableName":"bench","Item":{"pk":{"S":"p%d"},"sk":{"N":"%d"},"n":{"N":"0"},"payload":{"S":"%s"}}}`, i/20, i%20, payload)
	}
	do(b, "CreateTable", `{"TableName":"bench","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`)
	for i := range items {
		do(b, "PutItem", item(i))
	}
	key := func(i int) string {
		return `{"pk":{"S":"p` + strconv.Itoa(i/20) + `"},"sk":{"N":"` + strconv.Itoa(i%20) + `"}}`
	}
	for _, bench := range []struct {
		op   string
		body func(i int) string
	}{
		{"PutItem", item},
		{"GetItem", func(i int) string { return `{"TableName":"bench","Key":` + key(i) + `}` }},
		{"UpdateItem", func(i int) string {
			return `{"TableName":"bench","Key":` + key(i) + `,"UpdateExpression":"ADD #n :one","ExpressionAttributeNames":{"#n":"n"},"ExpressionAttributeValues":{":one":{"N":"1"}}}`
		}},
		{"Query", func(i int) string {
			return `{"TableName":"bench","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p` + strconv.Itoa(i/20) + `"}}}`
		}},
	} {
		bodies := make([]string, items)
		for i := range bodies {
			bodies[i] = bench.body(i)
		}
		b.Run(bench.op, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				do(b, bench.op, bodies[i*7919%items])
			}
		})
	}
}
