package report

import (
	"fmt"
	"slices"
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
	p.in(h.Scope, len(s.Activities) > 1)
	p.printf("%s and %s: %s, last %s\n\n", p.name(h.Actor), h.Name, number(int(h.Total), "time"), p.time(h.LastSeen))
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
	if h.Total > 0 {
		p.printf("\nMost often on %s, and at %s.\n",
			peaks(h.ByDay[:], func(day int) string { return "a " + time.Weekday(day).String() }),
			peaks(h.ByHour[:], func(hour int) string { return fmt.Sprint(hour, " o'clock") }))
	}
}

// peaks names the one with the highest count, with its share, or all of them if
// several have it.
func peaks(counts []int64, name func(int) string) string {
	var all int64
	var names []string
	for i, n := range counts {
		if all += n; n == slices.Max(counts) {
			names = append(names, name(i))
		}
	}
	share := fmt.Sprintf("%.0f %%", 100*float64(slices.Max(counts))/float64(max(all, 1)))
	if len(names) > 1 {
		share += " each"
	}
	return strings.Join(names, " or ") + " (" + share + ")"
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
