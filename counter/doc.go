// Package counter counts and limits per key and local day: three answers a day
// in each chat, fifty questions a day for each tenant. It is not a limiter of
// requests: the day's row grows with each event that it records, and with it
// the price of every write.
//
//	limits, err := counter.New(db, "limits", tzclock.Stockholm, nil)
//
//	grant, err := limits.Take(ctx, counter.Take{Key: chat, Event: ev, Cap: 3})
//	if !grant.OK {
//		log.Printf("%d of %d used, free again %s", grant.Used, grant.Cap, grant.ResetsAt)
//	}
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
//	│ ttl       N  end of day + 7 days │  Unix seconds, set by every write
//	│ recorded  N  events below        │
//	│ e_01KMW…  S  "1~kQ0hF3vbl2E"     │  an event: weight ~ nonce
//	│ e_01KMX…  S  "-2~Zm9vYmFyYmE"    │  one that was refunded
//	└──────────────────────────────────┘
//
// Rows of an older system have the first three attributes only, and an earlier
// ttl. They are read and written as they are; the first write here gives them
// the ttl of all others.
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
//     another, that one answers Duplicate. If somebody refunds the event before
//     the SDK sends again, the taker is told of the refund: OK is false,
//     Refunded is true, and nobody has been told Created.
//   - The count is the sum of the weights of the recorded and not refunded
//     events, plus what [Store.AddUnkeyed] and other systems added.
//   - An event whose row may have expired is refused with [event.ErrTooOld],
//     never counted again: one of a day that ended 7 days ago, less
//     [Config].MaxSkew. A row that only an older system wrote has another ttl,
//     midnight UTC of its date + 7 days, and may be deleted that much earlier:
//     22 or 23 hours in Stockholm, 32 in a zone eight hours west of UTC.
//   - A row records at most [Config].MaxRecorded events; then [ErrFull].
//
// Outside the promise:
//
//   - [Store.AddUnkeyed] must never be repeated.
//   - Reading with [Store.Get] before counting is a race.
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
// # Prices
//
// A first, uncontended call on a row up to 1 KB, that is about 22 events:
//
//	Take, Add, Refund, AddUnkeyed   1 request, 1 WCU
//	Get                             1 request, 1 RCU
//
// Each further 25 events in the row add 1 WCU to each write. A refused write
// costs as much as one that succeeds. A write that meets a transaction on the
// row, or another Region's write, is tried again, at the same price.
//
// # IAM actions
//
// dynamodb:UpdateItem, dynamodb:GetItem.
package counter
