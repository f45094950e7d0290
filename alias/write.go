package alias

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// answer is what became of a conditional write: it took effect, or the row
// that stands refused it.
type answer struct {
	refused bool
	by      row
}

// send makes one conditional write.
func (s *Store) send(ctx context.Context, op, scope string, write func() error) (answer, error) {
	err := ddb.Retry(ctx, write)
	old, refused := ddb.Refused(err)
	if !refused {
		return answer{}, ddb.Wrap(pkg, op, s.table, err)
	}
	by, err := s.decode(op, scope, old)
	return answer{refused: true, by: by}, err
}

// put writes a whole item. It leaves the cache to its callers.
func (s *Store) put(ctx context.Context, p place, it ddb.Item, condition expression, values ddb.Item) (answer, error) {
	return s.send(ctx, "PutItem", p.scope, func() error {
		_, err := s.api.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           aws.String(s.table),
			Item:                                it,
			ConditionExpression:                 aws.String(condition.condition),
			ExpressionAttributeNames:            condition.names,
			ExpressionAttributeValues:           values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
}

// update changes an item, and drops what is cached of its scope whatever comes
// of it: a reply that was lost may have been a success.
func (s *Store) update(ctx context.Context, p place, change expression, values ddb.Item) (answer, error) {
	defer s.cache.drop(p.scope)
	return s.send(ctx, "UpdateItem", p.scope, func() error {
		_, err := s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                           aws.String(s.table),
			Key:                                 p.key(),
			UpdateExpression:                    aws.String(change.update),
			ConditionExpression:                 aws.String(change.condition),
			ExpressionAttributeNames:            change.names,
			ExpressionAttributeValues:           values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
}

// expression is a constant update with its condition.
type expression struct {
	update, condition string
	names             map[string]string
}

// maxActor is the most bytes an actor's id has: what a partition key may have.
const maxActor = check.MaxPartitionKey

// check refuses what every write by an event refuses.
func (s *Store) check(ev event.Event, actor string) error {
	if err := ev.Check(pkg, "Event", s.cfg.Now()); err != nil {
		return err
	}
	if len(actor) > maxActor {
		return event.BadInput(pkg, "Actor", fmt.Sprintf("has %d bytes, %d fit", len(actor), maxActor))
	}
	return check.Text(pkg, "Actor", actor)
}
