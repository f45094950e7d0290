// Package memory answers questions about a log of activities: who did X last,
// when did U last do X, how often was X done this week.
//
//	mem, err := memory.New(acts, tzclock.Stockholm)
//	last, ok, err := mem.LastOf(ctx, warehouse, "stocktaking") // who did X last
//	last, ok, err = mem.LastBy(ctx, warehouse, "42", "stocktaking") // when did U last do X
//	n, err := mem.ThisWeek(ctx, memory.ThisWeek{Scope: warehouse, Name: "stocktaking", Of: askedAt})
//	all, err := mem.TallyWeek(ctx, warehouse, askedAt) // what, by whom, how often
//
// A Memory has one time zone, and costs nothing to make: use one for each zone.
//
// # Guarantees
//
//   - An answer never includes an activity of another scope or of another name,
//     even if the other name begins with the given name, as "ordering" begins
//     with "order".
//   - The price of LastOf and LastBy does not grow with the history, except
//     with rows that [Memory.LastOf] names. The price of a count does not grow
//     with what lies outside its period, except with some rows of an older
//     system.
//   - Counts are exact for what their reads find: all pages are followed.
//   - A week is a local week of the zone, from the start of its Monday to the
//     start of the next Monday. It has 168 hours, or 167 or 169 if clocks
//     change by one hour in that week. If clocks change by another amount, such
//     as a day at the date line, the week has more or fewer hours accordingly.
//
// All answers come from the indexes of the log, except the answer of
// [Memory.TallyWeek]. Indexes lag behind the table, normally by less than a second: an
// activity that was recorded a moment ago may be missing. [activity.Store.OfEvent]
// always sees such an activity. Answers never include expired activities. They include
// a retracted activity only if it was retracted a moment ago. If an answer needs a row
// that cannot be read, the answer is an error. If the log's [activity.Config] has an
// OnUnreadable, it is called instead, and the row is left out.
//
// Answers can miss rows of an older system. [Memory.LastOf], [Memory.CountBy]
// and [Memory.ThisWeek] miss the rows that [activity.Store.ByName] misses, such
// as rows that have no activityTimestamp. [Memory.LastBy], and counts with an
// Actor, miss these rows and all rows that have no chatUser. A row of an older
// system has a chatUser only if it was added later, for example by
// [activity.Store.Backfill].
//
// # Prices
//
//	LastOf, LastBy     1 request, 0.5 RCU, however long the history
//	CountBy, ThisWeek  0.5 RCU for each 4 KB read, 1 request for each MB
//	TallyWeek          0.5 RCU for each 4 KB of the week, 1 request for each MB
//
// Names of an older system that only look like the name in question can add to
// these prices: see [Memory.LastOf].
//
// # IAM actions
//
// For [schema.Policy], as [Memory.Actions] has them, on the table of the log
// and its indexes:
//
//   - The service, on the table: Query
//   - The service, on indexes chatId-activity-index, chatUser-activity-index: Query
package memory
