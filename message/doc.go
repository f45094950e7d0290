// Package message keeps what was said, as it was received, and answers how
// fast a conversation moves.
//
//	msgs, err := message.New(db, "homeops-messages", nil)
//
//	out, err := msgs.Save(ctx, m)                  // event.Created or event.Duplicate
//	for m, err := range msgs.InScope(ctx, chat, message.Range{NewestFirst: true}) { … }
//
//	pace, err := msgs.FastConversation(ctx, message.FastConversation{Scope: chat, Seq: m.Seq, Actor: m.Actor, At: m.At})
//	if pace.Fast {
//		return // three others spoke within the last minute: say nothing
//	}
//
// A message has an identity of its own, its number in its scope, so that it
// needs no event: a redelivery has the same key.
//
// # The row
//
//	┌────────────────┬───────────────┐
//	│ chatId (S)     │ messageId (N) │  names configurable
//	├────────────────┼───────────────┤
//	│ "-100123"      │ 4711          │  rising in the scope
//	├────────────────┴───────────────┤
//	│ userId    N  or S by Config    │  absent: nobody; name configurable
//	│ userName  S                    │  name configurable
//	│ text      S                    │
//	│ timestamp N  when it was said  │  Unix milliseconds
//	│ raw       S  as received       │
//	│ data      M  S, N, BOOL: Data  │  of the application's own
//	│ createdAt S  when it was saved │
//	│ ttl       N  with a Retention  │  Unix seconds
//	└────────────────────────────────┘
//
// Rows of an older system are read as they are: with Unix seconds in timestamp
// (any number below 10^11), without a sender or without createdAt.
//
// # Guarantees
//
//   - One row for each scope and sequence: the first that is saved stands, and
//     every other save is a Duplicate, of whatever message. A lost reply that is
//     tried again reads Duplicate too; the row is the same.
//   - [Store.FastConversation] counts the messages of others that come before
//     the given one by sequence, in the window before its own time, however
//     many lie between. It does not ask what time it is now; with a Retention
//     it is [event.ErrTooOld] when a message of the window may have expired. It
//     relies on times that rise with the sequence, and counts what is saved: a
//     message that is delivered late is counted from then on.
//   - With [Config].Retention a message that may have expired is refused with
//     [event.ErrTooOld], so it cannot come back as long as nobody makes the
//     Retention longer. Rows past their ttl are not returned and make no
//     duplicate, also while DynamoDB has not deleted them.
//   - A [Match] leaves out of a list what is something else, which is read and
//     paid for: [Range].ReadAtMost bounds that.
//   - Reads are eventually consistent unless asked; [Store.Get] always is
//     consistent.
//
// # Prices
//
// A first, uncontended call on rows up to 1 KB, or the first page up to 4 KB:
//
//	Save                                   1 request, 1 WCU
//	Get                                    1 request, 1 RCU
//	InScope, InScopePage, Recent           1 request, 0.5 RCU
//	FastConversation                       1 request, 0.5 RCU
//	ByActor, ByActorPage                   1 request, 0.5 RCU
//	SaveItem                               2 WCU in the caller's transaction
//	Erase                                  1 request, 1 RCU for each 4 KB, and 1 WCU for each row
//	DropRaw                                1 request, 1 WCU
//	EraseActor                             1 request, 0.5 RCU for each 4 KB, and 2 WCU for each row
//
// A write that meets a transaction on the row, or another Region's write, is sent
// again, up to 5 times within 0.6 seconds: 1 request each.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: GetItem, PutItem, Query
//   - The service, on index userId-timestamp-index (with Config.ActorIndex): Query
//   - Operators (DropRaw, Erase, EraseActor), on the table: BatchWriteItem, Query,
//     UpdateItem
//   - Operators (Erase, EraseActor), on index userId-timestamp-index (with
//     Config.ActorIndex): Query
package message
