package alias

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// source is a table whose reads can be held up.
type source struct {
	mu         sync.Mutex
	name       string // what "disk" stands for
	err        error
	reads      int
	consistent int
	hold       chan struct{} // reads end when it is closed; nil does not hold them up
}

func (s *source) set(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = name
}

func (s *source) holdUp() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hold := make(chan struct{})
	s.hold = hold
	return func() {
		s.mu.Lock()
		s.hold = nil
		s.mu.Unlock()
		close(hold)
	}
}

// fetch returns what is stored when it begins, as a slow reply does.
func (s *source) fetch(ctx context.Context, scope string, consistent bool) (*book, error) {
	s.mu.Lock()
	s.reads++
	if consistent {
		s.consistent++
	}
	name, err, hold := s.name, s.err, s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, fmt.Errorf("read: %w", ctx.Err())
		}
	}
	if err != nil {
		return nil, err
	}
	var rows []row
	if name != "" {
		rows = append(rows, row{Alias: Alias{Scope: scope, Phrase: "disk", Name: name}})
	}
	return newBook(rows, time.Now()), nil
}

// bubble runs the test on a clock that stands still until all goroutines wait.
func bubble(t *testing.T, cfg Config, f func(t *testing.T, c *cache, s *source)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{name: "diskning"}
		cfg.fill()
		f(t, newCache(cfg, s.fetch), s)
	})
}

// want asks for the scope's book and checks what "disk" stands for, and the
// number of reads so far.
func want(t *testing.T, c *cache, s *source, scope, name string, reads int) {
	t.Helper()
	b, err := c.get(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.entries["disk"].Name; got != name {
		t.Errorf("it stands for %q, want %q", got, name)
	}
	if s.reads != reads {
		t.Errorf("%d reads, want %d", s.reads, reads)
	}
}

func TestCacheKeepsBooksForItsTime(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		want(t, c, s, "a", "diskning", 1)
		s.set("torkning")
		time.Sleep(4*time.Minute + 29*time.Second)
		want(t, c, s, "a", "diskning", 1)
		want(t, c, s, "b", "torkning", 2)
		time.Sleep(31 * time.Second)
		want(t, c, s, "a", "torkning", 3)
		want(t, c, s, "b", "torkning", 3)
	})
}

func TestCacheTimesDiffer(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		ttls := map[time.Duration]bool{}
		for i := range 50 {
			scope := fmt.Sprint(i)
			want(t, c, s, scope, "diskning", i+1)
			ttls[c.slots.get(scope).ttl] = true
		}
		if len(ttls) < 40 {
			t.Errorf("%d different times of 50", len(ttls))
		}
		now := time.Now()
		part := spread("a", now, time.Minute)
		if part != spread("a", now, time.Minute) || part == spread("a", now.Add(1), time.Minute) {
			t.Errorf("%v does not follow from the time of the read", part)
		}
	})
}

// A clock that was set back neither keeps a book for ever nor hides a write.
func TestCacheSurvivesAClockSetBack(t *testing.T) {
	clock := time.Now().Add(1000 * time.Hour)
	bubble(t, Config{Now: func() time.Time { return clock }}, func(t *testing.T, c *cache, s *source) {
		c.fetch = func(ctx context.Context, scope string, consistent bool) (*book, error) {
			b, err := s.fetch(ctx, scope, consistent)
			b.read = clock
			return b, err
		}
		want(t, c, s, "a", "diskning", 1)
		clock = clock.Add(-time.Minute)
		want(t, c, s, "a", "diskning", 1)
		clock = clock.Add(-time.Hour)
		want(t, c, s, "a", "diskning", 2)
		c.drop("a")
		clock = clock.Add(-time.Hour)
		want(t, c, s, "a", "diskning", 3)
		if s.consistent != 1 {
			t.Errorf("%d consistent reads, want 1", s.consistent)
		}
	})
}

func TestCacheReadsOnceForAllWhoWait(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		for reads, err := range []error{errors.New("no table"), nil} { // which is not kept
			s.err = err
			release := s.holdUp()
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					if b, got := c.get(t.Context(), "a"); !errors.Is(got, err) || (b != nil) != (err == nil) {
						t.Errorf("%v, %v, want %v", b, got, err)
					}
				})
			}
			synctest.Wait()
			release()
			group.Wait()
			if s.reads != reads+1 {
				t.Errorf("%d reads, want %d", s.reads, reads+1)
			}
		}
		want(t, c, s, "a", "diskning", 2)
	})
}

