package counter

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// AddUnkeyed counts something that has no identity of its own.
type AddUnkeyed struct {
	Key string
	At  time.Time // when it happened; it counts in the window of At
	// Weight is how much it counts, 1 to 1,000,000,000,000. It has no default: 1
	// counts calls.
	Weight int64
}

const unkeyedUpdate = "SET #updatedAt = :now, #ttl = :ttl ADD #count :weight"

// AddUnkeyed counts without recording an event. So the row does not grow, but a
// repeated call cannot be recognized and counts again. Never repeat a call that
// may have counted. AddUnkeyed switches off the SDK's own retries. It sends the
// request again in one case only: DynamoDB refused the request because of a
// transaction or another Region's write on the row, so the request has not
// counted. The error is [event.ErrUnknownOutcome] if the call may have counted,
// or if it has counted and the resulting count is not known. After any other
// error, the call has not counted.
//
// If the Store's [record.API] is a wrapper that drops the options of a call, the SDK's
// retries stay on: after a lost reply, the SDK sends the request again, the
// weight counts twice, and the answer is Created.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each KB.
func (s *Store) AddUnkeyed(ctx context.Context, a AddUnkeyed) (Total, error) {
	now := s.cfg.Now()
	err := cmp.Or(checkWeight("Weight", a.Weight),
		check.Refuse(pkg, "At", a.At.Before(time.UnixMilli(0)), "must be the time at which it happened, from 1970 on, is "+a.At.UTC().Format(time.RFC3339)),
		check.Refuse(pkg, "At", a.At.After(now.Add(event.MaxAhead)), "lies more than "+event.MaxAhead.String()+" ahead of the clock, at "+a.At.UTC().Format(time.RFC3339)))
	if err != nil {
		return Total{}, err
	}

	p, err := s.placeOf("AddUnkeyed", a.Key, a.At, now)
	if err != nil {
		return Total{}, err
	}

	in := s.update(p, unkeyedUpdate)
	in.ExpressionAttributeValues[":weight"] = item.N(a.Weight)
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

	used, err := s.countAfter(p.op, out.Attributes)
	if err != nil {
		return Total{}, err
	}

	return p.total(event.Created, used), nil
}

// once switches the SDK's retries off.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
