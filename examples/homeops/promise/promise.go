// Package promise owns what people said they would do, and by when.
//
//	pk USER#<user>   sk PROMISE#<time it was made>#<event>   type PROMISE   description   activity
//	deadline   status active|fulfilled|expired   householdId   chatId   sourceMessageId   createdAt   updatedAt
//	while active   gsi1pk PROMISE_STATUS#active   gsi1sk PROMISE_DEADLINE#<deadline>
//	once settled   event
//
// A promise is made once for its event, and settled once, as fulfilled or as
// expired, whichever comes first. A deed keeps at most one promise, for any number
// of deliveries. There is one exception: if two workers handle the same deed at
// once, and a promise is stored between their reads, each may keep a promise.
//
// The index holds the active promises of all households in one partition, which
// takes 1,000 new or settled promises a second. It lags behind the table by a
// moment, so the table decides what is settled.
//
// # IAM actions
//
//   - The service, on the table: GetItem, Query, UpdateItem
//   - The service, on index GSI1: Query
package promise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

const (
	prefix, behindAll      = "PROMISE#", "PROMISE$" // '$' follows '#'
	activeKey, deadlineKey = "PROMISE_STATUS#active", "PROMISE_DEADLINE#"

	// MaxAhead is the longest time from a promise to its deadline.
	MaxAhead = 31 * 24 * time.Hour
	// Grace is how long after its deadline a deed still keeps a promise.
	Grace = 24 * time.Hour
)

// Status of a promise.
type Status string

// The statuses.
const (
	Active    Status = "active"
	Fulfilled Status = "fulfilled"
	Expired   Status = "expired"
)

// Promise is what somebody said they would do.
type Promise struct {
	User        string
	ID          string // the sort key after PROMISE#
	Description string // as they said it
	Activity    string // canonical; "" in rows of an older system
	Household   string // the scope; the chat in rows of an older system
	Chat        string // where it was made
	Source      int64  // the message
	Status      Status
	MadeAt      time.Time
	Deadline    time.Time
	Settled     event.Event // what fulfilled or expired it; zero while active
}

// Make is a promise and the event that it was made in.
type Make struct {
	Event                                        event.Event
	User, Description, Activity, Household, Chat string
	Source                                       int64
	Deadline                                     time.Time // not before the event, and at most MaxAhead after it
}

// Deed is an activity that may keep a promise.
type Deed struct {
	User, Household, Activity string      // in private the household is the chat
	Event                     event.Event // several deeds of one message are its Nth
}

// Store keeps promises. It is safe for concurrent use.
type Store struct {
	api   record.API
	table string
	rows  *record.Rows[Promise]
	now   func() time.Time
}

// New returns a Store on the table of the aliases and habits.
func New(api record.API, table string, now func() time.Time) (*Store, error) {
	rows, err := record.New(api, table, record.Kind[Promise]{Package: "promise", Type: "PROMISE", Decode: Decode}, &record.Config{ConsistentReads: true})
	return &Store{api, table, rows, now}, err
}

// Table returns the definition of the table, with GSI1.
func (s *Store) Table() schema.Table {
	table := s.rows.Table()
	table.Indexes = []schema.Index{{Name: "GSI1", Key: schema.Key{Partition: schema.String("gsi1pk"), Sort: schema.String("gsi1sk")}}}
	return table
}

// Actions returns what IAM must grant.
func (s *Store) Actions() schema.Actions {
	update := schema.Grants{"": {"UpdateItem"}}
	return schema.Actions{Calls: map[string]schema.Grants{
		"Make":    update,
		"Expire":  update,
		"Keep":    {"": {"Query", "UpdateItem"}},
		"Get":     {"": {"GetItem"}},
		"Of":      {"": {"Query"}},
		"Overdue": {"GSI1": {"Query"}},
	}}
}

