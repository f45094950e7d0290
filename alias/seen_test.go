package alias_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// behind returns a store on a table whose eventually consistent reads always
// return only the phrase pant.
func behind(t *testing.T, change func(*alias.Config)) fixture {
	t.Helper()
	db := dynamotest.New(t, nil)
	f := fixture{db: db, table: db.Name("homeops")}
	f.Store = f.another(t, change)
	recordtest.Create(t, db.Client(), f.Table())
	f.write(t, golden(t, "older"))
	if _, err := db.Server().HoldReads(f.table); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f fixture) resolves(t *testing.T, scope, phrase, want string) {
	t.Helper()
	if got, _, err := f.Resolve(t.Context(), scope, phrase); err != nil || got.Name != want {
		t.Errorf("Resolve %q of %s: %q, %v; want %q", phrase, scope, got.Name, err, want)
	}
}

func (f fixture) learns(t *testing.T, scope string) {
	t.Helper()
	put := alias.Put{Scope: scope, Phrase: "ta disken", Name: "diskning", Event: eventAt(t, 60)}
	do(t, event.Created)(f.Put(t.Context(), put))
}

func TestOwnWritesAreSeenWithoutACache(t *testing.T) {
	t.Parallel()
	f := behind(t, func(c *alias.Config) { c.NoCache = true })
	f.learns(t, chat)
	for range 3 {
		f.resolves(t, chat, "ta disken", "diskning")
	}
	f.resolves(t, chat, "pant", "pantning")
	means(t, f, "diskning", 0) // Get is consistent whatever was written
}

func TestOwnWritesAreSeenAfterOtherReads(t *testing.T) {
	t.Parallel()
	f := behind(t, func(c *alias.Config) { c.CacheScopes = 1 })
	f.learns(t, chat)
	for range 3 {
		f.resolves(t, chat, "ta disken", "diskning")
		f.resolves(t, "another", "ta disken", "")
	}
}

func TestOwnWritesAreSeenAfterMoreWritesThanAreRemembered(t *testing.T) {
	t.Parallel()
	f := behind(t, func(c *alias.Config) { c.CacheScopes = 1 })
	for _, scope := range []string{chat, "another", "a third"} {
		f.learns(t, scope)
	}
	for _, scope := range []string{chat, "another", "a third"} {
		f.resolves(t, scope, "ta disken", "diskning")
	}
}

func TestSeedsAreSeen(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*alias.Config){
		"in memory":         func(*alias.Config) {},
		"without a cache":   func(c *alias.Config) { c.NoCache = true },
		"behind other ones": func(c *alias.Config) { c.CacheScopes = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := behind(t, change)
			done, err := f.Seed(t.Context(), chat, map[string]string{"ta disken": "diskning"})
			if want := (alias.Seeded{Created: 1}); err != nil || done != want {
				t.Fatalf("Seed: %+v, %v", done, err)
			}
			for range 2 {
				f.resolves(t, "another", "ta disken", "")
				f.resolves(t, chat, "ta disken", "diskning")
			}
		})
	}
}

// The book that Seed completes and leaves in memory holds what was written
// before.
func TestSeedSeesWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	f := behind(t, nil)
	f.learns(t, chat)
	cost := f.db.Meter(func() {
		done, err := f.Seed(t.Context(), chat, map[string]string{"ta disken": "x", "dammsuga": "dammsugning"})
		if want := (alias.Seeded{Created: 1, Kept: 1}); err != nil || done != want {
			t.Errorf("Seed: %+v, %v", done, err)
		}
	})
	cost.Want(t, price(2, 1, 2))
	f.resolves(t, chat, "ta disken", "diskning")
	f.resolves(t, chat, "pant", "pantning")
	f.resolves(t, chat, "dammsuga", "dammsugning")
}

