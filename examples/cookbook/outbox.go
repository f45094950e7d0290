package cookbook

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
)

// Shop stores orders, and tells the warehouse of each.
type Shop struct {
	DB     *dynamodb.Client
	Orders string        // a table whose partition key is pk, a string
	Outbox string        // a table with pk and sk, strings: messages that wait, and dead letters
	Seen   *ledger.Store // the orders that were placed
	Locks  *ledger.Store // who sends what waits
	// Send sends a message to the warehouse, which must act once for each key. An error
	// of ledger.Permanent makes it a dead letter at once.
	Send func(ctx context.Context, key, body string) error
	// Tries is how often a message is sent at most. 1,000 outlast an outage of two hours,
	// if one process calls SendAll every 10 seconds. Each further process adds its tries.
	Tries int64
}

// Buckets is how many partitions the outbox has. A key's messages are in one of them.
const Buckets = 16

// message is a row of the outbox.
type message struct{ pk, sk, key, body string }

func newMessage(ev event.Event, key, body string) message {
	hash := fnv.New32a()
	hash.Write([]byte(key))
	return message{pk: partition(int(hash.Sum32() % Buckets)), sk: record.Key(ev.String(), key), key: key, body: body}
}

func partition(bucket int) string { return record.Key("OUT", strconv.Itoa(bucket)) }

func readMessage(row record.Item) (message, error) {
	f := record.Read(row)
	return message{f.Text("pk"), f.Text("sk"), f.Text("key"), f.Text("body")}, f.Err()
}

func (m message) id() record.Item {
	return record.Item{"pk": record.Text(m.pk), "sk": record.Text(m.sk)}
}

// put writes the message, as one that was never sent.
func (s Shop) put(m message) types.TransactWriteItem {
	row := m.id()
	row["key"], row["body"], row["tries"] = record.Text(m.key), record.Text(m.body), record.Int(0)
	return types.TransactWriteItem{Put: &types.Put{TableName: &s.Outbox, Item: row}}
}

// Place stores an order and the message about it: both, or neither. Then it sends the
// message. If that fails, or the process dies before, SendAll sends it.
func (s Shop) Place(ctx context.Context, order, article string) error {
	key, err := ledger.Key("ORDER", order)
	if err != nil {
		return err
	}
	var m *message
	req := ledger.Request{Key: key, Payload: []byte(article)}
	_, err = ledger.DoTx(ctx, s.Seen, req, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		if m = nil; c.Reasons() != nil { // the order was stored when the ledger still knew its key
			return order, nil, nil
		}
		ev, err := c.Event()
		if err != nil {
			return "", nil, err
		}
		m = new(newMessage(ev, key, article))
		return order, []types.TransactWriteItem{{Put: &types.Put{
			TableName:           &s.Orders,
			Item:                record.Item{"pk": record.Text(order), "article": record.Text(article)},
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		}}, s.put(*m)}, nil
	})
	if err == nil && m != nil {
		_ = s.deliver(ctx, *m) // the order is placed in any case
	}
	return err
}

// SendAll sends the messages that wait in all buckets. Call it every 10 seconds, in as
// many processes as you like.
func (s Shop) SendAll(ctx context.Context) error {
	var failed []error
	for bucket := range Buckets {
		failed = append(failed, s.SendBucket(ctx, bucket))
	}
	return errors.Join(failed...)
}

// SendBucket sends the messages of one bucket, unless another process is at it.
func (s Shop) SendBucket(ctx context.Context, bucket int) error {
	query := &dynamodb.QueryInput{
		TableName: &s.Outbox, KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: record.Item{":pk": record.Text(partition(bucket))},
	}
	peek := *query
	peek.Limit = aws.Int32(1)
	first, err := s.DB.Query(ctx, &peek)
	if err != nil || len(first.Items) == 0 {
		return err
	}
	query.ConsistentRead = aws.Bool(true) // now, when nobody else sends
	err = ledger.Hold(ctx, s.Locks, ledger.Request{Key: "OUTBOX:" + strconv.Itoa(bucket)}, func(ctx context.Context, _ *ledger.Claim) error {
		return s.send(ctx, query)
	})
	if _, ok := errors.AsType[*ledger.InProgressError](err); ok {
		return nil
	}
	return err
}

// send sends the messages of a bucket in the order of their events. If one fails, those
// of other keys are sent nevertheless.
func (s Shop) send(ctx context.Context, query *dynamodb.QueryInput) error {
	var failed []error
	stopped := map[string]bool{}
	for pages := dynamodb.NewQueryPaginator(s.DB, query); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return errors.Join(append(failed, err)...)
		}
		for _, row := range page.Items {
			m, err := readMessage(row)
			if err == nil && !stopped[m.key] {
				err = s.deliver(ctx, m)
			}
			if err != nil {
				stopped[m.key] = true
				failed = append(failed, fmt.Errorf("message %s: %w", m.key, err))
			}
		}
	}
	return errors.Join(failed...)
}

// deliver sends a message and deletes it. If it cannot be sent, the try is counted; the
// last try makes the message a dead letter.
func (s Shop) deliver(ctx context.Context, m message) error {
	failed := s.Send(ctx, m.key, m.body)
	if failed == nil {
		_, err := s.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.Outbox, Key: m.id()})
		return err
	}
	out, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.Outbox, Key: m.id(), ReturnValues: types.ReturnValueUpdatedNew,
		UpdateExpression:          aws.String("SET tries = tries + :one"),
		ConditionExpression:       aws.String("attribute_exists(pk)"), // what was sent is not revived
		ExpressionAttributeValues: record.Item{":one": record.Int(1)},
	})
	if _, gone := errors.AsType[*types.ConditionalCheckFailedException](err); gone {
		return nil // another process has sent it
	}
	if err != nil {
		return errors.Join(failed, err)
	}
	_, refused := errors.AsType[*ledger.PermanentError](failed)
	if refused || record.Read(out.Attributes).Int("tries") >= s.Tries {
		err = s.move(ctx, m, "DEAD")
	}
	return errors.Join(failed, err)
}

// move moves a message to another partition, unless it is gone.
func (s Shop) move(ctx context.Context, m message, to string) error {
	remove := &types.Delete{TableName: &s.Outbox, Key: m.id(), ConditionExpression: aws.String("attribute_exists(pk)")}
	m.pk = to
	_, err := s.DB.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{{Delete: remove}, s.put(m)},
	})
	if c, ok := errors.AsType[*types.TransactionCanceledException](err); ok && aws.ToString(c.CancellationReasons[0].Code) == "ConditionalCheckFailed" {
		return nil
	}
	return err
}

// Again puts a dead letter back into its bucket, by the sort key that a Query of DEAD
// shows.
func (s Shop) Again(ctx context.Context, sk string) error {
	dead := message{pk: "DEAD", sk: sk}
	row, err := s.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.Outbox, Key: dead.id(), ConsistentRead: aws.Bool(true)})
	if err != nil || row.Item == nil {
		return err
	}
	if dead, err = readMessage(row.Item); err != nil {
		return err
	}
	return s.move(ctx, dead, newMessage(event.Event{}, dead.key, "").pk)
}
