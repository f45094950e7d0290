package alias

import (
	"cmp"
	"context"
	"errors"
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

// A write is tried again if another came first and the row may now take it, after
// at most 40 ms at first and 320 ms later.
const (
	writeTries = 10
	writePause = 20 * time.Millisecond
)

// write sends the update that fits the row, until one takes effect or the existing
// row has an answer: an outcome or an error. The first update knows no row.
func (s *Store) write(ctx context.Context, op string, p place, fits func(row) (expression, ddb.Item), answer func(row) (event.Outcome, error)) (event.Outcome, error) {
	var r row
	for try := range writeTries {
		change, values := fits(r)
		old, refused, err := s.update(ctx, p, change, values)
		if err != nil {
			return 0, s.wrap(op, err)
		}
		if !refused {
			return event.Created, nil
		}

		if r, err = decode(p.scope, old); err != nil {
			return 0, s.wrap(op, err)
		}
		if out, err := answer(r); out != 0 || err != nil {
			return out, err
		}

		if try > 0 { // another writer was faster
			if err := ddb.Pause(ctx, writePause, min(try, 4)); err != nil {
				return 0, s.wrap(op, err)
			}
		}
	}

	return 0, s.wrap(op, errors.New("the row kept changing, because other writers won all tries: call again"))
}

// update changes an item, and drops the cached book of its scope even if it
// fails: a lost reply may have been a success. It returns the item as it was
// before, which may have refused the change.
func (s *Store) update(ctx context.Context, p place, change expression, values ddb.Item) (old ddb.Item, refused bool, _ error) {
	defer s.cache.drop(p.scope)
	in := &dynamodb.UpdateItemInput{
		TableName:                           aws.String(s.table),
		Key:                                 p.key(),
		UpdateExpression:                    aws.String(change.update),
		ConditionExpression:                 aws.String(change.condition),
		ExpressionAttributeNames:            item.NamesIn(change.update, change.condition),
		ExpressionAttributeValues:           values,
		ReturnValues:                        types.ReturnValueAllOld,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}

	return ddb.Update(ctx, s.api.UpdateItem, in)
}

// wrap adds the method and the table to the error.
func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }

// expression is a constant update with its condition.
type expression struct{ update, condition string }

// naming is the part that every update has which makes a phrase stand for a name.
// Each adds what becomes of the confirmations, the event and the teacher.
const naming = "SET #type = :type, #canonicalActivity = :name, #gsi1pk = :index, #gsi1sk = :name, #source = :source, " +
	"#createdAt = if_not_exists(#createdAt, :now), #updatedAt = :now, "

// countAnew ends an update that gives another name: the confirmations were for
// the name before.
const countAnew = " REMOVE #confirmers, #confirmedBy"

// naming returns the values of [naming].
func (s *Store) naming(p place, name string, source Source) ddb.Item {
	return ddb.Item{
		":type":   item.S(s.cfg.Prefix),
		":name":   item.S(name),
		":index":  item.S(p.indexPK),
		":zero":   item.N(0),
		":source": item.S(string(source)),
		":now":    item.Time(s.cfg.Now()),
	}
}

// maxActor is the greatest number of bytes in an actor's id: that of a
// partition key.
const maxActor = check.MaxPartitionKey

// admit refuses input that every write by an event refuses, and returns the
// phrase's place.
func (s *Store) admit(scope, phrase string, ev event.Event, actor string) (place, error) {
	p, err := s.place(scope, phrase)
	err = cmp.Or(err, ev.Check(pkg, "Event", s.cfg.Now()), check.Text(pkg, "Actor", actor))
	if err == nil && len(actor) > maxActor {
		err = event.BadInput(pkg, "Actor", fmt.Sprintf("has %d bytes, must have at most %d", len(actor), maxActor))
	}
	return p, err
}

// teaching is admit for writes that say what the phrase stands for.
func (s *Store) teaching(scope, phrase, name string, ev event.Event, actor string) (place, error) {
	p, err := s.admit(scope, phrase, ev, actor)
	return p, cmp.Or(err, check.SortKey(pkg, "Name", name))
}