// After the TTL reads are as cheap as before.
func TestReadsAreConsistentForTheTTL(t *testing.T) {
	t.Parallel()
	f := open(t)
	now := monday
	f.Store = f.another(t, func(c *alias.Config) {
		c.Now = func() time.Time { return now }
		c.NoCache, c.CacheTTL = true, time.Minute
	})
	f.learns(t, chat)
	read := func() { f.resolves(t, chat, "ta disken", "diskning") }
	f.db.Meter(read).Want(t, price(1, 1, 0))
	now = now.Add(time.Minute - 1)
	f.db.Meter(read).Want(t, price(1, 1, 0))
	now = now.Add(1)
	f.db.Meter(read).Want(t, price(1, 0.5, 0))
}

// A Seed that had nothing to write does not make later reads dearer.
func TestSeedOfKnownPhrasesIsNoWrite(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(t, golden(t, "older"))
	f.Store = f.another(t, func(c *alias.Config) { c.NoCache = true })
	if done, err := f.Seed(t.Context(), chat, map[string]string{"pant": "x"}); err != nil || done.Kept != 1 {
		t.Fatalf("Seed: %+v, %v", done, err)
	}
	f.db.Meter(func() { f.resolves(t, chat, "pant", "pantning") }).Want(t, price(1, 0.5, 0))
}

// Later questions see what a Refresh returned, even if another read of the
// scope began after it, ended before it, and has missed something.
func TestOvertakenRefreshIsSeen(t *testing.T) {
	t.Parallel()
	overtake := map[string]func(context.Context, *alias.Store) error{
		"Refresh": func(ctx context.Context, s *alias.Store) error { _, err := s.Refresh(ctx, chat); return err },
		"Seed":    func(ctx context.Context, s *alias.Store) error { _, err := s.Seed(ctx, chat, nil); return err },
	}
	for name, overtake := range overtake {
		for _, warm := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " warm ", warm), func(t *testing.T) {
				t.Parallel()
				f := behind(t, nil)
				reader := fixture{f.another(t, nil), f.db, f.table}
				if warm {
					reader.resolves(t, chat, "pant", "pantning")
				}
				held, release := make(chan struct{}), make(chan struct{})
				f.db.Inject(dynamotest.Fault{Do: dynamotest.Before(func() { close(held); <-release }), Op: "Query"})
				refreshed := make(chan int)
				go func() {
					all, err := reader.Refresh(t.Context(), chat)
					if err != nil {
						t.Error(err)
					}
					refreshed <- len(all)
				}()
				<-held
				if err := overtake(t.Context(), reader.Store); err != nil {
					t.Error(err)
				}
				f.learns(t, chat) // another Store
				close(release)
				if got := <-refreshed; got != 2 {
					t.Errorf("Refresh: %d aliases, want 2", got)
				}
				cost := f.db.Meter(func() { reader.resolves(t, chat, "ta disken", "diskning") })
				if cost.ByOp["Query"] != 1 {
					t.Errorf("%v: nothing overtook it", cost)
				}
			})
		}
	}
}

// The same holds for adopted and erased rows.
func TestAdoptedAndErasedRowsAreSeen(t *testing.T) {
	t.Parallel()
	for _, noCache := range []bool{false, true} {
		db := dynamotest.New(t, nil)
		f := fixture{db: db, table: db.Name("homeops")}
		f.Store = f.another(t, func(c *alias.Config) { c.NoCache = noCache })
		recordtest.Create(t, db.Client(), f.Table())
		f.write(t, with(golden(t, "older"), map[string]any{"sk": s("PANT")}))
		f.resolves(t, chat, "pant", "pantning")
		if _, err := db.Server().HoldReads(f.table); err != nil {
			t.Fatal(err)
		}
		f.adopts(t, 1)
		for range 2 {
			if all, err := f.All(t.Context(), chat); err != nil || len(all) != 1 || all[0].Phrase != "pant" {
				t.Errorf("All: %v, %v", all, err)
			}
		}
		erased(writer{t, f}, 1)
		for range 2 {
			f.resolves(t, chat, "pant", "")
		}
	}
}
