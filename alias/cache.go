package alias

import (
	"context"
	"math/rand/v2"
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
	off   bool

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
	if c.off {
		return c.fetch(ctx, scope, false)
	}
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
			return nil, ctx.Err()
		case <-f.landed:
		}
		if !f.left {
			return f.book, f.err
		}
	}
}

// refresh reads consistently, whatever is known or under way.
func (c *cache) refresh(ctx context.Context, scope string) (*book, error) {
	if c.off {
		return c.fetch(ctx, scope, true)
	}
	return c.fly(ctx, scope, c.begin(scope), true)
}

// begin starts a flight that overtakes any other of the scope.
func (c *cache) begin(scope string) *flight {
	f := &flight{landed: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.off {
		c.flights[scope] = f
	}
	return f
}

// join returns the book or else the flight to wait for, and whether the caller
// is its first.
func (c *cache) join(scope string) (b *book, f *flight, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.slots[scope]; ok && s.book != nil && c.fresh(s) {
		return s.book, nil, false
	}
	if f, ok := c.flights[scope]; ok {
		return nil, f, false
	}
	f = &flight{landed: make(chan struct{})}
	c.flights[scope] = f
	return nil, f, true
}

// fresh is asked of the clock in both directions: one that was set back must
// not make a book immortal.
func (c *cache) fresh(s slot) bool { return c.now().Sub(s.since).Abs() < s.ttl }

// fly reads the book and, unless a write overtook the flight, keeps it.
func (c *cache) fly(ctx context.Context, scope string, f *flight, consistent bool) (*book, error) {
	defer close(f.landed)
	f.left = true // should fetch panic, the others see for themselves
	defer func() { c.land(scope, f) }()
	f.book, f.err = c.fetch(ctx, scope, consistent || c.written(scope))
	f.left = f.err != nil && ctx.Err() != nil
	return f.book, f.err
}

// settle ends the flight of a writer who knows the book that its writes made.
func (c *cache) settle(scope string, f *flight, b *book) {
	f.book = b
	if !c.land(scope, f) {
		c.drop(scope) // the flight that overtook this one may have missed its writes
	}
	close(f.landed)
}

// abandon ends the flight of a writer who does not know. Those who wait for it
// read for themselves.
func (c *cache) abandon(scope string, f *flight) {
	f.left = true
	c.drop(scope)
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
	if f.book != nil {
		c.put(scope, slot{book: f.book, since: f.book.read, ttl: c.ttl - rand.N(c.ttl/10+1)})
	}
	return true
}

// drop forgets the scope's book, and the read under way, which may have missed
// the write. Writers call it when their request is over, whatever came of it.
func (c *cache) drop(scope string) {
	if c.off {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, scope)
	c.put(scope, slot{since: c.now(), ttl: c.ttl})
}

// put makes room by giving up the oldest slot. The lock is held.
func (c *cache) put(scope string, s slot) {
	if _, ok := c.slots[scope]; !ok && len(c.slots) >= c.most {
		var oldest string
		for other, o := range c.slots {
			if oldest == "" || o.since.Before(c.slots[oldest].since) {
				oldest = other
			}
		}
		delete(c.slots, oldest)
	}
	c.slots[scope] = s
}
