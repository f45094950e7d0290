package recordtest

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// API is a client for every record package. Each request fails with the error
// that the function returns for the operation, such as "GetItem". Embed it to
// answer some of the requests.
type API func(operation string) error

// Down returns an API whose requests all fail with the error.
func Down(err error) API { return func(string) error { return err } }

// Silent returns an API that fails the test when a request is sent.
func Silent(t testing.TB) API {
	return func(operation string) error {
		t.Helper()
		err := errors.New("no request should have been sent: " + operation)
		t.Error(err)
		return err
	}
}

// GetItem fails.
func (a API) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return nil, a("GetItem")
}

// PutItem fails.
func (a API) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return nil, a("PutItem")
}

// UpdateItem fails.
func (a API) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return nil, a("UpdateItem")
}

// DeleteItem fails.
func (a API) DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return nil, a("DeleteItem")
}

// Query fails.
func (a API) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return nil, a("Query")
}

// TransactWriteItems fails.
func (a API) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return nil, a("TransactWriteItems")
}

// BatchWriteItem fails.
func (a API) BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return nil, a("BatchWriteItem")
}

// Scan fails.
func (a API) Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return nil, a("Scan")
}
