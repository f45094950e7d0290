// Package pattern keeps habits: on which weekdays and at which hours somebody
// does something, by the clock on the wall.
//
//	habits, err := pattern.New(db, "homeops", tzclock.Stockholm, nil)
//
//	out, err := habits.Observe(ctx, pattern.Observe{Scope: chat, Actor: "42", Name: "diskning", Event: ev})
//
//	outs, err := habits.ObserveAll(ctx, …)   // a burst of one habit, or a backlog
//
//	habit, ok, err := habits.Get(ctx, chat, "42", "diskning")
//	day, _ := habit.PeakDay()                // Sunday
//	share := habit.DayShare(day)             // 0.41
//	hour, _ := habit.PeakHour()              // 19
//
// # Items
//
// One row for each scope, actor and name. The parts of the partition key are
// percent-encoded where they hold '#' or '%', so that different ids never
// meet in one row; the sort key is the name as it is.
//
//	pk               S  PATTERN#<scope>#<actor>
//	sk               S  the name
//	type             S  PATTERN
//	dayOfWeekCounts  M  mon … sun to N; a day without events is absent
//	hourOfDayCounts  M  0 … 23 to N; an hour without events is absent
//	totalCount       N  events counted
//	lastSeen         S  time of the latest event counted
//	recent           B  the 32 greatest events counted, 16 bytes each, sorted
//	version          N  writes so far, from 1
//	updatedAt        S  time of the last write
//
// Rows of an older system, which have no type, version and recent, whose maps
// may lack days and hours, and whose lastSeen may lack its decimals, are read
// and go on to be counted into. Attributes and map entries that are not named
// here stay as they are.
//
// # Guarantees
//
//   - An event counts once, however often it is observed, by however many
//     callers at once, and whatever replies are lost. Its weekday and hour are
//     those of its own time in the store's zone, never those of its arrival.
//   - No update is lost: a write takes effect only on the row it was computed
//     from, and one that loses the race is computed again from what stands. That
//     holds for a row that was deleted and made anew, too.
//   - What cannot be judged is refused. A row remembers its 32 greatest
//     events; an event less than all of them may have been counted long ago,
//     and is [event.ErrTooOld]. So of a backlog that arrives newest first the
//     part beyond 32 is not counted: bring it into the order of its events, or give
//     it to ObserveAll, which does.
//
// Outside of it: an event that an older system has counted counts again here,
// for its rows do not say which events they hold. A store of another zone
// writes into the same rows: use one zone for a table.
//
// A writer of the older system that still runs replaces the row and with it
// recent: from then on a redelivery counts again. Stop it before this package
// counts into its rows.
//
// Events up to an hour ahead of the clock are taken ([event.MaxAhead]). 32 of
// them, from a sender whose clock is wrong, fill the row's recent events: it then
// refuses all true events, as too old, until their time has come.
//
// In a global table each Region checks conditions for itself, and of two writes
// at once the later one takes all: write a row from one Region.
//
// # Prices
//
//	Observe     2 requests, 1 RCU, 1 WCU; a duplicate 1 request, 1 RCU
//	ObserveAll  the same for up to 32 events, 1 request and 1 WCU for each 32 more
//	Get         1 request, 0.5 RCU; 1 RCU with Config.ConsistentReads
//	All         1 request for each MB, 0.5 RCU for each 4 KB; twice that with Config.ConsistentReads
//	Erase       1 RCU for each 4 KB, 1 WCU for each row; 1 request for each MB and each 25 rows
//
// A row with all days, hours and recent events has some 820 bytes beside its
// ids and name, and stays below 1 KB where those have no more than 150.
//
// A write that meets a transaction on the row, or another Region's write, is sent
// again: 1 request each, up to 15 times together with races lost.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: GetItem, Query, UpdateItem
//   - Operators (Erase), on the table: BatchWriteItem, Query
package pattern
