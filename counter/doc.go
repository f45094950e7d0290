// Package counter counts and limits how much each key uses in each window of the
// calendar: three answers a day for each customer, fifty exports an hour for each
// tenant. The window is a local day or, by [Config].Window, an hour, a week or a
// month. The package does not limit requests by the second or the minute. Each
// recorded event makes the window's row larger, and so makes every write of the row
// more expensive.
//
//	limits, err := counter.New(db, "limits", tzclock.Stockholm, nil)
//
//	grant, err := limits.Take(ctx, counter.Take{Key: customer, Event: ev, Weight: 1, Cap: 3})
//	if grant.Refused() {
//		log.Printf("%d of %d used, free again %s", grant.Used, grant.Cap, grant.ResetsAt)
//	}
//
// [Store.Refund] gives back what was taken. [Store.Adjust] settles a hold: a
// weight that was taken before the final weight was known.
//
// The window is that of the event in the store's zone, never that of the
// processing: an order of Monday 23:59 counts for Monday, even if it is
// delivered again on Tuesday.
//
// For two limits at once, such as 100 an hour and 1,000 a month, call [TakeAll] with a
// store of each window: it takes from both or from none.
//
// # The row
//
//	┌────────────────┬─────────────────┐
//	│ chatId (S)     │ date (S)        │  names configurable
//	├────────────────┼─────────────────┤
//	│ "customer-42"  │ "2026-03-29"    │  the event's window: see below
//	├────────────────┴─────────────────┤
//	│ count     N  what is used        │
//	│ updatedAt S  of the last write   │
//	│ ttl       N  window end + 7 days │  or Config.Retention; Unix seconds, set by every write
//	│ recorded  N  events below        │
//	│ e_01KMW…  S  "1~kQ0hF3vbl2E"     │  an event: weight ~ nonce
//	│ e_01KMX…  S  "=7~c2Vjb25kLS0"    │  one that was settled
//	│ e_01KMY…  S  "-2~Zm9vYmFyYmE"    │  one that was refunded
//	└──────────────────────────────────┘
//
// The date of an hour is like "2026-11-23T14+0100", with the offset from UTC, because
// one hour comes twice when clocks go back. A week's is like "2026-W48", a month's
// like "2026-11". So stores of all Windows may share a table.
//
// An entry begins as held. It may be settled once, and it may be refunded, which is
// final. If a refund comes before its Take ([Refund].Tombstone), the entry begins
// as refunded.
//
// If your table already has rows with daily counts, set the names of its key,
// count and ttl attributes in [Config]. If the table keeps rows longer than 7
// days after their day, set [Config].Retention: every write sets the ttl, even
// if the row has a later ttl.
//
// A row of an older system has only its key, count, updatedAt and perhaps a
// ttl, which is earlier than the usual ttl (the end of the day + 7 days). Such
// a row counts as it is, and the first write by this package sets the usual ttl.
// For a row without a ttl, [Store.Backfill] returns an update that sets it.
//
// # Guarantees
//
//   - [Store.Take] never goes above the cap, for any number of callers at once,
//     and never takes twice for one event. A refund makes room for other
//     events, not for the same event again.
//   - An event counts once in its row, by Take or by [Store.Add], even if it is
//     delivered twice or a reply is lost. For two counts of one event, use
//     [event.Event.Nth].
//   - If a reply is lost, the SDK sends the write again, and the row refuses
//     it. The refusal contains the row: the call finds its own nonce there,
//     without a second read, and answers Created. If the whole call fails
//     although its write took effect, and the caller calls again, the second
//     call answers Duplicate. If somebody refunds or settles the event before
//     the SDK sends the write again, the call answers Duplicate with the
//     event's new state. Then no caller gets Created for this write.
//   - A hold is settled once: a late or repeated [Store.Adjust] cannot change
//     it back. An Adjust that needs more room never goes above the cap.
//   - With [Refund].Tombstone, the event holds nothing in the end, whether the
//     refund or its Take comes first.
//   - The count is the sum of the weights of all recorded events that were not
//     refunded, plus what [Store.AddUnkeyed] and other systems added.
//   - An event whose row may have expired is refused with [event.ErrTooOld] and
//     never counted again. The row expires 7 days (or [Config].Retention) after
//     the end of its window, and the refusals begin [Config].MaxSkew before that. A
//     row that only an older system wrote has an earlier ttl: midnight UTC at the
//     start of its date, plus 7 days. In Stockholm that is 22 or 23 hours
//     earlier, and in a zone eight hours west of UTC it is 32 hours earlier. So
//     DynamoDB may delete such a row while its events are still accepted.
//   - A row records at most [Config].MaxRecorded events. A call that would
//     record another event returns [ErrFull].
//
// Outside the promise:
//
//   - [Store.AddUnkeyed] must never be repeated after a call that may have
//     counted.
//   - Reading with [Store.Get] before counting is a race.
//   - An erased event ([Store.Erase]) counts again when it is delivered again.
//   - All writers of a key must have the same zone and the same tzdata. If two
//     writers differ, one event may fall into two windows, and be granted and
//     counted once in each. Keys of one table may have different zones. When a
//     country changes its rules for clocks, give all writers the new data
//     before the change comes into force.
//   - In a global table with eventual consistency, each Region judges by its
//     own copy of the row, and the copy that was written last replaces the
//     other copies. So two Regions may go above the cap together, and counts
//     may be lost. Write a key in one Region only. Conditions hold across
//     Regions only with multi-Region strong consistency.
//
// All events of a key in one window are stored in one item. DynamoDB writes an
// item below 1 KB at most about 1,000 times a second.
//
// # In a transaction of one's own
//
// [Store.TakeItem], [Store.AdjustItem] and [Store.RefundItem] return their write as
// a [record.Action] for a transaction, in which all actions take effect, or none. A
// committed transaction returns no count: Committed returns a Grant or a Total whose
// Used is [Unknown].
//
// A [Refund] with a Tombstone can come before its Take, but a RefundItem cannot.
// If a RefundItem comes first, the transaction is cancelled, and Outcome returns
// [ErrNotFound]. Leaving a tombstone takes a second request after the first was
// refused, and a transaction is only one request. Call [Store.Refund] with a
// Tombstone outside the transaction; it is safe to repeat.
//
// # Prices
//
// A first, uncontended call on a row of up to 1 KB, which holds up to about 22
// events:
//
//	Take, Add, Adjust, Refund, AddUnkeyed   1 request, 1 WCU
//	Refund before its Take (Tombstone)      2 requests, 2 WCU
//	TakeAll                                 1 request, and 2 WCU for each item
//	TakeItem, AdjustItem, RefundItem        2 WCU in the caller's transaction
//	Get                                     1 request, 1 RCU
//	Erase of one row                        2 requests, 1 RCU, 1 WCU
//
// About 25 further events in the row add 1 WCU to each write; fewer if the weights
// have many digits. So a month in which one key has 7,000 events costs some 280 WCU a
// write in the end, and a million units in all. Count such a key by day or hour, or
// with [Store.AddUnkeyed], which records nothing. A refused write costs as much as one that
// succeeds. A write that meets a transaction on the row, or another Region's write, is
// sent again, up to 5 times, with pauses of at most 0.62 seconds in all: 1 request each.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: GetItem, UpdateItem
//   - Operators (Erase), on the table: BatchWriteItem, Query
//
// TakeAll, and a transaction with a TakeItem, an AdjustItem or a RefundItem, need
// UpdateItem.
package counter
