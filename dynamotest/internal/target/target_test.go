package target_test

import (
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// requests returns a request of each operation about the table plain.
func requests() map[string]string {
	const (
		table  = `{"TableName":"plain"}`
		item   = `{"TableName":"plain","Item":{"id":{"S":"a"}}}`
		key    = `{"TableName":"plain","Key":{"id":{"S":"a"}}}`
		tagged = `{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/plain"`
		stream = `"arn:aws:dynamodb:us-east-1:123456789012:table/plain/stream/2026-03-29T12:00:00.000`
		insert = `{"Statement":"INSERT INTO plain VALUE {'id': 'a'}"}`
	)
	return map[string]string{
		"BatchExecuteStatement": `{"Statements":[` + insert + `]}`, "ExecuteStatement": insert, "ExecuteTransaction": `{"TransactStatements":[` + insert + `]}`,
		"BatchGetItem":   `{"RequestItems":{"plain":{"Keys":[{"id":{"S":"a"}}]}}}`,
		"BatchWriteItem": `{"RequestItems":{"plain":[{"DeleteRequest":{"Key":{"id":{"S":"a"}}}}]}}`,
		"CreateTable":    `{"TableName":"plain","BillingMode":"PAY_PER_REQUEST", "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}], "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`, "DeleteTable": table, "DescribeTable": table, "UpdateTable": `{"TableName":"plain","DeletionProtectionEnabled":false}`,
		"DescribeContinuousBackups": table, "UpdateContinuousBackups": `{"TableName":"plain","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`,
		"DescribeTimeToLive": table, "UpdateTimeToLive": `{"TableName":"plain","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}}`,
		"PutItem": item, "UpdateItem": key, "DeleteItem": key, "GetItem": key,
		"Query":              `{"TableName":"plain","KeyConditionExpression":"id = :a","ExpressionAttributeValues":{":a":{"S":"a"}}}`,
		"Scan":               table,
		"TransactGetItems":   `{"TransactItems":[{"Get":` + key + `}]}`,
		"TransactWriteItems": `{"TransactItems":[{"Put":` + item + `}]}`,
		"TagResource":        tagged + `,"Tags":[{"Key":"a","Value":"b"}]}`, "UntagResource": tagged + `,"TagKeys":["a"]}`, "ListTagsOfResource": tagged + `}`,
		"ListStreams": table, "DescribeStream": `{"StreamArn":` + stream + `"}`,
		"GetShardIterator": `{"StreamArn":` + stream + `","ShardId":"shardId-00000000000000000001","ShardIteratorType":"LATEST"}`,
		"GetRecords":       `{"ShardIterator":` + stream + `|1|AAAA"}`,
	}
}

func ofPlain(string) []string { return []string{"id"} }

// A fault for a table matches every operation that names the table.
func TestEveryOperationNamesItsTable(t *testing.T) {
	t.Parallel()
	bodies := requests()
	for _, op := range api.Operations(0) {
		switch op {
		case "DescribeEndpoints", "DescribeLimits", "ListTables":
			continue // these are not about a table
		}
		targets := target.Of(target.Decode(op, []byte(bodies[op])), ofPlain)
		if len(targets) != 1 || targets[0].Table != "plain" {
			t.Errorf("%s %s: targets %v", op, bodies[op], targets)
		}
	}
}

// The traits of an operation in the table of operations agree with its requests
// and its name.
func TestTraitsAreWhatRequestsShow(t *testing.T) {
	t.Parallel()
	for op, body := range requests() {
		row, about := api.OperationNamed(op), target.Of(target.Decode(op, []byte(body)), ofPlain)[0]
		statements := strings.HasSuffix(op, "Statement") || op == "ExecuteTransaction"
		items := about.Key != nil || about.Read
		for trait, want := range map[api.Trait]bool{
			api.Consumes:     items,
			api.NamesNoItem:  items && about.Key == nil,
			api.Reads:        about.Read,
			api.Writes:       about.Key != nil && !about.Read && !statements,
			api.Statements:   statements,
			api.Batch:        strings.HasPrefix(op, "Batch"),
			api.Transaction:  strings.Contains(op, "Transact"),
			api.NamesNoTable: false,
			api.ChangesTable: !items && !strings.HasPrefix(op, "Describe") && !strings.HasPrefix(op, "List") && !strings.HasPrefix(op, "Get"),
		} {
			if row.Has(trait) != want {
				t.Errorf("%s has trait %b: %v, want %v", op, trait, !want, want)
			}
		}
	}
	for _, op := range api.Operations(0) {
		if _, named := requests()[op]; named == api.OperationNamed(op).Has(api.NamesNoTable) {
			t.Errorf("%s names a table: %v", op, named)
		}
	}
}

// If no table is known, the given attributes stand for the key of an item, and
// those that a statement compares with one value for its key.
func TestTargetsElsewhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ op, body, key string }{
		{"PutItem", `{"TableName":"plain","Item":{"id":{"S":"a"},"v":{"N":"1"}}}`, `{"id":{"S":"a"}}`},
		{"ExecuteStatement", `{"Statement":"UPDATE plain SET n = 2 WHERE id = 'x' AND n = 1"}`, `{"id":{"S":"x"}}`},
		{"ExecuteStatement", `{"Statement":"INSERT INTO plain VALUE {'id': 'x', 'n': 1}"}`, `{"id":{"S":"x"}}`},
	} {
		targets := target.Elsewhere(target.Decode(tt.op, []byte(tt.body)), "id", "other")
		if len(targets) != 1 || targets[0].Table != "plain" || string(targets[0].Key.AppendJSON(nil)) != tt.key {
			t.Errorf("%s: targets %v", tt.body, targets)
		}
	}
	for op, body := range map[string]string{"PutItem": `{"TableName":`, "OfTomorrow": `{}`} {
		if targets := target.Elsewhere(target.Decode(op, []byte(body))); targets != nil {
			t.Errorf("%s %s is about %v", op, body, targets)
		}
	}
}
