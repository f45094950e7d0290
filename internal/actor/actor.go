// Package actor is how ids of actors are stored: as numbers or as text. In Go
// an actor is always a string.
package actor

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/schema"
)

// Type is the type of actors' ids in a table. It has functions instead of methods,
// except String, because record packages export the type under a name of their own.
type Type uint8

// String returns "Number" or "String".
func (t Type) String() string {
	switch t {
	case Number:
		return "Number"
	case String:
		return "String"
	}
	return "ActorType(" + strconv.Itoa(int(t)) + ")"
}

// The types of actors' ids.
const (
	Number Type = iota // N
	String             // S
)

// CheckType refuses what is not a Type.
func CheckType(pkg string, t Type) error {
	if t > String {
		return event.BadInput(pkg, "Config.ActorType", "must be Number or String")
	}
	return nil
}

// CheckID refuses an actor that cannot be the key of an index.
func CheckID(pkg string, t Type, id string) error {
	if t == String {
		return check.PartitionKey(pkg, "Actor", id)
	}
	return check.Decimal(pkg, "Actor", id)
}

// Value is the actor as it is stored.
func Value(t Type, id string) types.AttributeValue {
	if t == String {
		return item.S(id)
	}
	return item.Digits(id)
}

// Attribute is the actor's attribute as a key of an index.
func Attribute(t Type, name string) schema.Attribute {
	if t == String {
		return schema.String(name)
	}
	return schema.Number(name)
}
