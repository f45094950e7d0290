// Package record makes writes of your own record type safe to repeat. Packages
// pattern and ema are built on package record. You can build a similar small
// package of your own on it, such as one for a rating, a score or, with an exact
// Kind, a balance of points.
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
// docs/own-record.md builds that package in some fifty lines, and tests it.
//
// # Three kinds of rows
//
// [Rows.Apply] is for a row whose values are computed from its events: an average,
// a histogram, a sum with a rule. Apply reads the row, computes its new values and
// writes them with optimistic locking. Use Apply for values that no update
// expression can compute. It counts each event at most once. [Rows.ApplyAll] does
// the same for many events of one row, and [Rows.ApplyItem] in a transaction of
// the caller's own, such as ledger.DoTx.
//
// A [Kind] with a Retention is exact: use Apply on it for values that behave like
// money, such as a balance of points. Without a Retention, a row remembers its 32
// latest events in a ring. The ring costs little, and refuses an event that arrives
// after 32 later ones. With a Retention, each event has a row of its own, which Apply
// writes in one transaction with the record. So until the Retention ends, an event
// counts exactly once, however late and in whatever order it is delivered. Apply may
// then have Add in place of Next: Add needs no read, and may have a floor.
//
// [Rows.Set] is for a row that holds what the latest event said: a status, an address,
// a setting. The event that happened last wins, in whatever order the events arrive. A
// rank decides between events of the same time. A tie that the ranks leave open is an
// error, a [*TieError]. A [Kind] without a Count is for Set, and names the record's own
// Attributes. One with a Count is for Apply, ApplyAll and ApplyItem.
//
// # Items
//
// Each partition and sort key has one row. The package writes these attributes,
// and the record's own attributes are in the same row:
//
//	pk         S  the partition key, made by [Key]
//	sk         S  the sort key
//	type       S  Kind.Type
//	updatedAt  S  time of the last write
//
//	           with Apply
//	<count>    N  events counted, under the name that Kind.Count gives
//	recent     B  the 32 latest events counted, 16 bytes each, sorted
//	version    N  writes so far, from 1; of an exact Kind, from a random number
//
//	           with Apply of an exact Kind: no recent, and a row for each event
//	pk         S  the record's partition key and ##
//	sk         S  the record's encoded sort key, # and the event
//	ttl        N  the end of Kind.Retention after the event happened
//	by         S  the nonce of the call that counted the event
//	add        M  what the event added, by the sum, if it had Add
//
//	           with Set
//	event      S  the event that set the row, with its rank if that is not 0
//
// Set writes the record's own attributes that it is given and removes the others
// of Kind.Attributes. A write leaves all other attributes as they are. Keep rows of
// only one Kind in a partition: All reads every row of the partition as that Kind,
// and Erase deletes every row of the partition.
//
// # Guarantees
//
//   - While its row exists, an event counts once, even if it is applied many
//     times, if several callers apply it at once, or if replies are lost.
//   - No update is lost, even if a row is deleted and made anew in the
//     meantime. A write of Next takes effect only if the version, the ring and
//     the count of the row are still as they were when the package read the
//     row. If another writer was faster, DynamoDB refuses the write and returns
//     the existing row. The package computes the write again from that row. From
//     the second lost race on, it reads the row again after its pause.
//   - An event that cannot be judged is refused. A row remembers its 32 latest
//     events. An event earlier than all 32 may have been counted long ago, so
//     Apply refuses it with [event.ErrTooOld]. If a backlog arrives newest
//     first, Apply therefore counts at most 32 of its events: give the backlog
//     to ApplyAll, which sorts it.
//   - Of an exact Kind, an event counts once until Kind.Retention after it
//     happened, less Config.MaxSkew, even if the backlog arrives newest first.
//     After that it is refused with [event.ErrTooOld]. A call recognizes its own
//     write, and answers [event.Created] even if the reply was lost. With Add, an
//     event that comes again with another amount gets an [*AddError]. After
//     [ErrContended], apply the event again. With Next, that error occurs when hundreds
//     of callers write one row at once.
//   - A row of Set holds exactly what its last event gave, for every order of
//     arrival. If two events of the same time and rank have different values, the
//     one that comes second gets a TieError. If that one stands, it gets the error
//     only once: if the reply is lost, or the caller dies before it noted the tie,
//     the repetition is a Duplicate.
//   - Rows of an older system, which lack version and recent, are updated in
//     place: Next gets what they hold. Such a row does not say which events it
//     has counted, so those events count again when they are redelivered.
//
// Three things are outside the guarantees. If another writer replaces the whole
// row, recent is lost, and a redelivered event counts again. Events up to an hour
// ahead of the clock are accepted ([event.MaxAhead]). If a sender with a wrong
// clock fills a row with 32 events that lie ahead, the row refuses all events with
// a true time until the earliest of these 32 times has passed. In a
// global table with eventual consistency, each Region checks conditions for
// itself: write a row from one Region only.
//
// An exact Kind refuses rows that have recent, because they do not say which events
// they have counted. So give a Retention to a new Kind only.
//
// If the reply to Apply's own write was lost and the Kind is not exact, Apply finds
// the event in the row and answers [event.Duplicate], although this call counted the
// event. So if a step must follow a write, take the step after [event.Duplicate] and
// also after [event.Created]: the row is the same after both answers.
//
// # Prices
//
//	Apply     2 requests, 1 RCU, 1 WCU; a duplicate 1 request, 1 RCU
//	ApplyAll  the same for up to 32 events, 1 request and 1 WCU for each 32 more
//	ApplyItem 1 request, 1 RCU; 2 WCU in the transaction
//	Set       1 request, 1 WCU
//	Get       1 request, 0.5 RCU; 1 RCU with Config.ConsistentReads
//	All       1 request for each MB, 0.5 RCU for each 4 KB; twice that with Config.ConsistentReads
//	Erase     1 RCU for each 4 KB, 1 WCU for each row; 1 request for each MB and each 25 rows
//
// Of an exact Kind:
//
//	Apply     with Add 1 request, 4 WCU; with Next 2 requests, 1 RCU, 4 WCU; a duplicate the same
//	ApplyAll  2 WCU for each event; 1 request, 2 WCU for each 99; with Next 1 request, 1 RCU more
//	ApplyItem with Next 1 request, 1 RCU; 4 WCU in the transaction
//	Erase     as above, also for the rows of events
//
// The package keeps some 560 bytes in a row with a ring, 512 of them for the ring.
// That leaves some 450 bytes of the first KB for the key, the type, the count
// and the record's own attributes.
//
// If a write meets a transaction on the row or another Region's write, the package
// sends the write again. Each repetition costs 1 request, of an exact Kind the WCU,
// too. Apply sends a write again up to 15 times, counting the races that it lost, and
// Set up to 5 times.
//
// # IAM actions
//
// For [schema.Policy], as [Rows.Actions] has them:
//
//   - The service, on the table: GetItem, PutItem, Query, UpdateItem
//   - Operators (Erase), on the table: BatchWriteItem, Query
//
// PutItem is for exact Kinds only.
package record
