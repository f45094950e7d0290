// Package ddbpatterns is the tour of a library for services that keep their state in
// DynamoDB.
//
// Webhooks, queues and SDK retries deliver the same event twice and lose replies: that
// is how a customer is charged twice. Here is one table definition and one call for each
// access pattern, and every write is safe to repeat.
//
// # Which one
//
//	serve HTTP requests with an Idempotency-Key, and replay the answer  httpkey.Handler
//	run work for a webhook, and replay its result                       ledger.Do
//	write to DynamoDB and store the answer in one transaction           ledger.DoTx
//	handle each message at most once: better lost than twice            ledger.MarkSeen
//	limit a customer to N orders, or to an amount, each calendar day    counter.Take
//	limit requests or tokens by the second, minute or hour              limit.Take
//	hold an amount and settle it when the final amount is known         counter.Adjust
//	give back what a refunded charge has used of the limit              counter.Refund
//	log who did what and when                                           activity.Record
//	find who did something last, and when                               memory.LastOf
//	store each raw message once                                         message.Save
//	keep a status, such as that of an order: the latest event wins      record.Set
//	keep a balance, such as points: each event once, even if late       record.Apply, with Add
//	keep a record of my own, computed from its last value               record.Apply
//	find which customer or product a phrase stands for                  alias.Resolve
//	count on which weekdays and at which hours somebody does something  pattern.Observe
//	keep a moving average, such as how long a delivery takes            ema.Observe
//	decide what an error means: done, for people, or again              verdict.Of
//	create the tables                                                   schema.Create
//	test all this without Docker, and lose replies on purpose           dynamotest.New
//
// # The packages
//
// foundation:
//
//   - event: when something happened and which one it was; the outcome of a write
//   - tzclock: local days, weeks and quiet hours in a time zone, across DST
//   - schema: tables as Go values: created, written for CloudFormation and Terraform, compared;
//     IAM policies
//   - record: what makes a record of your own safe to repeat
//
// records:
//
//   - ledger: idempotency keys: claim, work, store the answer, replay it;
//     ledger/httpkey does it for the header Idempotency-Key of net/http
//   - counter: limits and sums for each key and local day
//   - limit: limits by the second, minute or hour; refusals without a request
//   - activity: a log of who did what, in order of time
//   - message: raw messages by conversation and number; is a conversation moving fast?
//   - alias: phrases and the name that each stands for, cached
//   - pattern: habits by weekday and hour
//   - ema: moving averages
//
// answers:
//
//   - memory: who did it last, when, and how often, from the log of activity
//   - verdict: what an error means for a queue's worker or an HTTP handler
//
// tests:
//
//   - dynamotest: a DynamoDB inside the test process, with faults and prices
//
// Begin with package event: a write is keyed by the event that caused it, never by the
// moment somebody processed it.
//
// # A pipeline
//
// A worker that does all of it works in this order. It may die anywhere, and the next
// one starts over:
//
//	message.Save            store the message as it came
//	ledger.Do               what must happen; a redelivery gets its answer
//	  activity.RecordAll    the log; a ConflictError holds the stored set: go on with that
//	  pattern, ema          learn; event.ErrTooOld: note that one was not learned, and go on
//	  counter.Take          is there still room today?
//	  send                  what cannot be repeated comes last
//
// The ledger is for work whose answer a redelivery must get again. Where the event keys
// every step, as here, a worker can do without it: examples/homeops does.
//
// A grant decides about an effect that must not happen twice. A worker that sends only if
// counter.Grant.First reports true may crash in between, and then nothing is sent. A
// worker that sends whenever OK is true sends again after a redelivery. Only the receiver
// can help with that: if it takes an idempotency key, give it one.
//
// The counter's day is the day of the event. To limit by the day of receipt, make the
// event with the time of receipt, and keep that time with the message: a redelivery
// must have the same.
//
// # Three promises
//
// Every write is safe to repeat. An event takes effect at most once while its row exists.
// If it is so old that its row may be gone, it is refused with event.ErrTooOld. A ledger
// remembers a key for its Config.Retention, and after that the key is new. Exceptions are
// named where they apply.
//
// Every call has a published price: the Price line of its doc comment, in requests and
// capacity units. Tests measure it.
//
// Everything can be proved on a laptop: dynamotest loses replies, counts units and
// expires items late. The same tests run on any endpoint in DYNAMODB_ENDPOINT.
//
// # Bad input
//
// Bad input is an *event.InputError in every package, raised before any request, so that
// a worker tells it from trouble with one errors.As. Trying again cannot help. The same
// holds for event.ErrSuperseded, an answer, for event.ErrTooOld, which is for people to
// look at, for each package's ConflictError, and for what ledger.Do returns as
// ledger.PermanentError, ledger.ErrTooManyAttempts and ledger.ErrFingerprintMismatch.
// Package verdict says of each error what a worker and an HTTP handler do with it. A replayed PermanentError is for errors.Is what it was
// the first time: event.ErrTooOld, bad input, or an error of ledger.Config.Errors.
//
// An error of a request names its package, operation and table. An error that is an
// answer, such as counter.ErrFull or alias.TakenError, names at least its package.
//
// # Zones
//
// Days, weeks and hours are those of the zone that a store is given. Give all stores on a
// table the same zone: stores of two zones may put one event on two days. Only the rows
// of one key must not mix.
//
// Zones come from the machine's time zone database. A program that may run without one
// imports time/tzdata in main.
//
// examples/first is the smallest service, examples/homeops the largest.
package ddbpatterns
