// Package memory answers questions about a log of activities: who did X last,
// when did U last do X, how often was X done this week.
//
//	mem, err := memory.New(acts, tzclock.Stockholm)
//	last, ok, err := mem.LastOf(ctx, warehouse, "stocktaking") // who did X last
//	last, ok, err = mem.LastBy(ctx, warehouse, "42", "stocktaking") // when did U last do X
//	n, err := mem.ThisWeek(ctx, memory.ThisWeek{Scope: warehouse, Name: "stocktaking", Of: askedAt})
//	all, err := mem.TallyWeek(ctx, memory.TallyWeek{Scope: warehouse, Of: askedAt}) // what, by whom, how often
//
// # Guarantees
//
//   - An answer never has an activity of another scope, or of another name that
//     begins in the same way, as "ordering" begins with "order".
//   - The price of LastOf and LastBy does not grow with the history. The price
//     of a count does not grow with what lies outside its period.
//   - Counts are exact: all pages are followed.
//   - A week is a local week of the zone, from the start of its Monday to the
//     start of the next Monday. It has 168 hours, or 167 or 169 if clocks
//     change by one hour. It has more or fewer if the zone moves by more than
//     an hour, even across the date line.
//
// All answers come from the indexes of the log, except the answer of
// [Memory.TallyWeek]. Indexes lag behind the table, normally by less than a
// second: an activity that was recorded a moment ago may be missing.
// [activity.Store.OfEvent] always sees it. Retracted and expired activities are
// in no answer. If a row cannot be read, the answer is an error, unless the
// log's [activity.Config] has an OnUnreadable, which is then called with the
// row.
//
// Rows of an older system can be missing. [Memory.LastOf] and counts of all
// actors do not see such rows without activityTimestamp. [Memory.LastBy] and
// counts of one actor see no rows of an older system, because such rows have no
// chatUser.
//
// # Prices
//
//	LastOf, LastBy     1 request, 0.5 RCU, however long the history
//	CountBy, ThisWeek  0.5 RCU for each 4 KB of matches, 1 request for each MB
//	TallyWeek          0.5 RCU for each 4 KB of the week, 1 request for each MB
//
// Each name of an older system that only looks like the name in question adds a
// request and 0.5 RCU: [Memory.LastOf] says when.
//
// # IAM actions
//
// For [schema.Policy], as [Memory.Actions] has them, on the log that it reads:
//
//   - The service, on the table: Query
//   - The service, on indexes chatId-activity-index, chatUser-activity-index: Query
package memory