// Make stores a promise once, and returns the stored one. If the event has made a
// promise before, the first one stays and the outcome is Duplicate.
//
// Price: 1 request, 2 WCU. Half of that is for the index; a larger row costs 2
// WCU for each KB. A duplicate costs nothing in the index.
func (s *Store) Make(ctx context.Context, m Make) (Promise, event.Outcome, error) {
	at := m.Event.Time()
	if m.Deadline.Before(at) || m.Deadline.After(at.Add(MaxAhead)) {
		return Promise{}, 0, event.BadInput("promise", "Deadline", "must be from the event's time to 31 days after it")
	}
	made := Promise{User: m.User, ID: stamp(at) + "#" + m.Event.String()}
	return s.write(ctx, "Make", made, m.Event, expression.Name("pk").AttributeNotExists(), record.Item{
		"gsi1pk": record.Text(activeKey), "gsi1sk": record.Text(deadlineKey + stamp(m.Deadline)), "type": record.Text("PROMISE"),
		"description": record.Text(m.Description), "activity": record.Text(m.Activity),
		"deadline": record.Time(m.Deadline), "status": record.Text(string(Active)),
		"householdId": record.Text(m.Household), "chatId": record.Text(m.Chat), "sourceMessageId": record.Int(m.Source),
		"createdAt": record.Time(at),
	})
}

// Expire ends an active promise that was not kept. It reads only the promise's
// User and ID. Duplicate means that it was not active.
//
// Price: 1 request, 2 WCU. As Make.
func (s *Store) Expire(ctx context.Context, p Promise, ev event.Event) (event.Outcome, error) {
	_, out, err := s.settle(ctx, "Expire", p, ev, Expired)
	return out, err
}

func (s *Store) settle(ctx context.Context, op string, p Promise, ev event.Event, as Status) (Promise, event.Outcome, error) {
	return s.write(ctx, op, p, ev, expression.Name("status").Equal(expression.Value(Active)), record.Item{
		"status": record.Text(string(as)), "event": record.Text(ev.String()), "gsi1pk": nil, "gsi1sk": nil,
	})
}

// write sets the attributes, removes those that are nil, and returns the promise as
// it is then. The outcome is Duplicate if the condition refuses the write; a
// promise that does not exist is then zero.
func (s *Store) write(ctx context.Context, op string, of Promise, ev event.Event, may expression.ConditionBuilder, values record.Item) (Promise, event.Outcome, error) {
	up := expression.Set(expression.Name("updatedAt"), expression.Value(record.Time(ev.Time())))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if value := values[name]; value == nil {
			up = up.Remove(expression.Name(name))
		} else {
			up = up.Set(expression.Name(name), expression.Value(value))
		}
	}
	expr, err := expression.NewBuilder().WithUpdate(up).WithCondition(may).Build()
	if err := cmp.Or(ev.Check("promise", "Event", s.now()), err); err != nil {
		return Promise{}, 0, err
	}
	out, err := s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:        aws.String(s.table),
		Key:              record.Item{"pk": record.Text(record.Key("USER", of.User)), "sk": record.Text(prefix + of.ID)},
		UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		p, err := Decode(refused.Item)
		return p, event.Duplicate, err
	}
	if err != nil {
		return Promise{}, 0, fmt.Errorf("promise: %s on table %s: %w", op, s.table, err)
	}
	p, err := Decode(out.Attributes)
	return p, event.Created, err
}

// Keep fulfils the promise that the deed keeps, and returns it. That is an active
// promise of the same person and activity, made before the deed in that household
// or chat, and at most [Grace] overdue at the deed. Of several it is the one due
// first. A deed that has kept a promise keeps that one and no other. Keep looks at
// the promises of the last 33 days.
//
// Price: 2 requests, 1 RCU, 2 WCU. Without a promise to keep, 1 request and 1 RCU.
// Reading costs what Of costs. Each promise that ended meanwhile adds 1 request and
// 1 WCU.
func (s *Store) Keep(ctx context.Context, d Deed) (_ Promise, ok bool, _ error) {
	all, err := s.Of(ctx, d.User, d.Event.Time().Add(-MaxAhead-2*Grace))
	if err != nil {
		return Promise{}, false, err
	}
	if i := slices.IndexFunc(all, d.kept); i >= 0 {
		return all[i], true, nil
	}
	slices.SortStableFunc(all, func(a, b Promise) int { return a.Deadline.Compare(b.Deadline) })
	for _, p := range slices.DeleteFunc(all, func(p Promise) bool { return !d.mayKeep(p) }) {
		now, out, err := s.settle(ctx, "Keep", p, d.Event, Fulfilled)
		if err != nil {
			return Promise{}, false, err
		}
		if out == event.Created || d.kept(now) {
			return now, true, nil
		}
	}
	return Promise{}, false, nil
}

