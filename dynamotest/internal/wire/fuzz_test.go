package wire_test

import (
	"net/http"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

// FuzzDo looks for a request that breaks the engine.
func FuzzDo(f *testing.F) {
	for _, seed := range []struct{ op, body string }{
		{"PutItem", `{"TableName":"plain","Item":{"id":{"S":"x"},"l":{"L":[{"N":"1"},{"M":{"a":{"SS":["b"]}}}]}},"ConditionExpression":"attribute_not_exists(id) OR size(#l) > :n","ExpressionAttributeNames":{"#l":"l"},"ExpressionAttributeValues":{":n":{"N":"0"}},"ReturnConsumedCapacity":"INDEXES"}`},
		{"UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"x"}},"UpdateExpression":"SET l[3] = list_append(l, :l), n = if_not_exists(n, :n) + :n REMOVE m.a ADD s :s DELETE t :s","ExpressionAttributeValues":{":l":{"L":[]},":n":{"N":"1"},":s":{"SS":["a"]}},"ReturnValues":"UPDATED_NEW"}`},
		{"DeleteItem", `{"TableName":"plain","Key":{"id":{"S":"x"}},"ReturnValues":"ALL_OLD"}`},
		{"GetItem", `{"TableName":"plain","Key":{"id":{"S":"x"}},"ProjectionExpression":"l[1].a, id"}`},
		{"Query", `{"TableName":"plain","KeyConditionExpression":"id = :v","FilterExpression":"contains(l, :v) AND NOT l[0] BETWEEN :v AND :v","ExpressionAttributeValues":{":v":{"S":"x"}},"Limit":1,"ExclusiveStartKey":{"id":{"S":"x"}}}`},
		{"Scan", `{"TableName":"plain","Segment":1,"TotalSegments":3,"Select":"COUNT"}`},
		{"BatchGetItem", `{"RequestItems":{"plain":{"Keys":[{"id":{"S":"x"}}],"ProjectionExpression":"id"}}}`},
		{"BatchWriteItem", `{"RequestItems":{"plain":[{"PutRequest":{"Item":{"id":{"S":"y"}}}},{"DeleteRequest":{"Key":{"id":{"S":"x"}}}}]}}`},
		{"TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"TableName":"plain","Key":{"id":{"S":"x"}},"ConditionExpression":"attribute_exists(id)"}},{"Put":{"TableName":"plain","Item":{"id":{"S":"y"}}}}],"ClientRequestToken":"t"}`},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"plain","Key":{"id":{"S":"x"}}}}]}`},
		{"ExecuteStatement", `{"Statement":"UPDATE plain SET n = n + ?, l = list_append(l, [1]) REMOVE m.a WHERE id = 'x' AND s = <<'a'>> RETURNING ALL NEW *","Parameters":[{"N":"1"}],"ReturnConsumedCapacity":"TOTAL"}`},
		{"ExecuteStatement", `{"Statement":"SELECT id, m.a, l[0] FROM \"plain\" WHERE id IN ['x', 'y'] OR id = 'z' AND n > 1 ORDER BY id","Limit":1,"NextToken":"AAAA"}`},
		{"BatchExecuteStatement", `{"Statements":[{"Statement":"INSERT INTO plain VALUE {'id': 'y', 'v': [1, {'a': null}]}"},{"Statement":"DELETE FROM plain WHERE id = 'x'"}]}`},
		{"ExecuteTransaction", `{"TransactStatements":[{"Statement":"EXISTS(SELECT * FROM plain WHERE id = 'x' AND n = 2)"},{"Statement":"INSERT INTO plain VALUE ?","Parameters":[{"M":{"id":{"S":"y"}}}]}],"ClientRequestToken":"t"}`},
		{"CreateTable", table},
		{"UpdateTable", `{"TableName":"plain","AttributeDefinitions":[{"AttributeName":"g","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"index","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`},
		{"UpdateTimeToLive", `{"TableName":"plain","TimeToLiveSpecification":{"AttributeName":"t","Enabled":true}}`},
		{"TagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:123456789012:table/plain","Tags":[{"Key":"a","Value":"b"}]}`},
		{"Query", `{"TableName":"plain","KeyConditions":{"id":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}},"QueryFilter":{"n":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"1"},{"N":"2"}]},"s":{"ComparisonOperator":"NOT_CONTAINS","AttributeValueList":[{"S":"a"}]}},"ConditionalOperator":"OR","AttributesToGet":["n"]}`},
		{"UpdateItem", `{"TableName":"plain","Key":{"id":{"S":"x"}},"AttributeUpdates":{"n":{"Action":"ADD","Value":{"N":"1"}},"l":{"Action":"ADD","Value":{"L":[]}},"s":{"Action":"DELETE","Value":{"SS":["a"]}}},"Expected":{"n":{"Exists":true,"Value":{"N":"2"}}},"ReturnValues":"ALL_NEW"}`},
		{"UpdateTable", `{"TableName":"plain","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}}`},
		{"GetRecords", `{"ShardIterator":"arn:aws:dynamodb:us-east-1:123456789012:table/plain/stream/2026-01-01T00:00:00.000|1|MSAx","Limit":1}`},
		{"GetShardIterator", `{"StreamArn":"arn:aws:dynamodb:us-east-1:123456789012:table/plain/stream/2026-01-01T00:00:00.000","ShardId":"shardId-00000000000000000000-00000000","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"100000000000000000001"}`},
	} {
		f.Add(seed.op, []byte(seed.body))
	}
	f.Fuzz(func(t *testing.T, op string, body []byte) {
		eng := newEngine(t, nil)
		before := `{"TableName":"plain","Item":{"id":{"S":"x"},"l":{"L":[{"N":"1"}]},"n":{"N":"2"},"s":{"SS":["a"]},"m":{"M":{"a":{"S":"b"}}}}}`
		wire.Do(t.Context(), eng, "PutItem", []byte(before))
		if rep := wire.Do(t.Context(), eng, op, body); rep.Status >= http.StatusInternalServerError {
			t.Errorf("%s %s: %s", op, body, rep.Body)
		}
		eng.ExpireTTL()
		if rep := wire.Do(t.Context(), eng, "ListTables", []byte(`{}`)); rep.Status != http.StatusOK {
			t.Errorf("afterwards: %s", rep.Body)
		}
	})
}
