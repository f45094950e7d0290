// Package item reads and writes the attributes of stored items: the forms of
// text, numbers and times that the format uses, and those of older systems.
package item

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// S is a string attribute.
func S(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

// N is a whole number.
func N(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// F is a number with the fewest digits that give the float back.
func F(x float64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatFloat(x, 'g', -1, 64)}
}

// Digits is a number given as decimal text.
func Digits(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }

// B is a binary attribute.
func B(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

// M is a map attribute.
func M(m ddb.Item) types.AttributeValue { return &types.AttributeValueMemberM{Value: m} }

// Has reports whether the item holds the attribute.
func Has(it ddb.Item, name string) bool { _, ok := it[name]; return ok }

// Names aliases attribute names for an expression: "#name" stands for name.
func Names(attributes ...string) map[string]string {
	aliased := make(map[string]string, len(attributes))
	for _, attribute := range attributes {
		aliased["#"+attribute] = attribute
	}
	return aliased
}

// placeholder is an attribute's name in an expression: # and its name on disk.
var placeholder = regexp.MustCompile(`#[a-zA-Z0-9]+`)

// found has the names of each pair of expressions, of which a package has few.
var found sync.Map

// NamesIn returns the names that an update and its condition use: DynamoDB refuses a
// request that lacks one of them, or has one more. The map is the caller's own.
func NamesIn(update, condition string) map[string]string {
	if names, ok := found.Load([2]string{update, condition}); ok {
		return maps.Clone(names.(map[string]string))
	}

	names := map[string]string{}
	for _, name := range placeholder.FindAllString(update+" "+condition, -1) {
		names[name] = name[1:]
	}
	found.Store([2]string{update, condition}, maps.Clone(names))

	return names
}

// Text returns a string attribute, and the digits of a number: older systems
// wrote some ids as either. Anything else is "".
func Text(it ddb.Item, name string) string {
	switch v := it[name].(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return ""
}

// Int returns a whole number. An absent attribute is 0, and anything else is an
// error.
func Int(it ddb.Item, name string) (int64, error) {
	if !Has(it, name) {
		return 0, nil
	}

	n, ok := it[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("attribute %s is not a number", name)
	}
	if whole, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
		return whole, nil
	}

	x, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<62 {
		return 0, fmt.Errorf("attribute %s is not a whole number: %s", name, n.Value)
	}

	return int64(x), nil
}

// Float returns a number. An absent attribute is 0.
func Float(it ddb.Item, name string) (float64, error) {
	if !Has(it, name) {
		return 0, nil
	}
	n, ok := it[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("attribute %s is not a number", name)
	}
	x, err := strconv.ParseFloat(n.Value, 64)
	if err != nil {
		return 0, fmt.Errorf("attribute %s is not a number: %s", name, n.Value)
	}
	return x, nil
}

// Bytes returns a binary attribute, nil if it is absent.
func Bytes(it ddb.Item, name string) ([]byte, error) {
	switch v := it[name].(type) {
	case nil:
		return nil, nil
	case *types.AttributeValueMemberB:
		return v.Value, nil
	}
	return nil, fmt.Errorf("attribute %s is not binary", name)
}

// Map returns a map attribute, nil if it is absent.
func Map(it ddb.Item, name string) (ddb.Item, error) {
	switch v := it[name].(type) {
	case nil:
		return nil, nil
	case *types.AttributeValueMemberM:
		return v.Value, nil
	}
	return nil, fmt.Errorf("attribute %s is not a map", name)
}

// written is the one form in which times are written as text: fixed width, so
// that text sorts as time does.
const written = "2006-01-02T15:04:05.000Z"

// FormatTime is RFC 3339 in UTC, always with three decimals.
func FormatTime(t time.Time) string { return t.UTC().Format(written) }

// Time is a time as a string attribute in the form of [FormatTime].
func Time(t time.Time) types.AttributeValue { return S(FormatTime(t)) }

// older are the other forms of ISO 8601 that [ParseTime] reads: any RFC 3339,
// and the basic offset and the missing zone (UTC) of older systems.
var older = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", time.DateOnly}

// ParseTime reads [FormatTime] and the older forms. An absent attribute is the
// zero time.
func ParseTime(it ddb.Item, name string) (time.Time, error) {
	if !Has(it, name) {
		return time.Time{}, nil
	}

	text, ok := it[name].(*types.AttributeValueMemberS)
	if !ok {
		return time.Time{}, fmt.Errorf("attribute %s is not text", name)
	}

	for _, form := range older {
		if t, err := time.Parse(form, text.Value); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("attribute %s is not a time", name)
}

// SecondsBelow is the earliest time in Unix milliseconds, in March 1973. A
// smaller number is read as Unix seconds, which an older system wrote. In
// seconds, SecondsBelow is in the year 5138.
const SecondsBelow = 100_000_000_000

// Millis reads a time in Unix milliseconds, or in seconds if the number is
// below 10^11. An absent attribute is the zero time.
func Millis(it ddb.Item, name string) (time.Time, error) {
	if !Has(it, name) {
		return time.Time{}, nil
	}
	n, err := Int(it, name)
	if err != nil {
		return time.Time{}, err
	}
	if n < SecondsBelow {
		return time.Unix(n, 0).UTC(), nil
	}
	return time.UnixMilli(n).UTC(), nil
}

// Expired reports whether the row is past its TTL: DynamoDB may not have
// deleted it yet. Like DynamoDB, it ignores a TTL that is not a number.
func Expired(it ddb.Item, ttl string, now time.Time) bool {
	expires, err := Int(it, ttl)
	return err == nil && expires > 0 && expires <= now.Unix()
}

// HasTTL reports whether the row will expire by a TTL of the format, a positive whole
// number. A TTL in milliseconds means a year after 9999.
func HasTTL(it ddb.Item, ttl string) bool {
	expires, err := Int(it, ttl)
	return err == nil && expires > 0 && time.Unix(expires, 0).UTC().Year() <= 9999
}
