// Package limit limits how much each key uses by the second, the minute or the hour:
// so many requests of a tenant, so many tokens of a customer, so many calls to somebody
// else's API. A refusal that follows from what the process knows costs no request.
//
//	limits, err := limit.New(db, "app", nil)
//
//	perTenant := []limit.Limit{{Name: "rps", N: 10, Per: time.Second, Burst: 20, Weight: 1}}
//
//	func limited(next http.Handler) http.Handler {
//		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
//			grant, err := limits.Take(r.Context(), limit.Take{Key: tenantOf(r), Limits: perTenant})
//			if grant.SetHeader(w.Header()); err == nil && !grant.OK {
//				http.Error(w, "too many requests", http.StatusTooManyRequests)
//				return
//			}
//			next.ServeHTTP(w, r)
//		})
//	}
//
// If the table cannot be asked, Take returns an error after Config.Timeout, and this
// handler is open: it lets the request through, in each process up to the limit, or up to
// Burst a second if that is more. It is closed with two lines more:
//
//	if err != nil {
//		http.Error(w, "try again", http.StatusServiceUnavailable)
//		return
//	}
//
// A refusal whose RetryAfter is 0 never has room: a Weight is above Burst, or the event
// was settled to nothing. Answer 413 to such a Weight.
//
// With Take.Wait a take waits for its turn, as for another system's API. [Store.Settle]
// sets what was taken to its final weight, as of tokens that were estimated, while fewer
// than 16 writes of the key have followed; its page says what to do with more. For a limit
// by the calendar day, and for an effect that must happen once, use package counter. It
// records each event, up to 7,000 a day for a key; a Per of 24 hours has no such bound.
//
// # N and Burst
//
// Thirty a minute may mean:
//
//	N   Burst  at once  at most in any minute  evenly, in each minute
//	30  30     30       60                     30
//	30  1      1        31                     30
//	29  1      1        30                     29
//	25  5      5        30                     25
//	15  15     15       30                     15
//
// At once means after a pause that refills Burst. Who sends evenly, no more than the last
// column says, is never refused. No choice gives 30 in each of the three columns: that would
// need the time of each take.
//
// # The row
//
//	┌─────────────────┬──────────┐
//	│ pk (S)          │ sk (S)   │  names configurable
//	├─────────────────┼──────────┤
//	│ "LIMIT#acme"    │ "limit"  │
//	├─────────────────┴──────────┤
//	│ type  S  "LIMIT"           │
//	│ t_rps N  1774785600100     │  when the limit rps is full again: Unix ms
//	│ l0    S  "01KMW…~1"        │  the last 16 writes, the latest first: taken
//	│ l1    S  "01KMX…=0,812"    │  settled, with the weights of two limits
//	│ …                          │
//	│ ttl   N  an hour after that│
//	└────────────────────────────┘
//
// The row may be in a table with others. All limits of a key are in one row, so a take
// takes of all of them or of none, in one write.
//
// # Guarantees
//
//   - In any span of length d, the takes of a limit that stand are at most
//     Burst + d·N/Per, and 2·S·N/Per if clocks are off by S (30 seconds at most), and what
//     was given back in the span or, with Take.Wait, while they waited. That holds for
//     any number of callers at once, lost replies, requests that arrive late or twice,
//     and crashed callers. The algorithm is GCRA: it has no windows at whose edges twice
//     as much passes.
//   - A take of several limits takes of all or of none.
//   - An event is taken once, and settled once, while fewer than 16 writes of its key
//     have followed and the row has not expired. That includes a request that the SDK
//     sends again because a reply was lost. An event that was taken may still be
//     refused without a request when it comes again; after RetryAfter it is a Duplicate.
//   - RetryAfter of the row is exact: if nobody else takes it, there is room then, and
//     not before. So is that of a refusal without a request, with the exceptions that
//     Take names.
//   - A crash leaves nothing to clean up: what was taken comes back with time.
//   - A time in the row that a clock far ahead wrote, or a limit that was longer,
//     refuses the key for Burst, Config.MaxWait and a minute at most: the next take
//     replaces one that is further ahead.
//
// Outside the promise:
//
//   - The row forgets an event after 16 later writes, and all events when it expires:
//     Burst, Config.MaxWait and an hour after its last write. Delivered again after that, it
//     takes again: never above the limit, but twice. Settled after that, what was used
//     beyond the estimate is not counted. For what has to happen once use counter.Take
//     or the ledger.
//   - All takes of a key must have the same limits: the row's ttl follows from those
//     that its last writer gave. Each take is judged by its own N, Per and Burst. Give
//     a limit that changes much another Name: while two versions of a service run, the
//     shorter may replace the time of the longer.
//   - In a global table with eventual consistency, each Region limits by itself.
//
// A row takes at most some 1,000 writes a second, and so grants no more. For more, split
// the key into n keys, each with N/n and Burst/n, by a hash of the request: together
// they never grant more, and refuse early if requests fall unevenly.
//
// # Prices
//
// A first, uncontended call on a row up to 1 KB:
//
//	Take, Settle                    1 request, 1 WCU
//	a refusal from memory           none
//	a wait that is cancelled        2 requests, 2 WCU
//
// What an attacker costs depends on what the limit admits and not on what is offered: each
// process asks at least once a second, and about once for each take that is granted. Of
// 10,000 calls a second for 30 seconds under a limit of 10 a second with a Burst of 10,
// on 1, 4 and 16 processes, 0.10, 0.16 and 0.38 % are sent to DynamoDB, and all that the
// limit admits is granted. A test holds it for 16 processes; BenchmarkFlood measures all,
// with replies that take no time. With slower ones, several processes ask more often.
// Of a limit of 100 a second, with a Burst of 100, it is 1.0, 1.1 and 1.6 %.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: UpdateItem
package limit
