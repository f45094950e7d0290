package alias

import (
	"context"
	"errors"
	"fmt"
	"reflect"
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
			ttl := c.slots.get(scope).ttl
			if ttl > 5*time.Minute || ttl < 4*time.Minute+30*time.Second {
				t.Errorf("kept for %v", ttl)
			}
			ttls[ttl] = true
		}
		if len(ttls) < 40 {
			t.Errorf("%d different times of 50", len(ttls))
		}
	})
}

// A scope that is read at one time is kept equally long in every run; read at
// another time, it is kept for another duration.
func TestCacheTimesFollowFromTheRead(t *testing.T) {
	t.Parallel()
	const most = 30 * time.Second
	at := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	times := map[time.Duration]bool{}
	for i := range 50 {
		read := at.Add(time.Duration(i) * time.Millisecond)
		part := spread("orders", read, most)
		if part != spread("orders", read, most) || part < 0 || part > most {
			t.Errorf("%v is taken off", part)
		}
		times[part] = true
	}
	if len(times) < 40 {
		t.Errorf("%d different times of 50", len(times))
	}
	if spread("orders", at, 0) != 0 {
		t.Error("more than nothing of nothing")
	}
}

func TestCacheKnowsWhatIsNotThere(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		s.set("")
		want(t, c, s, "a", "", 1)
		want(t, c, s, "a", "", 1)
	})
}

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
	})
}

func TestCacheReadsOnceForAllWhoWait(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		release := s.holdUp()
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if b, err := c.get(t.Context(), "a"); err != nil || b.entries["disk"].Name != "diskning" {
					t.Errorf("%v, %v", b, err)
				}
			})
		}
		synctest.Wait()
		release()
		group.Wait()
		want(t, c, s, "a", "diskning", 1)
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

func TestCacheSharesErrors(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		s.err = errors.New("no table")
		release := s.holdUp()
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if _, err := c.get(t.Context(), "a"); !errors.Is(err, s.err) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		release()
		group.Wait()
		if s.reads != 1 {
			t.Errorf("%d reads, want 1", s.reads)
		}
	})
}

func TestCacheKeepsNoErrors(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		s.err = errors.New("no table")
		if _, err := c.get(t.Context(), "a"); !errors.Is(err, s.err) {
			t.Errorf("got %v", err)
		}
		s.err = nil
		want(t, c, s, "a", "diskning", 2)
	})
}

func TestCacheReadsConsistentlyAfterAWrite(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		want(t, c, s, "a", "diskning", 1)
		s.set("torkning")
		c.drop("a")
		want(t, c, s, "a", "torkning", 2)
		if s.consistent != 1 {
			t.Errorf("%d consistent reads, want 1", s.consistent)
		}
		want(t, c, s, "b", "torkning", 3)
		time.Sleep(5 * time.Minute)
		want(t, c, s, "a", "torkning", 4)
		if s.consistent != 1 {
			t.Errorf("%d consistent reads, want 1", s.consistent)
		}
	})
}

// A read in progress may return what was stored before the write. The next
// caller must neither get that nor wait for it.
func TestCacheWriteOvertakesARead(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		release := s.holdUp()
		var group sync.WaitGroup
		group.Go(func() {
			if b, err := c.get(t.Context(), "a"); err != nil || b.entries["disk"].Name != "diskning" {
				t.Errorf("the one overtaken: %v, %v", b, err)
			}
		})
		synctest.Wait()
		s.set("torkning")
		c.drop("a")
		s.mu.Lock()
		s.hold = nil
		s.mu.Unlock()
		want(t, c, s, "a", "torkning", 2) // does not wait
		release()
		group.Wait()
		want(t, c, s, "a", "torkning", 2) // and was not overwritten
	})
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

