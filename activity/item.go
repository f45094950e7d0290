package activity

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/payload"
)

// The attributes of a row.
const (
	attrScope      = "chatId"
	attrID         = "activityId"
	attrActor      = "userId"
	attrActorName  = "userName"
	attrSeq        = "messageId"
	attrTimestamp  = "timestamp"
	attrKind       = "type"
	attrName       = "activity"
	attrEffort     = "effort"
	attrConfidence = "confidence"
	attrNameTime   = "activityTimestamp"
	attrScopeActor = "chatUser"
	attrCreatedAt  = "createdAt"

	attrTTL         = "ttl"
	attrRetractedAt = "retractedAt" // of a tombstone, beside its key
)

// The indexes.
const (
	indexActor     = "userId-timestamp-index"
	indexName      = "chatId-activity-index"
	indexActorName = "chatUser-activity-index"
)

// What Config.Names can name.
var (
	attributes = []string{
		attrScope, attrID, attrActor, attrActorName, attrSeq, attrTimestamp, attrKind, attrName, attrEffort, attrConfidence, attrNameTime, attrScopeActor, attrCreatedAt,
		attrTTL, attrRetractedAt, payload.Attr,
	}
	indexes = []string{indexActor, indexName, indexActorName}
)

// tombstone is the row in place of a retracted activity. It has no attributes
// of the indexes, so it is not in them.
func (s *Store) tombstone(scope string, ev event.Event, now time.Time) ddb.Item {
	it := s.key(scope, ev)
	it[attrRetractedAt] = item.Time(now)
	if s.retention.Limited() {
		it[attrTTL] = item.N(s.retention.Expiry(ev.Time()).Unix())
	}
	return it
}

// retracted reports whether the row is a tombstone.
func retracted(row ddb.Item) bool { return item.Has(row, attrRetractedAt) }

// expired reports whether the row has expired, and so counts as deleted.
func (s *Store) expired(row ddb.Item) bool {
	return item.Has(row, attrTTL) && item.Expired(row, attrTTL, s.cfg.Now())
}

// encode checks the activity and returns its row.
func (s *Store) encode(a Activity) (ddb.Item, error) {
	a.Name = canonical(a.Name)
	if err := s.check(a); err != nil {
		return nil, err
	}

	ms := a.Event.Time().UnixMilli()
	it := ddb.Item{
		attrScope:      item.S(a.Scope),
		attrID:         item.S(a.Event.String()),
		attrActor:      s.actorKey(a.Actor),
		attrTimestamp:  item.N(ms),
		attrName:       item.S(a.Name),
		attrEffort:     item.F(a.Effort),
		attrConfidence: item.F(a.Confidence),
		attrNameTime:   item.S(nameTime(a.Name, ms)),
		attrScopeActor: item.S(check.Join(a.Scope, a.Actor)),
		attrCreatedAt:  item.Time(s.cfg.Now()),
	}
	if a.ActorName != "" {
		it[attrActorName] = item.S(a.ActorName)
	}

	if a.Kind != "" {
		it[attrKind] = item.S(a.Kind)
	}

	if a.Seq != 0 {
		it[attrSeq] = item.N(a.Seq)
	}

	if err := payload.Encode(pkg, it, a.Data); err != nil {
		return nil, err
	}

	if s.retention.Limited() {
		it[attrTTL] = item.N(s.retention.Expiry(a.Event.Time()).Unix())
	}
	return it, item.CheckSize(pkg, "ActorName and Kind", s.names.Stored(it))
}

// decode reads a row, also one of an older system, in which much may be absent,
// or a projection of a row.
func (s *Store) decode(it ddb.Item) (Activity, error) {
	a := Activity{
		Scope:     item.Text(it, attrScope),
		Actor:     item.Text(it, attrActor),
		ActorName: item.Text(it, attrActorName),
		Name:      item.Text(it, attrName),
		Kind:      item.Text(it, attrKind),
	}

	var err error
	if a.Event, err = event.Parse(item.Text(it, attrID)); err != nil {
		// Not wrapped: a stored row is not bad input of the caller.
		return Activity{}, fmt.Errorf("attribute %s is not an event: %v", attrID, err)
	}
	if a.Seq, err = item.Int(it, attrSeq); err != nil {
		return Activity{}, err
	}
	if a.Effort, err = item.Float(it, attrEffort); err != nil {
		return Activity{}, err
	}
	if a.Confidence, err = item.Float(it, attrConfidence); err != nil {
		return Activity{}, err
	}
	if a.At, err = item.Millis(it, attrTimestamp); err != nil {
		return Activity{}, err
	}

	if a.At.IsZero() {
		a.At = a.Event.Time()
	}

	if a.CreatedAt, err = item.ParseTime(it, attrCreatedAt); err != nil {
		return Activity{}, err
	}
	if a.Data, err = payload.Decode[attributevalue.Number](it); err != nil {
		return Activity{}, err
	}

	return a, nil
}
