// Package record is what makes a record of your own safe to repeat: the part that
// packages pattern and ema have in common. A rating, a score, a balance of points
// becomes a small package of the kind that this library is made of.
//
//	rows, err := record.New(db, "shop", record.Kind[Rating]{
//		Package: "rating", Type: "RATING", Count: "ratings", Decode: decode,
//	}, nil)
//
//	out, err := rows.Apply(ctx, record.Apply{
//		Partition: record.Key("RATING", courier), Sort: "stars", Event: ev,
//		Next: func(row record.Item, _ event.Event) (record.Item, error) {
//			stood, err := decode(row)
//			return record.Item{"stars": record.Int(stood.Stars + stars)}, err
//		},
//	})
//
// docs/own-record.md builds that package in fifty lines, with its tests.
//
// # Two kinds of rows
//
// [Rows.Apply] is for a row that is made of its events: an average, a histogram, a
// sum with a rule. It is read-modify-write with optimistic locking, for what no
// update expression can compute, and counts each event once. [Rows.ApplyAll] does
// it for many events of one row.
//
// [Rows.Set] is for a row that holds what its last event said: a status, an
// address, a setting. The event that happened last wins, in whatever order they
// arrive. A [Kind] without a Count is for Set, one with a Count for Apply.
//
// # Items
//
// One row for each partition and sort key. The record's own attributes stand
// beside these, which the package keeps:
//
//	pk         S  the partition key, made by [Key]
//	sk         S  the sort key
//	type       S  Kind.Type
//	updatedAt  S  time of the last write
//
//	           with Apply
//	<count>    N  events counted, under the name that Kind.Count gives
//	recent     B  the 32 greatest events counted, 16 bytes each, sorted: see [Ring]
//	version    N  writes so far, from 1
//
//	           with Set
//	event      S  the event that set the row
//
// Attributes that neither the package nor Next names stay as they are. Keep one
// kind of rows in a partition: All reads them as one, and Erase deletes them all.
//
// # Guarantees
//
//   - An event counts once, however often it is applied, by however many callers
//     at once, and whatever replies are lost.
//   - No update is lost: a write takes effect only on the row it was computed
//     from, its version, ring and count unchanged. One that loses the race is
//     computed again from the row that stood in its way, which comes with the
//     refusal and costs no read. That holds for a row that was deleted and made
//     anew, too.
//   - What cannot be judged is refused. An event less than the 32 greatest of its
//     row may have been counted long ago, and is [event.ErrTooOld]. So of a
//     backlog that arrives newest first the part beyond 32 is not counted: give
//     it to ApplyAll, which brings it into order.
//   - Rows without version and recent, of a system before this one, are taken
//     over where they stand: what they hold is what Next is given. The events
//     that they hold are not known, and count again.
//
// Outside of it: a writer that replaces the whole row takes recent away, and a
// redelivery counts again. Events up to an hour ahead of the clock are taken
// ([event.MaxAhead]); 32 of them, from a sender whose clock is wrong, make a row
// refuse all true events until their time has come. In a global table each Region
// checks conditions for itself: write a row from one Region.
//
// Apply answers [event.Duplicate] for its own write whose reply was lost, too: the
// state is the same. What must follow a write must not hang on [event.Created].
//
// # Prices
//
//	Apply     2 requests, 1 RCU, 1 WCU; a duplicate 1 request, 1 RCU
//	ApplyAll  the same for up to 32 events, 1 request and 1 WCU for each 32 more
//	Set       1 request, 1 WCU
//	Get       1 request, 0.5 RCU; 1 RCU with Config.ConsistentReads
//	All       1 request for each MB, 0.5 RCU for each 4 KB; twice that with Config.ConsistentReads
//	Erase     1 RCU for each 4 KB, 1 WCU for each row; 1 request for each MB and each 25 rows
//
// The package keeps some 560 bytes in a row that counts, 512 of them the ring: the
// first KB has room for some 450 more, the key, type and count among them.
//
// A write that meets a transaction on the row, or another Region's write, is sent
// again: 1 request each, up to 15 times together with races lost, in Set up to 5.
//
// # IAM actions
//
// For [schema.Policy], as [Rows.Actions] has them:
//
//   - The service, on the table: GetItem, Query, UpdateItem
//   - Operators (Erase), on the table: BatchWriteItem, Query
package record
