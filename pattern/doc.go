// Package pattern keeps habits. A habit shows on which weekdays and at which
// hours of local time somebody does something.
//
//	habits, err := pattern.New(db, "habits", tzclock.Stockholm, nil)
//
//	out, err := habits.Observe(ctx, pattern.Observe{Scope: shop, Actor: "customer-42", Name: "order", Event: ev})
//
//	outs, err := habits.ObserveAll(ctx, …)   // a burst of one habit, or a backlog
//
//	habit, ok, err := habits.Get(ctx, shop, "customer-42", "order")
//	day, _ := habit.PeakDay()                // Sunday
//	share := habit.DayShare(day)             // 0.41
//	hour, _ := habit.PeakHour()              // 19
//
// Days and hours are counted apart: a habit on Sundays at 19 and on workdays at 8 may have
// the peaks Sunday and 8. If you need both together, give each day a habit of its own, by
// its name: "order sun".
//
// # Items
//
// Each scope, actor and name has one row. The partition key writes '#' in a
// scope or an actor as %23, and '%' as %25, so that different ids never share a
// row. The sort key is the name, unchanged.
//
//	pk               S  PATTERN#<scope>#<actor>
//	sk               S  the name
//	type             S  PATTERN
//	dayOfWeekCounts  M  mon … sun to N; a day without events is absent
//	hourOfDayCounts  M  0 … 23 to N; an hour without events is absent
//	totalCount       N  events counted
//	lastSeen         S  time of the latest event counted
//	recent           B  the 32 latest events counted, 16 bytes each, sorted
//	version          N  writes so far, from 1
//	updatedAt        S  time of the last write
//
// The package also reads and updates rows of an older system. These rows have
// no type, version and recent. Their maps may lack days and hours, and their
// lastSeen may lack the decimals. A write leaves attributes and map entries
// that are not in this list as they are.
//
// # Guarantees
//
//   - An event counts once while the row of its habit exists, even if it is
//     observed many times, if several callers observe it at once, or if replies
//     are lost. Its weekday and hour come from the event's own time in the
//     store's zone, never from the time of its arrival.
//   - No update is lost. A write takes effect only on the row from which it was
//     computed. If another writer was faster, DynamoDB refuses the write, and
//     the package computes it again from the changed row. The same holds if the
//     row was deleted and made anew in between.
//   - An event that cannot be judged is refused. A row remembers its 32 latest
//     events. An event earlier than all 32 may have been counted long ago, so
//     Observe refuses it with [event.ErrTooOld]. If a backlog arrives newest
//     first, Observe therefore counts at most 32 of its events: sort the backlog
//     by event first, or give the backlog to ObserveAll, which sorts it.
//
// The rest of this section is outside the guarantees. If an older system has
// counted an event, the event counts again here, because rows of the older
// system do not say which events they have counted. Stores of different zones
// write into the same rows: let each actor's habits be written by stores of one zone.
// Nothing takes an event back; Erase removes all habits of an actor in a scope.
//
// Stop the older system before this package updates its rows. The writers of
// the older system replace the whole row. Then recent is lost, and a
// redelivered event counts again.
//
// Events up to an hour ahead of the clock are accepted ([event.MaxAhead]). If a
// sender with a wrong clock fills recent with 32 events that are ahead of the
// store's clock, the row refuses every event with a correct time as too old,
// until the earliest of these 32 times has passed.
//
// In a global table with eventual consistency, each Region checks conditions
// for itself, and the later of two simultaneous writes replaces the other:
// write a row from one Region only.
//
// # Prices
//
//	Observe     2 requests, 1 RCU, 1 WCU; a duplicate 1 request, 1 RCU
//	ObserveAll  the same for up to 32 events, 1 request and 1 WCU for each 32 more
//	Get         1 request, 0.5 RCU; 1 RCU with Config.ConsistentReads
//	All         1 request for each MB, 0.5 RCU for each 4 KB; 1 RCU with Config.ConsistentReads
//	Erase       1 RCU for each 4 KB, 1 WCU for each row; 1 request for each MB and each 25 rows
//
// A row with all days, hours and recent events has some 820 bytes in addition
// to its ids and name. The row stays below 1 KB if the ids and the name have at
// most 150 bytes together.
//
// If a write of Observe or ObserveAll meets a transaction on the row or another
// Region's write, the package sends it again. Each repetition costs 1 request. A write
// is sent again up to 15 times in all, including lost races to other writers.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: GetItem, Query, UpdateItem
//   - Operators (Erase), on the table: BatchWriteItem, Query
package pattern
