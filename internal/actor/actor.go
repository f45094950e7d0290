// Package actor is how ids of actors are stored: as numbers or as text. In Go
// an actor is always a string.
package actor

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/schema"
)

// Type is the type of actors' ids in a table: S, or else N, also if it is empty.
type Type = types.ScalarAttributeType

// CheckType refuses what is not a Type.
func CheckType(pkg string, t Type) error {
	switch t {
	case "", types.ScalarAttributeTypeN, types.ScalarAttributeTypeS:
		return nil
	}
	return event.BadInput(pkg, "Config.ActorType", "must be N, which an empty one stands for, or S")
}

// CheckID refuses an actor that cannot be the key of an index.
func CheckID(pkg string, t Type, id string) error {
	if t == types.ScalarAttributeTypeS {
		return check.PartitionKey(pkg, "Actor", id)
	}
	return check.Decimal(pkg, "Actor", id)
}

// Value is the actor as it is stored.
func Value(t Type, id string) types.AttributeValue {
	if t == types.ScalarAttributeTypeS {
		return item.S(id)
	}
	return item.Digits(id)
}

// Attribute is the actor's attribute as a key of an index.
func Attribute(t Type, name string) schema.Attribute {
	if t == types.ScalarAttributeTypeS {
		return schema.String(name)
	}
	return schema.Number(name)
}
