// Package ema learns an average for each subject and metric, in which the
// latest values weigh most: the effort a chore costs somebody, how often they
// ignore a reminder.
//
//	effort, err := ema.New(db, "homeops", nil)
//
//	out, err := effort.Observe(ctx, ema.Observe{Subject: "42", Metric: "diskning", Event: ev, Value: 4})
//
//	average, ok, err := effort.Get(ctx, "42", "diskning")   // average.Value, average.Samples
//
// It is an exponential moving average. The first value is the average; each
// one after it moves the average by Config.Alpha of the way:
//
//	average = alpha·value + (1 - alpha)·average
//
// # Items
//
// One row for each subject and metric. There are two records, with rows of
// their own, and a store keeps one of them: [Effort], whose metrics are
// activities, and [Preference]. The subject is percent-encoded where it holds
// '#' or '%'; the sort key is the metric as it is.
//
//	pk         S  EFFORT#<subject>, or PREF#<subject>, or Config.Prefix
//	sk         S  the metric
//	type       S  EFFORT, or PREF
//	ema        N  the average, of an effort
//	value      N  the average, of a preference
//	samples    N  values counted
//	recent     B  the 32 greatest events counted, 16 bytes each, sorted
//	version    N  writes so far, from 1
//	updatedAt  S  time of the last write
//
// Rows of an older system, which have no type, version and recent, are read
// and go on to be learned from. Attributes that are not named here stay as
// they are.
//
// # Guarantees
//
//   - An event counts once, however often it is observed, by however many
//     callers at once, and whatever replies are lost.
//   - No update is lost: a write takes effect only on the row it was computed
//     from, and one that loses the race is computed again from what stands. That
//     holds for a row that was deleted and made anew, too.
//   - What cannot be judged is refused. A row remembers its 32 greatest
//     events; an event less than all of them may have been counted long ago,
//     and is [event.ErrTooOld]. So of a backlog that arrives newest first the
//     part beyond 32 is not counted: bring it into the order of its events.
//   - An average always lies between the least and the greatest value.
//
// An average is not commutative. Values count in the order in which they
// arrive, which need not be that of their events: the state is always that of
// some order of arrival, each event in it once. An event that an older system
// has counted counts again here, for its rows do not say which they hold.
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
//	Observe  2 requests, 1 RCU, 1 WCU; a duplicate 1 request, 1 RCU
//	Get      1 request, 0.5 RCU; 1 RCU with Config.ConsistentReads
//	All      1 request for each MB, 0.5 RCU for each 4 KB; twice that with Config.ConsistentReads
//	Erase    1 RCU for each 4 KB, 1 WCU for each row; 1 request for each MB and each 25 rows
//
// A row has some 610 bytes beside its subject and metric.
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
package ema