func TestCacheOneWhoGivesUpFailsNoOther(t *testing.T) {
	for name, first := range map[string]bool{"who reads": true, "who waits": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
				release := s.holdUp()
				ctx, giveUp := context.WithCancel(t.Context())
				impatient := func() {
					if _, err := c.get(ctx, "a"); !errors.Is(err, context.Canceled) {
						t.Errorf("the one who gave up: %v", err)
					}
				}
				patient := func() {
					if b, err := c.get(t.Context(), "a"); err != nil || b.entries["disk"].Name != "diskning" {
						t.Errorf("another: %v, %v", b, err)
					}
				}
				order := []func(){patient, impatient, patient}
				if first {
					order = []func(){impatient, patient, patient}
				}
				var group sync.WaitGroup
				for _, f := range order {
					group.Go(f)
					synctest.Wait()
				}
				giveUp()
				synctest.Wait()
				release()
				group.Wait()
				reads := 1
				if first {
					reads = 2
				}
				want(t, c, s, "a", "diskning", reads)
			})
		})
	}
}

// The overtaken read must not end the newer one, which others wait for.
func TestCacheOvertakenReadEndsFirst(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		get := func() {
			if _, err := c.get(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		}
		var group sync.WaitGroup
		endOlder := s.holdUp()
		group.Go(get)
		synctest.Wait()
		s.set("torkning")
		c.drop("a")
		endNewer := s.holdUp()
		group.Go(get)
		synctest.Wait()
		endOlder()
		synctest.Wait()
		group.Go(get)
		synctest.Wait()
		endNewer()
		group.Wait()
		want(t, c, s, "a", "torkning", 2)
	})
}

// Each of two refreshes at once may have seen more than the other, so later
// questions do not rely on only one of them.
func TestCacheRefreshesSideBySide(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		refresh := func() {
			if _, err := c.refresh(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		}
		well, departs := c.fetch, make(chan struct{})
		c.fetch = func(ctx context.Context, scope string, consistent bool) (*book, error) {
			<-departs
			return well(ctx, scope, consistent)
		}
		var group sync.WaitGroup
		group.Go(refresh)
		synctest.Wait()
		c.fetch = well
		arrives := s.holdUp()
		group.Go(refresh)
		synctest.Wait()
		s.set("torkning")
		s.mu.Lock()
		s.hold = nil
		s.mu.Unlock()
		close(departs)
		synctest.Wait()
		want(t, c, s, "a", "torkning", 3) // does not wait for the second
		arrives()
		group.Wait()
		want(t, c, s, "a", "torkning", 4)
		want(t, c, s, "a", "torkning", 4)
		if s.consistent != 4 || c.wrote("b") || len(c.flights) != 0 {
			t.Errorf("%d consistent reads, want 4; %d flights", s.consistent, len(c.flights))
		}
	})
}

// KeepOneBook lets tests evict a book without reading a thousand others.
func (s *Store) KeepOneBook() { s.cache.most = 1 }

func TestCacheGivesUpTheOldest(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		c.most = 2
		for i, scope := range []string{"a", "b", "c"} {
			want(t, c, s, scope, "diskning", i+1)
			time.Sleep(time.Second)
		}
		want(t, c, s, "b", "diskning", 3)
		want(t, c, s, "c", "diskning", 3)
		if _, err := c.refresh(t.Context(), "c"); err != nil { // it is cached
			t.Error(err)
		}
		want(t, c, s, "b", "diskning", 4)
		want(t, c, s, "a", "diskning", 5)
		if len(c.slots.values) != 2 || c.slots.order.Len() != 2 || len(c.flights) != 0 {
			t.Errorf("%d slots, %d in order, %d flights", len(c.slots.values), c.slots.order.Len(), len(c.flights))
		}
	})
}

