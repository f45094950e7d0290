package comparison_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/check/bench/comparison"
	"github.com/homeops/ddbpatterns/dynamotest"
)

// A disturbance is something that happens to a webhook, and what a form makes of
// it.
type disturbance struct {
	name string
	seen func(b *bed) string
}

var disturbances = []disturbance{
	{"the order is delivered twice", func(b *bed) string {
		first := b.insist(b.order("1"))
		return twice(first, b.insist(b.order("1")))
	}},
	{"two deliveries at once", func(b *bed) string {
		var second string
		first := b.insistAfter(func() string {
			return b.deliver(b.store, b.order("1"), func(ctx context.Context) error {
				second = b.deliver(b.store, b.order("1"), b.issue)
				return b.issue(ctx)
			})
		}, b.order("1"))
		return first + "; the other: " + second
	}},
	{"reply of the claim lost", lost("seen", 1)},
	{"all three replies of the claim lost", func(b *bed) string {
		b.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Table: "seen", Times: 3})
		return b.insist(b.order("1"))
	}},
	{"reply of the completion lost", lost("seen", 2)},
	{"reply of `Take` lost", func(b *bed) string {
		b.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Table: "limits"})
		return b.take(b.order("1")) + "; " + b.counted()
	}},
	{"reply of `Refund` lost", func(b *bed) string {
		taken := b.take(b.order("1"))
		b.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Table: "limits"})
		return taken + ", " + b.refund(b.order("1")) + "; " + b.counted()
	}},
	{"the claim meets a transaction", conflict("seen", 1)},
	{"`Take` meets a transaction", conflict("limits", 1)},
	{"the completion meets a transaction", conflict("seen", 2)},
	{"the process dies after the claim", func(b *bed) string {
		return b.insistAfter(b.dies(b.order("1"), broken), b.order("1"))
	}},
	{"the process dies after the effect", func(b *bed) string {
		return b.insistAfter(b.dies(b.order("1"), b.issue), b.order("1"))
	}},
	{"a job of 3 minutes, claimed for 1", func(b *bed) string {
		var jobs sync.WaitGroup
		job := func(ctx context.Context) error {
			time.Sleep(3 * time.Minute)
			return b.issue(ctx)
		}
		for range 60 {
			jobs.Go(func() { b.deliver(b.store, b.order("1"), job) })
			time.Sleep(5 * time.Second)
		}
		jobs.Wait()
		return b.done()
	}},
	{"a worker is cut off for 2 minutes", func(b *bed) string {
		store, tap := b.process()
		var worker sync.WaitGroup
		var first string
		worker.Go(func() {
			first = b.deliver(store, b.order("1"), func(ctx context.Context) error {
				cut(tap)
				time.Sleep(2 * time.Minute)
				tap.Heal()
				return b.issue(ctx)
			})
		})
		synctest.Wait()
		second := b.insist(b.order("1"))
		worker.Wait()
		_, after, _ := strings.Cut(second, "; ")
		return b.done() + "; " + after + "; the first worker: " + first
	}},
	{"delivered again after midnight", func(b *bed) string {
		o := b.order("1")
		midnight := time.Date(o.At.Year(), o.At.Month(), o.At.Day()+1, 0, 0, 0, 0, stockholm(b.t))
		o.At = midnight.Add(-5 * time.Second)
		time.Sleep(time.Until(o.At))
		return b.insistAfter(b.dies(o, broken), o) + "; " + b.counted()
	}},
	{"two orders ask for the last voucher", func(b *bed) string {
		for _, id := range []string{"1", "2"} {
			b.take(b.order(id))
		}
		var orders sync.WaitGroup
		said := make([]string, 2)
		for i, id := range []string{"3", "4"} {
			orders.Go(func() { said[i] = b.take(b.order(id)) })
		}
		orders.Wait()
		slices.Sort(said)
		return strings.Join(said, ", ") + "; " + b.counted()
	}},
	{"the row has expired and is not deleted", func(b *bed) string {
		work := func(ctx context.Context) (string, error) { return "done", b.issue(ctx) }
		for range 2 {
			if _, err := b.store.Do(b.t.Context(), "1", work); err != nil {
				return name(err)
			}
			time.Sleep(15 * 24 * time.Hour)
		}
		if b.done() == "2 effects" {
			return "as if it were deleted: done anew"
		}
		return b.done()
	}},
	{"delivered again after 30 days, rows deleted", func(b *bed) string {
		o := b.order("1")
		b.take(o)
		time.Sleep(30 * 24 * time.Hour)
		b.Server().ExpireTTL()
		return b.take(o)
	}},
	{"`Refund` comes before its `Take`", func(b *bed) string {
		return b.refund(b.order("1")) + ", " + b.take(b.order("1")) + "; " + b.counted()
	}},
	{"the work fails whenever it is tried", func(b *bed) string {
		var runs int
		var how string
		for range 20 {
			how = b.deliver(b.store, b.order("1"), func(context.Context) error { runs++; return errBroken })
			time.Sleep(10 * time.Second)
		}
		return fmt.Sprintf("tried in %d of 20 deliveries; at last %s", runs, how)
	}},
	{"price of an order", func(b *bed) string {
		return b.price(func() { b.deliver(b.store, b.order("1"), b.issue) })
	}},
	{"price of its second delivery", func(b *bed) string {
		b.deliver(b.store, b.order("1"), b.issue)
		return b.price(func() { b.deliver(b.store, b.order("1"), b.issue) })
	}},
}

func twice(first, second string) string {
	if first == second {
		return first + ", both times"
	}
	return first + "; then " + second
}

func lost(table string, nth int) func(*bed) string {
	return func(b *bed) string {
		b.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Table: table, Nth: nth})
		return b.insist(b.order("1"))
	}
}

func conflict(table string, nth int) func(*bed) string {
	return func(b *bed) string {
		b.Inject(dynamotest.Fault{Do: dynamotest.Conflict, Table: table, Nth: nth})
		return b.insist(b.order("1"))
	}
}

// cut takes a process off the network: nothing that it sends arrives.
func cut(tap *dynamotest.Tap) {
	tap.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Times: -1})
}

func (b *bed) take(o comparison.Order) string {
	grant, err := b.store.Take(b.t.Context(), o, comparison.Limit)
	switch {
	case err != nil:
		return name(err)
	case !grant.OK:
		return "refused"
	case !grant.First:
		return "granted as a repetition"
	}
	return "granted"
}

func (b *bed) refund(o comparison.Order) string {
	if err := b.store.Refund(b.t.Context(), o); err != nil {
		return name(err)
	}
	return "given back"
}

func (b *bed) price(f func()) string {
	cost := b.Meter(f)
	return fmt.Sprintf("%s, %g RCU, %g WCU", plural(cost.Requests, "request"), cost.RCU, cost.WCU)
}

func broken(context.Context) error { return errBroken }
