package pattern

import "time"

// Habit says when somebody does something: how many events fell on each weekday
// and into each hour, by local time.
type Habit struct {
	Scope string
	Actor string
	Name  string

	ByDay  [7]int64  // by time.Weekday: Sunday is 0
	ByHour [24]int64 // by the hour a clock shows

	Total    int64     // events counted
	LastSeen time.Time // the latest time of all events counted, whatever their order of arrival
}

// week is the order of a tie: Monday first.
var week = [7]time.Weekday{
	time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday,
}

// PeakDay returns the weekday with the most events, or false if no weekday has
// an event. If several weekdays have the most events, it returns the first of
// them, from Monday on.
func (h Habit) PeakDay() (time.Weekday, bool) {
	peak := week[0]
	for _, day := range week[1:] {
		if h.ByDay[day] > h.ByDay[peak] {
			peak = day
		}
	}
	return peak, h.ByDay[peak] > 0
}

// PeakHour returns the hour with the most events, or false if no hour has an
// event. If several hours have the most events, it returns the first of them,
// from midnight on.
func (h Habit) PeakHour() (int, bool) {
	peak := 0
	for hour, n := range h.ByHour {
		if n > h.ByHour[peak] {
			peak = hour
		}
	}
	return peak, h.ByHour[peak] > 0
}

// DayShare returns the share of the events that fell on the weekday, from 0 to
// 1. The share is 0 for an invalid weekday, and if no weekday has an event.
func (h Habit) DayShare(day time.Weekday) float64 { return share(h.ByDay[:], int(day)) }

// HourShare returns the share of the events that fell into the hour, from 0 to
// 1. The share is 0 for an invalid hour, and if no hour has an event.
func (h Habit) HourShare(hour int) float64 { return share(h.ByHour[:], hour) }

// share is the ith count's part of the sum, or 0 if i is out of range or the sum is 0.
// The sum is the histogram's own, because Total may differ from it in rows of an older
// system.
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
