package counter

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// AddUnkeyed counts something that has no identity of its own.
type AddUnkeyed struct {
	Key string
	At  time.Time // when it happened; its local day is the one that counts
	// Weight is how much it counts, at most 1,000,000,000,000. Defaults to 1, and
	// so 0 is 1.
	Weight int64
}

const unkeyedUpdate = "SET #updatedAt = :now, #ttl = :ttl ADD #count :weight"

// AddUnkeyed counts without recording what: the row does not grow, and nothing
// tells a second call from another event. It must never be repeated. The SDK's
// own retries are off for this call; only what met a transaction on the row,
// and so has not counted, is sent again. An error that leaves open whether it
// counted, or what the count is now, is [event.ErrUnknownOutcome]; after any
// other error it did not.
//
// An [API] that drops the options of a call drops that switch, too: after a
// lost reply the SDK sends again, which counts twice and answers Created.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each.
func (s *Store) AddUnkeyed(ctx context.Context, a AddUnkeyed) (Total, error) {
	now := s.cfg.Now()
	weight, err := weightOf("Weight", a.Weight)
	if err != nil {
		return Total{}, err
	}
	if a.At.Before(time.UnixMilli(0)) {
		return Total{}, event.BadInput(pkg, "At", "must be the time it happened")
	}
	if a.At.After(now.Add(event.MaxAhead)) {
		return Total{}, event.BadInput(pkg, "At", "lies more than "+event.MaxAhead.String()+" ahead of the clock")
	}
	p, err := s.placeOf("AddUnkeyed", a.Key, a.At, now)
	if err != nil {
		return Total{}, err
	}
	in := s.update(p, unkeyedUpdate)
	in.ExpressionAttributeValues[":weight"] = item.N(weight)
	var attempts ddb.Attempts
	var out *dynamodb.UpdateItemOutput
	// A conflict has counted nothing, unless an attempt before it may have.
	again := func(err error) bool {
		return ddb.Conflict(err) && !errors.Is(attempts.Judge(err), event.ErrUnknownOutcome)
	}
	err = ddb.RetryIf(ctx, again, func() (err error) {
		out, err = s.api.UpdateItem(ctx, in, once, attempts.Watch)
		return err
	})
	if err != nil {
		return Total{}, s.wrap(p.op, attempts.Judge(err))
	}
	used, err := s.countAfter(p.op, out)
	if err != nil {
		return Total{}, err
	}
	return p.total(event.Created, used), nil
}

// once switches the SDK's retries off.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
