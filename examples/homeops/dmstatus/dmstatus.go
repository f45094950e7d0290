// Package dmstatus owns one record type of the application's own: whether a
// person may be written to in private. It shows how a service keeps a record
// beside the library's, in the same table and to the same promises.
//
//	pk DM#<user>   sk STATUS   type DM   status started|stopped   chatId   event   updatedAt
//
// A later event wins and an earlier one is a no-op, whatever the order of
// arrival; a repetition is a Duplicate.
//
// Price: 1 request each; a Set 1 WCU, a Get 0.5 RCU.
package dmstatus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
)

// Status of a private conversation.
type Status string

// The statuses.
const (
	Started Status = "started"
	Stopped Status = "stopped" // the person blocked the bot
)

// API is what the package calls of DynamoDB's client.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Store keeps the statuses.
type Store struct {
	api   API
	table string
	now   func() time.Time
}

// New returns a Store on the table that holds the aliases and habits, whose
// definition comes from theirs. A nil clock is time.Now.
func New(api API, table string, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{api: api, table: table, now: now}
}

// Change is a new status and the event that brought it.
type Change struct {
	User   string
	Chat   string
	Status Status
	Event  event.Event
}

// A later event wins. Events sort as their text does.
const (
	set      = "SET #type = :type, #status = :status, #chat = :chat, #event = :event, #updated = :updated"
	setWhere = "attribute_not_exists(#event) OR #event < :event"
)

var setNames = map[string]string{
	"#type": "type", "#status": "status", "#chat": "chatId", "#event": "event", "#updated": "updatedAt",
}

// Set records the change. Created says it stands, Duplicate that this very
// event had been recorded or a later one stands.
func (s *Store) Set(ctx context.Context, c Change) (event.Outcome, error) {
	if err := c.check(s.now()); err != nil {
		return 0, err
	}
	_, err := s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                aws.String(s.table),
		Key:                      key(c.User),
		UpdateExpression:         aws.String(set),
		ConditionExpression:      aws.String(setWhere),
		ExpressionAttributeNames: setNames,
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":type": text("DM"), ":status": text(string(c.Status)), ":chat": text(c.Chat),
			":event": text(c.Event.String()), ":updated": text(s.now().UTC().Format("2006-01-02T15:04:05.000Z")),
		},
	})
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
		return event.Duplicate, nil
	}
	if err != nil {
		return 0, fmt.Errorf("dmstatus: UpdateItem on table %s: %w", s.table, err)
	}
	return event.Created, nil
}

func (c Change) check(now time.Time) error {
	if c.User == "" {
		return event.BadInput("dmstatus", "Change.User", "must not be empty")
	}
	if c.Status != Started && c.Status != Stopped {
		return event.BadInput("dmstatus", "Change.Status", fmt.Sprintf("must be started or stopped, is %q", c.Status))
	}
	return c.Event.Check("dmstatus", "Change.Event", now)
}

// Get returns the status; ok is false when the person never wrote in private.
func (s *Store) Get(ctx context.Context, user string) (_ Status, ok bool, _ error) {
	if user == "" {
		return "", false, event.BadInput("dmstatus", "user", "must not be empty")
	}
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.table), Key: key(user)})
	if err != nil {
		return "", false, fmt.Errorf("dmstatus: GetItem on table %s: %w", s.table, err)
	}
	status, ok := out.Item["status"].(*types.AttributeValueMemberS)
	if !ok {
		return "", false, nil
	}
	return Status(status.Value), true, nil
}

func key(user string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": text("DM#" + user), "sk": text("STATUS")}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
