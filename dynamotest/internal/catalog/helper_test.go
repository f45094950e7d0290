package catalog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

var made = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

const arn = "arn:aws:dynamodb:us-east-1:123456789012:table/orders"

// orders is a table with every possible member.
const orders = `{"TableName":"orders","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},
	"KeySchema":[{"AttributeName":"customer","KeyType":"HASH"},{"AttributeName":"number","KeyType":"RANGE"}],
	"AttributeDefinitions":[{"AttributeName":"customer","AttributeType":"S"},{"AttributeName":"number","AttributeType":"N"},
		{"AttributeName":"day","AttributeType":"S"},{"AttributeName":"city","AttributeType":"S"}],
	"LocalSecondaryIndexes":[{"IndexName":"by-day","KeySchema":[{"AttributeName":"customer","KeyType":"HASH"},{"AttributeName":"day","KeyType":"RANGE"}],
		"Projection":{"ProjectionType":"ALL"}}],
	"GlobalSecondaryIndexes":[{"IndexName":"by-city","KeySchema":[{"AttributeName":"city","KeyType":"HASH"}],
		"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["total","note"]},"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":2},
		"WarmThroughput":{"ReadUnitsPerSecond":12000}}],
	"DeletionProtectionEnabled":true,"TableClass":"STANDARD_INFREQUENT_ACCESS",
	"SSESpecification":{"Enabled":true,"KMSMasterKeyId":"alias/orders"},
	"OnDemandThroughput":{"MaxReadRequestUnits":100,"MaxWriteRequestUnits":200},
	"Tags":[{"Key":"team","Value":"shop"}]}`

// plain is a table with only the necessary members.
const plain = `{"TableName":"plain","BillingMode":"PAY_PER_REQUEST",
	"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`

func decode[R api.Request](t *testing.T, body string, req R) R {
	t.Helper()
	if err := api.Decode([]byte(body), req); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return req
}

func create(t *testing.T, body string) catalog.Table {
	t.Helper()
	table, err := catalog.Create(decode(t, body, new(api.CreateTable)), arn)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return table.Made("0001", made)
}

// object returns the JSON object with the written members.
func object(members func(w *api.Writer)) string {
	var w api.Writer
	w.Element(func() { members(&w) })
	return string(w.Buf)
}

// described returns the description of an empty table.
func described(t *catalog.Table) string {
	now := &catalog.State{Status: "ACTIVE", Indexes: make([]catalog.Held, len(t.Indexes))}
	return object(func(w *api.Writer) { t.Describe(w, now) })
}

// refused reports an error whose text does not contain want. An empty want means
// no error.
func refused(t *testing.T, err *api.Error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%v, want %s", err, want)
	}
}
