// Package tzclock returns the local day, week and hour of an instant in a time
// zone, and the instants at which local days, weeks and quiet hours begin and
// end. Its answers are right on every day of the year.
//
//	limits, err := counter.New(db, "limits", tzclock.Stockholm, nil)
//
//	day := tzclock.Stockholm.Date(ev.Time())   // 2026-03-29
//	free := tzclock.Stockholm.End(day)         // 2026-03-30 00:00 +0200
//
// # Zones
//
// A [Zone] is a place with a history of clock changes, named as in the IANA
// database, or a location that was given to [In]. It is a small value, comparable
// with ==. The zero Zone is not a zone, and is never taken for UTC or for the
// machine's zone. Stores refuse it, and the methods that need a zone panic.
//
// The database comes from the machine. If your program may run on a machine
// without the database, such as a scratch container or Windows, embed the
// database in main:
//
//	import _ "time/tzdata"
//
// [Stockholm] is a variable, so using it needs no call that can fail. Its data
// is read on first use. If the data is missing, a store that is given the zone
// returns an [*event.InputError].
//
// # How long a day is
//
// A [Date] is a day of the calendar, without a zone. In a zone the day lasts
// from [Zone.Start] up to, but not including, [Zone.End]. Days follow one
// another without gaps: the end of one day is the start of the next, and every
// instant t lies in the day [Zone.Date](t). A day need not be 24 hours long,
// and arithmetic that assumes 24 hours goes wrong twice a year:
//
//   - A day on which clocks go forward by an hour has 23 hours, and a day on
//     which they go back by an hour has 25. On Lord Howe Island these days have
//     23.5 and 24.5 hours.
//   - Where clocks go forward at midnight, the day has no 00:00 and starts
//     later: at 01:00 in Beirut, in Cairo, and in São Paulo until 2018.
//   - Where clocks go from 01:00 back to 00:00, as in Havana, midnight comes
//     twice, and the day starts with the first midnight.
//   - Where clocks go back from a new day into the old day, the old day is over
//     only when it ends for the last time. In Newfoundland from 1989 to 2010
//     clocks went back at 00:01. The minute from 00:00 to 00:01 belongs to the
//     old day, which went on at 23:01. In no other case does [Zone.Date] differ
//     from the date that a clock shows.
//   - A day that a place skipped by crossing the date line, as Samoa did with
//     30 December 2011, has no length: it starts at the instant at which it
//     ends.
//
// Weeks are those of ISO 8601: they start on Monday, at the start of that day.
//
// # Quiet hours
//
// [Quiet] follows what a clock on the wall shows. Quiet hours from 22:00 to
// 07:00 last eight hours in the night in which clocks go forward, and ten hours
// in the night in which they go back. If clocks repeat an hour, it is quiet
// both times or neither time.
//
// The package does not read the machine's clock, and does not talk to DynamoDB.
package tzclock
