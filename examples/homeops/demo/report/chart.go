package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// barWidth is the longest bar of a chart.
const barWidth = 40

// habit draws when one person does what they do most.
func (p *printer) habit(s Stored) {
	p.title("The habit of one person")
	if s.Habit == nil {
		p.printf("nobody has one yet\n")
		return
	}
	h := s.Habit
	p.printf("%s and %s: %d times, last %s\n\n", cmp.Or(s.People[h.Actor], h.Actor), h.Name, h.Total, p.time(h.LastSeen))
	var most int64
	for _, n := range h.ByDay {
		most = max(most, n)
	}
	for i := range 7 {
		day := time.Weekday((i + 1) % 7) // from Monday on
		p.bar(day.String()[:3], h.ByDay[day], most)
	}
	p.printf("\n")
	most = 0
	for _, n := range h.ByHour {
		most = max(most, n)
	}
	first, last := 23, 0
	for hour, n := range h.ByHour {
		if n > 0 {
			first, last = min(first, hour), hour
		}
	}
	for hour := first; hour <= last; hour++ {
		p.bar(fmt.Sprintf("%02dh", hour), h.ByHour[hour], most)
	}
	if day, ok := h.PeakDay(); ok {
		hour, _ := h.PeakHour()
		p.printf("\nMost often on a %s (%.0f %%), and at %d o'clock (%.0f %%).\n", day, 100*h.DayShare(day), hour, 100*h.HourShare(hour))
	}
}

func (p *printer) bar(label string, n, most int64) {
	length := 0
	if most > 0 {
		length = int((n*barWidth + most - 1) / most)
	}
	if length == 0 {
		p.printf("%s  %3d\n", label, n)
		return
	}
	p.printf("%s  %3d  %s\n", label, n, strings.Repeat("█", length))
}
