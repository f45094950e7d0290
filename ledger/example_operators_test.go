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

	for r, err := range seen.List(ctx, ledger.Filter{Source: "SHOP", States: []ledger.State{ledger.Failed, ledger.Refused}}) {
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

// A long listing in parts, each a request of its own.
func ExampleFilter() {
	ctx := context.Background()
	seen := operators(nil)
	for _, id := range []string{"1001", "1002", "1003", "1004"} {
		_, err := seen.MarkSeen(ctx, "SHOP:"+id)
		check(err)
	}
	rows := 0
	f := ledger.Filter{ReadAtMost: 3}
	f.Next = &f.Cursor // or a variable of one's own, to keep
	for more := true; more; more = f.Cursor != "" {
		for r, err := range seen.List(ctx, f) {
			if err != nil { // r.Key says of which row, if it cannot be read
				fmt.Println(r.Key, err)
				return
			}
			rows++
		}
	}
	fmt.Println(rows, "rows")
	// Output: 4 rows
}

// What a customer's order brought is removed; its redelivery is still a duplicate.
func ExampleStore_Erase() {
	ctx := context.Background()
	_, seen := open(nil)
	req := ledger.Request{Key: "ORDER:17", Payload: []byte(`{"name":"Ann"}`)}
	c, err := seen.Claim(ctx, req)
	check(err)
	check(c.Complete(ctx, "sent to Ann"))

	check(seen.Erase(ctx, req.Key))
	_, err = seen.Claim(ctx, req)
	var done *ledger.DoneError
	fmt.Println(errors.As(err, &done), done.Record.Result == nil)
	// Output: true true
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

// A caller who waits gets the answer of the one who was first.
func ExampleRequest_waitUpTo() {
	ctx := context.Background()
	_, seen := open(nil)
	req := ledger.Request{Key: "ORDER:17", WaitUpTo: time.Minute, ReadFirst: true}
	started := make(chan struct{})
	go func() {
		_, err := ledger.Do(ctx, seen, req, func(context.Context, *ledger.Claim) (string, error) {
			close(started)
			return "charged", nil
		})
		check(err)
	}()
	<-started
	res, err := ledger.Do(ctx, seen, req, func(context.Context, *ledger.Claim) (string, error) {
		return "charged twice", nil
	})
	check(err)
	fmt.Println(res.Value, "replayed:", res.Replayed)
	// Output: charged replayed: true
}

// operators opens a ledger for people.
func operators(cfg *ledger.Config) *ledger.Operators {
	db, seen := open(cfg)
	ops, err := seen.Operators(db)
	check(err)
	return ops
}
