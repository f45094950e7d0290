package alias

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// ours are the attributes that FORMAT.md names, except the key.
var ours = []string{
	attrType, attrName, attrConfirmations, attrSource, attrLearnedFrom, attrNamedBy, attrConfirmedBy, attrConfirmers,
	attrIndexPK, attrIndexSK, attrCreatedAt, attrUpdatedAt,
}

// merge returns the item in normal form with the content of both: the one under
// an older spelling, and the one in normal form, if it exists.
func (s *Store) merge(op string, p place, old, normal ddb.Item) (ddb.Item, error) {
	o, err := s.decode(op, p.scope, old)
	if err != nil {
		return nil, err
	}
	n, err := s.decode(op, p.scope, normal)
	if err != nil {
		return nil, err
	}
	it, stands := maps.Clone(old), o
	switch {
	case len(normal) == 0:
	case o.named() && n.named() && o.Name != n.Name:
		return nil, &TakenError{Owner: n.Name}
	case o.outlives(n):
		it = overlay(old, normal)
		keepBoth(it, o, n)
	default:
		it, stands = overlay(normal, old), n
		keepBoth(it, o, n)
	}
	if len(normal) > 0 {
		it[attrCreatedAt] = firstCreated(o, n, old, normal)
	}
	it[attrSK], it[attrType], it[attrUpdatedAt] = item.S(p.phrase), item.S(p.prefix), item.Time(s.cfg.Now())
	if stands.named() {
		it[attrIndexPK], it[attrIndexSK] = item.S(p.indexPK), item.S(stands.Name)
	}
	maps.DeleteFunc(it, func(_ string, value types.AttributeValue) bool { return value == nil })
	return it, nil
}

// outlives reports whether the row under an older spelling decides what the
// phrase stands for, and not the one in normal form. The two do not have
// different names.
func (r row) outlives(normal row) bool {
	order := r.NamedBy.Compare(normal.NamedBy)
	switch {
	case r.named() && normal.named():
		return order > 0 || order == 0 && normal.Source == FromSeed
	case r.named():
		return order > 0 || normal.NamedBy == event.Event{} // nobody forgot it
	}
	return false
}

// overlay returns the item with the attributes of the other one that are not
// ours.
func overlay(it, beside ddb.Item) ddb.Item {
	all := maps.Clone(beside)
	for _, attribute := range ours {
		delete(all, attribute)
	}
	maps.Copy(all, it)
	return all
}

// keepBoth sets in the item the later of the two deciding events, and what
// either row counted for their common name.
func keepBoth(it ddb.Item, o, n row) {
	if last := later(o.NamedBy, n.NamedBy); last != (event.Event{}) {
		it[attrNamedBy] = item.S(last.String())
	}
	if !o.named() || !n.named() {
		return
	}
	counted := n.counted()
	both := int64(0)
	for _, ev := range o.counted() {
		if slices.Contains(counted, ev) {
			both++
		}
	}
	it[attrConfirmations] = item.N(o.Confirmations + n.Confirmations - both)
	if last := later(o.confirmedBy, n.confirmedBy); last != (event.Event{}) {
		it[attrConfirmedBy] = item.S(last.String())
	}
	if all := greatest(append(slices.Clone(o.confirmers), n.confirmers...)); len(all) > 0 {
		it[attrConfirmers] = setOf(all)
	}
}

// counted returns all events that the row is known to have counted.
func (r row) counted() []event.Event {
	if r.confirmedBy == (event.Event{}) || slices.Contains(r.confirmers, r.confirmedBy) {
		return r.confirmers
	}
	return append(slices.Clone(r.confirmers), r.confirmedBy)
}

func later(a, b event.Event) event.Event {
	if a.Compare(b) > 0 {
		return a
	}
	return b
}

// firstCreated returns createdAt of the older row, as it is stored.
func firstCreated(o, n row, old, normal ddb.Item) types.AttributeValue {
	if n.CreatedAt.IsZero() || !o.CreatedAt.IsZero() && o.CreatedAt.Before(n.CreatedAt) {
		return old[attrCreatedAt]
	}
	return normal[attrCreatedAt]
}

// unchanged is the condition that an item is as it was read, or still does not
// exist. It numbers the attributes in their order, so the same item always gives
// the same string.
func unchanged(stood ddb.Item) (condition string, names map[string]string, values ddb.Item) {
	if len(stood) == 0 {
		return unknown.condition, unknown.names, nil
	}
	attributes := slices.AppendSeq(slices.Clone(ours), maps.Keys(stood))
	slices.Sort(attributes)
	names, values = map[string]string{}, ddb.Item{}
	var clauses []string
	for i, attribute := range slices.Compact(attributes) {
		name, value := fmt.Sprintf("#a%d", i), fmt.Sprintf(":a%d", i)
		names[name] = attribute
		if stands, ok := stood[attribute]; ok {
			clauses = append(clauses, name+" = "+value)
			values[value] = stands
		} else {
			clauses = append(clauses, "attribute_not_exists("+name+")")
		}
	}
	return strings.Join(clauses, " AND "), names, values
}
