package pattern

import "time"

// Habit is when somebody does something: how many events fell on each weekday
// and into each hour, by local time.
type Habit struct {
	Scope string
	Actor string
	Name  string

	ByDay  [7]int64  // by time.Weekday: Sunday is 0
	ByHour [24]int64 // by the hour a clock shows

	Total     int64     // events counted
	LastSeen  time.Time // of the latest event counted, whatever the order of arrival
	UpdatedAt time.Time // of the last write
}

// week is the order of a tie: Monday first.
var week = [7]time.Weekday{
	time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday,
}

// PeakDay returns the weekday with the most events, of several the first from
// Monday on, and false if there are none.
func (h Habit) PeakDay() (time.Weekday, bool) {
	peak := week[0]
	for _, day := range week[1:] {
		if h.ByDay[day] > h.ByDay[peak] {
			peak = day
		}
	}
	return peak, h.ByDay[peak] > 0
}

// PeakHour returns the hour with the most events, of several the first from
// midnight on, and false if there are none.
func (h Habit) PeakHour() (int, bool) {
	peak := 0
	for hour, n := range h.ByHour {
		if n > h.ByHour[peak] {
			peak = hour
		}
	}
	return peak, h.ByHour[peak] > 0
}

// DayShare returns the part, from 0 to 1, of the events that fell on the
// weekday. It is 0 if there is no such weekday, and if there are no events.
func (h Habit) DayShare(day time.Weekday) float64 { return share(h.ByDay[:], int(day)) }

// HourShare returns the part, from 0 to 1, of the events that fell into the
// hour. It is 0 if there is no such hour, and if there are no events.
func (h Habit) HourShare(hour int) float64 { return share(h.ByHour[:], hour) }

// share is of the histogram's own sum, which Total need not be in the rows of
// an older system.
func share(counts []int64, i int) float64 {
	sum := int64(0)
	for _, n := range counts {
		sum += n
	}
	if i < 0 || i >= len(counts) || sum == 0 {
		return 0
	}
	return float64(counts[i]) / float64(sum)
}
