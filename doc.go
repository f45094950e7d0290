// Package ddbpatterns is the tour of a library of DynamoDB access patterns:
// small packages that each own one record type, for services that keep their
// state in DynamoDB and are told everything twice.
//
// # One idea
//
// Webhooks, queues and SDK retries deliver twice, and replies get lost. So
// every write is keyed by the event that caused it, never by the moment
// somebody processed it. Begin with package event.
//
// # The packages
//
//   - event: time and identity of what happened; the outcome of a write
//   - tzclock: local dates, weeks and quiet hours in a time zone, across DST
//   - schema: a table as one Go value, created idempotently or by CloudFormation
//   - ledger: idempotency: conditional put, claim, complete, replay
//   - counter: counters and limits per local day
//   - activity: a time-ordered log of who did what
//   - memory: who did X last, when did U last do X, how often this week
//   - alias: what people say and the name it stands for, cached
//   - pattern: habit histograms by weekday and hour
//   - ema: learned averages
//   - record: what makes a record of your own safe to repeat
//   - message: raw messages by scope and rising sequence number, deduplicated;
//     is a conversation moving fast?
//   - dynamotest: a DynamoDB inside the test process
//
// # Which one
//
//	I receive webhooks, and each shall take effect once   ledger.Do, or ledger.MarkSeen
//	Its effect is a write, to be stored with its answer   ledger.DoTx
//	At most N of something a day, however many ask        counter.Take
//	Something happened; who, when, how often              activity, memory
//	People call one thing by many names                   alias
//	When does somebody usually do something               pattern
//	What does something usually cost somebody             ema
//	Something that none of these keeps                    record
//	Keep what came in, as it came in                      message
//	Test all that without Docker                          dynamotest
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
