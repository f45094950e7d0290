// Package trips counts round trips: the longest chain of requests in a piece of
// work, each of which waits for the answer to the one before. The count comes
// from how the work is built, not from a clock: steps that run side by side say
// so with a [Group]. So the count is the same on every machine, even a busy
// one, and nothing is delayed for it.
package trips

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Count counts the requests that a piece of work has sent one after the other.
type Count struct{ sent atomic.Int64 }

type countKey struct{}

// Counted returns a context whose requests are counted, if they are sent by a
// client with [Attach].
func Counted(ctx context.Context) (context.Context, *Count) {
	c := new(Count)
	return context.WithValue(ctx, countKey{}, c), c
}

// Longest is the length of the longest chain of requests, each of which waited
// for the answer to the one before. It does not include groups that have not
// ended.
func (c *Count) Longest() int { return int(c.sent.Load()) }

// Attach is an option of a client: it counts every attempt.
func Attach(o *dynamodb.Options) { o.HTTPClient = counting{o.HTTPClient} }

type counting struct{ dynamodb.HTTPClient }

func (c counting) Do(r *http.Request) (*http.Response, error) {
	if count, ok := r.Context().Value(countKey{}).(*Count); ok {
		count.sent.Add(1)
	}
	return c.HTTPClient.Do(r)
}

// Group is a number of steps that run side by side, each to its end. A failed
// step does not stop the others, so the requests that a group sends do not
// depend on which step was first.
type Group struct {
	ctx   context.Context
	wg    sync.WaitGroup
	steps []*step
}

type step struct {
	count *Count // nil if nobody counts
	err   error
}

// SideBySide returns a group without steps.
func SideBySide(ctx context.Context) *Group { return &Group{ctx: ctx} }

// Go begins a step. The step gets a context of its own, because its requests
// are a chain of their own.
func (g *Group) Go(do func(context.Context) error) {
	s, ctx := new(step), g.ctx
	if before, ok := ctx.Value(countKey{}).(*Count); ok {
		ctx, s.count = Counted(ctx)
		s.count.sent.Store(before.sent.Load())
	}
	g.steps = append(g.steps, s)
	g.wg.Go(func() { s.err = do(ctx) })
}

// Wait returns when all steps have ended. Of the steps that failed, it returns
// the error of the one that was begun first.
func (g *Group) Wait() error {
	g.wg.Wait()
	all, counted := g.ctx.Value(countKey{}).(*Count)
	var first error
	for _, s := range g.steps {
		if counted {
			all.sent.Store(max(all.sent.Load(), s.count.sent.Load()))
		}
		if first == nil {
			first = s.err
		}
	}
	return first
}
