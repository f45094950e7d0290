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
// If the table cannot be asked, Take returns an error within Config.Timeout, and this
// handler is open: it lets the request through. Each process lets through at most what the
// limit admits, or Burst a second if that is more. To close it, add after Take:
//
//	if err != nil {
//		http.Error(w, "try again", http.StatusServiceUnavailable)
//		return
//	}
//
// If the RetryAfter of a refusal is 0, the take never has room: a Weight is above what
// Burst and Wait allow (answer 413), or the event was settled to nothing.
//
// With Take.Wait a take waits for its turn, as for another system's API. [Store.Settle]
// sets an estimate, such as of tokens, to its final weight. That works while fewer than 16
// writes of the key have followed the take; Settle says what to do otherwise. For a limit
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
// At once means after a pause that refills Burst. A caller that sends evenly, and less than
// the last column says, is never refused. No choice gives 30 in each of the three columns: that
// would need the time of each take.
//
// # The row
//
//	┌─────────────────┬──────────┐
//	│ pk (S)          │ sk (S)   │  names configurable
//	├─────────────────┼──────────┤
//	│ "LIMIT#acme"    │ "limit"  │
//	├─────────────────┴──────────┤
//	│ type  S  "LIMIT"           │
//	│ t_rps N  1774785600100     │  when rps has all of its Burst again: Unix ms
//	│ l0    S  "01KMW…~1"        │  the last 16 writes, the latest first: taken
//	│ l1    S  "01KMX…=0,812"    │  settled, with the weights of two limits
//	│ …                          │
//	│ ttl   N  Unix seconds      │  last write + refill of Burst + Config.MaxWait + an hour
//	└────────────────────────────┘
//
// The row may be in a table with others. All limits of a key are in one row, so a take
// takes from all of them or from none, in one write.
//
// # Guarantees
//
//   - In any span of length d, the takes of a limit that stand are at most
//     Burst + d·N/Per. If clocks are off by S (30 seconds at most), 2·S·N/Per comes on
//     top. So does what was given back in the span or, with Take.Wait, while takes waited.
//     That holds for any number of callers at once, lost replies, requests that arrive
//     late or twice, and crashed callers. The algorithm is GCRA: it has no windows at
//     whose edges twice as much passes.
//   - A take of several limits takes from all or from none.
//   - An event is taken once, and settled once, while fewer than 16 writes of its key
//     have followed and the row has not expired. That includes a request that the SDK
//     sends again because a reply was lost. An event that was taken may still be
//     refused without a request when it comes again; after RetryAfter it is a Duplicate.
//   - RetryAfter is exact: if nobody else takes or gives back, there is room then, and
//     not before. For a refusal without a request, Take names the exceptions.
//   - A crash leaves nothing to clean up: what was taken comes back with time.
//   - A wrong clock, or a limit that was longer, may leave a time in the row that is too
//     far ahead. It refuses the key at most for the refill of Burst, Config.MaxWait and a
//     minute: the next take replaces a time further ahead.
//
// Outside the promise:
//
//   - The row forgets an event after 16 later writes, and all events when it expires (see
//     the ttl). If a forgotten event is delivered again, it takes again: never above the
//     limit, but twice. If it is settled, what was used beyond the estimate is not counted.
//     For what has to happen once use counter.Take or the ledger.
//   - All takes of a key must have the same limits: the row's ttl follows from those
//     that its last writer gave. Each take is judged by its own N, Per and Burst. If a
//     limit changes much, give it another Name: while two versions of a service run, the
//     shorter may replace the time of the longer.
//   - In a global table with eventual consistency, each Region limits by itself.
//
// A row takes at most some 1,000 writes a second, and so grants no more. For more, use
// write sharding: n keys, each with N/n and Burst/n, by a hash of the request. Together
// they stay within the limit, but refuse early if requests fall unevenly.
//
// # Prices
//
// A first, uncontended call on a row up to 1 KB:
//
//	Take, Settle                       1 request, 1 WCU
//	a refusal from memory              none
//	a cancelled wait without an Event  2 requests, 2 WCU
//
// What an attacker costs depends on what the limit admits and not on what is offered: each
// process asks at least once a second, and about once for each take that is granted. Of
// 10,000 calls a second for 30 seconds, these shares are sent to DynamoDB, and all that
// the limit admits is granted:
//
//	processes                      1       4       16
//	10 a second, a Burst of 10     0.10 %  0.16 %  0.38 %
//	100 a second, a Burst of 100   1.0 %   1.1 %   1.6 %
//
// BenchmarkFlood measures it. With slow replies, several processes ask more often.
//
// # IAM actions
//
// For [schema.Policy], as [Store.Actions] has them:
//
//   - The service, on the table: UpdateItem
package limit
