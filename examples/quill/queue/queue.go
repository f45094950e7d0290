// Package queue is the general half of an outbox: messages that a transaction of the
// caller's writes, that are delivered later, and marked as done. It knows nothing of
// what they say: package outbox does.
//
//	pk          S  the message's key
//	outbox      S  PENDING#<topic>; removed when it is done
//	receivedAt  S  when it was written, by the server's clock
//	nonce       S  of the action that wrote it
//	batch       S  that it was done in
//	postedAt    S
//
// All other attributes are the message's body. Index pending-index (outbox, receivedAt)
// is sparse: it has what is pending. A message stays after it is done, so its key stays
// unique. Who deletes messages loses that, but a late Done does not bring them back.
package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
)

// Names of attributes and of the index.
const (
	Key      = "pk"
	Outbox   = "outbox"
	Received = "receivedAt"
	Index    = "pending-index"

	pending = "PENDING#" // and the topic
	markers = 32         // how many requests Done sends side by side
)

// API is what the package calls of *dynamodb.Client.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Message is what is delivered once.
type Message struct {
	Key, Topic string
	Body       record.Item
}

// Queue is the messages of a table. It is safe for concurrent use.
type Queue struct {
	API   API
	Table string
	Now   func() time.Time
	Nonce func() string // of the next message; defaults to rand.Text

	written atomic.Int64 // how many writes under a fence so far
}

// Add returns the write of a message that does not exist yet, for a transaction. It
// sends nothing. The action's answer is committed if the message was written. If the
// key exists, it is that of exists: Created means that an earlier try wrote the row,
// whose nonce identifies it, and Duplicate that the row is another's. The caller checks
// that DynamoDB accepts the key and the size.
func Add[T any](q *Queue, m Message, committed T, exists func(event.Outcome, record.Item) (T, error), failed func(error) error) *record.Action[T] {
	row := maps.Clone(m.Body)
	next := q.Nonce
	if next == nil {
		next = rand.Text
	}
	nonce := next()
	row[Key], row[Outbox] = record.Text(m.Key), record.Text(pending+m.Topic)
	row["nonce"], row[Received] = record.Text(nonce), record.Time(q.Now())
	put := types.TransactWriteItem{Put: &types.Put{
		TableName:                           aws.String(q.Table),
		Item:                                row,
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
	refused := func(row record.Item) (T, error) {
		if record.Read(row).Text("nonce") == nonce {
			return exists(event.Created, row)
		}
		return exists(event.Duplicate, row)
	}
	return record.NewAction(put, committed, refused, failed)
}

// Done is what became of messages that were to be marked as done in a batch.
type Done struct {
	Marked  int            // in this batch, now or by an earlier try
	Already map[string]int // in another batch, by its name: they may have been delivered twice
}

// Done marks messages as done in the batch. One that is done stays as it is, and a
// missing one is not made again, so a late request does no harm. An error for one
// message does not keep others from being marked. It is safe to repeat.
func (q *Queue) Done(ctx context.Context, batch string, keys []string) (Done, error) {
	now := q.Now()
	all := Done{Already: map[string]int{}}
	var mu sync.Mutex
	var group errgroup.Group // without a context: one error must not stop the others
	group.SetLimit(markers)
	for _, key := range keys {
		group.Go(func() error {
			in, err := q.done(ctx, batch, key, now)
			mu.Lock()
			defer mu.Unlock()
			switch in {
			case "":
			case batch:
				all.Marked++
			default:
				all.Already[in]++
			}
			return err
		})
	}
	err := group.Wait()
	return all, err
}

// done returns the batch in which the message is done, and "" if it does not exist.
func (q *Queue) done(ctx context.Context, batch, key string, now time.Time) (in string, _ error) {
	err := retry(ctx, func() error {
		_, err := q.API.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                aws.String(q.Table),
			Key:                      keyItem(key),
			ConditionExpression:      aws.String("attribute_exists(pk) AND attribute_exists(#outbox)"),
			UpdateExpression:         aws.String("SET #batch = :batch, #postedAt = :now REMOVE #outbox"),
			ExpressionAttributeNames: map[string]string{"#outbox": Outbox, "#batch": "batch", "#postedAt": "postedAt"},
			ExpressionAttributeValues: record.Item{
				":batch": record.Text(batch), ":now": record.Time(now),
			},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	if no, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return record.Read(no.Item).Text("batch"), nil
	}
	if err != nil {
		return "", err
	}
	return batch, nil
}

// ErrFenced is returned by Put: a holder with a higher fence has written the row, or
// this one has written it since.
var ErrFenced = errors.New("outbox: another poster has taken over")

// Put writes what a holder of a lease intends or knows, unless a holder with a higher
// fence has written the row, or this Queue has written it later under the same fence: a
// delayed request undoes nothing. It is safe to repeat. Only one Queue may use a fence.
func (q *Queue) Put(ctx context.Context, fence int64, row record.Item) error {
	row["fence"], row["written"] = record.Int(fence), record.Int(q.written.Add(1))
	err := retry(ctx, func() error {
		_, err := q.API.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(q.Table),
			Item:      row,
			ConditionExpression: aws.String("attribute_not_exists(#fence) OR #fence < :fence OR " +
				"(#fence = :fence AND #written <= :written)"),
			ExpressionAttributeNames:  map[string]string{"#fence": "fence", "#written": "written"},
			ExpressionAttributeValues: record.Item{":fence": row["fence"], ":written": row["written"]},
		})
		return err
	})
	if _, later := errors.AsType[*types.ConditionalCheckFailedException](err); later {
		return ErrFenced
	}
	return err
}

// Keep writes a row that nothing guards: the last write stands.
func (q *Queue) Keep(ctx context.Context, row record.Item) error {
	return retry(ctx, func() error {
		_, err := q.API.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(q.Table), Item: row})
		return err
	})
}
