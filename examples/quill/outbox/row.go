package outbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/queue"
	"github.com/homeops/ddbpatterns/record"
)

// DynamoDB's limits.
const (
	maxKey    = 2048       // bytes of a partition key
	maxItem   = 400 * 1024 // bytes of an item
	maxDigits = 38         // significant digits of a number
	maxPower  = 125        // the greatest power of ten of a number's first digit
	minPower  = -130
)

func mapOf(m record.Item) types.AttributeValue { return &types.AttributeValueMemberM{Value: m} }

// encodeRow returns the columns as attributes. Field names the row in errors.
func encodeRow(field string, row fact.Row) (types.AttributeValue, error) {
	columns := make(record.Item, len(row))
	for name, value := range row {
		if name == "" || !utf8.ValidString(name) {
			return nil, event.BadInput(pkg, field, "must have column names that are not empty and are valid UTF-8")
		}
		column, err := encodeColumn(field+"."+name, value)
		if err != nil {
			return nil, err
		}
		columns[name] = column
	}
	return mapOf(columns), nil
}

func encodeColumn(field string, value any) (types.AttributeValue, error) {
	switch v := value.(type) {
	case string:
		if !utf8.ValidString(v) {
			return nil, event.BadInput(pkg, field, "must be valid UTF-8")
		}
		return record.Text(v), nil
	case json.Number:
		n, err := encodeNumber(field, string(v))
		if err != nil {
			return nil, err
		}
		return &types.AttributeValueMemberN{Value: n}, nil
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}, nil
	}
	return nil, event.BadInput(pkg, field, fmt.Sprintf("must be a string, a json.Number or a bool, is a %T", value))
}

var number = regexp.MustCompile(`^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// encodeNumber returns the number with only its significant digits, such as 15E-1
// for 1.50. It refuses text that is not a JSON number, and numbers that DynamoDB
// cannot keep exactly: those have at most 38 digits, and are between 1E-130 and
// 9.99E+125.
func encodeNumber(field, text string) (string, error) {
	part := number.FindStringSubmatch(text)
	if part == nil {
		return "", event.BadInput(pkg, field, "must be a JSON number")
	}
	sign, fraction, exponent := part[1], part[3], part[4]
	digits := strings.TrimLeft(part[2]+fraction, "0")
	if digits == "" {
		return "0", nil
	}
	power := -len(fraction) // the power of ten of the last digit
	if exponent != "" {
		shift, err := strconv.Atoi(exponent)
		if err != nil {
			return "", event.BadInput(pkg, field, "must be 0 or have a magnitude from 1E-130 to 9.99E+125, the limits of DynamoDB's numbers")
		}
		power += shift // an overflowing sum is out of range, too
	}
	significant := strings.TrimRight(digits, "0")
	power += len(digits) - len(significant)
	if first := power + len(significant) - 1; first > maxPower || first < minPower {
		return "", event.BadInput(pkg, field, "must be 0 or have a magnitude from 1E-130 to 9.99E+125, the limits of DynamoDB's numbers")
	}
	if n := len(significant); n > maxDigits {
		return "", event.BadInput(pkg, field, fmt.Sprintf("has %d significant digits, and DynamoDB keeps at most %d", n, maxDigits))
	}
	return fmt.Sprintf("%s%sE%d", sign, significant, power), nil
}

// decodeRow reads the columns of an attribute. An absent attribute is a nil
// row.
func decodeRow(it record.Item, attribute string) (fact.Row, error) {
	columns, err := decodeMap(it, attribute)
	if columns == nil {
		return nil, err
	}
	row := make(fact.Row, len(columns))
	for name, value := range columns {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			row[name] = v.Value
		case *types.AttributeValueMemberN:
			row[name] = json.Number(v.Value)
		case *types.AttributeValueMemberBOOL:
			row[name] = v.Value
		default:
			return nil, fmt.Errorf("column %s of attribute %s is not text, a number or a bool", name, attribute)
		}
	}
	return row, nil
}

func decodeMap(it record.Item, attribute string) (record.Item, error) {
	switch v := it[attribute].(type) {
	case nil:
		return nil, nil
	case *types.AttributeValueMemberM:
		return v.Value, nil
	}
	return nil, fmt.Errorf("attribute %s is not a map", attribute)
}

// wantType refuses a row of another kind, which somebody else wrote with the key.
func wantType(it record.Item, want string) error {
	if got := record.Read(it).Text("type"); got != want {
		return fmt.Errorf("attribute type is %q, not %s", got, want)
	}
	return nil
}

func key(pk string) record.Item { return record.Item{queue.Key: record.Text(pk)} }

func keyOf(it record.Item) string { return record.Read(it).Text(queue.Key) }

// checkKey refuses a key that DynamoDB would refuse with the prefix before it.
func checkKey(field, prefix, key string) error {
	switch {
	case key == "":
		return event.BadInput(pkg, field, "must not be empty")
	case !utf8.ValidString(key):
		return event.BadInput(pkg, field, "must be valid UTF-8")
	case len(prefix)+len(key) > maxKey:
		return event.BadInput(pkg, field, fmt.Sprintf("makes a key of %d bytes, and DynamoDB accepts at most %d", len(prefix)+len(key), maxKey))
	}
	return nil
}

func checkText(field, text string) error {
	if text == "" {
		return event.BadInput(pkg, field, "must not be empty")
	}
	if !utf8.ValidString(text) {
		return event.BadInput(pkg, field, "must be valid UTF-8")
	}
	return nil
}

// checkTable refuses a table that is not one of the given tables.
func checkTable(field, table string, tables []string) error {
	if !slices.Contains(tables, table) {
		return event.BadInput(pkg, field, "must be one of "+strings.Join(tables, ", "))
	}
	return nil
}

// checkTime refuses a time whose text would not sort, or could not be read
// again.
func checkTime(field string, t time.Time) error {
	if year := t.UTC().Year(); t.IsZero() || year < 1 || year > 9999 {
		return event.BadInput(pkg, field, "must be a time of the years 1 to 9999")
	}
	return nil
}

// checkSize refuses an item that DynamoDB would refuse. Field names the input that
// makes it so large.
func checkSize(field string, it record.Item, spare int) error {
	if size := queue.SizeOf(it); size+spare > maxItem {
		return event.BadInput(pkg, field, fmt.Sprintf("makes an item of %d bytes, and at most %d are possible", size, maxItem-spare))
	}
	return nil
}
