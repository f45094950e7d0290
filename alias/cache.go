package alias

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"time"
)

// cache keeps the books of scopes: whole ones, so that what is not in a book
// is known as well as what is.
type cache struct {
	now   func() time.Time
	fetch func(ctx context.Context, scope string, consistent bool) (*book, error)
	ttl   time.Duration
	most  int
	off   bool // books are not kept

	mu      sync.Mutex // guards what follows; never held across a request
	slots   map[string]slot
	flights map[string]*flight
}

// slot is what is known of a scope.
type slot struct {
	book  *book // nil after a local write: the next read must be consistent to see it
	since time.Time
	ttl   time.Duration
}

// valid returns the book unless it is too old. A clock that was set back must
// not make it immortal.
func (s slot) valid(now time.Time) *book {
	if now.Sub(s.since).Abs() < s.ttl {
		return s.book
	}
	return nil
}

// flight is a read under way, which all who ask for the scope wait for. It is
// no singleflight.Group, for two reasons: a write must keep the very flight it
// overtook from filling the cache, and the read runs on the goroutine and the
// context of the caller who began it.
type flight struct {
	landed chan struct{} // closed when the rest is set
	book   *book
	err    error
	left   bool // err is the end of the first caller's context, not trouble
}

func newCache(c Config, fetch func(context.Context, string, bool) (*book, error)) *cache {
	return &cache{
		now: c.Now, fetch: fetch, ttl: c.CacheTTL, most: c.CacheScopes, off: c.NoCache,
		slots: map[string]slot{}, flights: map[string]*flight{},
	}
}

// get returns the scope's book from memory, from a read under way, or by a
// read of its own.
func (c *cache) get(ctx context.Context, scope string) (*book, error) {
	for {
		b, f, first := c.join(scope)
		if b != nil {
			return b, nil
		}
		if first {
			return c.fly(ctx, scope, f, false)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("alias: waiting for the book: %w", ctx.Err())
		case <-f.landed:
		}
		if !f.left {
			return f.book, f.err
		}
	}
}

// refresh reads consistently, whatever is known or under way.
func (c *cache) refresh(ctx context.Context, scope string) (*book, error) {
	f, _ := c.begin(scope)
	return c.fly(ctx, scope, f, true)
}

// begin starts a flight that overtakes any other of the scope, and returns the
// book that was in memory at that moment, if any was.
func (c *cache) begin(scope string) (*flight, *book) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &flight{landed: make(chan struct{})}
	c.flights[scope] = f
	return f, c.slots[scope].valid(c.now())
}

// join returns the book or else the flight to wait for, and whether the caller
// is its first.
func (c *cache) join(scope string) (b *book, f *flight, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.slots[scope].valid(c.now()); b != nil {
		return b, nil, false
	}
	if f, ok := c.flights[scope]; ok {
		return nil, f, false
	}
	f = &flight{landed: make(chan struct{})}
	c.flights[scope] = f
	return nil, f, true
}

// fly reads the book and, unless a write overtook the flight, keeps it.
func (c *cache) fly(ctx context.Context, scope string, f *flight, consistent bool) (*book, error) {
	defer close(f.landed)
	f.left = true // should fetch panic, the others see for themselves
	defer func() { c.land(scope, f) }()
	f.book, f.err = c.fetch(ctx, scope, consistent || c.written(scope))
	f.left = f.err != nil && ctx.Err() != nil
	return f.book, f.err
}

// end ends the flight of a writer, who knows what book its writes made of the
// one there was when the flight began. Without it, those who wait read for
// themselves.
func (c *cache) end(scope string, f *flight, b *book) {
	f.book, f.left = b, b == nil
	if b == nil || !c.land(scope, f) {
		c.drop(scope) // whatever overtook this flight may have missed its writes
	}
	close(f.landed)
}

// written reports whether this process wrote to the scope since it last read
// it.
func (c *cache) written(scope string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.slots[scope]
	return ok && s.book == nil
}

// land keeps what the flight brought, unless it was overtaken.
func (c *cache) land(scope string, f *flight) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[scope] != f {
		return false
	}
	delete(c.flights, scope)
	switch {
	case f.book == nil:
	case c.off:
		delete(c.slots, scope) // what this process wrote has been seen
	default:
		c.put(scope, slot{book: f.book, since: f.book.read, ttl: c.ttl - spread(scope, f.book.read, c.ttl/10)})
	}
	return true
}

// spread is a part of most, another for each scope and each time that it is
// read: processes that started together soon read at different times. It is no
// random part, so that what a test or a replay on a clock of its own costs is
// the same in every run.
func spread(scope string, read time.Time, most time.Duration) time.Duration {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s#%d", scope, read.UnixNano())
	return time.Duration(h.Sum64() % uint64(most+1))
}

// drop forgets the scope's book, and the read under way, which may have missed
// the write. Writers call it when their request is over, whatever came of it.
func (c *cache) drop(scope string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, scope)
	c.put(scope, slot{since: c.now(), ttl: c.ttl})
}

// put makes room by giving up the oldest book. That a scope was written to is
// given up only for another that was: the next read of it must know. The lock
// is held.
func (c *cache) put(scope string, s slot) {
	if _, ok := c.slots[scope]; !ok && len(c.slots) >= c.most {
		oldest, found := c.oldest(true)
		if !found && s.book != nil {
			return // full of scopes written to: this book is not kept
		}
		if !found {
			oldest, _ = c.oldest(false)
		}
		delete(c.slots, oldest)
	}
	c.slots[scope] = s
}

// oldest finds the oldest slot with a book, or without.
func (c *cache) oldest(book bool) (scope string, found bool) {
	for other, o := range c.slots {
		if (o.book != nil) == book && (!found || o.since.Before(c.slots[scope].since)) {
			scope, found = other, true
		}
	}
	return scope, found
}
