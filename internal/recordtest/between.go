package recordtest

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// Send sends the input of a call, such as *dynamodb.GetItemInput, and returns its
// output.
type Send = func(in any) (out any, err error)

// Between returns a client whose calls go through f, which may look at the input
// and the output, send another input, or answer by itself.
func Between(db *dynamodb.Client, f func(in any, send Send) (any, error)) *dynamodb.Client {
	between := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (out middleware.InitializeOutput, md middleware.Metadata, err error) {
		out.Result, err = f(in.Parameters, func(changed any) (any, error) {
			in.Parameters = changed
			out, md, err = next.HandleInitialize(ctx, in)
			return out.Result, err
		})
		return out, md, err
	}
	return dynamodb.New(db.Options(), dynamodb.WithAPIOptions(func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Between", between), middleware.After)
	}))
}

// Dropping is a client that drops the options of its writes, as some wrappers do,
// so that nobody sees its attempts.
type Dropping struct{ *dynamodb.Client }

// PutItem puts.
func (d Dropping) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return d.Client.PutItem(ctx, in)
}

// UpdateItem updates.
func (d Dropping) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return d.Client.UpdateItem(ctx, in)
}

// DeleteItem deletes.
func (d Dropping) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return d.Client.DeleteItem(ctx, in)
}
