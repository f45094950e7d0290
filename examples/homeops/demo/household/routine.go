package household

import (
	"fmt"
	"slices"
	"time"
)

// line is what somebody usually writes on a day of the week.
type line struct {
	minute int // of the day
	who    user
	text   string
}

func clock(hour, minute int) int { return 60*hour + minute }

// usual is the household's week, from Sunday on.
var usual = [7][]line{
	time.Sunday: {
		{clock(10, 45), cleo, "vattnat blommorna 🌷"}, {clock(17, 58), anna, "Lagat middag åt alla"}, {clock(19, 10), anna, "Jag har diskat"},
	},
	time.Monday: {
		{clock(7, 20), bo, "Slängde soporna på vägen ut 🗑️"}, {clock(17, 45), bo, "Lagat middag, det finns kvar"}, {clock(19, 12), anna, "Jag har diskat"},
	},
	time.Tuesday: {
		{clock(17, 30), bo, "Lagade mat 🍝"}, {clock(19, 18), anna, "Diskat klart ✅"}, {clock(20, 5), cleo, "tränat, vi vann ⚽"},
	},
	time.Wednesday: {
		{clock(17, 50), anna, "Lagat middag"}, {clock(19, 25), bo, "diskade nyss"}, {clock(20, 33), anna, "Hängt tvätten"},
	},
	time.Thursday: {
		{clock(17, 40), bo, "Lagade middag 🐟"}, {clock(19, 2), anna, "Disken är klar"},
	},
	time.Friday: {
		{clock(16, 30), bo, "Handlade på vägen hem 🛒"}, {clock(18, 50), anna, "Jag har diskat"}, {clock(20, 15), anna, "Promenerat en runda 🌙"},
	},
	time.Saturday: {
		{clock(10, 0), bo, "Dammsugit hela huset"},
		{clock(10, 30), anna, "Städade badrummet 🧽"},
		{clock(11, 20), cleo, "Städat mitt rum!!"},
		{clock(13, 5), anna, "Tvättat två maskiner"},
		{clock(15, 40), bo, "I did the shopping 🥕"},
		{clock(19, 40), cleo, "did the dishes :)"},
	},
}

// leftOut are lines of usual that nobody wrote, by day and by place in its list:
// Bo is in London, Cleo vacuums in his place, and dishes are left standing.
var leftOut = map[string][]int{
	"2026-04-11": {0}, "2026-04-14": {0}, "2026-04-15": {1}, "2026-04-16": {0, 1}, "2026-04-19": {2}, "2026-04-21": {0, 1},
}

// talk is what means nothing to the bot.
var talk = []line{
	{clock(7, 2), anna, "God morgon ☀️"},
	{clock(12, 14), bo, "Lunch?"},
	{clock(15, 33), cleo, "slutar 15.30 idag"},
	{clock(21, 16), bo, "God natt 😴"},
	{clock(6, 54), bo, "Morgon!"},
	{clock(8, 9), anna, "Bussen är sen igen 🙄"},
	{clock(16, 2), cleo, "får Maja följa med hem?"},
	{clock(16, 3), anna, "Javisst 💛"},
	{clock(7, 31), cleo, "har ni sett min cykelnyckel??"},
	{clock(7, 33), bo, "Under soffan"},
	{clock(14, 48), anna, "Tandläkaren ringde, onsdag 8.15"},
	{clock(21, 40), cleo, "natti 🌟"},
	{clock(9, 27), anna, "Vilken dimma 🌫️"},
	{clock(12, 41), bo, "Mormor kommer på söndag"},
	{clock(13, 58), anna, "Härligt"},
	{clock(18, 22), cleo, "vad blir det till mat"},
	{clock(8, 44), bo, "Någon måste diska ikväll"},
	{clock(11, 11), anna, "Jag har inte tvättat än"},
	{clock(15, 16), bo, "Paketet har kommit 📦"},
	{clock(20, 48), anna, "Har du diskat?"},
}

// weeks adds the usual days of the week and four bits of talk a day. What is
// usual comes never quite on time.
func (s *script) weeks(from, to time.Time) {
	n := 0
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) {
		s.on(day.Format(time.DateOnly))
		for i, l := range usual[day.Weekday()] {
			if slices.Contains(leftOut[s.day], i) {
				continue
			}
			s.line(l, (n*17+i*5)%29-14)
		}
		for i := range 4 {
			s.line(talk[(4*n+i)%len(talk)], (n*11)%7-3)
		}
		n++
	}
}

func (s *script) line(l line, late int) {
	minute := l.minute + late
	s.say(fmt.Sprintf("%02d:%02d:%02d", minute/60, minute%60, (minute*7)%60), l.who, l.text)
}
