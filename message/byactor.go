package message

import (
	"context"
	"iter"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// ByActor yields what an actor said in all scopes, by time. Caution: a user who
// may see one scope is perhaps not allowed to see the other scopes. An error
// comes last, with a zero Message. Messages that have expired are left out.
// Without [Config].ActorIndex, the call is bad input.
//
// ByActor reads the index, which lags behind the table, normally by less than a
// second. Rows of an older system whose time is in seconds are sorted as older
// than all other rows. A query with a From does not find these rows. A query
// with only a To finds those of them that were said before To. Rows without a
// time are not in the index.
//
// Price: 1 request, 0.5 RCU. For more than 4 KB, see [Store.InScope].
func (s *Store) ByActor(ctx context.Context, actor string, r Range) iter.Seq2[Message, error] {
	t, w, err := s.trail(actor, r)
	return s.messages(ctx, t, w, err)
}

// timeCondition always has both bounds, so that it can be a constant.
const timeCondition = "#actor = :actor AND #timestamp BETWEEN :from AND :to"

// trail is what an actor said, by time.
type trail struct {
	store       *Store
	actor       types.AttributeValue
	from, to    int64 // milliseconds, both included; from above to is nothing
	newestFirst bool
	start       ddb.Item // the row it comes after; nil at the beginning
	query       string   // which query it is, to cursors
}

// trail checks the range and returns the part of it behind its cursor.
func (s *Store) trail(id string, r Range) (trail, terms, error) {
	w := terms{op: "ByActor", Range: r}
	w.From = time.Time{} // which is a bound of the key here
	if err := s.checkIndexed(id); err != nil {
		return trail{}, w, err
	}
	if err := r.checkTrail(); err != nil {
		return trail{}, w, err
	}
	var err error
	if w.filter, err = s.filter(r.Match, time.Time{}); err != nil {
		return trail{}, w, err
	}
	t := trail{store: s, actor: s.actorKey(id), to: item.MaxMillis, newestFirst: r.NewestFirst}
	if !r.From.IsZero() {
		t.from = item.CeilMillis(r.From)
	}
	if !r.To.IsZero() {
		t.to = item.CeilMillis(r.To) - 1
	}
	w.holds = func(at time.Time) bool { return t.from <= at.UnixMilli() && at.UnixMilli() <= t.to }
	t.query = direction("message.ByActor", r.NewestFirst) + w.filter.ID()
	if r.Cursor == "" {
		return t, w, nil
	}
	t.start, err = t.position(r.Cursor)
	return t, w, err
}

// checkIndexed refuses an actor that the index cannot hold.
func (s *Store) checkIndexed(id string) error {
	if !s.cfg.ActorIndex {
		return event.BadInput(pkg, "Config.ActorIndex", "must be set: only the index finds an actor's messages")
	}
	return check.Positional(actor.CheckID(pkg, s.cfg.ActorType, id))
}

// checkTrail refuses a range that is invalid for an actor.
func (r Range) checkTrail() error {
	switch {
	case !r.From.IsZero() && !r.To.IsZero() && item.Before(r.To, r.From):
		return event.BadInput(pkg, "Range.To", "lies before From")
	case r.FromSeq != 0:
		return event.BadInput(pkg, "Range.FromSeq", "must be 0: an actor's messages are sorted by time")
	case r.ToSeq != 0:
		return event.BadInput(pkg, "Range.ToSeq", "must be 0: an actor's messages are sorted by time")
	case r.Consistent:
		return event.BadInput(pkg, "Range.Consistent", "must be false: only the index finds an actor's messages")
	case r.Match.Actor != "":
		return event.BadInput(pkg, "Match.Actor", "must be empty: the query already reads only one actor's messages")
	}
	return r.checkBounds()
}

func (t trail) empty() bool { return t.from > t.to }

func (t trail) behind(row ddb.Item) (part, error) {
	t.start = row
	return t, nil
}

func (t trail) cursor(row ddb.Item) string {
	return check.EncodeCursor(t.query, []string{item.Text(row, attrTimestamp), item.Text(row, attrScope), item.Text(row, attrSeq)})
}

// number is any number as DynamoDB writes it.
var number = regexp.MustCompile(`^-?[0-9]{1,38}(\.[0-9]{1,38})?$`)

// position is the cursor's row as DynamoDB takes it. DynamoDB would refuse a
// row outside the bounds, with a text that does not help a caller.
func (t trail) position(text string) (ddb.Item, error) {
	position, err := check.DecodeCursor(pkg, "Range.Cursor", t.query, text, 3)
	if err != nil {
		return nil, err
	}
	floor, ceil, ok := item.Around(position[0]) // of a row that need not be one that can be read
	if !ok || !number.MatchString(position[2]) || check.PartitionKey(pkg, "scope", position[1]) != nil {
		return nil, event.BadInput(pkg, "Range.Cursor", "is not a cursor of this query")
	}
	if floor < t.from || ceil > t.to {
		return nil, event.BadInput(pkg, "Range.Cursor", "points to a row outside the range")
	}
	return ddb.Item{
		attrScope: item.S(position[1]), attrSeq: item.Digits(position[2]),
		attrActor: t.actor, attrTimestamp: item.Digits(position[0]),
	}, nil
}

func (t trail) request() *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                aws.String(t.store.table),
		IndexName:                aws.String(indexActor),
		KeyConditionExpression:   aws.String(timeCondition),
		ExpressionAttributeNames: map[string]string{"#actor": attrActor, "#timestamp": attrTimestamp},
		ExpressionAttributeValues: ddb.Item{
			":actor": t.actor, ":from": item.N(t.from), ":to": item.N(t.to),
		},
		ScanIndexForward:  aws.Bool(!t.newestFirst),
		ExclusiveStartKey: t.start,
	}
}
