package message

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/payload"
)

// The attributes of a row.
const (
	attrScope     = "chatId"
	attrSeq       = "messageId"
	attrActor     = "userId"
	attrActorName = "userName"
	attrText      = "text"
	attrTimestamp = "timestamp"
	attrRaw       = "raw"
	attrCreatedAt = "createdAt"
	attrTTL       = "ttl"
)

const indexActor = "userId-timestamp-index"

// attributes are what Config.Names can name, beside the index.
var attributes = []string{
	attrScope, attrSeq, attrActor, attrActorName, attrText, attrTimestamp, attrRaw, attrCreatedAt, attrTTL, payload.Attr,
}

// key returns the key of a message.
func (s *Store) key(scope string, seq int64) ddb.Item {
	return ddb.Item{attrScope: item.S(scope), attrSeq: item.N(seq)}
}

// encode returns the row of a message whose other fields than its Data have been
// checked. Empty attributes are left out, except the text, which the older
// system always wrote.
func (s *Store) encode(m Message, createdAt time.Time) (ddb.Item, error) {
	row := make(ddb.Item, len(attributes))
	row[attrScope] = item.S(m.Scope)
	row[attrSeq] = item.N(m.Seq)
	row[attrText] = item.S(m.Text)
	row[attrTimestamp] = item.N(m.At.UnixMilli())
	row[attrCreatedAt] = item.Time(createdAt)
	if m.Actor != "" {
		row[attrActor] = s.actorKey(m.Actor)
	}

	if m.ActorName != "" {
		row[attrActorName] = item.S(m.ActorName)
	}

	if m.Raw != "" {
		row[attrRaw] = item.S(m.Raw)
	}

	if err := payload.Encode(pkg, row, m.Data); err != nil {
		return nil, err
	}

	if s.retention.Limited() {
		row[attrTTL] = item.N(s.retention.Expiry(m.At).Unix())
	}
	return row, item.CheckSize(pkg, "Raw", s.names.Stored(row))
}

// decode reads a row, also one of the older system: with seconds in its
// timestamp, without a sender, without createdAt.
func (s *Store) decode(row ddb.Item) (Message, error) {
	seq, err := item.Int(row, attrSeq)
	if err != nil {
		return Message{}, err
	}

	at, err := item.Millis(row, attrTimestamp)
	if err != nil {
		return Message{}, err
	}

	createdAt, err := item.ParseTime(row, attrCreatedAt)
	if err != nil {
		return Message{}, err
	}

	data, err := payload.Decode[attributevalue.Number](row)
	if err != nil {
		return Message{}, err
	}

	return Message{
		Scope:     item.Text(row, attrScope),
		Seq:       seq,
		Actor:     item.Text(row, attrActor),
		ActorName: item.Text(row, attrActorName),
		Text:      item.Text(row, attrText),
		Raw:       item.Text(row, attrRaw),
		At:        at,
		Data:      data,
		CreatedAt: createdAt,
	}, nil
}

func (s *Store) expired(row ddb.Item) bool { return item.Expired(row, attrTTL, s.cfg.Now()) }

// check refuses a message that cannot be stored, or would not be read back as
// it was given.
func (s *Store) check(m Message, now time.Time) error {
	if err := checkKey(m.Scope, m.Seq); err != nil {
		return err
	}
	if err := s.checkActor(m.Actor); err != nil {
		return err
	}
	for _, text := range []struct{ field, value string }{{"ActorName", m.ActorName}, {"Text", m.Text}, {"Raw", m.Raw}} {
		if err := check.Text(pkg, text.field, text.value); err != nil {
			return err
		}
	}
	return checkAt(m.At, now)
}

func checkKey(scope string, seq int64) error {
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return err
	}
	if seq < 1 {
		return event.BadInput(pkg, "Seq", "must be positive")
	}
	return nil
}

// checkAt refuses a time that would be read as seconds, and one so far ahead
// that every conversation would seem long past.
func checkAt(at, now time.Time) error {
	if at.IsZero() {
		return event.BadInput(pkg, "At", "must be set to the time at which the message was said")
	}
	if at.Before(time.UnixMilli(item.SecondsBelow)) { // not by milliseconds, which overflow
		return event.BadInput(pkg, "At", fmt.Sprintf("must be after %s", time.UnixMilli(item.SecondsBelow).UTC().Format(time.DateOnly)))
	}
	if at.After(now.Add(event.MaxAhead)) {
		return event.BadInput(pkg, "At", "lies more than "+event.MaxAhead.String()+" ahead of the clock, at "+at.UTC().Format(time.RFC3339))
	}
	return nil
}

// actorKey is the actor in the table's type.
func (s *Store) actorKey(id string) types.AttributeValue { return actor.Value(s.cfg.ActorType, id) }

// checkActor refuses an actor that the table cannot hold. "" is nobody.
func (s *Store) checkActor(id string) error {
	switch {
	case id == "":
		return nil
	case s.cfg.ActorType == types.ScalarAttributeTypeS && !s.cfg.ActorIndex: // it is not a key
		return check.Text(pkg, "Actor", id)
	}
	return actor.CheckID(pkg, s.cfg.ActorType, id)
}
