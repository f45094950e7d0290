// Package activity is a log of what actors did in a scope, ordered by when it
// happened: orders of a customer, movements in a warehouse, repairs of a
// device.
//
//	acts, err := activity.New(db, "shop-activities", nil)
//
//	out, err := acts.Record(ctx, activity.Activity{
//		Scope: customer, Actor: "42", Event: ev, Name: "order", Kind: "sale",
//	})
//	for a, err := range acts.InScope(ctx, customer, activity.Range{From: monday, NewestFirst: true}) {
//		…
//	}
//
// Record answers Created, or Duplicate if the event was delivered before.
// [Store.RecordAll] records all that one event caused. [Store.Retract] takes an
// activity back, so that no later delivery brings it back.
//
// # What a Scope is
//
// A Scope is what you list together: a customer, an order or a device. It is one
// partition, to which DynamoDB writes at most about 1,000 WCU a second: 1,000
// activities of up to 1 KB, or 500 in transactions. A list reads one scope,
// and [Store.ByActor] all scopes of an actor. So do not make a whole shop one scope.
//
// If persons must be erased, make the person the scope: [Store.Erase] reads the table
// and finds every row. [Store.EraseActor] reads an index, which may lag: it can find
// nothing, and then returns no error.
//
// # The row
//
// Each activity is one row; FORMAT.md has its attributes, and the tombstone that a
// retraction leaves. The key is the scope and the event, a ULID, which begins with the
// time at which the activity happened. So the table itself is in order of time. All
// indexes project all attributes:
//
//	chatId, activityId                                          InScope, OfEvent
//	userId-timestamp-index   (userId, timestamp)                ByActor
//	chatId-activity-index    (chatId, activityTimestamp)        ByName
//	chatUser-activity-index  (chatUser, activityTimestamp)      ByActorAndName
//
// Names are stored, and searched for, in Unicode's form NFC.
//
// Rows of an older system are rows that another program wrote before this
// package was used. They may lack attributes, their keys are not encoded, and
// their times may be in seconds. [Store.Backfill] completes them. Until then no
// index has a row that lacks the attributes of its key.
//
// # Guarantees
//
//   - While the row of an event exists, the event is recorded at most once,
//     however often it is delivered. What was recorded first stays: a later
//     delivery that is interpreted differently gets a [*ConflictError] with what
//     is recorded. [Store.RecordAll] and [RecordItems.Outcome] name exceptions.
//   - Every write is safe to repeat: the state is the same, and only the answer
//     differs, Duplicate instead of Created after a lost reply. If the SDK itself
//     repeats a transaction, the answer is still Created.
//   - A retracted activity is not recorded again: every later delivery is refused
//     with [ErrRetracted] or, once it is too old for the Retention, with
//     [event.ErrTooOld]. With [Retract].Tombstone this holds even if the first
//     delivery comes after the retraction.
//   - The row of Nth(1) guards the set of its event: while this row exists, no
//     other set can be recorded under the event.
//   - With a [Config].Retention, an activity so old that its row may have
//     expired is refused with [event.ErrTooOld]. So it is never recorded a
//     second time, unless the Retention is made longer later. A row past its
//     ttl is not returned and does not prevent a recording, even if DynamoDB
//     has not deleted the row yet.
//   - A walk yields activities in order, each of them once, even if several have
//     the same time, and nothing outside its Range. It pays for what it yields and
//     for the rest of its last page, never for the rest of the history. It also
//     pays for rows that it must skip: what a [Match] leaves out, tombstones, rows
//     that have expired or cannot be read, and some rows of an older system.
//     [Range].ReadAtMost bounds how many rows are read.
//   - A forged cursor cannot leave the scope or the actor of its query.
//
// Not guaranteed: if [Store.Record] puts single activities under several N of
// one event, each of these activities is guarded by itself, and nothing guards
// the set. [Store.Erase] and [Store.EraseActor] leave no trace: a late redelivery of
// the event can be recorded as new.
//
// # Prices
//
// For a first delivery, on rows up to 1 KB, without contention:
//
//	Record               1 request   4 WCU   (a duplicate 1 WCU)
//	RecordAll of one     1 request   4 WCU   (a duplicate 2 requests, 1 WCU, 1 RCU)
//	RecordAll of n       1 request  5n WCU   (a duplicate 2 requests, 2n WCU, 1 RCU)
//	RecordMany of n      n requests 4n WCU
//	RecordItems of n     no request 5n WCU  in the caller's transaction
//	Retract              1 request   4 WCU
//	OfEvent              1 request   1 RCU for each 4 KB
//	a walk, first page   1 request   0.5 RCU (4 rows; the next have 16, 64, …)
//	a walk with a Limit  1 request   0.5 RCU for each 4 KB of its rows
//	Count, Tally         1 request   0.5 RCU for each 4 KB
//	Erase                2 requests  1 RCU for each 4 KB, and 4 WCU for each row
//	EraseActor           2 requests  0.5 RCU for each 4 KB, and 4 WCU for each row
//	                                 (1 more request for each further row)
//
// Each further 1 MB that is read, and each further 25 rows that Erase deletes, take
// another request. A typical row has 250 bytes, so one RCU of eventually consistent
// reads returns some 30 activities.
//
// A write that meets a transaction on its row, or another Region's write of the
// row, is sent again, up to 5 times, with pauses of at most 0.62 seconds in
// all. A transaction that is cancelled because of throttling is sent again in
// the same way. Each repetition takes 1 more request. (The deletions of Erase
// are not sent again for this reason. If rows come back unprocessed, these rows
// are sent again up to 9 times.)
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: PutItem, Query
//   - The service, on indexes userId-timestamp-index, chatId-activity-index,
//     chatUser-activity-index: Query
//   - Operators (Erase, EraseActor), on the table: BatchWriteItem, DeleteItem, Query
//   - Operators (Erase, EraseActor), on index userId-timestamp-index: Query
//
// A transaction of puts needs PutItem.
package activity
