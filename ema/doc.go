// Package ema learns an average for each subject and metric. A value weighs
// less in it after each later value. An average may say how long a courier
// takes to reach a customer, or how often a customer ignores a reminder.
//
//	minutes, err := ema.New(db, "averages", nil)
//
//	out, err := minutes.Observe(ctx, ema.Observe{Subject: "courier-42", Metric: "delivery", Event: ev, Value: 18})
//
//	average, ok, err := minutes.Get(ctx, "courier-42", "delivery")   // average.Value, average.Samples
//
// The average is an exponential moving average. It begins as the first value.
// Each later value moves the average towards itself, by the fraction
// Config.Alpha of the difference:
//
//	average = alpha·value + (1 - alpha)·average
//
// Nothing takes a value back.
//
// # Items
//
// Each subject and metric has one row. Stores with different prefixes have
// different rows, and can share a table. The partition key writes '#' in a subject
// as %23, and '%' in a subject or a Prefix as %25. The sort key is the metric,
// unchanged. Config.Names can give the attributes other names.
//
//	pk         S  EFFORT#<subject>, or <Config.Prefix>#<subject>
//	sk         S  the metric
//	type       S  EFFORT, or Config.Prefix
//	ema        N  the average
//	samples    N  values counted
//	recent     B  the 32 latest events counted, 16 bytes each, sorted
//	version    N  writes so far, from 1
//	updatedAt  S  time of the last write
//
// The package also reads and updates rows of an older system, which have no
// type, version and recent. A write leaves attributes that are not in this list
// as they are.
//
// # Guarantees
//
//   - An event counts once while the row of its average exists, even if it is
//     observed many times, if several callers observe it at once, or if replies
//     are lost.
//   - No update is lost. A write takes effect only on the row from which it was
//     computed. If another writer was faster, DynamoDB refuses the write, and
//     the package computes it again from the changed row. The same holds if the
//     row was deleted and made anew in between.
//   - An event that cannot be judged is refused. A row remembers its 32 latest
//     events. An event earlier than all 32 may have been counted long ago, so
//     Observe refuses it with [event.ErrTooOld]. If a backlog arrives newest
//     first, Observe therefore counts at most 32 of its events: sort the
//     backlog by event first.
//   - An average always lies between the least and the greatest value.
//
// The average depends on the order of the values. Values count in the order in
// which they arrive, which may differ from the order of their events. Values that
// arrive at the same time count one after the other, in any order. If an older
// system has counted an event, the event counts again here, because rows of the
// older system do not say which events they have counted.
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
//	Observe  2 requests, 1 RCU, 1 WCU; a duplicate 1 request, 1 RCU
//	Get      1 request, 0.5 RCU; 1 RCU with Config.ConsistentReads
//	All      1 request for each MB, 0.5 RCU for each 4 KB; 1 RCU with Config.ConsistentReads
//	Erase    1 RCU for each 4 KB, 1 WCU for each row; 1 request for each MB and each 25 rows
//
// With the default Prefix, a row has some 610 bytes in addition to its subject and metric.
//
// If a write of Observe meets a transaction on the row or another Region's write, the
// package sends it again. Each repetition costs 1 request. A write is sent again up to
// 15 times in all, including lost races to other writers.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: GetItem, Query, UpdateItem
//   - Operators (Erase), on the table: BatchWriteItem, Query
package ema
