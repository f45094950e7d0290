// Package memory answers questions about a log of activities: who did it last,
// when did they last do it, how often this week.
//
//	mem, err := memory.New(acts, tzclock.Stockholm)
//	last, ok, err := mem.LastOf(ctx, chat, "diskning") // who did X last
//	last, ok, err = mem.LastBy(ctx, chat, "42", "diskning") // when did U last do X
//	n, err := mem.ThisWeek(ctx, memory.ThisWeek{Scope: chat, Name: "diskning", Of: askedAt})
//	all, err := mem.TallyWeek(ctx, memory.TallyWeek{Scope: chat, Of: askedAt}) // what, by whom, how often
//
// # Guarantees
//
//   - No answer ever has an activity of another scope, or of a name that only
//     begins alike.
//   - The price of a last activity does not grow with the history, nor that of
//     a count with what lies outside its period.
//   - Counts are exact: all pages are followed.
//   - A week is the local one of the zone, from the start of its Monday to the
//     start of the next: 168 hours, 167 or 169 where clocks change by one, and
//     more or fewer where a zone has moved by more, even across the date line.
//
// The answers, but for that of [Memory.TallyWeek], come from the indexes of the
// log, which lag behind its table, normally by less than a second: an activity
// recorded this very moment may not be in them yet. Who must see it asks
// [activity.Store.OfEvent]. What was retracted, and what has expired, is in none
// of them. A row that cannot be read is an error, unless the log's
// [activity.Config].OnUnreadable takes it.
//
// What each question misses among rows of an older system: [Memory.LastOf] and
// counts of all actors those without activityTimestamp; [Memory.LastBy] and
// counts of one actor all of them, for they have no chatUser.
//
// # Prices
//
//	LastOf, LastBy     1 request, 0.5 RCU, however long the history
//	CountBy, ThisWeek  0.5 RCU for each 4 KB of matches, 1 request for each MB
//	TallyWeek          0.5 RCU for each 4 KB of the week, 1 request for each MB
//
// Rows of an older system whose names only look alike add to these: by a
// request and 0.5 RCU for each such name, [Memory.LastOf] says when.
//
// # IAM actions
//
// For [schema.Policy], as [Memory.Actions] has them, of the log that it reads:
//
//   - The service, on the table: Query
//   - The service, on indexes chatId-activity-index, chatUser-activity-index: Query
package memory
