package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/homeops/ddbpatterns/ledger"
)

// An operator looks for what was given up, repairs the cause, and lets it be tried
// again.
func ExampleOperators_List() {
	ctx := context.Background()
	seen := operators(&ledger.Config{MaxAttempts: 1})
	for _, id := range []string{"1001", "1002", "1003"} {
		key, err := ledger.Key("SHOP", id)
		check(err)
		c, err := seen.Claim(ctx, ledger.Request{Key: key})
		check(err)
		if id == "1002" {
			check(c.Fail(ctx, errors.New("no connection")))
			continue
		}
		check(c.Complete(ctx, "shipped"))
	}

	for r, err := range seen.List(ctx, ledger.Filter{Prefix: "SHOP", States: []ledger.State{ledger.Failed, ledger.Refused}}) {
		check(err)
		fmt.Println(r.Key, r.State, "after", r.Attempts, "attempt:", r.LastError)
		check(seen.Reopen(ctx, r))
	}

	c, err := seen.Claim(ctx, ledger.Request{Key: "SHOP:1002"}) // the next delivery
	check(err)
	fmt.Println("attempt", c.Attempt)
	// Output:
	// SHOP:1002 failed after 1 attempt: no connection
	// attempt 1
}

// What failed for good is tried again, with all its attempts, once it is reopened.
func ExampleOperators_Reopen() {
	ctx := context.Background()
	seen := operators(nil)
	c, err := seen.Claim(ctx, ledger.Request{Key: "SHOP:1001"})
	check(err)
	check(c.Fail(ctx, ledger.Permanent(errors.New("no such product"))))

	r, _, err := seen.Get(ctx, "SHOP:1001") // somebody adds the product
	check(err)
	check(seen.Reopen(ctx, r))
	c, err = seen.Claim(ctx, ledger.Request{Key: "SHOP:1001"}) // the next delivery
	fmt.Println("attempt", c.Attempt, err)
	// Output: attempt 1 <nil>
}

// A key as a lock: claimed and released, and never completed. The fence goes into
// what the holder writes elsewhere.
func ExampleClaim_Release() {
	ctx := context.Background()
	_, locks := open(&ledger.Config{MaxAttempts: math.MaxInt}) // a crash counts as an attempt
	var last int64
	for range 10 {
		lock, err := locks.Claim(ctx, ledger.Request{Key: "report", WaitUpTo: time.Minute})
		check(err)
		if lock.Fence <= last {
			fmt.Println("not alone")
		}
		last = lock.Fence
		check(lock.Release(ctx))
	}
	fmt.Println("ten rounds")
	// Output: ten rounds
}

// One process starts a job that takes hours, another is called when it is done.
// Nobody renews the claim in between, so it asks for a lease that lasts.
func ExampleStore_Resume() {
	ctx := context.Background()
	_, seen := open(nil)
	req := ledger.Request{Key: "EXPORT:2026-03", Lease: 6 * time.Hour}
	started, err := seen.Claim(ctx, req)
	check(err)

	token := started.Token() // goes along with the job
	called, err := seen.Resume(ctx, token)
	check(err)
	check(called.Complete(ctx, "12 files"))

	fmt.Println(started.Complete(ctx, "none"))
	_, err = seen.Resume(ctx, token) // the callback comes twice
	fmt.Println(err)
	r, _, err := seen.Get(ctx, req.Key)
	check(err)
	fmt.Println(r.State, string(r.Result), "attempts:", r.Attempts)
	// Output:
	// ledger: lease lost
	// ledger: lease lost
	// done "12 files" attempts: 1
}

// operators opens a ledger for people.
func operators(cfg *ledger.Config) *ledger.Operators {
	db, seen := open(cfg)
	ops, err := seen.Operators(db)
	check(err)
	return ops
}

// A worker died after it had marked the key, and before it did the work.
func ExampleOperators_Forget() {
	ctx := context.Background()
	seen := operators(nil)
	_, err := seen.MarkSeen(ctx, "SHOP:1001")
	check(err)

	r, _, err := seen.Get(ctx, "SHOP:1001")
	check(err)
	fmt.Println(r.State, seen.Forget(ctx, r))
	fmt.Println(seen.MarkSeen(ctx, "SHOP:1001")) // the next delivery
	// Output:
	// done <nil>
	// created <nil>
}

// A result is personal, and is erased. A redelivery is still a duplicate.
func ExampleStore_Erase() {
	ctx := context.Background()
	_, seen := open(nil)
	c, err := seen.Claim(ctx, ledger.Request{Key: "ORDER:17"})
	check(err)
	check(c.Complete(ctx, "a receipt for Ann"))

	fmt.Println(seen.Erase(ctx, "ORDER:17"))
	r, _, err := seen.Get(ctx, "ORDER:17")
	fmt.Printf("%s %q %v\n", r.State, string(r.Result), err)
	// Output:
	// <nil>
	// done "" <nil>
}