func TestCacheRefresh(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		want(t, c, s, "a", "diskning", 1)
		s.set("torkning")
		if b, err := c.refresh(t.Context(), "a"); err != nil || b.entries["disk"].Name != "torkning" || s.consistent != 1 {
			t.Errorf("refresh: %v, %v, %d consistent reads", b, err, s.consistent)
		}
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

// With many scopes a write takes no longer, and the lock is held no longer.
func TestCacheOfManyScopes(t *testing.T) {
	t.Parallel()
	const most = 50_000
	fetch := func(context.Context, string, bool) (*book, error) { return newBook(nil, time.Now()), nil }
	cfg := Config{CacheScopes: most}
	cfg.fill()
	c := newCache(cfg, fetch)
	var began time.Time
	for i := range most + 2000 {
		if i == most {
			began = time.Now()
		}
		c.drop(fmt.Sprint(i))
		if _, err := c.get(t.Context(), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("2,000 writes and reads took %v", took)
	}
}

func TestCacheGivesUpTheOldest(t *testing.T) {
	bubble(t, Config{CacheScopes: 2}, func(t *testing.T, c *cache, s *source) {
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
		if len(c.slots.values) != 2 || len(c.flights) != 0 {
			t.Errorf("%d slots, %d flights", len(c.slots.values), len(c.flights))
		}
	})
}

// A mark lives exactly for the cache's TTL, for any number of reads.
func TestCacheReadsConsistentlyForItsTimeAfterAWrite(t *testing.T) {
	for name, cfg := range map[string]Config{"NoCache": {NoCache: true}, "books of others come between": {CacheScopes: 1}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, cfg, func(t *testing.T, c *cache, s *source) {
				c.drop("a")
				for i := range 3 {
					want(t, c, s, "a", "diskning", 2*i+1)
					want(t, c, s, "b", "diskning", 2*i+2)
				}
				if s.consistent != 3 {
					t.Errorf("%d consistent reads, want the 3 of what was written", s.consistent)
				}
				time.Sleep(5*time.Minute - 1)
				want(t, c, s, "a", "diskning", 7)
				if s.consistent != 4 {
					t.Errorf("%d consistent reads, want 4", s.consistent)
				}
				want(t, c, s, "b", "diskning", 8)
				time.Sleep(time.Nanosecond)
				want(t, c, s, "a", "diskning", 9)
				if s.consistent != 4 {
					t.Errorf("%d consistent reads after the mark's time, want 4", s.consistent)
				}
			})
		})
	}
}

// After marks were evicted, it is unknown which scopes were written to: all are
// read consistently until the latest of those marks would have expired.
func TestCacheReadsConsistentlyWhenMarksAreEvicted(t *testing.T) {
	bubble(t, Config{CacheScopes: 2, NoCache: true}, func(t *testing.T, c *cache, s *source) {
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

// A clock that was set back must not hide a write.
func TestCacheMarksSurviveAClockSetBack(t *testing.T) {
	clock := time.Now()
	bubble(t, Config{NoCache: true, Now: func() time.Time { return clock }}, func(t *testing.T, c *cache, s *source) {
		c.drop("a")
		clock = clock.Add(-time.Hour)
		want(t, c, s, "a", "diskning", 1)
		if s.consistent != 1 {
			t.Errorf("%d consistent reads, want 1", s.consistent)
		}
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

func TestNoCache(t *testing.T) {
	bubble(t, Config{NoCache: true}, func(t *testing.T, c *cache, s *source) {
		want(t, c, s, "a", "diskning", 1)
		want(t, c, s, "a", "diskning", 2)
		if s.consistent != 0 || len(c.slots.values) != 0 {
			t.Errorf("%d consistent reads; %d slots", s.consistent, len(c.slots.values))
		}
		well := c.fetch
		c.fetch = func(ctx context.Context, scope string, consistent bool) (*book, error) {
			c.begin(scope) // overtakes the read
			return well(ctx, scope, consistent)
		}
		if _, err := c.refresh(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		c.fetch = well
		want(t, c, s, "a", "diskning", 4)
		if s.consistent != 1 || len(c.slots.values) != 0 {
			t.Errorf("%d consistent reads, want that of the refresh; %d slots", s.consistent, len(c.slots.values))
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

// A book that was completed is as old as its oldest row.
func TestCacheEndKeepsTheAge(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		want(t, c, s, "a", "diskning", 1)
		time.Sleep(4 * time.Minute)
		f, before := c.begin("a")
		c.end("a", f, before, false)
		want(t, c, s, "a", "diskning", 1)
		time.Sleep(time.Minute)
		want(t, c, s, "a", "diskning", 2)
	})
}

// A read that panics must not leave the others waiting.
func TestCacheFetchPanics(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, c *cache, s *source) {
		well := c.fetch
		release := make(chan struct{})
		c.fetch = func(context.Context, string, bool) (*book, error) {
			<-release
			panic("broken client")
		}
		var group sync.WaitGroup
		group.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_, _ = c.get(t.Context(), "a")
		})
		synctest.Wait()
		c.fetch = well
		group.Go(func() { want(t, c, s, "a", "diskning", 1) })
		synctest.Wait()
		close(release)
		group.Wait()
	})
}

func TestConfigDefaultsAreComplete(t *testing.T) {
	t.Parallel()
	var cfg Config
	cfg.fill()
	filled := reflect.ValueOf(cfg)
	for i := range filled.NumField() {
		field := filled.Type().Field(i)
		if field.Name == "OnUnreadable" || field.Name == "Names" { // nil is its default
			continue
		}
		if field.Type.Kind() != reflect.Bool && filled.Field(i).IsZero() {
			t.Errorf("Config.%s has no default", field.Name)
		}
	}
}
