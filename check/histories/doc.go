// Package histories makes random histories of several callers, a bad network
// and bad clocks, and asks porcupine whether the answers could have come from
// calls that happened one at a time.
//
//	go test                                    # 200 histories of each package
//	go test -run Ledger -histories 5000        # more of one
//	go test -run Ledger -seed 71 -histories 1  # one of them again, as a failure says
//	go test -run Ledger -seed 71 -histories 1 -v -picture ledger.html
//
// scripts/histories does this from any folder. With -mutants it breaks
// conditions of the packages, one after the other, and checks that each is
// noticed.
//
// # What is checked
//
//	ledger   MarkSeen; MarkItem, anywhere in a transaction that may be refused; Claim, Do and
//	         DoTx, which may wait for the key, and may first read a table that lags; Renew,
//	         Release, Complete, Fail, Resume, Get; Reopen, Erase, Forget and Backfill; Hold,
//	         and CheckItem beside what only the holder of a key may write. Do's work returns,
//	         fails, is cancelled or completes its claim in a transaction;
//	         DoTx's actions may be refused. What is charged under Claim.Event
//	counter  Take, Add, Adjust, Refund, one that may come first too, AddUnkeyed, Get,
//	         Erase beside writers, Backfill; TakeItem, AdjustItem and RefundItem, sent again
//	         until their outcome is known; in days, hours, weeks and months, of zones whose
//	         clocks have just changed
//	limit    Take of two limits, Settle; by clocks that differ, and from memory
//	message  Save, SaveItem, Get, Erase, EraseActor by an index that lags
//	activity Record, RecordItems, Retract, OfEvent, Erase, EraseActor by an
//	         index that lags, Backfill of an older system's rows
//	alias    Put, Correct, Confirm, Forget, Disown, Erase, Resolve, Get, Backfill of
//	         older spellings
//	pattern  Observe, ObserveAll, Get, Erase
//	ema      Observe, Get, Erase
//	record   Set with ranks and ties, Get, Erase
//	status   rows of Set, one caller, against an oracle of its own and not porcupine
//	exact    Apply with Add, a floor or Next, ApplyAll, ApplyItem, Get and Erase of an
//	         exact Kind of package record
//
// TestServer is about dynamotest itself. Its callers run side by side and send 22
// kinds of requests about two items, whose model is internal/itemtest.
//
// TestFilters asks activity and message for the rows that meet random filters of
// random data, and compares the answers with a model.
//
// Eight callers with clocks of their own make about forty calls on one to three
// keys. Requests and replies are lost, late, or both. Requests arrive again
// after their callers have gone on. Writes meet transactions, contexts are
// cancelled, clocks differ by as much as is declared, time leaps over leases
// and expiry, TTL deletes rows, and an older system writes in between.
//
// The models, one file for each package (ledger_model_test.go and so on), say
// which answers are possible in each state, and in which state each write may take
// effect. If a call's answer is that it wrote, the call happened when its request
// arrived. Any other call with an answer happened at some moment between call and
// answer. If a request took effect and nobody heard its reply, it is a move of its
// own at its arrival, whatever answer its call got later: a request that comes
// twice is two requests to the server. So a failed call counts with those of its
// requests that took effect, each at its moment, which may be long after the call.
//
// In addition to the models, every history checks that the server refuses no
// request as invalid, that at most one caller at a time believes, by its own clock,
// that it holds a key, that the effect in a transaction happened as often as the
// write beside it, that a counter's row is the sum of what it records, and that all
// attempts of a ledger's key are charged once.
//
// # A history is its seed
//
// Only one goroutine moves at a time. The world of a history decides at random,
// from the seed, which caller begins a call, whose request arrives, whose reply
// is lost and when time passes, and no other goroutine runs meanwhile
// (testing/synctest). So a seed always makes the same history, as long as the
// code is the same.
//
// # How to read a failure
//
// A failure prints the moves on the key at fault: the step of a write, or the
// first and the last step of a call; the caller, the call, the answer, and what
// a write left in the row. Requests whose reply nobody heard are between them.
//
//	3  11        caller 0  Claim(payload a)             granted: fence …48893, attempt 2
//	4  14-16     caller 3  Claim(payload a)             in progress, wait 12m0s
//	   21        -- 14m0s pass
//	   31        -- late: UpdateItem of caller 0's Claim(payload a)
//	5  31        network   caller 0's Claim(payload a) takes effect, unheard
//	>  35        caller 0  Complete(fence …48892 "r3")  ok
//
// The number before a line is its place in the longest order that the model
// accepts. No order continues with a line marked >: one of these is the wrong
// answer, or the write that should have been refused. Later lines are left out.
// -picture draws all of it for a browser.
package histories
