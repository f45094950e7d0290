// Package activity is a log of what actors did in a scope, ordered by when it
// happened: chores in a household, actions in a tenant, readings of a device.
//
//	acts, err := activity.New(db, "homeops-activities", nil)
//
//	out, err := acts.Record(ctx, activity.Activity{
//		Scope: chat, Actor: "42", Event: ev, Name: "diskning", Kind: "chore",
//	})
//	for a, err := range acts.InScope(ctx, chat, activity.Range{From: monday, NewestFirst: true}) {
//		…
//	}
//
// # What a Scope is
//
// A Scope is one partition of the table and of the index of ByName, and DynamoDB
// writes about 1,000 WCU a second at most to one partition: so many activities of up
// to 1 KB, half as many in transactions. It is also what a list reads. Take what is
// listed together: a customer, a household, an order, a device; not the whole shop,
// where a customer's list would read past all the others. What an actor did in all
// scopes is found by [Store.ByActor], one actor's part of a scope by a [Match].
//
// # Item
//
// One row for each activity. Its sort key is the event that caused it, a ULID
// whose time is when it happened, so the table itself is ordered by time:
//
//	chatId             S  partition: the scope, as it is
//	activityId         S  sort: the event, 26 characters
//	userId             N  the actor (S if Config.ActorType is String)
//	userName           S  optional
//	messageId          N  optional: Seq
//	timestamp          N  the event's time, Unix milliseconds
//	type               S  optional: Kind
//	activity           S  Name
//	effort             N
//	confidence         N
//	activityTimestamp  S  enc(activity)#1774252800000, always 13 digits
//	chatUser           S  enc(chatId)#enc(userId)
//	data               M  optional: Data, of S, N and BOOL
//	createdAt          S  when it was first recorded
//	ttl                N  with a Retention: the event's time and that, Unix seconds
//
//	userId-timestamp-index     (userId, timestamp)            ByActor
//	chatId-activity-index      (chatId, activityTimestamp)    ByName
//	chatUser-activity-index    (chatUser, activityTimestamp)  ByActorAndName
//
// What was retracted leaves a tombstone, which is in no index:
//
//	chatId, activityId    as above
//	retractedAt        S  when it was taken back
//	ttl                N  as above
//
// enc percent-encodes '#' and '%', so that two different keys never collide and
// "disk" never matches "diskning" or "disk#2". The indexes project ALL. Names
// are stored, and searched for, in Unicode's form NFC.
//
// # Guarantees
//
//   - An event is recorded at most once while its row exists, however often it
//     is delivered, and whatever is made of it the second time: what was first
//     recorded stands, and [*ConflictError] shows it. A changed vocabulary, or
//     a classifier that now finds two activities where it found one, adds
//     nothing ([Store.RecordAll]).
//   - Every write is safe to repeat. After a lost reply it answers Duplicate
//     where it would have answered Created (the SDK's own retry of a
//     transaction still answers Created): the state is the same. RecordAll
//     beside rows of another N answers [*ConflictError] instead. A deletion
//     answers [ErrNotFound] where it would have answered nothing.
//   - What was retracted is not recorded again: [Store.Retract] leaves a
//     tombstone that answers [ErrRetracted] to every later delivery, also to
//     the first if that comes after the retraction.
//   - The row of Nth(1) guards the set of its event: [Store.Delete] leaves it
//     while others stand, and [Store.DeleteEvent] removes all or none.
//   - With a [Config].Retention what may have expired is refused with
//     [event.ErrTooOld], never recorded anew, unless a later program makes the
//     Retention longer. Rows past their ttl are not returned and refuse nothing,
//     deleted or not.
//   - A walk yields each activity once, in order, ties too, and nothing outside
//     its Range. It pays for what it yields and its page, never for the rest of
//     the history. Rows that it must skip are paid for: those of an older
//     system, and each walk says which they are ([Store.Backfill] ends that); those that have expired and
//     are not deleted yet; in InScope the tombstones.
//   - A [Match] leaves out of a list what is something else, which is read and
//     paid for: [Range].ReadAtMost bounds that.
//   - A cursor cannot be made to leave the scope or the actor of its query.
//
// What is outside: [Store.Record] of single activities under several N of one
// event guards each by itself, not the set. [Store.Delete], [Store.DeleteEvent]
// and [Store.Erase] leave no trace: a late redelivery of the event is Created
// again.
//
// # Prices
//
// On rows up to 1 KB, first and uncontended:
//
//	Record               1 request   4 WCU   (a duplicate 1 WCU)
//	RecordAll of one     1 request   4 WCU   (a duplicate 2 requests, 1 WCU, 1 RCU)
//	RecordAll of n       1 request  5n WCU   (a duplicate 2 requests, 2n WCU, 1 RCU)
//	RecordMany of n      n requests 4n WCU
//	RecordItems of n     no request 5n WCU  in the caller's transaction
//	Retract              1 request   4 WCU
//	OfEvent              1 request   1 RCU
//	a walk, first page   1 request   0.5 RCU (4 rows; the next have 16, 64, …)
//	a walk with a Limit  1 request   0.5 RCU for each 4 KB of its rows
//	a Page               1 request   0.5 RCU for each 4 KB
//	Count, Tally         1 request   0.5 RCU for each 4 KB
//	Delete of Nth(1)     2 requests  1 RCU, 4 WCU
//	Delete of another    1 request   4 WCU
//	DeleteEvent          2 requests  1 RCU, 4 WCU (of n rows 5n WCU)
//	Erase                1 request   1 RCU for each 4 KB, and 4 WCU for each row
//	EraseActor           1 request   0.5 RCU for each 4 KB, and 4 WCU for each row
//
// Each 1 MB read is another request. A typical row has 250 bytes, so a unit of
// an eventually consistent read is some 30 activities.
//
// A write that meets a transaction on the row, or another Region's write, is sent
// again, up to 5 times within 0.6 seconds: 1 request each.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: DeleteItem, PutItem, Query
//   - The service, on indexes userId-timestamp-index, chatId-activity-index,
//     chatUser-activity-index: Query
//   - Operators (Erase, EraseActor), on the table: BatchWriteItem, Query
//   - Operators (Erase, EraseActor), on index userId-timestamp-index: Query
//
// A transaction of puts is granted by PutItem, one of deletions by DeleteItem.
package activity
