// Package ddbpatterns is the tour of a library for services that keep their state in
// DynamoDB.
//
// Webhooks, queues and SDK retries deliver the same event twice and lose replies: that
// is how a customer is charged twice. Here is one table definition and one call for each
// access pattern, and every write is safe to repeat.
//
// # Which one
//
//	handle each webhook, and give every redelivery the same answer  ledger.Do
//	write to DynamoDB and store the answer in one transaction       ledger.DoTx
//	handle each message at most once: better lost than twice        ledger.MarkSeen
//	limit a customer to N a day, or to an amount a day              counter.Take
//	hold an amount and settle it when the final one is known        counter.Adjust
//	give back what a refunded charge has used of the limit          counter.Refund
//	log who did what and when                                       activity.Record
//	find who did something last, and when                           memory.LastOf
//	keep each message as it came                                    message.Save
//	keep a status, such as that of an order: the latest event wins  record.Set
//	keep a record of my own that is computed from its last value    record.Apply
//	find what a phrase stands for, such as a customer's nickname    alias.Resolve
//	learn at which hour somebody usually does something             pattern.Observe
//	learn what something usually takes, as a moving average         ema.Observe
//	create the tables                                               schema.Create
//	test all this without Docker, and lose replies on purpose       dynamotest.New
//
// # The packages
//
// foundation:
//
//   - event: when something happened and which one it was; the outcome of a write
//   - tzclock: local days, weeks and quiet hours in a time zone, across DST
//   - schema: tables as Go values: created, written for CloudFormation, compared;
//     IAM policies
//   - record: what makes a record of your own safe to repeat
//
// records:
//
//   - ledger: idempotency keys: claim, work, store the answer, replay it
//   - counter: limits and sums for each key and local day
//   - activity: a log of who did what, in order of time
//   - message: raw messages by conversation and number; is a conversation moving fast?
//   - alias: phrases and the name that each stands for, cached
//   - pattern: habits by weekday and hour
//   - ema: moving averages
//
// answers:
//
//   - memory: who did it last, when, and how often, from the log of activity
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
// A worker that does all of it goes in this order, so that it may die anywhere
// and start over:
//
//	message.Save            keep it as it came
//	ledger.Do               what must happen, once it has; replays the answer
//	  activity.RecordAll    the log; a ConflictError holds what stands: go on with it
//	  pattern, ema          learn; event.ErrTooOld is an answer: log it and go on
//	  counter.Take          may we still speak today?
//	  send                  whatever cannot be repeated comes last
//
// The ledger is for work whose result must be told again; where every step is
// keyed by the event, as these are, a worker can do without, as
// examples/homeops does.
//
// A grant decides about an effect that must not happen twice: act on OK and
// event.Created, and a crash between the two loses it; act on OK alone, and a
// redelivery repeats it. There is no third way without the receiver's help,
// such as an idempotency key it takes.
//
// The counter's day is the event's. To limit by the day of sending, make the
// event of the time of receipt.
//
// # Three promises
//
// Every write is safe to repeat: each event takes effect at most once while
// its row exists, and one too old to judge is refused with event.ErrTooOld. A
// ledger's key has no time of its own: its horizon is the retention, after
// which the key is new.
// What is outside the promise is said where it applies.
//
// Every call has a published price: the Price line of its doc comment, in
// round trips and capacity units, which tests hold to what calls cost.
//
// Everything can be proved on a laptop: dynamotest loses replies, counts
// units and expires items late; the same suites run on any endpoint in
// DYNAMODB_ENDPOINT.
//
// # Bad input
//
// What is wrong with the input itself is an *event.InputError in every
// package, raised before any request, so that a worker tells poison from
// trouble with one errors.As. Trying again cannot help. Other errors that stay
// are event.ErrTooOld, which is an answer, each package's ConflictError and
// the like, and, behind ledger.Do, ledger.PermanentError,
// ledger.ErrTooManyAttempts and ledger.ErrFingerprintMismatch. A PermanentError is
// the same for errors.Is when it is replayed: event.ErrTooOld, bad input, and what
// ledger.Config.Errors names.
//
// An error of a request names its package, operation and table already. One that
// is an answer names at least its package, for the caller knows what it asked:
// counter.ErrFull, the packages' ErrNotFound, alias.TakenError. Some say more,
// as event.ErrTooOld of pattern and ema does, with operation and table.
//
// # Zones
//
// Days, weeks and hours are those of the zone that a store is given. Give all
// stores on a table the same zone: what must not mix is one key's rows, and to
// stores of two zones one event may be of two days.
//
// Zones come from the machine's time zone database. A program that may run
// without one imports time/tzdata in main.
//
// examples/first is the smallest service, examples/homeops the largest.
package ddbpatterns
