package item

import (
	"cmp"
	"time"
)

// MaxMillis is the last time in Unix milliseconds of 13 digits, in the year
// 2286.
const MaxMillis = 9_999_999_999_999

// CeilMillis is the first whole millisecond that is not before t, or the nearest
// to it of those from 0 to the one after [MaxMillis]: a time too far off for
// milliseconds would be any other.
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

// Before compares any two times: those that [time.Time.Before] takes for
// earlier because they are too far off, too.
func Before(t, u time.Time) bool {
	return cmp.Or(cmp.Compare(t.Unix(), u.Unix()), cmp.Compare(t.Nanosecond(), u.Nanosecond())) < 0
}
