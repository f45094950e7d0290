// Package tzclock answers what day, week and hour an instant has in a time
// zone, and when local days, weeks and quiet hours begin and end, on every day
// of the year.
//
//	limits, err := counter.New(db, "limits", tzclock.Stockholm, nil)
//
//	day := tzclock.Stockholm.Date(ev.Time())   // 2026-03-29
//	free := tzclock.Stockholm.End(day)         // 2026-03-30 00:00 +0200
//
// # Zones
//
// A [Zone] is a place with a history of clock changes, named as in the IANA
// database. It is a small value, comparable with ==. The zero Zone is not a zone
// and is never taken for UTC or for the machine's: stores refuse it through
// [Zone.Check], and its methods panic.
//
// The database comes from the machine or, where there is none (a scratch
// container, Windows), from the program. Libraries must not decide to embed
// it, so mains do:
//
//	import _ "time/tzdata"
//
// [Stockholm] is a value, not a call that can fail. Its data is read when it
// is first used, and missing data shows as the [*event.InputError] of whatever
// store is given it.
//
// # How long a day is
//
// A [Date] is a square on the calendar, without a zone. In a zone it is the
// time from [Zone.Start] up to, and without, [Zone.End]. Days tile the time
// line: the end of each is the start of the next, and t lies in the day
// [Zone.Date](t), for every t. They need not be 24 hours long, and arithmetic
// that assumes it goes wrong twice a year:
//
//   - A day on which clocks go forward has 23 hours, one on which they go back
//     has 25; on Lord Howe Island, half an hour less and more.
//   - Where clocks go forward at midnight there is no 00:00, and the day starts
//     with the first minute there is: 01:00 in Beirut, in Cairo, and in São
//     Paulo until 2018.
//   - Where clocks go from 01:00 back to 00:00, as in Havana, midnight comes
//     twice, and the day starts with the first.
//   - Where clocks go back into the day before, that day is not over until it
//     ends for good. In Newfoundland until 2011 they went back at 00:01: that
//     one minute of the new day belongs to the old one, which resumed at 23:01.
//     In no other case does [Zone.Date] differ from the date a clock shows.
//   - A day that a place skipped by crossing the date line, as Samoa did with
//     30 December 2011, has no length: it starts where it ends.
//
// Weeks are those of ISO 8601: they start on Monday, at the start of that day.
//
// # Quiet hours
//
// [Quiet] is what a clock on the wall shows: quiet from 22:00 to 07:00 lasts
// eight hours on the night clocks go forward and ten on the night they go
// back. Hours that clocks repeat are quiet, or not, both times.
//
// Nothing here reads the clock, and nothing talks to DynamoDB.
package tzclock
