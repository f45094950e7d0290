package dynamotest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The statements of the tests about orders. Each names the key of one order,
// except the first two, which select.
const (
	selectAll   = `SELECT * FROM "orders"`
	selectOfAnn = `SELECT * FROM "orders" WHERE "customer" = 'ann'`
	selectAnn1  = `SELECT * FROM "orders" WHERE "customer" = 'ann' AND "number" = 1`
	selectBo1   = `SELECT * FROM "orders" WHERE "number" = ? AND "customer" = ?`
	insertAnn1  = `INSERT INTO orders VALUE {'customer': 'ann', 'number': 1, 'day': '2026-03-29'}`
	insertBo1   = `INSERT INTO "orders" VALUE {'customer': ?, 'number': ?, 'day': '2026-03-29'}`
	updateAnn1  = `UPDATE orders SET paid = true WHERE customer = 'ann' AND number = 1`
	deleteAnn1  = `DELETE FROM "orders" WHERE "customer" = 'ann' AND "number" = 1`
)

// parametersOf returns a statement's parameters, nil if it has none.
func parametersOf(statement string) []types.AttributeValue {
	bo, one := &types.AttributeValueMemberS{Value: "bo"}, &types.AttributeValueMemberN{Value: "1"}
	switch statement {
	case selectBo1:
		return []types.AttributeValue{one, bo}
	case insertBo1:
		return []types.AttributeValue{bo, one}
	}
	return nil
}

func execute(t *testing.T, client *dynamodb.Client, statement string) ([]map[string]types.AttributeValue, error) {
	t.Helper()
	out, err := client.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{Statement: &statement, Parameters: parametersOf(statement)})
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

// executeBatch returns the code of each statement's error, and which statements
// found an item.
func executeBatch(t *testing.T, client *dynamodb.Client, statements ...string) (codes []string, found []bool) {
	t.Helper()
	var in []types.BatchStatementRequest
	for _, s := range statements {
		in = append(in, types.BatchStatementRequest{Statement: &s, Parameters: parametersOf(s)})
	}
	out, err := client.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: in})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Responses {
		code := ""
		if r.Error != nil {
			code = string(r.Error.Code)
		}
		codes, found = append(codes, code), append(found, r.Item != nil)
	}
	return codes, found
}

func executeTogether(t *testing.T, client *dynamodb.Client, statements ...string) error {
	t.Helper()
	var in []types.ParameterizedStatement
	for _, s := range statements {
		in = append(in, types.ParameterizedStatement{Statement: aws.String(s), Parameters: parametersOf(s)})
	}
	_, err := client.ExecuteTransaction(t.Context(), &dynamodb.ExecuteTransactionInput{TransactStatements: in})
	return err
}
