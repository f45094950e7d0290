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
	b, err := c.get(t.Context(), scope, false)
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
			ttls[c.readings[scope].ttl] = true
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
					if b, got := c.get(t.Context(), "a", false); !errors.Is(got, err) || (b != nil) != (err == nil) {
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
					if _, err := c.get(ctx, "a", false); !errors.Is(err, context.Canceled) {
						t.Errorf("the one who gave up: %v", err)
					}
				}
				patient := func() {
					if b, err := c.get(t.Context(), "a", false); err != nil || b.entries["disk"].Name != "diskning" {
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
			if _, err := c.get(t.Context(), "a", false); err != nil {
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
			if _, err := c.get(t.Context(), "a", true); err != nil {
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
		if s.consistent != 4 || c.wrote("b") {
			t.Errorf("%d consistent reads, want 4", s.consistent)
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
		if _, err := c.get(t.Context(), "c", true); err != nil { // it is cached
			t.Error(err)
		}
		want(t, c, s, "b", "diskning", 4)
		want(t, c, s, "a", "diskning", 5)
		if len(c.readings) != 2 {
			t.Errorf("%d books", len(c.readings))
		}
	})
}

// A read in progress takes the place of no book, and is not given up.
func TestCacheFullOfReads(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		c.most = 1
		want(t, c, s, "a", "diskning", 1)
		release := s.holdUp()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := c.get(t.Context(), "b", false); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		s.mu.Lock()
		s.hold = nil
		s.mu.Unlock()
		time.Sleep(time.Second)
		want(t, c, s, "c", "diskning", 3) // gives up a
		want(t, c, s, "a", "diskning", 4) // gives up c
		time.Sleep(time.Second)
		release()
		group.Wait()
		want(t, c, s, "b", "diskning", 4)
	})
}

// If there are too many marks, it is unknown which scopes were written to: all are
// read consistently until the marks would have expired.
func TestCacheReadsConsistentlyAfterTooManyWrites(t *testing.T) {
	bubble(t, Config{NoCache: true}, func(t *testing.T, c *cache, s *source) {
		c.most = 2
		reads := 0
		consistent := func(scope string, yes bool) {
			t.Helper()
			before := s.consistent
			reads++
			want(t, c, s, scope, "diskning", reads)
			if got := s.consistent > before; got != yes {
				t.Errorf("%s: consistent: %v, want %v", scope, got, yes)
			}
		}
		c.drop("a")
		time.Sleep(time.Minute)
		c.drop("b")
		time.Sleep(4 * time.Minute)
		c.drop("b") // has a mark already
		c.drop("c") // that of a has expired
		consistent("never written", false)
		consistent("a", false)
		consistent("b", true)
		consistent("c", true)
		time.Sleep(5*time.Minute - 1)
		consistent("b", true)
		c.drop("d") // too many
		time.Sleep(5*time.Minute - 1)
		consistent("never written", true)
		consistent("a", true)
		time.Sleep(time.Nanosecond)
		consistent("never written", false)
		consistent("d", false)
		if len(c.marks) > 2 {
			t.Errorf("%d marks", len(c.marks))
		}
	})
}

// What was dropped is not kept in memory, and a read in progress does not bring it
// back.
func TestCacheDrop(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		c.drop("a") // an unknown scope
		want(t, c, s, "a", "diskning", 1)
		release := s.holdUp()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := c.get(t.Context(), "a", true); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		s.set("torkning")
		c.drop("a")
		release()
		group.Wait()
		if len(c.readings) != 0 {
			t.Errorf("%d books", len(c.readings))
		}
		want(t, c, s, "a", "torkning", 3)
	})
}
