package activity

import (
	"encoding/binary"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/text/unicode/norm"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// The times an activity can have, in Unix milliseconds: a smaller one would be
// read as seconds, a greater one has more than the 13 digits of its key.
const (
	minMillis = item.SecondsBelow
	maxMillis = item.MaxMillis
)

// canonical is the form of a name that is stored and searched for.
func canonical(name string) string { return norm.NFC.String(name) }

// nameTime is the key under which activities of one name sort by time.
func nameTime(name string, ms int64) string { return fmt.Sprintf("%s%013d", namePrefix(name), ms) }

// namePrefix begins the keys of the name and of no other: an encoded name
// holds no '#'.
func namePrefix(name string) string { return check.Enc(name) + "#" }

// idsOf returns the least and the greatest possible id in the period.
func idsOf(p item.Period) (lo, hi string) { return idAt(p.From, 0x00), idAt(p.To, 0xff) }

func idAt(ms int64, fill byte) string {
	var id event.Event
	for i := range id {
		id[i] = fill
	}
	binary.BigEndian.PutUint16(id[0:], uint16(ms>>32))
	binary.BigEndian.PutUint32(id[2:], uint32(ms))
	return id.String()
}

// digitsOf returns the least and the greatest digits of the period's times in keys by
// name. An older system wrote seconds, in ten digits, which sort just before the
// milliseconds of the same second. So if the period starts with a whole second, lo has ten
// digits, and takes in such a row.
func digitsOf(p item.Period) (lo, hi string) {
	lo, hi = fmt.Sprintf("%013d", p.From), fmt.Sprintf("%013d", p.To)
	if p.From > 0 && p.From%1000 == 0 {
		lo = lo[:10]
	}
	return lo, hi
}

// key is the key of the event's row.
func (s *Store) key(scope string, ev event.Event) ddb.Item {
	return ddb.Item{attrScope: item.S(scope), attrID: item.S(ev.String())}
}

// actorKey is the actor in the type that the table's index has.
func (s *Store) actorKey(id string) types.AttributeValue { return actor.Value(s.cfg.ActorType, id) }
