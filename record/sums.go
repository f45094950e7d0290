package record

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Bounds of Add.
const (
	mostSum  = 1_000_000_000_000_000
	mostSums = 50 // of one event, for the condition has room for some 70
)

// checkSums refuses the keys and sums that only an exact Kind would write.
func (w *writing[T]) checkSums(partition, sort string) error {
	pkg := w.kind.Package
	err := cmp.Or(
		check.PartitionKey(pkg, "Partition", partition+ofEvents),
		check.SortKey(pkg, "Sort", sortOf(sort, event.Event{})),
	)
	if err != nil {
		return err
	}

	for _, sums := range w.add {
		if len(sums) == 0 {
			return event.BadInput(pkg, "Add", "must add something: an event that adds nothing is not to be applied")
		}
		if len(sums) > mostSums {
			return event.BadInput(pkg, "Add", fmt.Sprintf("must have at most %d sums, has %d", mostSums, len(sums)))
		}

		for attribute, n := range sums {
			if !slices.Contains(w.kind.Attributes, attribute) {
				return event.BadInput(pkg, "Add", fmt.Sprintf("must not add to %q, which is not one of Kind.Attributes", attribute))
			}
			if n == 0 || n < -mostSum || n > mostSum {
				return event.BadInput(pkg, "Add", "must give each attribute a number from -1E15 to 1E15, other than 0")
			}
		}

		for attribute, least := range w.atLeast {
			if _, added := sums[attribute]; !added || least < -mostSum || least > mostSum {
				return event.BadInput(pkg, "AtLeast", "must have only attributes of Add, each with a number from -1E15 to 1E15")
			}
		}
	}
	return nil
}

// adding returns the update that adds what the events add.
func (e *exactWrite[T]) adding(events []event.Event) *dynamodb.UpdateItemInput {
	sums := map[string]int64{}
	for _, ev := range events {
		for attribute, n := range e.add[ev] {
			sums[attribute] += n
		}
	}

	values := Item{
		":type": item.S(e.kind.Type), ":start": item.N(e.start), ":one": item.N(1),
		":updatedAt": item.Time(e.cfg.Now()), ":count": item.N(int64(len(events))),
	}

	add, condition := addExact, ifExact
	names := item.NamesIn(add, condition)
	names["#count"] = e.kind.Count
	for i, attribute := range slices.Sorted(maps.Keys(sums)) {
		name, value := aliases(i)
		names[name], values[value] = attribute, item.N(sums[attribute])
		add += ", " + name + " " + value
		least, bounded := e.atLeast[attribute]
		if !bounded {
			continue
		}

		enough := name + " >= " + value + "least"
		values[value+"least"] = item.N(least - sums[attribute])
		if least <= sums[attribute] { // from 0, which an absent sum is
			enough = "(attribute_not_exists(" + name + ") OR " + enough + ")"
		}

		condition += " AND " + enough
	}

	return e.request(e.key, add, condition, names, values)
}

// added is what an event adds, as its row remembers it.
func added(sums map[string]int64) types.AttributeValue {
	entries := make(Item, len(sums))
	for attribute, n := range sums {
		entries[attribute] = item.N(n)
	}
	return item.M(entries)
}

// differs returns an error if the event's row says that the event added something
// else. Next stores no sums in the row, and a call with Next gives none: then there is
// nothing to compare.
func differs(row Item, sums map[string]int64) error {
	kept, ok := row[attrAdd].(*types.AttributeValueMemberM)
	if !ok || sums == nil {
		return nil
	}

	recorded := make(map[string]int64, len(kept.Value))
	for attribute := range kept.Value {
		n, err := item.Int(kept.Value, attribute)
		if err != nil {
			return err
		}
		recorded[attribute] = n
	}

	if maps.Equal(recorded, sums) {
		return nil
	}
	return &AddError{Recorded: recorded, Given: sums}
}

// below returns the first floor that adding to the row would go below.
func below(row Item, add, atLeast map[string]int64) error {
	for _, attribute := range slices.Sorted(maps.Keys(atLeast)) {
		stands, err := whole(row, attribute)
		if err != nil {
			return err
		}
		if least := atLeast[attribute]; stands < least-add[attribute] {
			return &FloorError{Attribute: attribute, Stands: stands, AtLeast: least}
		}
	}
	return errNoReason
}

// whole reads a sum, rounded down: another system may have made it fractional.
func whole(row Item, attribute string) (int64, error) {
	stands, err := item.Int(row, attribute)
	if err == nil {
		return stands, nil
	}
	x, err := item.Float(row, attribute)
	return int64(math.Floor(x)), err
}
