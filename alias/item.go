package alias

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// The attributes of an item.
const (
	attrPK            = "pk"
	attrSK            = "sk"
	attrType          = "type"
	attrName          = "canonicalActivity"
	attrConfirmations = "confirmations"
	attrSource        = "source"
	attrLearnedFrom   = "learnedFrom"
	attrNamedBy       = "namedBy"
	attrConfirmedBy   = "confirmedBy" // of format 1
	attrConfirmers    = "confirmers"
	attrIndexPK       = "gsi1pk"
	attrIndexSK       = "gsi1sk"
	attrCreatedAt     = "createdAt"
	attrUpdatedAt     = "updatedAt"
)

const index = "GSI1"

// attributes are what Config.Names can name, beside the index.
var attributes = []string{
	attrPK, attrSK, attrType, attrName, attrConfirmations, attrSource, attrLearnedFrom, attrNamedBy, attrConfirmedBy,
	attrConfirmers, attrIndexPK, attrIndexSK, attrCreatedAt, attrUpdatedAt,
}

// partitions returns the partition of a scope in the table and in the index. The
// scope is the last part and is not encoded. No prefix holds a '#', so the first
// '#' always ends the prefix, and two scopes or two prefixes never share a
// partition. In the index, the default prefix has its original name.
func (s *Store) partitions(scope string) (inTable, inIndex string, err error) {
	if err := check.ID(pkg, "Scope", scope); err != nil {
		return "", "", err
	}
	inTable, inIndex = s.cfg.Prefix+"#"+scope, s.cfg.Prefix+"_BY_TARGET#"+scope
	if s.cfg.Prefix == defaultPrefix {
		inIndex = "ALIASES_BY_ACTIVITY#" + scope
	}
	return inTable, inIndex, check.PartitionKey(pkg, "Scope", inIndex) // the longer one
}

// place is the key of a phrase, its partition in the index, and the phrase in
// normal form.
type place struct {
	scope, phrase string
	pk, indexPK   string
}

func (s *Store) place(scope, phrase string) (place, error) {
	inTable, inIndex, err := s.partitions(scope)
	normal, bad := normalize(phrase)
	return place{scope, normal, inTable, inIndex}, cmp.Or(err, bad)
}

func (p place) key() ddb.Item {
	return ddb.Item{attrPK: item.S(p.pk), attrSK: item.S(p.phrase)}
}

// row is a stored item. Without a name, the phrase was forgotten or the item
// does not exist.
type row struct {
	Alias
	confirmedBy event.Event   // the last that confirmed it in format 1; earlier ones may have, too
	confirmers  []event.Event // the greatest that confirmed it, in order
}

// named reports whether the phrase stands for something.
func (r row) named() bool { return r.Name != "" }

// decode reads an item of this package or of the older system, whose items lack
// later attributes and may hold times as numbers. With an error, it returns only
// whose row it is.
func decode(scope string, it ddb.Item) (row, error) {
	if len(it) == 0 {
		return row{}, nil
	}

	of := Alias{Scope: scope, Phrase: item.Text(it, attrSK)}
	r := row{Alias: of}
	r.Name, r.LearnedFrom = item.Text(it, attrName), item.Text(it, attrLearnedFrom)
	r.Source = Source(item.Text(it, attrSource))

	var err [7]error
	r.Confirmations, err[0] = item.Int(it, attrConfirmations)
	r.CreatedAt, err[1] = timeOf(it, attrCreatedAt)
	_, err[2] = timeOf(it, attrUpdatedAt) // which nobody uses: damage shows all the same
	r.NamedBy, err[3] = eventOf(it, attrNamedBy)
	r.confirmedBy, err[4] = eventOf(it, attrConfirmedBy)
	r.confirmers, err[5] = eventsOf(it, attrConfirmers)
	if normal, bad := normalize(of.Phrase); bad != nil || normal != of.Phrase {
		err[6] = errors.New("its phrase is not in normal form, see Backfill")
	}

	if err := cmp.Or(err[:]...); err != nil {
		return row{Alias: of}, fmt.Errorf("a stored item cannot be read: %w", err)
	}
	return r, nil
}

func timeOf(it ddb.Item, attribute string) (time.Time, error) {
	if _, number := it[attribute].(*types.AttributeValueMemberN); number {
		return item.Millis(it, attribute)
	}
	return item.ParseTime(it, attribute)
}

func eventOf(it ddb.Item, attribute string) (event.Event, error) {
	if !item.Has(it, attribute) {
		return event.Event{}, nil
	}
	e, err := event.Parse(item.Text(it, attribute))
	if err != nil {
		// Not wrapped: a stored item is not bad input of the caller.
		return event.Event{}, fmt.Errorf("attribute %s is not an event: %v", attribute, err)
	}
	return e, nil
}

// eventsOf returns the events of a set, in order.
func eventsOf(it ddb.Item, attribute string) ([]event.Event, error) {
	switch v := it[attribute].(type) {
	case nil:
		return nil, nil
	case *types.AttributeValueMemberBS:
		events := make([]event.Event, 0, len(v.Value))
		for _, b := range v.Value {
			if len(b) != event.Size {
				return nil, fmt.Errorf("attribute %s has an element of %d bytes, and an event has %d", attribute, len(b), event.Size)
			}
			events = append(events, event.Event(b))
		}
		slices.SortFunc(events, event.Event.Compare)
		return events, nil
	default:
		return nil, fmt.Errorf("attribute %s is a %T, not a set of events", attribute, v)
	}
}

func setOf(events []event.Event) types.AttributeValue {
	set := &types.AttributeValueMemberBS{Value: make([][]byte, len(events))}
	for i, ev := range events {
		set.Value[i] = ev[:]
	}
	return set
}
