package activity

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/text/unicode/norm"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/actor"
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

// The times an activity can have, in Unix milliseconds: a smaller one would be
// read as seconds, a greater one has more than the 13 digits of its key.
const (
	minMillis = item.SecondsBelow
	maxMillis = item.MaxMillis
)

// nameTime is the key under which activities of one name sort by time.
func nameTime(name string, ms int64) string { return fmt.Sprintf("%s%013d", namePrefix(name), ms) }

// namePrefix begins the keys of the name and of no other: an encoded name
// holds no '#'.
func namePrefix(name string) string { return check.Enc(name) + "#" }

// scopeActor is the partition of one actor in one scope.
func scopeActor(scope, actor string) string { return check.Join(scope, actor) }

// check refuses what DynamoDB would refuse, and what would not be read back
// unchanged.
func (s *Store) check(a Activity) error {
	if err := check.PartitionKey(pkg, "Scope", a.Scope); err != nil {
		return err
	}
	if err := a.Event.Check(pkg, "Event", s.cfg.Now()); err != nil {
		return err
	}
	if ms := a.Event.Time().UnixMilli(); ms < minMillis || ms > maxMillis {
		return event.BadInput(pkg, "Event", "must have a time between March 1973 and November 2286, has "+a.Event.Time().Format(time.RFC3339))
	}
	if err := s.checkIndexed(a); err != nil {
		return err
	}
	if err := check.Text(pkg, "ActorName", a.ActorName); err != nil {
		return err
	}
	if err := check.Text(pkg, "Kind", a.Kind); err != nil {
		return err
	}
	for _, number := range []struct {
		field string
		value float64
	}{{"Seq", float64(a.Seq)}, {"Effort", a.Effort}, {"Confidence", a.Confidence}} {
		if err := check.Finite(pkg, number.field, number.value); err != nil {
			return err
		}
		if number.value < 0 {
			return event.BadInput(pkg, number.field, "must not be negative")
		}
	}
	return nil
}

// checkIndexed refuses what cannot be in the keys of the indexes. All times that can
// be recorded have as many digits.
func (s *Store) checkIndexed(a Activity) error {
	if err := s.checkActor(a.Actor); err != nil {
		return err
	}
	if err := check.ID(pkg, "Name", a.Name); err != nil {
		return err
	}
	if err := check.PartitionKey(pkg, "Scope and Actor", scopeActor(a.Scope, a.Actor)); err != nil {
		return err
	}
	return check.SortKey(pkg, "Name", nameTime(a.Name, maxMillis))
}

func (s *Store) checkActor(id string) error { return actor.CheckID(pkg, s.cfg.ActorType, id) }

// actorKey is the actor in the type that the table's index has.
func (s *Store) actorKey(id string) types.AttributeValue { return actor.Value(s.cfg.ActorType, id) }

// canonical is the form of a name that is stored and searched for.
func canonical(name string) string { return norm.NFC.String(name) }

// key is the key of the event's row.
func (s *Store) key(scope string, ev event.Event) ddb.Item {
	return ddb.Item{attrScope: item.S(scope), attrID: item.S(ev.String())}
}

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
		attrScopeActor: item.S(scopeActor(a.Scope, a.Actor)),
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

// standing reads the rows that are neither retracted nor expired.
func (s *Store) standing(method string, rows []ddb.Item) ([]Activity, error) {
	var all []Activity
	for _, row := range rows {
		if retracted(row) || s.expired(row) {
			continue
		}
		a, err := s.decode(row)
		if err != nil {
			return nil, s.wrap(method, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// same reports whether both are the same activity. It compares neither the time
// of writing nor the Unicode form of the name.
func same(a, b Activity) bool {
	return a.Scope == b.Scope && a.Actor == b.Actor && a.ActorName == b.ActorName && a.Event == b.Event &&
		canonical(a.Name) == canonical(b.Name) && a.Kind == b.Kind && a.Seq == b.Seq &&
		a.Effort == b.Effort && a.Confidence == b.Confidence && payload.Equal(a.Data, b.Data)
}

// lookalikes returns the beginning that the key of an older system's row shares
// with all keys that look alike in the same way. No key of the prefix's own
// name begins so: such a key has a time behind the prefix, and no further '#'.
// For a key of the name itself it returns "".
func lookalikes(prefix, nameTime string) string {
	head, _, alike := strings.Cut(strings.TrimPrefix(nameTime, prefix), "#")
	if !alike {
		return ""
	}
	return prefix + head + "#"
}
