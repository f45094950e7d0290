package record

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
)

// TieError is returned by [Rows.Set] when two events, or two deliveries of one
// event, with the same time and rank gave different values to a row.
// Nothing that the events say decides which one is right: the row keeps the
// values of the event with the greater identity or, of one event, of its first
// delivery. Ask the sender which one is right, and set the row by an event with
// a greater Rank or a later time. If this happens often, give a Rank to each
// value.
type TieError struct {
	// Stands reports whether the row now holds the values of this call.
	// If it does, the values of the other event are gone.
	Stands bool
}

// Error says which of the two events stands.
func (e *TieError) Error() string {
	if e.Stands {
		return "record: the event has replaced an event with the same time and rank, and other values"
	}
	return "record: an event with the same time and rank has set other values"
}

// markLength is how many characters a ULID has, timeLength how many of them are
// its time, and rankLength how many a rank adds.
const (
	markLength = 26
	timeLength = 10
	rankLength = 4
)

// markOf is how a row stores the event that set it. A rank comes after the time,
// behind an r, which sorts after all characters of a ULID.
func markOf(ev event.Event, rank int) string {
	text := ev.String()
	if rank == 0 {
		return text
	}
	return fmt.Sprintf("%sr%03d%s", text[:timeLength], rank, text[timeLength:])
}

// parts splits a mark into its time and rank, and into its time and identity.
// Both are "" for a row that no event has set.
func parts(mark string) (moment, ev string) {
	switch len(mark) {
	case markLength:
		return mark[:timeLength], mark
	case markLength + rankLength:
		return mark[:timeLength+rankLength], mark[:timeLength] + mark[timeLength+rankLength:]
	}
	return "", ""
}

// sameValues reports whether the row has these attributes of the record's own. A
// nil value is absent.
func sameValues(own, row Item) bool {
	for attribute, value := range own {
		if !reflect.DeepEqual(plain(value), plain(row[attribute])) {
			return false
		}
	}
	return true
}

// plain returns the one form of a value, so that values which DynamoDB takes for
// equal are deeply equal.
func plain(value types.AttributeValue) types.AttributeValue {
	switch v := value.(type) {
	case *types.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: number(v.Value)}
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: append([]byte{}, v.Value...)} // never nil
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: slices.Sorted(slices.Values(v.Value))}
	case *types.AttributeValueMemberNS:
		numbers := make([]string, len(v.Value))
		for i, text := range v.Value {
			numbers[i] = number(text)
		}
		slices.Sort(numbers)
		return &types.AttributeValueMemberNS{Value: numbers}
	case *types.AttributeValueMemberBS:
		return &types.AttributeValueMemberBS{Value: slices.SortedFunc(slices.Values(v.Value), slices.Compare)}
	case *types.AttributeValueMemberL:
		list := make([]types.AttributeValue, len(v.Value))
		for i, element := range v.Value {
			list[i] = plain(element)
		}
		return &types.AttributeValueMemberL{Value: list}
	case *types.AttributeValueMemberM:
		entries := make(Item, len(v.Value))
		for name, entry := range v.Value {
			entries[name] = plain(entry)
		}
		return &types.AttributeValueMemberM{Value: entries}
	}
	return value
}

// number writes a number in one form, so that 1 and 1.0 are equal. It returns other
// text unchanged.
func number(text string) string {
	if n, ok := new(big.Rat).SetString(text); ok {
		return n.RatString()
	}
	return text
}
