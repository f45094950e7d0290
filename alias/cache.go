package alias

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"time"
)

// cacheScopes is how many books a cache keeps, and how many scopes it remembers
// that this process wrote to. Evicted first is what was read, or written, longest
// ago.
const cacheScopes = 1000

// cache keeps the books of scopes. Books are complete, so a phrase that is not
// in its book is known to be unknown.
type cache struct {
	now   func() time.Time
	fetch func(ctx context.Context, scope string, consistent bool) (*book, error)
	ttl   time.Duration
	most  int
	off   bool // no books are kept

	mu      sync.Mutex // guards the fields below; never held during a request
	slots   byAge[*slot]
	flights map[string]*flight
	marks   byAge[time.Time] // when this process last wrote to a scope
	evicted time.Time        // the latest mark that was evicted
}

// slot holds the book of a scope.
type slot struct {
	book    *book
	since   time.Time
	ttl     time.Duration
	dropped bool // this process has written to the scope since
	behind  bool // without a book; the next must have all that a refresh saw
}

// fresh reports whether the book is young enough. A clock that was set back
// must not keep it for ever.
func (s *slot) fresh(now time.Time) bool { return s != nil && now.Sub(s.since).Abs() < s.ttl }

// valid returns the book if questions may be answered from it.
func (s *slot) valid(now time.Time) *book {
	if !s.fresh(now) || s.dropped {
		return nil
	}
	return s.book
}

// flight is a read in progress; all callers that ask for the scope wait for it.
// It is not a singleflight.Group, for two reasons: a write must keep exactly the
// flights that began before it from filling the cache, and the read runs on the
// goroutine and the context of the caller that began it.
type flight struct {
	landed chan struct{} // closed when the other fields are set
	book   *book
	err    error
	left   bool // err is the end of the first caller's context, not trouble
}

func newCache(c Config, fetch func(context.Context, string, bool) (*book, error)) *cache {
	return &cache{
		now: c.Now, fetch: fetch, ttl: c.CacheTTL, most: cacheScopes, off: c.NoCache,
		slots: newByAge[*slot](), flights: map[string]*flight{}, marks: newByAge[time.Time](),
	}
}

// get returns the scope's book from memory, from a read in progress, or by a
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
			return nil, fmt.Errorf("waiting for the rows of the scope: %w", ctx.Err())
		case <-f.landed:
		}
		if !f.left {
			return f.book, f.err
		}
	}
}

// lately is get, but also returns a book from before this process's last write.
// That is good enough to find out whether a phrase may have an older spelling,
// because no write of this package creates one.
func (c *cache) lately(ctx context.Context, scope string) (*book, error) {
	c.mu.Lock()
	var known *book
	if s := c.slots.get(scope); s.fresh(c.now()) {
		known = s.book
	}
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	return c.get(ctx, scope)
}

// refresh reads consistently, regardless of the cache and of reads in progress.
func (c *cache) refresh(ctx context.Context, scope string) (*book, error) {
	f, _ := c.begin(scope)
	return c.fly(ctx, scope, f, true)
}

// begin starts a flight that overtakes any other of the scope, and returns the
// book that was in memory at that moment, or nil.
func (c *cache) begin(scope string) (*flight, *book) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &flight{landed: make(chan struct{})}
	c.flights[scope] = f
	return f, c.slots.get(scope).valid(c.now())
}

// join returns the book or, without one, the flight to wait for. The first
// caller must begin the read.
func (c *cache) join(scope string) (b *book, f *flight, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.slots.get(scope).valid(c.now()); b != nil {
		return b, nil, false
	}
	if f, ok := c.flights[scope]; ok {
		return nil, f, false
	}
	f = &flight{landed: make(chan struct{})}
	c.flights[scope] = f
	return nil, f, true
}

// fly reads the book and keeps it, unless a write overtook the flight.
func (c *cache) fly(ctx context.Context, scope string, f *flight, consistent bool) (*book, error) {
	defer close(f.landed)
	f.left = true // if fetch panics, the others read for themselves
	defer func() {
		if landed := c.land(scope, f); consistent && !landed && f.book != nil {
			c.fallBehind(scope)
		}
	}()
	f.book, f.err = c.fetch(ctx, scope, consistent || c.wrote(scope))
	f.left = f.err != nil && ctx.Err() != nil
	return f.book, f.err
}

// fallBehind drops the book of a read that overtook a refresh. The refresh may
// have seen more, so the next read is consistent.
func (c *cache) fallBehind(scope string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, scope)
	if !c.off {
		c.keep(scope, &slot{since: c.now(), behind: true})
	}
}

// end ends the flight of a writer. The writer passes the book that resulted
// from its writes, if it knows that book, and whether it wrote anything.
// Without the book, the waiting callers read for themselves.
func (c *cache) end(scope string, f *flight, b *book, wrote bool) {
	f.book, f.left = b, b == nil
	if wrote {
		c.mark(scope)
	}
	if landed := c.land(scope, f); wrote && (b == nil || !landed) {
		c.drop(scope) // a read that overtook this flight may have missed its writes
	}
	close(f.landed)
}

// wrote reports whether an eventually consistent read might miss something:
// this process wrote to the scope within the cache's TTL, or may have done so,
// or a refresh saw more than the cache has.
func (c *cache) wrote(scope string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	at := c.marks.get(scope) // long ago, if never
	s := c.slots.get(scope)
	return now.Sub(at) < c.ttl || now.Sub(c.evicted) < c.ttl || s != nil && s.behind
}

// land keeps the flight's book, unless the flight was overtaken.
func (c *cache) land(scope string, f *flight) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[scope] != f {
		return false
	}
	delete(c.flights, scope)
	if f.book != nil && !c.off {
		c.keep(scope, &slot{book: f.book, since: f.book.read, ttl: c.ttl - spread(scope, f.book.read, c.ttl/10)})
	}
	return true
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

// drop keeps the scope's book, and the read in progress, from answering later
// questions: both may have missed the write. Writers call it when their request
// is over, even if it failed.
func (c *cache) drop(scope string) {
	c.mark(scope)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, scope)
	if s := c.slots.get(scope); s != nil {
		s.dropped = true
	}
}

// erase is drop for a scope whose book must not stay in memory, not even for lately.
func (c *cache) erase(scope string) {
	c.drop(scope)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.slots.get(scope); s != nil {
		s.book = nil
	}
}

// mark notes a write to the scope. If the cache is full, the oldest mark is
// evicted, and all scopes are read consistently until it would have expired.
func (c *cache) mark(scope string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.marks.set(scope, c.now(), c.most); ok && at.After(c.evicted) {
		c.evicted = at
	}
}

// keep stores the slot. If the cache is full, the oldest slot is evicted. The
// caller holds the lock.
func (c *cache) keep(scope string, s *slot) { c.slots.set(scope, s, c.most) }
