// Package rmw keeps rows that count events by read-modify-write: what a row
// becomes is computed from what stands there, which no update expression can do,
// and written only if that still stands. Packages pattern and ema are made of it.
//
// The row's version guards the write, and so do its ring of recent events and its
// count: a row that was deleted may have grown to the same version again. A write that lost the
// race is told what stands there now by the refusal itself, so that trying again
// costs no read, and each event counts once by the ring. A lost reply is
// therefore harmless: the SDK's own repetition meets the event in the ring.
package rmw

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recent"
)

// API is what the package calls of *dynamodb.Client.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Attributes of every row that is counted into. The last is the row's own
// count of events, whose name differs by kind.
const (
	attrPK        = "pk"
	attrSK        = "sk"
	attrType      = "type"
	attrVersion   = "version"
	attrRecent    = "recent"
	attrUpdatedAt = "updatedAt"
)

// Set begins the update expression of every kind; a kind's own attributes
// follow. It sets and never replaces, so that attributes of another writer
// stay.
const Set = "SET #type = :type, #version = :version, #recent = :recent, #updatedAt = :updatedAt, #count = :count"

// What must still stand for a write to take effect. A row of an older system
// has no version; its writers change the count, or bring one into being. Where
// they made a deleted row anew, its version and ring may be as before, by the
// same events again, over another count.
const (
	ifNone   = "attribute_not_exists(#pk)"
	ifRing   = "#version = :stood AND #recent = :ring"
	andCount = " AND #count = :stoodCount" // beside ifRing
	ifNoRing = "#version = :stood AND attribute_not_exists(#recent)"
	ifCount  = "attribute_not_exists(#version) AND #count = :stood"
	ifBare   = "attribute_exists(#pk) AND attribute_not_exists(#version) AND attribute_not_exists(#count)"
)

// Attempts bounds the writes of one Observe, and firstPause the first of the
// pauses between them, each twice the one before on average up to 0.64 seconds:
// all of them together last 5.1 seconds on average, and 10.3 at most.
const (
	Attempts   = 16
	firstPause = 5 * time.Millisecond
)

// Rows is a kind of row in a table whose key is pk and sk. A row is read as a T.
// The errors of its methods name the methods of the package, which are called
// the same.
type Rows[T any] struct {
	API        API
	Table      string
	Package    string // prefix of the errors
	Now        func() time.Time
	Consistent bool // of Get and All; Observe always reads consistently

	Type      string            // the attribute type of each row
	Count     string            // the attribute that counts the row's events
	Update    string            // Set and what follows it
	Names     map[string]string // of what follows it
	Contended error             // what Observe returns when every attempt lost
}

// Decode reads a row.
type Decode[T any] func(row ddb.Item) (T, error)

// The methods, as errors name them.
const (
	get     = "Get"
	all     = "All"
	observe = "Observe"
)

func (r *Rows[T]) wrap(method string, err error) error {
	return ddb.Wrap(r.Package, method, r.Table, err)
}

// Next computes the values of a kind's own attributes, as its update names
// them, from the row as it stands; that is empty when there is none.
type Next func(row ddb.Item) (ddb.Item, error)

// Observe counts the event into the row once. Beside the errors of DynamoDB and
// of [event.Event.Check] it returns [event.ErrTooOld], which says that the row
// cannot tell whether the event was counted before, and Contended. That one
// leaves it open whether the event was counted, for the last attempt may have
// taken effect, lost its reply and met a conflict when the SDK repeated it.
func (r *Rows[T]) Observe(ctx context.Context, pk, sk string, ev event.Event, next Next) (event.Outcome, error) {
	if err := ev.Check(r.Package, "Event", r.Now()); err != nil {
		return 0, err
	}
	key := keyOf(pk, sk)
	row, err := r.read(ctx, key, true)
	if err != nil {
		return 0, r.wrap(observe, err)
	}
	var lost error // what the last attempt met
	for try := 0; ; try++ {
		outcome, values, err := r.step(row, ev, next)
		if err != nil || outcome == event.Duplicate {
			return outcome, r.wrap(observe, err)
		}
		// The row has been looked at before giving up: it may hold the event,
		// by an attempt whose reply was lost.
		if lost != nil {
			if err := r.giveUp(ctx, try, lost); err != nil {
				return 0, err
			}
		}
		if lost = r.write(ctx, key, row, values); lost == nil {
			return event.Created, nil
		}
		stands, refused := ddb.Refused(lost)
		switch {
		case refused:
			row = stands
		case !ddb.Conflict(lost): // a conflict wrote nothing and told nothing: the same again
			return 0, r.wrap(observe, lost)
		}
	}
}

// giveUp pauses before the next attempt, or says why there is none.
func (r *Rows[T]) giveUp(ctx context.Context, try int, lost error) error {
	if try == Attempts {
		return r.wrap(observe, fmt.Errorf("%w, %d: %w", r.Contended, Attempts, lost))
	}
	if stopped := ddb.Pause(ctx, firstPause, try-1); stopped != nil {
		return r.wrap(observe, fmt.Errorf("%w, about to try again after: %w", stopped, lost))
	}
	return nil
}

// step returns the values that the update sets if the row still stands.
func (r *Rows[T]) step(row ddb.Item, ev event.Event, next Next) (event.Outcome, ddb.Item, error) {
	ring, err := item.Bytes(row, attrRecent)
	if err != nil {
		return 0, nil, err
	}
	ring, outcome, err := recent.Add(ring, ev)
	if err != nil || outcome == event.Duplicate {
		return outcome, nil, err
	}
	version, err := item.Int(row, attrVersion)
	if err != nil {
		return 0, nil, err
	}
	count, err := item.Int(row, r.Count)
	if err != nil {
		return 0, nil, err
	}
	values, err := next(row)
	if err != nil {
		return 0, nil, err
	}
	values[":type"] = item.S(r.Type)
	values[":version"] = item.N(version + 1)
	values[":recent"] = item.B(ring)
	values[":updatedAt"] = item.Time(r.Now())
	values[":count"] = item.N(count + 1)
	return outcome, values, nil
}

// write sets the values if the row still stands as it was read.
func (r *Rows[T]) write(ctx context.Context, key, row, values ddb.Item) error {
	names := map[string]string{
		"#type": attrType, "#version": attrVersion, "#recent": attrRecent,
		"#updatedAt": attrUpdatedAt, "#count": r.Count,
	}
	maps.Copy(names, r.Names)
	condition := ifBare
	switch {
	case len(row) == 0:
		condition = ifNone
	case item.Has(row, attrVersion) && item.Has(row, attrRecent):
		condition, values[":stood"], values[":ring"] = ifRing, row[attrVersion], row[attrRecent]
		if item.Has(row, r.Count) {
			condition, values[":stoodCount"] = ifRing+andCount, row[r.Count]
		}
	case item.Has(row, attrVersion):
		condition, values[":stood"] = ifNoRing, row[attrVersion]
	case item.Has(row, r.Count):
		condition, values[":stood"] = ifCount, row[r.Count]
	}
	if condition == ifNone || condition == ifBare {
		names["#pk"] = attrPK
	}
	_, err := r.API.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           aws.String(r.Table),
		Key:                                 key,
		UpdateExpression:                    aws.String(r.Update),
		ConditionExpression:                 aws.String(condition),
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}
