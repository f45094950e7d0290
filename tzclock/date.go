package tzclock

import (
	"cmp"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// Date is a day on the calendar, without a zone. Dates are comparable with ==
// and can be map keys. The zero Date is not a day.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

const secondsPerDay = 24 * 60 * 60

// ParseDate reads YYYY-MM-DD and refuses any other form.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if d := dateOf(t); err == nil && d.valid() {
		return d, nil
	}
	return Date{}, event.BadInput("tzclock", "date", fmt.Sprintf("must be a day of the calendar as YYYY-MM-DD, is %.32q", text))
}

// String returns YYYY-MM-DD, padded with zeros. The texts of valid dates sort
// as the dates do.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

func (d Date) valid() bool {
	return 1 <= d.Year && d.Year <= 9999 && d == dateOf(d.utc())
}

// AddDays returns the day that is n days after d. If n is negative, that day is
// before d.
func (d Date) AddDays(n int) Date { return dateOf(d.utc().AddDate(0, 0, n)) }

// DaysUntil returns the number of days from d to other, so that
// d.AddDays(d.DaysUntil(other)) is other. The number is negative if other is
// earlier than d.
func (d Date) DaysUntil(other Date) int {
	return int((other.utc().Unix() - d.utc().Unix()) / secondsPerDay)
}

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday { return d.utc().Weekday() }

// ISOWeek returns the week of ISO 8601 that contains d, and the year to which
// this week belongs. In the days around New Year, the week's year may differ
// from the year of d.
func (d Date) ISOWeek() (year, week int) { return d.utc().ISOWeek() }

// Monday returns the day on which the week of d starts.
func (d Date) Monday() Date {
	sinceMonday := (d.Weekday() + 6) % 7
	return d.AddDays(-int(sinceMonday))
}

// Before reports whether d is earlier than other.
func (d Date) Before(other Date) bool {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day)) < 0
}

// MarshalText returns the text of a day of the calendar, in the years 1 to 9999,
// and an empty text for the zero Date. For any other Date it returns an
// [*event.InputError].
func (d Date) MarshalText() ([]byte, error) {
	if d == (Date{}) {
		return []byte{}, nil
	}
	if !d.valid() {
		return nil, event.BadInput("tzclock", "date", "must be a day of the calendar, is "+d.String())
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Date) UnmarshalText(text []byte) error { return unmarshal(d, text, ParseDate) }

// unmarshal reads a text into a value, which an empty text sets to zero. What cannot be
// read leaves the value as it is.
func unmarshal[T any](into *T, text []byte, parse func(string) (T, error)) (err error) {
	var value T
	if len(text) > 0 {
		value, err = parse(string(text))
	}
	if err == nil {
		*into = value
	}
	return err
}

// utc stands for the day in arithmetic: in UTC every day has 24 hours.
func (d Date) utc() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

func dateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{Year: year, Month: month, Day: day}
}
