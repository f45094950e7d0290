// Package check is what a text may be before any request is sent, the same in every
// package: it refuses bad input, joins keys, and writes and reads cursors.
package check

import (
	"fmt"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/event"
)

// Refuse is the error of bad input, if it is bad.
func Refuse(pkg, field string, bad bool, reason string) error {
	if !bad {
		return nil
	}
	return event.BadInput(pkg, field, reason)
}

// NotNil refuses nil, and a nil pointer in an interface, such as a *dynamodb.Client
// that nobody has made.
func NotNil(pkg, field string, x any) error {
	if v := reflect.ValueOf(x); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return event.BadInput(pkg, field, "must not be nil")
	}
	return nil
}

// DynamoDB's limits on key attributes, in bytes of UTF-8.
const (
	MaxPartitionKey = 2048
	MaxSortKey      = 1024
)

// The TTL attribute is Unix seconds. DynamoDB ignores a TTL that is more than
// five years past. A year of five digits is a sign of milliseconds.
const maxTTLYear = 9999

// ID refuses an empty id and one that is not UTF-8 (which JSON would replace,
// so that two ids would become one).
func ID(pkg, field, id string) error {
	if id == "" {
		return event.BadInput(pkg, field, "must not be empty")
	}
	return Text(pkg, field, id)
}

// Text refuses what is not UTF-8.
func Text(pkg, field, text string) error {
	if !utf8.ValidString(text) {
		return event.BadInput(pkg, field, "must be valid UTF-8")
	}
	return nil
}

// PartitionKey refuses a key that DynamoDB would refuse. Field names what the
// key is made from.
func PartitionKey(pkg, field, key string) error {
	return keyBytes(pkg, field, key, MaxPartitionKey)
}

// SortKey refuses a key that DynamoDB would refuse.
func SortKey(pkg, field, key string) error {
	return keyBytes(pkg, field, key, MaxSortKey)
}

func keyBytes(pkg, field, key string, most int) error {
	if err := ID(pkg, field, key); err != nil {
		return err
	}
	if len(key) > most {
		return event.BadInput(pkg, field, fmt.Sprintf("makes a key of %d bytes, and DynamoDB accepts at most %d", len(key), most))
	}
	return nil
}

// Finite refuses NaN and infinities, which DynamoDB does not have, and numbers
// outside the magnitude of its numbers.
func Finite(pkg, field string, x float64) error {
	switch size := math.Abs(x); {
	case math.IsNaN(x), math.IsInf(x, 0):
		return event.BadInput(pkg, field, "must be a finite number")
	case size != 0 && size < 1e-130, size >= 1e126:
		return event.BadInput(pkg, field, "must be 0 or have a magnitude from 1E-130 to 9.99E+125, the limits of DynamoDB's numbers")
	}
	return nil
}

// TTL refuses an expiry that DynamoDB's TTL would ignore: not positive, or a
// year beyond 9999.
func TTL(pkg, field string, expiry time.Time) error {
	if expiry.Unix() <= 0 || expiry.UTC().Year() > maxTTLYear {
		return event.BadInput(pkg, field, "makes a TTL that DynamoDB would ignore: "+expiry.UTC().Format(time.RFC3339))
	}
	return nil
}

// Table refuses a name that DynamoDB would refuse.
func Table(pkg, table string) error { return name(pkg, "table", table) }

// Index refuses a name that DynamoDB would refuse.
func Index(pkg, field, index string) error { return name(pkg, field, index) }

func name(pkg, field, name string) error {
	if len(name) < 3 || len(name) > 255 {
		return event.BadInput(pkg, field, fmt.Sprintf("must be a name of 3 to 255 characters, is %q", name))
	}
	for _, r := range name {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.'
		if !ok {
			return event.BadInput(pkg, field, fmt.Sprintf("must hold only letters, digits, '_', '-' and '.', is %q", name))
		}
	}
	return nil
}

// Attribute refuses an unusable attribute name from a Config.
func Attribute(pkg, field, attribute string) error {
	if err := ID(pkg, field, attribute); err != nil {
		return err
	}
	if len(attribute) > 255 {
		return event.BadInput(pkg, field, "must be an attribute name of at most 255 bytes")
	}
	return nil
}
