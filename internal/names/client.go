package names

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// Client returns the client as the code of a package uses it: with the names of
// FORMAT.md. TransactWriteItems is passed on as it is, because a transaction may
// have actions on other tables: use [Names.Action], and [Names.Read] for the rows
// of its reasons.
func Client[API any](n *Names, api API) API {
	if n == nil || check.NotNil("", "", api) != nil { // which New refuses
		return api
	}
	return any(&client{n, api}).(API)
}

// client has the requests of every package; its api has those of one.
type client struct {
	names *Names
	api   any
}

// call is a method of a client.
type call[In, Out any] = func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

// send sends a copy of the request with the table's names, and gives the reply
// those of FORMAT.md.
func send[In, Out any](ctx context.Context, c *client, do call[In, Out], in *In, opts []func(*dynamodb.Options), request func(*In), reply func(*Out)) (*Out, error) {
	own := *in
	request(&own)
	out, err := do(ctx, &own, opts...)
	if out != nil {
		reply(out)
	}
	return out, ddb.MapRefused(err, c.names.Read)
}

func (c *client) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	do := c.api.(interface {
		GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	}).GetItem
	return send(ctx, c, do, in, opts, func(in *dynamodb.GetItemInput) {
		c.names.rename(&in.Key, &in.ExpressionAttributeNames, in.ProjectionExpression)
	}, func(out *dynamodb.GetItemOutput) { out.Item = c.names.Read(out.Item) })
}

func (c *client) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	do := c.api.(interface {
		PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	}).PutItem
	return send(ctx, c, do, in, opts, func(in *dynamodb.PutItemInput) {
		c.names.rename(&in.Item, &in.ExpressionAttributeNames)
	}, func(out *dynamodb.PutItemOutput) { out.Attributes = c.names.Read(out.Attributes) })
}

func (c *client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	do := c.api.(interface {
		UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	}).UpdateItem
	return send(ctx, c, do, in, opts, func(in *dynamodb.UpdateItemInput) {
		c.names.rename(&in.Key, &in.ExpressionAttributeNames)
	}, func(out *dynamodb.UpdateItemOutput) { out.Attributes = c.names.Read(out.Attributes) })
}

func (c *client) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	do := c.api.(interface {
		DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	}).DeleteItem
	return send(ctx, c, do, in, opts, func(in *dynamodb.DeleteItemInput) {
		c.names.rename(&in.Key, &in.ExpressionAttributeNames)
	}, func(out *dynamodb.DeleteItemOutput) { out.Attributes = c.names.Read(out.Attributes) })
}

func (c *client) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return send(ctx, c, c.api.(dynamodb.QueryAPIClient).Query, in, opts, func(in *dynamodb.QueryInput) {
		if in.IndexName != nil {
			index := c.names.Index(*in.IndexName)
			in.IndexName = &index
		}
		c.names.rename(&in.ExclusiveStartKey, &in.ExpressionAttributeNames, in.FilterExpression, in.ProjectionExpression)
	}, func(out *dynamodb.QueryOutput) {
		out.Items, out.LastEvaluatedKey = c.names.readAll(out.Items), c.names.Read(out.LastEvaluatedKey)
	})
}

func (c *client) Scan(ctx context.Context, in *dynamodb.ScanInput, opts ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return send(ctx, c, c.api.(dynamodb.ScanAPIClient).Scan, in, opts, func(in *dynamodb.ScanInput) {
		c.names.rename(&in.ExclusiveStartKey, &in.ExpressionAttributeNames, in.FilterExpression, in.ProjectionExpression)
	}, func(out *dynamodb.ScanOutput) {
		out.Items, out.LastEvaluatedKey = c.names.readAll(out.Items), c.names.Read(out.LastEvaluatedKey)
	})
}

func (c *client) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	do := c.api.(interface {
		BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
	}).BatchWriteItem
	return send(ctx, c, do, in, opts,
		func(in *dynamodb.BatchWriteItemInput) { in.RequestItems = deletes(in.RequestItems, c.names.Stored) },
		func(out *dynamodb.BatchWriteItemOutput) {
			out.UnprocessedItems = deletes(out.UnprocessedItems, c.names.Read)
		})
}

// deletes names the keys of a batch, which has only deletions.
func deletes(all map[string][]types.WriteRequest, name func(ddb.Item) ddb.Item) map[string][]types.WriteRequest {
	named := make(map[string][]types.WriteRequest, len(all))
	for table, requests := range all {
		for _, request := range requests {
			named[table] = append(named[table], types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: name(request.DeleteRequest.Key)}})
		}
	}
	return named
}

func (c *client) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return c.api.(interface {
		TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	}).TransactWriteItems(ctx, in, opts...)
}
