package record

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/payload"
)

// Text returns a string attribute.
func Text(text string) types.AttributeValue { return item.S(text) }

// Int returns a number attribute that holds a whole number.
func Int(n int64) types.AttributeValue { return item.N(n) }

// Float returns a number attribute. The number must be 0 or have a magnitude
// from 1E-130 to below 1E+126: DynamoDB refuses all others, and NaN.
func Float(x float64) types.AttributeValue { return item.F(x) }

// Time returns a time as a string attribute, in the form of RFC 3339 in UTC.
// The seconds always have three decimals, so that the texts sort as the times
// do.
func Time(t time.Time) types.AttributeValue { return item.Time(t) }

// Fields reads the attributes of a row. An absent attribute reads as the zero
// value. Err returns the error of the first attribute that does not have the
// type asked for. So two lines read a record:
//
//	f := record.Read(row)
//	return Rating{Stars: f.Int("stars"), Ratings: f.Int("ratings")}, f.Err()
type Fields struct {
	row Item
	err error
}

// Read returns the fields of the row.
func Read(row Item) *Fields { return &Fields{row: row} }

// Compare is a condition on one value of the Data of an activity or a message: the
// value under Name must compare with Value as Op says. A value that is absent, or of
// another type than Value, does not meet the condition.
type Compare struct {
	Name  string
	Op    string // =, <, <=, > or >=; "" is =
	Value any    // text is compared by bytes, numbers by value; a bool has no order
}

// ReadData returns the fields of the Data of an activity or a message, by the
// names of its entries:
//
//	f := record.ReadData(a.Data)
//	order := Order{Cents: f.Int("cents"), To: f.Text("destination"), Gift: f.Bool("gift")}
//	return order, f.Err()
//
// An absent entry, also one of a misspelt name, reads as the zero value without an
// error: [Fields.Has] reports whether it is there.
func ReadData(data map[string]any) *Fields {
	row := Item{}
	err := payload.Encode("record", row, data)
	entries, _ := item.Map(row, payload.Attr) // as Encode put it
	return &Fields{row: entries, err: err}
}

// Err returns the first error of a read or [ReadData]. The error names the attribute.
func (f *Fields) Err() error { return f.err }

// Has reports whether the row has the attribute.
func (f *Fields) Has(attribute string) bool { return item.Has(f.row, attribute) }

// Text reads a string. It reads a number as the text of its digits.
func (f *Fields) Text(attribute string) string { return read(f, attribute, text) }

// Int reads a whole number.
func (f *Fields) Int(attribute string) int64 { return read(f, attribute, item.Int) }

// Float reads a number.
func (f *Fields) Float(attribute string) float64 { return read(f, attribute, item.Float) }

// Bool reads a flag.
func (f *Fields) Bool(attribute string) bool { return read(f, attribute, flag) }

// Time reads a time as the function [Time] of this package writes it, or in another
// form of RFC 3339.
func (f *Fields) Time(attribute string) time.Time { return read(f, attribute, item.ParseTime) }

// text reads a string, or a number as its digits, and "" for an absent attribute.
func text(row Item, attribute string) (string, error) {
	switch row[attribute].(type) {
	case nil, *types.AttributeValueMemberS, *types.AttributeValueMemberN:
		return item.Text(row, attribute), nil
	}
	return "", fmt.Errorf("attribute %s is not text", attribute)
}

func flag(row Item, attribute string) (bool, error) {
	switch v := row[attribute].(type) {
	case nil:
		return false, nil
	case *types.AttributeValueMemberBOOL:
		return v.Value, nil
	}
	return false, fmt.Errorf("attribute %s is not a bool", attribute)
}

func read[V any](f *Fields, attribute string, of func(Item, string) (V, error)) V {
	value, err := of(f.row, attribute)
	if f.err == nil {
		f.err = err
	}
	return value
}
