package cookbook

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
)

// Shop stores orders, and tells the warehouse of each.
type Shop struct {
	DB     *dynamodb.Client
	Orders string // a table whose partition key is pk, a string
	Outbox string // likewise; its rows are the messages that are not sent yet
	Seen   *ledger.Store
	// Send sends a message to the warehouse, which must act once for each key.
	Send func(ctx context.Context, key, body string) error
}

// Place stores an order and the message about it: both, or neither.
func (s Shop) Place(ctx context.Context, order, article string) error {
	key, err := ledger.Key("ORDER", order)
	if err != nil {
		return err
	}
	req := ledger.Request{Key: key, Payload: []byte(article)}
	_, err = ledger.DoTx(ctx, s.Seen, req, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		if c.Reasons() != nil { // the order was stored when the ledger still knew its key
			return order, nil, nil
		}
		return order, []types.TransactWriteItem{{Put: &types.Put{
			TableName:           &s.Orders,
			Item:                record.Item{"pk": record.Text(order), "article": record.Text(article)},
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		}}, {Put: &types.Put{
			TableName: &s.Outbox,
			Item:      record.Item{"pk": record.Text(key), "body": record.Text(article)},
		}}}, nil
	})
	return err
}

// SendAll sends the messages of the outbox, and deletes those that were sent. One that
// fails does not stop the others.
func (s Shop) SendAll(ctx context.Context) error {
	var failed []error
	pages := dynamodb.NewScanPaginator(s.DB, &dynamodb.ScanInput{TableName: &s.Outbox, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return errors.Join(append(failed, err)...)
		}
		for _, row := range page.Items {
			message := record.Read(row)
			key := message.Text("pk")
			err := s.Send(ctx, key, message.Text("body"))
			if err == nil {
				_, err = s.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.Outbox, Key: record.Item{"pk": row["pk"]}})
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("message %s: %w", key, err))
			}
		}
	}
	return errors.Join(failed...)
}
