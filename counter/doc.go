// Package counter counts and limits per key and local day: three answers a day
// for each customer, fifty exports a day for each tenant. It is not a rate limiter
// of requests, by the second or the minute: its window is a day, and the day's row
// grows with each event that it records, and with it the price of every write.
//
//	limits, err := counter.New(db, "limits", tzclock.Stockholm, nil)
//
//	grant, err := limits.Take(ctx, counter.Take{Key: chat, Event: ev, Cap: 3})
//	if !grant.OK {
//		log.Printf("%d of %d used, free again %s", grant.Used, grant.Cap, grant.ResetsAt)
//	}
//
// What was taken is given back by [Store.Refund]. What is taken before it is known
// how much is needed, a hold, is settled by [Store.Adjust].
//
// The day is that of the event in the store's zone, never that of the
// processing: what was sent at 23:59 counts on that day, also when it is
// delivered again after midnight.
//
// # The row
//
//	┌────────────────┬─────────────────┐
//	│ chatId (S)     │ date (S)        │  names configurable
//	├────────────────┼─────────────────┤
//	│ "-100123"      │ "2026-03-29"    │  the event's local day
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
// An entry begins as held, may be settled once, and ends as refunded. A refund that
// comes first ([Refund].Tombstone) begins it as refunded.
//
// The names of the key, the count and the ttl are the Config's, for a table that
// has such rows already. Not for rows that are kept longer than 7 days after their
// day, unless [Config].Retention says how long: every write sets the ttl, also
// where a later one stands, and the row is deleted when it has come.
//
// Rows of an older system have the first three attributes only, and an earlier
// ttl. They are read and written as they are; the first write here gives them
// the ttl of all others, and [Store.Backfill] one to those that lack it.
//
// # Guarantees
//
//   - [Store.Take] never goes above the cap, however many call at once, and
//     never gives two grants for one event. Refunding makes room for others,
//     not for the same event again.
//   - An event counts once in its row, by Take or by [Store.Add], whatever is
//     delivered twice and whichever reply is lost. For two counts of one event
//     use [event.Event.Nth].
//   - A write that the SDK sends again because the reply was lost is told from
//     a redelivery by its nonce, from the refusing row, without a second read:
//     it answers Created. When the whole call fails and the caller makes
//     another, that one answers Duplicate. If somebody refunds or settles the
//     event before the SDK sends again, the taker reads what stands then, as a
//     Duplicate, and nobody has been told Created.
//   - A hold is settled once: a late or repeated [Store.Adjust] changes nothing
//     back. One that needs more room never goes above the cap.
//   - With [Refund].Tombstone nothing is held in the end, whether the refund comes
//     before its Take or after it.
//   - The count is the sum of the weights of the recorded and not refunded
//     events, plus what [Store.AddUnkeyed] and other systems added.
//   - An event whose row may have expired is refused with [event.ErrTooOld],
//     never counted again: one of a day that ended 7 days ago (or
//     [Config].Retention), less [Config].MaxSkew. A row that only an older system wrote has another ttl,
//     midnight UTC of its date + 7 days, and may be deleted that much earlier:
//     22 or 23 hours in Stockholm, 32 in a zone eight hours west of UTC.
//   - A row records at most [Config].MaxRecorded events; then [ErrFull].
//
// Outside the promise:
//
//   - [Store.AddUnkeyed] must never be repeated.
//   - Reading with [Store.Get] before counting is a race.
//   - An event that was erased ([Store.Erase]) counts again when it is delivered
//     again.
//   - All that write to one key must be of one zone, and know it by the same
//     tzdata: where two differ, an event may be of two days, and so be granted
//     and counted once in each. Keys of one table may be of different zones.
//     When a country changes its clocks, give all writers the new data before
//     the change comes into force.
//   - In a global table with eventual consistency each Region judges by its own
//     copy of the row, and the last writer's copy replaces the others': two
//     Regions may go above the cap together, and counts be lost. Write a key in
//     one Region only. Conditions hold across Regions with multi-Region strong
//     consistency alone.
//
// A key's day is one item, which DynamoDB writes about 1,000 times a second at
// most while it is below 1 KB.
//
// # In a transaction of one's own
//
// [Store.TakeItem], [Store.AdjustItem] and [Store.RefundItem] return the write as an action, to be sent
// with others of the caller's: all take effect or none. The handle is made once and
// sent again unchanged, so that an own lost reply is told from another delivery. When
// the transaction is cancelled, each handle reads its reason (Outcome). If all
// actions were done already, by an own earlier try or as a Duplicate, it is done; if
// some were, those are left out and the rest is sent. When it is committed, the
// count after it is [Unknown] (Committed).
//
// A RefundItem cannot come before its Take, as a [Refund] with a Tombstone can: its
// outcome is ErrNotFound then, and the transaction is cancelled. Which of two writes
// is the right one is known only after the first was refused, and a transaction has
// no second request. Call [Store.Refund] beside it; it is safe to repeat.
//
// # Prices
//
// A first, uncontended call on a row up to 1 KB, that is about 22 events:
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
// A transaction with a TakeItem, an AdjustItem or a RefundItem is granted by
// UpdateItem.
package counter
