package item

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// MaxMillis is the last time in Unix milliseconds of 13 digits, in the year
// 2286.
const MaxMillis = 9_999_999_999_999

// CeilMillis is the first whole millisecond that is not before t, limited to 0
// at least and the one after [MaxMillis] at most: a time too far off for
// milliseconds would otherwise become an arbitrary number.
func CeilMillis(t time.Time) int64 {
	switch seconds := t.Unix(); {
	case seconds < 0:
		return 0
	case seconds > MaxMillis/1000:
		return MaxMillis + 1
	}
	ms := t.UnixMilli()
	if time.UnixMilli(ms).Before(t) {
		ms++
	}
	return ms
}

// Before compares any two times. It is right even for times so far off that
// [time.Time.Before] is wrong.
func Before(t, u time.Time) bool {
	return cmp.Or(cmp.Compare(t.Unix(), u.Unix()), cmp.Compare(t.Nanosecond(), u.Nanosecond())) < 0
}

// Inverted reports whether a range of times ends before it begins. A zero time is not a
// bound.
func Inverted(from, to time.Time) bool {
	return !from.IsZero() && !to.IsZero() && Before(to, from)
}

// Period is a range of times in whole milliseconds, both part of it.
type Period struct{ From, To int64 }

// PeriodOf is the period from the first time, and before the second. A zero time is
// not a bound.
func PeriodOf(from, to time.Time) Period {
	p := Period{0, MaxMillis}
	if !from.IsZero() {
		p.From = CeilMillis(from)
	}
	if !to.IsZero() {
		p.To = min(p.To, CeilMillis(to)-1)
	}
	return p
}

// Empty reports whether no time lies in the period.
func (p Period) Empty() bool { return p.From > p.To }

// Holds reports whether the time lies in the period.
func (p Period) Holds(t time.Time) bool { return p.From <= t.UnixMilli() && t.UnixMilli() <= p.To }

// Numbers are the period's ends as attributes hold them.
func (p Period) Numbers() (lo, hi string) {
	return strconv.FormatInt(p.From, 10), strconv.FormatInt(p.To, 10)
}

// Around returns the whole numbers at or next to a DynamoDB number that is not
// negative: another writer's number may have a fraction. It is false for text that
// is not such a number, and for one too large.
func Around(number string) (floor, ceil int64, ok bool) {
	whole, fraction, pointed := strings.Cut(number, ".")
	n, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || strings.Trim(fraction, "0123456789") != "" || len(number) > len("99999999999999999999999999999999999999.") {
		return 0, 0, false
	}
	if !pointed {
		return int64(n), int64(n), true
	}
	return int64(n), int64(n) + 1, fraction != "" && n < math.MaxInt64
}
