// Package counter counts and limits per key and local day: three answers a day for
// each customer, fifty exports a day for each tenant. It does not limit requests
// by the second or the minute: its window is a day. Each event recorded in the
// day's row makes the row larger, and so every write of the row more expensive.
//
//	limits, err := counter.New(db, "limits", tzclock.Stockholm, nil)
//
//	grant, err := limits.Take(ctx, counter.Take{Key: customer, Event: ev, Cap: 3})
//	if !grant.OK {
//		log.Printf("%d of %d used, free again %s", grant.Used, grant.Cap, grant.ResetsAt)
//	}
//
// [Store.Refund] gives back what was taken. [Store.Adjust] settles a hold: a
// weight that was taken before the final weight was known.
//
// The day is the local day of the event in the store's zone, never the day of
// the processing: an order of Monday 23:59 counts for Monday, even if it is
// delivered again on Tuesday.
//
// # The row
//
//	┌────────────────┬─────────────────┐
//	│ chatId (S)     │ date (S)        │  names configurable
//	├────────────────┼─────────────────┤
//	│ "customer-42"  │ "2026-03-29"    │  the event's local day
//	├────────────────┴─────────────────┤
//	│ count     N  what is used        │
//	│ updatedAt S  of the last write   │
//	│ ttl       N  end of day + 7 days │  or Config.Retention; Unix seconds, set by every write
//	│ recorded  N  events below        │
//	│ e_01KMW…  S  "1~kQ0hF3vbl2E"     │  an event: weight ~ nonce
//	│ e_01KMX…  S  "=7~c2Vjb25kLS0"    │  one that was settled
//	│ e_01KMY…  S  "-2~Zm9vYmFyYmE"    │  one that was refunded
//	└──────────────────────────────────┘
//
// An entry begins as held. It may be settled once, and it may be refunded, which is
// final. If a refund comes before its Take ([Refund].Tombstone), the entry begins
// as refunded.
//
// For a table that has such rows already, set the names of its key, its count
// and its ttl in [Config]. If the table keeps rows longer than 7 days after
// their day, set [Config].Retention: every write sets the ttl, even if the row
// has a later ttl.
//
// Rows of an older system have only the first three attributes, and their ttl
// is earlier. Such rows are read and written as they are. The first write by
// this package gives a row the ttl of all other rows; [Store.Backfill] gives a
// ttl to a row without one.
//
// # Guarantees
//
//   - [Store.Take] never goes above the cap, for any number of callers at once,
//     and never gives two grants for one event. A refund makes room for other
//     events, not for the same event again.
//   - An event counts once in its row, by Take or by [Store.Add], even if it is
//     delivered twice or a reply is lost. For two counts of one event use
//     [event.Event.Nth].
//   - If a reply is lost, the SDK sends the write again, and the row refuses
//     it. The refusal contains the row: the call finds its own nonce there,
//     without a second read, and answers Created. If the whole call fails and
//     the caller calls again, the second call answers Duplicate. If somebody
//     refunds or settles the event before the SDK sends again, the call answers
//     Duplicate with the event's new state, and no caller gets Created.
//   - A hold is settled once: a late or repeated [Store.Adjust] cannot change
//     it back. An Adjust that needs more room never goes above the cap.
//   - With [Refund].Tombstone the event holds nothing in the end, whether the
//     refund or its Take comes first.
//   - The count is the sum of the weights of all recorded events that were not
//     refunded, plus what [Store.AddUnkeyed] and other systems added.
//   - An event whose row may have expired is refused with [event.ErrTooOld] and
//     never counted again. An event is refused from 7 days (or [Config].Retention)
//     after the end of its day, less [Config].MaxSkew. A row that only an older
//     system wrote has an earlier ttl: midnight UTC of its date + 7 days. DynamoDB
//     may delete such a row earlier: 22 or 23 hours earlier in Stockholm, 32 hours
//     earlier in a zone eight hours west of UTC.
//   - A row records at most [Config].MaxRecorded events; then [ErrFull].
//
// Outside the promise:
//
//   - [Store.AddUnkeyed] must never be repeated.
//   - Reading with [Store.Get] before counting is a race.
//   - An erased event ([Store.Erase]) counts again when it is delivered again.
//   - All writers of a key must have the same zone and the same tzdata. If two
//     writers differ, one event may fall on two days, and be granted and
//     counted once on each. Keys of one table may have different zones. When a
//     country changes its rules for clocks, give all writers the new data
//     before the change comes into force.
//   - In a global table with eventual consistency each Region judges by its own
//     copy of the row, and the copy that was written last replaces the other
//     copies. So two Regions may go above the cap together, and counts may be
//     lost. Write a key in one Region only. Conditions hold across Regions only
//     with multi-Region strong consistency.
//
// All events of a key on one day are one item. DynamoDB writes an item below 1
// KB at most about 1,000 times a second.
//
// # In a transaction of one's own
//
// [Store.TakeItem], [Store.AdjustItem] and [Store.RefundItem] return the write as
// an action. The caller sends it in one transaction with other actions: all of them
// take effect, or none of them. Make an item once. After a lost reply send the same
// item again unchanged, so that it recognizes its own write. When the transaction
// is cancelled, pass each item its cancellation reason (Outcome). If every action
// was done by an earlier try or is a Duplicate, nothing is left to do. If only some
// were done, leave these out and send the other actions. A committed transaction
// returns no count: Committed returns a Grant whose Used is [Unknown].
//
// A [Refund] with a Tombstone can come before its Take, and a RefundItem cannot.
// If a RefundItem comes first, the transaction is cancelled, and the item's
// Outcome is ErrNotFound. To leave a tombstone takes a second request after the
// first was refused, and a transaction is only one request. Call [Store.Refund]
// outside the transaction; it is safe to repeat.
//
// # Prices
//
// A first, uncontended call on a row up to 1 KB, which has about 22 events:
//
//	Take, Add, Adjust, Refund, AddUnkeyed   1 request, 1 WCU
//	Refund that comes first, a Tombstone    2 requests, 2 WCU
//	TakeItem, AdjustItem, RefundItem        2 WCU in the caller's transaction
//	Get                                     1 request, 1 RCU
//	Erase of one row                        2 requests, 1 RCU, 1 WCU
//
// Each further 25 events in the row add 1 WCU to each write. A refused write
// costs as much as one that succeeds. A write that meets a transaction on the
// row, or another Region's write, is sent again, up to 5 times within 0.6 seconds:
// 1 request each.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: GetItem, UpdateItem
//   - Operators (Erase), on the table: BatchWriteItem, Query
//
// A transaction with a TakeItem, an AdjustItem or a RefundItem needs
// UpdateItem.
package counter
