// Package payload handles the caller's own data in a record: text, numbers and
// flags by name, in one map of the row.
package payload

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Attr is the attribute that holds the map.
const Attr = "data"

// The limits of the map: its entries, the bytes of a name, and the bytes of the
// whole map.
const (
	MaxEntries = 32
	MaxName    = 255
	MaxSize    = 4 << 10
)

// field names the map in bad input.
const field = "Data"

// Encode checks the data and puts it into the row. For empty data it puts
// nothing into the row. It does not keep the caller's map.
func Encode(pkg string, row ddb.Item, data map[string]any) error {
	if len(data) == 0 {
		return nil
	}
	if len(data) > MaxEntries {
		return event.BadInput(pkg, field, fmt.Sprintf("must have at most %d entries, has %d", MaxEntries, len(data)))
	}

	encoded := make(ddb.Item, len(data))
	for name, value := range data {
		if !ValidName(name) {
			return event.BadInput(pkg, field, "must have names of "+NameBound)
		}
		stored, err := Value(value)
		if err != nil {
			return event.BadInput(pkg, fmt.Sprintf("%s[%q]", field, name), err.Error())
		}
		encoded[name] = stored
	}

	if size := item.Size(ddb.Item{Attr: item.M(encoded)}); size > MaxSize {
		return event.BadInput(pkg, field, fmt.Sprintf("must have at most %d bytes, has %d", MaxSize, size))
	}

	row[Attr] = item.M(encoded)
	return nil
}

// NameBound describes a name that ValidName accepts.
const NameBound = "1 to 255 bytes of UTF-8"

// ValidName reports whether an entry may have the name.
func ValidName(name string) bool {
	return name != "" && len(name) <= MaxName && utf8.ValidString(name)
}

// Decode reads the data of a row, nil if it has none. Its values are text, bool
// and N. N is a parameter because package attributevalue would be in the go.sum of
// every service that imports package record.
func Decode[N ~string](row ddb.Item) (map[string]any, error) {
	stored, err := item.Map(row, Attr)
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	data := make(map[string]any, len(stored))
	for name, value := range stored {
		if data[name] = Read[N](value); data[name] == nil {
			return nil, fmt.Errorf("attribute %s has a value that is not text, a number or a bool", Attr)
		}
	}
	return data, nil
}

// Read returns a value as Decode has it, nil for a type that the format does not have.
func Read[N ~string](value types.AttributeValue) any {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberN:
		if plain, err := decimal(v.Value); err == nil {
			return N(plain)
		}
	}
	return nil
}

// Clone returns a copy that its caller may keep.
func Clone(data map[string]any) map[string]any { return maps.Clone(data) }

// Equal reports whether both are stored alike. It compares numbers as DynamoDB
// does, whatever their Go type, and takes nil as an empty map.
func Equal(a, b map[string]any) bool {
	return maps.EqualFunc(a, b, func(x, y any) bool {
		p, err := Value(x)
		if err != nil {
			return false
		}
		q, err := Value(y)
		return err == nil && Read[json.Number](p) == Read[json.Number](q)
	})
}

// Value returns the stored form of a value.
func Value(value any) (types.AttributeValue, error) {
	switch v := value.(type) {
	case string:
		if !utf8.ValidString(v) {
			return nil, errors.New("must be valid UTF-8")
		}
		return item.S(v), nil
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}, nil
	}

	text, ok := digits(value)
	if !ok {
		return nil, fmt.Errorf("must be a string, a bool, an integer, a float or an attributevalue.Number, is %s", kind(value))
	}

	plain, err := decimal(text)
	if err != nil {
		return nil, err
	}

	return item.Digits(plain), nil
}

func kind(value any) string {
	if value == nil {
		return "nil"
	}
	return fmt.Sprintf("a %T", value)
}

// digits writes a number of any of Go's number types.
func digits(value any) (string, bool) {
	switch v := value.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), true
	case float32, float64: // the fewest digits that give the number back, in its own size
		return strings.ToLower(fmt.Sprint(v)), true
	case interface{ Float64() (float64, error) }: // attributevalue.Number, json.Number
		text := reflect.ValueOf(v)
		return text.String(), text.Kind() == reflect.String
	}
	return "", false
}
