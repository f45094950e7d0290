// Package explore runs every order of the requests of a few callers, with every fault
// within budgets, and shows a failure that takes as few faults and changes as possible.
//
// A test gives a seeded server, callers, and what must hold. This one finds that two
// callers who read a count and write it back lose an increment:
//
//	func TestIncrement(t *testing.T) {
//		explore.Test(t, explore.Config{Server: seeded}, func(s *explore.Schedule) {
//			for _, name := range []string{"ann", "bob"} {
//				s.Caller(name, func(ctx context.Context, p *explore.Process) {
//					n := read(ctx, p.Client(), "count")
//					write(ctx, p.Client(), "count", n+1)
//				})
//			}
//			s.End(func(v *explore.View) error {
//				if n := countIn(v.Items("counts")); n != 2 {
//					return fmt.Errorf("the count is %d after two increments", n)
//				}
//				return nil
//			})
//		})
//	}
//
// It fails with a sequence diagram, and with the string that runs this schedule again,
// also under a debugger:
//
//	     ann                       bob                       tables
//	  1  ├─ GetItem count          │                         │
//	  2  │                         ├─ GetItem count          │
//	  3  │                         ├─ PutItem count          │ {n=1 pk=count}
//	  4  ├─ PutItem count          │                         │
//	  5  ── all have returned
//
//	again: go test -run '^TestIncrement$' -explore.replay 'ann,bob,bob,ann,end'
//
// The tests of this package find three more flaws in the same way: a lock without a
// fence, "put if absent" that is refused by its own write because the reply was lost,
// and a transaction that is sent again without its token; page_test.go has them whole, to
// copy. [Handler] does the same for what handles the messages of a queue. By default, an
// effect outside the tables, such as an e-mail, may happen twice: see [Deliveries].Once.
//
// Begin with Faults{Deaths: 1, Unheard: 1, Total: 1} and one worker, for which seconds are
// enough, and go on from there. A search that did not end passes, too: see [Report].Exhausted.
// Make one exploration in each test or subtest, so that -explore.replay names one.
//
// # What a program must do
//
// The function that declares the callers runs anew for each schedule, so its variables
// belong to that schedule. A caller makes its requests with p.Client, reads p.Now and
// p.Rand, and passes effects outside DynamoDB to p.Do. It may start goroutines, use the
// context, and pause by package time. It must not use another clock, another random
// source, a socket, or a mutex that it holds during a request. It must not make requests
// while it ranges over a map. If a caller acts differently in two schedules that began in
// the same way, the exploration fails and usually names it. If nothing moves for a
// minute, the exploration panics and says after which step.
//
// A check may read the tables, what each caller has heard, notes and effects. To count
// or to order what callers did, use [Process.Note], and not variables that they share:
// states that differ only in those are explored once. Without Config.Moves, the notes that
// callers make before their first requests have one order only. Two goroutines of a caller
// must not make the same write at the same time; after the same read, they must do the same.
//
// # Faults
//
// Each kind in [Faults] has a budget, and Total bounds them together. A lost request is a
// late one that never arrives. No write arrives later than Faults.LateWithin. A request
// arrives twice only if Twice says so. A conflict needs another open or late request on
// the item, and one of the two must be a transaction; with AnyConflict it needs neither.
// A process that dies stands still at its request: none of its deferred functions runs
// before the schedule is over. (Another goroutine of it goes on until it makes a request
// or a note, has an effect or reads the clock.) The caller starts anew at once, without
// its memory; its clock goes on.
//
// # Time
//
// Each schedule runs in a bubble of testing/synctest and begins at Config.Start. Clocks
// stand still while requests are answered. Time passes when all callers sleep, until the
// first sends a request or returns, and for two seconds at least. Pauses between attempts
// have random lengths, so all that end within these two seconds end together, and the
// order of the requests that follow is explored. While some callers have open requests
// and others sleep, two seconds may pass, too. A call with a shorter deadline then gives
// up: so give limit.Config.Timeout a minute. A caller that wakes within these two seconds,
// or within a move of time, reads the time at their end. One that wakes later reads the
// next whole second, because a deadline may have begun after a pause.
//
// With Config.Moves, time also passes while requests are open: until the next timer that
// makes a caller act, or to a millisecond before and a second after each of
// Config.Moments and of the times in TTL attributes. With it, TTL may also delete what
// has expired, all of it at once, and a process may begin late. A write that has been
// open for longer than Faults.LateWithin fails, and is not sent again.
//
// # Reduction and order
//
// A state that was seen is not explored again. It consists mainly of the tables and the
// tokens of transactions, the requests and replies that each caller has heard and when,
// the open and the late requests, the clocks, the budgets used, the notes and the
// effects.
//
// Schedules run in the order of what they cost: a fault, a late arrival, a move of time
// or two seconds while requests are open, a change of callers while the first could go
// on, or another order of a caller's goroutines costs one. So the first failure has few
// of these. A search is the same on every machine unless Config.Within ends it.
//
// If Config.Schedules or Config.Within ends the search, the [Report] says how many
// schedules are left, and Config.Samples random schedules run: callers go on by random
// priorities, which change at few steps.
//
// # What is not explored
//
// Reads half-way through a transaction; a reply that arrives late (the caller's next
// request may arrive late, but it has read its clock before); batches that come back in
// part; global indexes that lag, other than as an old read of the whole table; reads
// older than three writes; a write in the middle of a Query with Select COUNT; streams.
package explore
