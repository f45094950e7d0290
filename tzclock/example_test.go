package tzclock_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/tzclock"
)

// An event belongs to the local day of its own time, in the zone where its people
// live.
func Example() {
	sentAt := time.Date(2026, time.March, 28, 23, 30, 0, 0, time.UTC)
	day := tzclock.Stockholm.Date(sentAt)
	fmt.Println(day, tzclock.Stockholm.Weekday(sentAt), tzclock.Stockholm.Clock(sentAt))
	fmt.Println("over at", tzclock.Stockholm.End(day))
	// Output:
	// 2026-03-29 Sunday 00:30
	// over at 2026-03-30 00:00:00 +0200 CEST
}

func ExampleLoad() {
	zone, err := tzclock.Load("America/Sao_Paulo")
	if err != nil {
		panic(err)
	}
	fmt.Println(zone)

	_, err = tzclock.Load("Europe/Stokholm")
	var bad *event.InputError
	fmt.Println(errors.As(err, &bad), bad.Field)
	// Output:
	// America/Sao_Paulo
	// true name
}

func ExampleIn() {
	_, err := tzclock.In(time.Local)
	fmt.Println(err)
	// Output: tzclock: loc must not be time.Local, which means different zones on different machines
}

func ExampleZone_Start() {
	for _, text := range []string{"2026-03-29", "2026-07-01", "2026-10-25"} {
		day, err := tzclock.ParseDate(text)
		if err != nil {
			panic(err)
		}
		start, end := tzclock.Stockholm.Start(day), tzclock.Stockholm.End(day)
		fmt.Println(day, "starts", start.UTC().Format("15:04"), "UTC and lasts", end.Sub(start))
	}
	// Output:
	// 2026-03-29 starts 23:00 UTC and lasts 23h0m0s
	// 2026-07-01 starts 22:00 UTC and lasts 24h0m0s
	// 2026-10-25 starts 22:00 UTC and lasts 25h0m0s
}

func ExampleZone_Week() {
	start, end := tzclock.Stockholm.Week(time.Date(2026, time.October, 22, 12, 0, 0, 0, time.UTC))
	fmt.Println(start, "to", end)
	fmt.Println(end.Sub(start) - 7*24*time.Hour)
	// Output:
	// 2026-10-19 00:00:00 +0200 CEST to 2026-10-26 00:00:00 +0100 CET
	// 1h0m0s
}

func ExampleZone_Hour() {
	winter := time.Date(2026, time.January, 15, 20, 0, 0, 0, time.UTC)
	summer := time.Date(2026, time.July, 15, 20, 0, 0, 0, time.UTC)
	fmt.Println(tzclock.Stockholm.Hour(winter), tzclock.Stockholm.Hour(summer))
	// Output: 21 22
}

func ExampleParseDate() {
	day, err := tzclock.ParseDate("2024-02-28")
	if err != nil {
		panic(err)
	}
	fmt.Println(day.AddDays(1), day.AddDays(2), day.DaysUntil(day.AddDays(366)))

	_, err = tzclock.ParseDate("2026-02-29")
	fmt.Println(err)
	// Output:
	// 2024-02-29 2024-03-01 366
	// tzclock: date must be a day of the calendar as YYYY-MM-DD, is "2026-02-29"
}

func ExampleDate_ISOWeek() {
	newYear := tzclock.Date{Year: 2027, Month: time.January, Day: 1}
	year, week := newYear.ISOWeek()
	fmt.Println(newYear.Weekday(), year, week, newYear.Monday())
	// Output: Friday 2026 53 2026-12-28
}

func ExampleQuiet() {
	night, err := tzclock.ParseQuiet("22:00-07:00")
	if err != nil {
		panic(err)
	}
	// The night before the clocks go forward: it is quiet for eight hours.
	sentAt := time.Date(2026, time.March, 28, 22, 0, 0, 0, tzclock.Stockholm.Location())
	fmt.Println(night.Contains(tzclock.Stockholm, sentAt))
	if end, quiet := night.Ends(tzclock.Stockholm, sentAt); quiet {
		fmt.Println("until", end, "in", end.Sub(sentAt))
	}
	// Output:
	// true
	// until 2026-03-29 07:00:00 +0200 CEST in 8h0m0s
}

// A reminder at nine, on the day on which clocks change, too.
func ExampleZone_At() {
	day := tzclock.Date{Year: 2026, Month: time.March, Day: 29}
	fmt.Println(tzclock.Stockholm.At(day, tzclock.TimeOfDay{Hour: 9}))
	fmt.Println(tzclock.Stockholm.At(day, tzclock.TimeOfDay{Hour: 2, Minute: 30})) // clocks jump over it
	// Output:
	// 2026-03-29 09:00:00 +0200 CEST
	// 2026-03-29 03:00:00 +0200 CEST
}

// How long there is until nobody may be disturbed.
func ExampleQuiet_Begins() {
	quiet, err := tzclock.ParseQuiet("22:00-07:00")
	if err != nil {
		panic(err)
	}
	now := time.Date(2026, time.March, 29, 12, 0, 0, 0, time.UTC)
	begins, _ := quiet.Begins(tzclock.Stockholm, now)
	fmt.Println(begins.Sub(now))
	// Output: 8h0m0s
}

// Zones, quiet hours and times of day are text in JSON, and in what people see.
func ExampleZone_UnmarshalText() {
	var shop struct {
		Zone  tzclock.Zone
		Quiet tzclock.Quiet
		Opens tzclock.TimeOfDay
	}
	err := json.Unmarshal([]byte(`{"Zone": "Europe/Stockholm", "Quiet": "22:00-07:00", "Opens": "09:30"}`), &shop)
	fmt.Println(shop.Zone, shop.Quiet.String(), shop.Opens, err)
	// Output: Europe/Stockholm 22:00-07:00 09:30 <nil>
}
