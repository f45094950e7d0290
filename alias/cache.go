package alias

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"sync"
	"time"
)

// cacheScopes is how many books a cache keeps, and how many scopes it remembers
// that this process wrote to.
const cacheScopes = 1000

// cache keeps the books of scopes. Books are complete, so a phrase that is not
// in its book is known to be unknown.
type cache struct {
	now   func() time.Time
	fetch func(ctx context.Context, scope string, consistent bool) (*book, error)
	ttl   time.Duration
	most  int
	off   bool // no books are kept

	mu       sync.Mutex // guards the fields below; never held during a request
	readings map[string]*reading
	marks    map[string]time.Time // when this process last wrote to a scope
	cleared  time.Time            // when marks were last too many: any scope may have had one
}

// reading is the book of a scope, or a read in progress: all callers that ask for
// the scope wait for it. It is not a singleflight.Group, for two reasons: a write
// must keep exactly the reads that began before it from filling the cache, and the
// read runs on the goroutine and the context of the caller that began it.
type reading struct {
	ended chan struct{} // closed when book, err and left are set
	book  *book
	err   error
	left  bool          // err is the end of the first caller's context, not trouble
	ttl   time.Duration // of the book, 0 until it is kept
}

// fresh reports whether the book is young enough. A clock that was set back
// must not keep it for ever.
func (r *reading) fresh(now time.Time) bool { return now.Sub(r.book.read).Abs() < r.ttl }

func newCache(c Config, fetch func(context.Context, string, bool) (*book, error)) *cache {
	return &cache{
		now: c.Now, fetch: fetch, ttl: c.CacheTTL, most: cacheScopes, off: c.NoCache,
		readings: map[string]*reading{}, marks: map[string]time.Time{},
	}
}

// get returns the scope's book from memory, from a read in progress, or by a
// read of its own. A refresh does only the last, and reads consistently.
func (c *cache) get(ctx context.Context, scope string, refresh bool) (*book, error) {
	for {
		b, r, first := c.join(scope, refresh)
		if b != nil {
			return b, nil
		}
		if first {
			return c.read(ctx, scope, r, refresh)
		}

		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the rows of the scope: %w", ctx.Err())
		case <-r.ended:
		}

		if !r.left {
			return r.book, r.err
		}
	}
}

// join returns the book in memory. If there is none, it returns a read: the first
// caller must do it, and the others wait for it. A refresh is always the first: it
// overtakes any other read of the scope.
func (c *cache) join(scope string, refresh bool) (b *book, r *reading, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	r, known := c.readings[scope]
	switch {
	case refresh || !known: // a new read
	case r.ttl == 0: // the read is still going on
		return nil, r, false
	case r.fresh(c.now()):
		return r.book, nil, false
	}

	r = &reading{ended: make(chan struct{})}
	c.readings[scope] = r
	return nil, r, true
}

// read reads the book.
func (c *cache) read(ctx context.Context, scope string, r *reading, refresh bool) (*book, error) {
	r.left = true // if fetch panics, the others read for themselves
	defer func() {
		c.end(scope, r, refresh)
		close(r.ended)
	}()

	r.book, r.err = c.fetch(ctx, scope, refresh || c.wrote(scope))
	r.left = r.err != nil && ctx.Err() != nil
	return r.book, r.err
}

// end keeps the book for later questions, unless a write or a refresh overtook the
// read. A refresh that was overtaken may have seen more than the read that overtook
// it. So it makes the cache forget the scope, and the next reads are consistent, as
// after a write.
func (c *cache) end(scope string, r *reading, refresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	overtaken := c.readings[scope] != r
	switch {
	case overtaken && refresh && r.book != nil:
		c.forget(scope)
	case overtaken: // the book is not kept
	case r.book == nil || c.off:
		delete(c.readings, scope)
	default:
		r.ttl = c.ttl - spread(scope, r.book.read, c.ttl/10)
		c.evict()
	}
}

// spread returns a part of most, which differs by scope and time of reading:
// processes that started together soon read at different times. It is not
// random, so that a test or a replay on its own clock has the same cost in
// every run.
func spread(scope string, read time.Time, most time.Duration) time.Duration {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s#%d", scope, read.UnixNano())
	return time.Duration(h.Sum64() % uint64(most+1))
}

// evict gives up the book that was read longest ago, if there are too many.
func (c *cache) evict() {
	if len(c.readings) <= c.most {
		return
	}
	now, oldest, age := c.now(), "", time.Duration(-1)
	for scope, r := range c.readings {
		if r.ttl > 0 && now.Sub(r.book.read).Abs() > age {
			oldest, age = scope, now.Sub(r.book.read).Abs()
		}
	}
	delete(c.readings, oldest)
}

// wrote reports whether an eventually consistent read might miss something that
// this process wrote to the scope, or may have written, within the cache's TTL.
func (c *cache) wrote(scope string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	return now.Sub(c.marks[scope]) < c.ttl || now.Sub(c.cleared) < c.ttl
}

// drop keeps the scope's book, and the read in progress, from answering later
// questions: both may have missed the write. Writers call it when their request
// is over, even if it failed.
func (c *cache) drop(scope string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(scope)
}

// forget is drop for callers that hold the lock.
func (c *cache) forget(scope string) {
	delete(c.readings, scope)

	now := c.now()
	c.marks[scope] = now
	if len(c.marks) > c.most {
		maps.DeleteFunc(c.marks, func(_ string, at time.Time) bool { return now.Sub(at) >= c.ttl })
	}
	if len(c.marks) > c.most {
		c.cleared = now
		clear(c.marks)
	}
}
