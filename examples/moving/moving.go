// Package moving uses the library on existing tables. For two of them a Config can
// use the existing names (names.go). A log of orders has other values, too: it moves
// into package activity while it is being written. docs/own-table.md walks through
// it.
package moving

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/event"
)

// Phase is how far the move has come. Processes may differ by one phase.
type Phase int

// These are the phases. Each is one deployment.
const (
	OldOnly Phase = iota // before the move
	ReadOld              // both logs are written, and the old one is read: import and compare
	ReadNew              // both are written, and the new one is read
	NewOnly              // the old log may be deleted
)

// Log is the log of orders while it moves from Old, a table, to New.
type Log struct {
	DB    *dynamodb.Client
	Old   string
	New   *activity.Store
	Phase Phase
}

// NewLog returns the store that the log moves into.
func NewLog(api activity.API, table string) (*activity.Store, error) {
	return activity.New(api, table, &activity.Config{ActorType: types.ScalarAttributeTypeS, Names: map[string]string{"chatId": "customer", "userId": "clerk"}})
}

// Entry is an entry of the log: a step of an order, and the clerk who took it.
type Entry struct {
	Customer, Order, Step, Clerk string
	At                           time.Time
}

// activityOf makes the activity from the old row alone, so that the live write
// and the import make the same one, whichever comes first.
func activityOf(r Row) (activity.Activity, error) {
	ev, err := event.New(time.Unix(r.At, 0), "orders", r.Customer, r.Order, r.Step)
	return activity.Activity{
		Scope: r.Customer, Actor: r.Clerk, Name: r.Step, Kind: "order", Event: ev,
		Data: map[string]any{"order": r.Order},
	}, err
}

// Write logs an entry. After an error call it again, as a redelivery does: both
// writes are safe to repeat.
func (l Log) Write(ctx context.Context, e Entry) error {
	row := rowOf(e)
	if l.Phase != NewOnly {
		if err := l.putOld(ctx, row); err != nil {
			return err
		}
	}
	if l.Phase == OldOnly {
		return nil
	}
	a, err := activityOf(row)
	if err != nil {
		return err
	}
	_, err = l.New.Record(ctx, a)
	if !errors.Is(err, activity.ErrRetracted) {
		return err
	}
	if l.Phase == NewOnly { // it was taken back, and stays so in both logs
		return nil
	}
	return l.deleteOld(ctx, row)
}

// Remove takes an entry back. The tombstone keeps the import from bringing back
// an entry that it has already read.
func (l Log) Remove(ctx context.Context, e Entry) error {
	row := rowOf(e)
	a, err := activityOf(row)
	if err != nil {
		return err
	}
	if l.Phase != OldOnly {
		if _, err := l.New.Retract(ctx, activity.Retract{Scope: a.Scope, Event: a.Event, Tombstone: true}); err != nil {
			return err
		}
	}
	if l.Phase == NewOnly {
		return nil
	}
	return l.deleteOld(ctx, row)
}

// Mark is the last row of a page that was imported, or the zero Mark.
type Mark struct {
	Customer string `dynamodbav:"customer"`
	Entry    string `dynamodbav:"entry"`
}

// Import records the old rows that follow the mark, and keeps the mark of each
// finished page. After an error or a crash, call it with the last kept mark. A
// page that is imported again changes nothing.
func (l Log) Import(ctx context.Context, after Mark, size int32, keep func(Mark) error) error {
	in := &dynamodb.ScanInput{TableName: &l.Old, Limit: &size, ConsistentRead: aws.Bool(true)}
	if after != (Mark{}) {
		start, err := attributevalue.MarshalMap(after)
		if err != nil {
			return err
		}
		in.ExclusiveStartKey = start
	}
	for {
		page, err := l.DB.Scan(ctx, in)
		if err != nil {
			return err
		}
		var rows []Row
		if err := attributevalue.UnmarshalListOfMaps(page.Items, &rows); err != nil {
			return err
		}
		if err := l.record(ctx, rows); err != nil {
			return err
		}
		if page.LastEvaluatedKey == nil {
			return nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
		var mark Mark
		if err := attributevalue.UnmarshalMap(page.LastEvaluatedKey, &mark); err != nil {
			return err
		}
		if err := keep(mark); err != nil {
			return err
		}
	}
}

// record records a page of rows. An entry that was taken back goes from the old log, too: a
// process that does not know the new log may have written it again.
func (l Log) record(ctx context.Context, rows []Row) error {
	var all []activity.Activity
	for _, r := range rows {
		a, err := activityOf(r)
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	_, err := l.New.RecordMany(ctx, all)
	if left, ok := errors.AsType[*event.LeftoverError](err); ok {
		for _, one := range left.Leftovers {
			if !errors.Is(one.Err, activity.ErrRetracted) {
				return err
			}
			if err := l.deleteOld(ctx, rows[one.Index]); err != nil {
				return err
			}
		}
		return nil
	}
	return err
}

// Tally counts a customer's steps until a moment, by clerk and step.
func (l Log) Tally(ctx context.Context, customer string, until time.Time) ([]activity.Tally, error) {
	if l.Phase < ReadNew {
		return l.oldTally(ctx, customer, until)
	}
	return l.New.Tally(ctx, activity.Filter{Scope: customer, To: until.Truncate(time.Second), Consistent: true})
}

// Same reports whether both logs say the same about a customer until a moment.
// Choose a moment before which nothing is written any more.
func (l Log) Same(ctx context.Context, customer string, until time.Time) (bool, error) {
	l.Phase = ReadOld
	before, err := l.Tally(ctx, customer, until)
	if err != nil {
		return false, err
	}
	l.Phase = ReadNew
	after, err := l.Tally(ctx, customer, until)
	return slices.Equal(before, after), err
}