func (d Deed) kept(p Promise) bool { return p.Status == Fulfilled && p.Settled == d.Event }

// mayKeep leaves out promises of the same time: somebody who promises has not done
// it.
func (d Deed) mayKeep(p Promise) bool {
	at := d.Event.Time()
	return p.Status == Active && (p.Household == d.Household || p.Chat == d.Household) && p.Activity == d.Activity &&
		p.MadeAt.Before(at) && !at.After(p.Deadline.Add(Grace))
}

// Get returns a promise; ok is false if it does not exist.
//
// Price: 1 request, 1 RCU.
func (s *Store) Get(ctx context.Context, user, id string) (_ Promise, ok bool, _ error) {
	return s.rows.Get(ctx, record.Key("USER", user), prefix+id)
}

// Of returns the promises that somebody made since then, settled ones too, in the
// order in which they were made, to the second. Rows that cannot be read are left
// out.
//
// Price: 1 request, 1 RCU. For each 4 KB of them, and a request for each MB.
func (s *Store) Of(ctx context.Context, user string, since time.Time) ([]Promise, error) {
	return s.query(ctx, "Of", &dynamodb.QueryInput{
		ConsistentRead:         aws.Bool(true),
		KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: record.Item{
			":pk": record.Text(record.Key("USER", user)), ":from": record.Text(prefix + stamp(since)), ":to": record.Text(behindAll),
		},
	})
}

// Overdue returns the active promises whose deadline has passed at the given second, the
// longest overdue first. Rows that cannot be read are left out.
//
// Price: 1 request, 0.5 RCU. For each 4 KB of them, and a request for each MB.
func (s *Store) Overdue(ctx context.Context, at time.Time) ([]Promise, error) {
	second := at.UTC().Format("2006-01-02T15:04:05Z") // sorts after those with decimals
	return s.query(ctx, "Overdue", &dynamodb.QueryInput{
		IndexName:                 aws.String("GSI1"),
		KeyConditionExpression:    aws.String("gsi1pk = :active AND gsi1sk <= :at"),
		ExpressionAttributeValues: record.Item{":active": record.Text(activeKey), ":at": record.Text(deadlineKey + second)},
	})
}

// query reads all pages. A row that cannot be read must not hide others.
func (s *Store) query(ctx context.Context, op string, in *dynamodb.QueryInput) (all []Promise, _ error) {
	in.TableName = aws.String(s.table)
	for more := true; more; more = len(in.ExclusiveStartKey) > 0 {
		page, err := s.api.Query(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("promise: %s on table %s: %w", op, s.table, err)
		}
		for _, row := range page.Items {
			if p, err := Decode(row); err == nil {
				all = append(all, p)
			}
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
	return all, nil
}

// stamp is the text of record.Time.
func stamp(t time.Time) string { return record.Read(record.Item{"": record.Time(t)}).Text("") }

// Decode reads a row of type PROMISE.
func Decode(row record.Item) (p Promise, err error) {
	f := record.Read(row)
	p = Promise{
		User: strings.TrimPrefix(f.Text("pk"), "USER#"), ID: strings.TrimPrefix(f.Text("sk"), prefix),
		Description: f.Text("description"), Activity: f.Text("activity"),
		Household: cmp.Or(f.Text("householdId"), f.Text("chatId")), Chat: f.Text("chatId"), Source: f.Int("sourceMessageId"),
		Status: Status(f.Text("status")), MadeAt: f.Time("createdAt"), Deadline: f.Time("deadline"),
	}
	if f.Has("event") {
		p.Settled, err = event.Parse(f.Text("event"))
	}
	return p, cmp.Or(f.Err(), err)
}
