package record

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/item"
)

// Text is a string attribute.
func Text(text string) types.AttributeValue { return item.S(text) }

// Int is a whole number.
func Int(n int64) types.AttributeValue { return item.N(n) }

// Float is a number, which must be finite: DynamoDB refuses the rest.
func Float(x float64) types.AttributeValue { return item.F(x) }

// Time is a time as text: RFC 3339 in UTC, always with three decimals, so that
// text sorts as time does.
func Time(t time.Time) types.AttributeValue { return item.Time(t) }

// Fields reads the attributes of a row. An absent attribute is the zero value.
// The first one of another type is the error of Err, so that a record is read in
// one expression:
//
//	f := record.Read(row)
//	return Rating{Stars: f.Int("stars"), Ratings: f.Int("ratings")}, f.Err()
type Fields struct {
	row Item
	err error
}

// Read returns the fields of the row.
func Read(row Item) *Fields { return &Fields{row: row} }

// Err returns the first error of those that were read, which names the attribute.
func (f *Fields) Err() error { return f.err }

// Has reports whether the row has the attribute.
func (f *Fields) Has(attribute string) bool { return item.Has(f.row, attribute) }

// Text reads a string, and of a number its digits.
func (f *Fields) Text(attribute string) string { return item.Text(f.row, attribute) }

// Int reads a whole number.
func (f *Fields) Int(attribute string) int64 { return read(f, attribute, item.Int) }

// Float reads a number.
func (f *Fields) Float(attribute string) float64 { return read(f, attribute, item.Float) }

// Time reads a time in the form of [Time], or any other of RFC 3339.
func (f *Fields) Time(attribute string) time.Time { return read(f, attribute, item.ParseTime) }

func read[V any](f *Fields, attribute string, of func(Item, string) (V, error)) V {
	value, err := of(f.row, attribute)
	if f.err == nil {
		f.err = err
	}
	return value
}
