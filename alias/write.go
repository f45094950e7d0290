package alias

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// answer is the result of a conditional write: it took effect, or the existing
// row refused it.
type answer struct {
	refused bool
	by      row      // the row that refused it
	before  ddb.Item // the item before the change, if that asked for it
}

// send makes one conditional write. The write may return the item as it was
// before.
func (s *Store) send(ctx context.Context, op, scope string, write func() (ddb.Item, error)) (answer, error) {
	var before ddb.Item
	err := ddb.Retry(ctx, func() (err error) {
		before, err = write()
		return err
	})
	old, refused := ddb.Refused(err)
	if !refused {
		return answer{before: before}, s.wrap(op, err)
	}
	by, err := s.decode(op, scope, old)
	return answer{refused: true, by: by}, err
}

// plant writes the item of a seed if its phrase never had an item. It leaves
// the cache to its caller.
func (s *Store) plant(ctx context.Context, p place, it ddb.Item) (answer, error) {
	return s.send(ctx, "Seed", p.scope, func() (ddb.Item, error) {
		_, err := s.api.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           aws.String(s.table),
			Item:                                it,
			ConditionExpression:                 aws.String(unknown.condition),
			ExpressionAttributeNames:            unknown.names,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return nil, err
	})
}

// update changes an item, and drops the cached book of its scope even if it
// fails: a lost reply may have been a success.
func (s *Store) update(ctx context.Context, op string, p place, change expression, values ddb.Item) (answer, error) {
	defer s.cache.drop(p.scope)
	return s.send(ctx, op, p.scope, func() (ddb.Item, error) {
		out, err := s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                           aws.String(s.table),
			Key:                                 p.key(),
			UpdateExpression:                    aws.String(change.update),
			ConditionExpression:                 aws.String(change.condition),
			ExpressionAttributeNames:            change.names,
			ExpressionAttributeValues:           values,
			ReturnValues:                        change.returns,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if err != nil {
			return nil, err
		}
		return out.Attributes, nil
	})
}

// pause waits before a write is tried again because another came first: at most
// 40 ms at first, 320 ms later.
func pause(ctx context.Context, try int) error {
	return ddb.Pause(ctx, 20*time.Millisecond, min(try, 4))
}

// wrap adds the method and the table to the error.
func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }

// expression is a constant update with its condition.
type expression struct {
	update, condition string
	names             map[string]string
	returns           types.ReturnValue // "" is nothing
}

// naming is the update that makes a phrase stand for a name.
const naming = "SET #type = :type, #canonicalActivity = :name, #gsi1pk = :index, #gsi1sk = :name, " +
	"#confirmations = :zero, #source = :learned, #namedBy = :event, " +
	"#createdAt = if_not_exists(#createdAt, :now), #updatedAt = :now"

// countAnew ends the update that gives another name: the confirmations were for
// the name before.
const countAnew = " REMOVE #confirmers, #confirmedBy"

var namingNames = item.Names(attrType, attrName, attrIndexPK, attrIndexSK, attrConfirmations, attrSource,
	attrLearnedFrom, attrNamedBy, attrConfirmers, attrConfirmedBy, attrCreatedAt, attrUpdatedAt)

// naming returns the values of [naming].
func (s *Store) naming(p place, name string, ev event.Event) ddb.Item {
	return ddb.Item{
		":type":    item.S(p.prefix),
		":name":    item.S(name),
		":index":   item.S(p.indexPK),
		":zero":    item.N(0),
		":learned": item.S(string(Learned)),
		":event":   item.S(ev.String()),
		":now":     item.Time(s.cfg.Now()),
	}
}

// maxActor is the greatest number of bytes in an actor's id: that of a
// partition key.
const maxActor = check.MaxPartitionKey

// check refuses input that every write by an event refuses.
func (s *Store) check(ev event.Event, actor string) error {
	if err := ev.Check(pkg, "Event", s.cfg.Now()); err != nil {
		return err
	}
	if len(actor) > maxActor {
		return event.BadInput(pkg, "Actor", fmt.Sprintf("has %d bytes, must have at most %d", len(actor), maxActor))
	}
	return check.Text(pkg, "Actor", actor)
}
