// Package message keeps what was said, as it was received, and determines
// whether a conversation moves fast.
//
//	msgs, err := message.New(db, "messages", nil)
//
//	out, err := msgs.Save(ctx, m)                  // event.Created or event.Duplicate
//	for m, err := range msgs.InScope(ctx, ticket, message.Range{NewestFirst: true}) { … }
//
//	pace, err := msgs.FastConversation(ctx, message.FastConversation{Scope: ticket, Seq: m.Seq, Actor: m.Actor, At: m.At})
//	if pace.Fast {
//		return // others said three messages in the minute before: say nothing
//	}
//
// A message has an identity of its own: its scope and its number in that scope.
// So it needs no event: a redelivery has the same key, and [Store.Save] answers
// Duplicate.
//
// # The row
//
// Each message is one row; FORMAT.md has its attributes. The key is the scope and the
// sequence (chatId S, messageId N), which rises in the scope. With [Config].ActorIndex,
// userId-timestamp-index (userId, timestamp) finds what an actor said. Names are
// configurable.
//
// Rows of an older system are read as they are. Their timestamp may be in Unix
// seconds (any number below 10^11 is read so), and all attributes except
// the key may be absent.
//
// # Guarantees
//
//   - Each scope and sequence has one row: the first message that is saved
//     stays until it expires or is erased. Until then a later save answers
//     Duplicate, even if its message is different. If the reply of the first
//     save is lost, the SDK sends the message again, and the answer is also
//     Duplicate; the row is the same.
//   - [Store.FastConversation] counts other senders' messages that have a lower
//     sequence than the given message and were said in the window before it. It
//     reads back as far as needed. The answer does not depend on the present
//     time, with one exception: with a Retention, the call returns
//     [event.ErrTooOld] when a message of the window may have expired.
//     FastConversation relies on times that rise with the sequence. A message
//     that is delivered late counts from its delivery on.
//   - With [Config].Retention, a message that may have expired is refused with
//     [event.ErrTooOld], so it cannot come back unless the Retention is made
//     longer. A row past its ttl is not returned, and does not make a save a
//     Duplicate, even if DynamoDB has not deleted the row yet.
//   - A [Match] filters a list. The messages that it leaves out are still read
//     and paid for: [Range].ReadAtMost bounds how many rows are read.
//   - Reads are eventually consistent unless the caller asks otherwise;
//     [Store.Get] is always consistent.
//
// # Prices
//
// A first, uncontended call on rows up to 1 KB, or the first page up to 4 KB:
//
//	Save                                   1 request, 1 WCU
//	Get                                    1 request, 1 RCU
//	InScope, Recent                        1 request, 0.5 RCU
//	FastConversation                       1 request, 0.5 RCU
//	ByActor                                1 request, 0.5 RCU
//	SaveItem                               2 WCU in the caller's transaction
//	Erase                                  2 requests, 1 RCU for each 4 KB, and 1 WCU for each row
//	DropRaw                                1 request, 1 WCU
//	EraseActor                             2 requests, 0.5 RCU for each 4 KB, and 2 WCU for each row
//
// These are the prices without [Config].ActorIndex, except those of ByActor
// and EraseActor. With the index, a write that changes a row with
// an actor also pays for the row's entry in the index. Erase sends 1 more request
// for each further 25 rows, EraseActor for each further row.
//
// A Save, a DropRaw or a deletion of EraseActor that meets a transaction on the row,
// or another Region's write, is sent again, up to 5 times, with pauses of at most 0.62
// seconds in all. Each repetition costs 1 request.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: GetItem, PutItem, Query
//   - The service, on index userId-timestamp-index (with Config.ActorIndex): Query
//   - Operators (DropRaw, Erase, EraseActor), on the table: BatchWriteItem,
//     DeleteItem, Query, UpdateItem
//   - Operators (EraseActor), on index userId-timestamp-index (with
//     Config.ActorIndex): Query
package message