// After marks were evicted, it is unknown which scopes were written to: all are
// read consistently until the latest of those marks would have expired.
func TestCacheReadsConsistentlyWhenMarksAreEvicted(t *testing.T) {
	bubble(t, Config{NoCache: true}, func(t *testing.T, c *cache, s *source) {
		c.most = 2
		reads := 0
		consistent := func(scope string, yes bool) {
			t.Helper()
			before := s.consistent
			reads++
			want(t, c, s, scope, "diskning", reads)
			if got := s.consistent > before; got != yes {
				t.Errorf("consistent: %v, want %v", got, yes)
			}
		}
		c.drop("a")
		time.Sleep(time.Minute)
		c.drop("b")
		time.Sleep(time.Minute)
		c.drop("b") // has a mark already
		consistent("never written", false)
		time.Sleep(time.Minute)
		c.drop("c") // evicts a
		consistent("never written", true)
		consistent("a", true)
		time.Sleep(2*time.Minute - 1)
		consistent("a", true)
		time.Sleep(time.Nanosecond)
		consistent("a", false)
		consistent("b", true)
		consistent("c", true)
		if len(c.marks.values) != 2 {
			t.Errorf("%d marks", len(c.marks.values))
		}
		// The mark of b is evicted, then that of c, and then an old one, which
		// must not hide that.
		c.drop("d")
		c.drop("e")
		c.marks.values["d"].Value = aged[time.Time]{"d", c.now().Add(-time.Hour)}
		c.drop("f")
		time.Sleep(3*time.Minute - 1)
		consistent("never written", true)
		time.Sleep(time.Nanosecond)
		consistent("never written", false)
	})
}

// The process's own writes do not create older spellings, so a book from before
// is good enough to look for them, but not after its TTL.
func TestCacheLately(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		lately := func(name string, reads int) {
			t.Helper()
			b, err := c.lately(t.Context(), "a")
			if err != nil || b.entries["disk"].Name != name || s.reads != reads {
				t.Errorf("%v, %v, %d reads; want %q, %d", b, err, s.reads, name, reads)
			}
		}
		lately("diskning", 1)
		s.set("torkning")
		c.drop("a")
		lately("diskning", 1)
		time.Sleep(5 * time.Minute)
		lately("torkning", 2)
		s.set("tvätt")
		c.drop("a")
		want(t, c, s, "a", "tvätt", 3)
		lately("tvätt", 3)
	})
}

// An erased book is not kept in memory, and a read in progress does not bring it
// back.
func TestCacheErase(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		c.erase("a") // an unknown scope
		want(t, c, s, "a", "diskning", 1)
		s.set("torkning")
		c.erase("a")
		if kept := c.slots.get("a").book; kept != nil {
			t.Errorf("kept: %v", kept)
		}
		if b, err := c.lately(t.Context(), "a"); err != nil || b.entries["disk"].Name != "torkning" {
			t.Errorf("lately: %v, %v", b, err)
		}
	})
}

// A writer that knows its book shares it with all callers, unless another write
// came between.
func TestCacheEnd(t *testing.T) {
	after := newBook([]row{{Alias: Alias{Phrase: "disk", Name: "seeded"}}}, time.Time{})
	for name, c := range map[string]struct {
		overtake func(*testing.T, *cache)
		book     *book
		want     string
		reads    int
	}{
		"known":                {func(*testing.T, *cache) {}, after, "seeded", 1},
		"unknown":              {func(*testing.T, *cache) {}, nil, "torkning", 2},
		"overtaken by a write": {func(_ *testing.T, c *cache) { c.drop("a") }, after, "torkning", 2},
		"overtaken by a read": {func(t *testing.T, c *cache) {
			if _, err := c.refresh(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		}, after, "torkning", 3},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, cache *cache, s *source) {
				want(t, cache, s, "a", "diskning", 1)
				f, before := cache.begin("a")
				if before == nil || before.entries["disk"].Name != "diskning" {
					t.Errorf("begin: %v", before)
				}
				c.overtake(t, cache)
				s.set("torkning")
				if c.book != nil {
					known := *c.book
					known.read = time.Now()
					cache.end("a", f, &known, true)
				} else {
					cache.end("a", f, nil, true)
				}
				if !cache.wrote("a") {
					t.Error("no mark of the writes")
				}
				want(t, cache, s, "a", c.want, c.reads)
				if s.consistent != c.reads-1 {
					t.Errorf("%d consistent reads", s.consistent)
				}
			})
		})
	}
}

// A writer that wrote nothing leaves no mark, and leaves the books unchanged.
func TestCacheEndWithoutAWrite(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		f, _ := c.begin("a")
		c.end("a", f, nil, false)
		want(t, c, s, "a", "diskning", 1)
		f, before := c.begin("a")
		if _, err := c.refresh(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		c.end("a", f, before, false)
		want(t, c, s, "a", "diskning", 2)
		if s.consistent != 1 || c.wrote("a") || len(c.flights) != 0 {
			t.Errorf("%d consistent reads, a mark: %v, %d flights", s.consistent, c.wrote("a"), len(c.flights))
		}
	})
}
