package alias_test

import (
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

func (f fixture) resolves(t testing.TB, scope, phrase, want string) {
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

func TestSeedsAreSeen(t *testing.T) {
	t.Parallel()
	for _, noCache := range []bool{false, true} {
		f := behind(t, func(c *alias.Config) { c.NoCache = noCache })
		f.KeepOneBook()
		done, err := f.Seed(t.Context(), chat, map[string]string{"ta disken": "diskning"})
		if want := 1; err != nil || done != want {
			t.Fatalf("Seed: %d, %v", done, err)
		}
		for range 2 { // a book of another scope takes its place in memory
			f.resolves(t, "another", "ta disken", "")
			f.resolves(t, chat, "ta disken", "diskning")
		}
	}
}

// Seed reads what was written before, and the reads after it see its seeds.
func TestSeedSeesWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	f := behind(t, nil)
	f.learns(t, chat)
	cost := f.db.Meter(func() {
		done, err := f.Seed(t.Context(), chat, map[string]string{"ta disken": "x", "dammsuga": "dammsugning"})
		if want := 1; err != nil || done != want {
			t.Errorf("Seed: %d, %v", done, err)
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
	f.write(t, golden(t, "forgotten"))
	if done, err := f.Seed(t.Context(), chat, map[string]string{"pant": "x", "ta disken": "x"}); err != nil || done != 0 {
		t.Fatalf("Seed: %d, %v", done, err)
	}
	f.db.Meter(func() { f.resolves(t, chat, "pant", "pantning") }).Want(t, price(1, 0.5, 0))
}

// The same holds for erased rows.
func TestErasedRowsAreSeen(t *testing.T) {
	t.Parallel()
	for _, noCache := range []bool{false, true} {
		f := behind(t, func(c *alias.Config) { c.NoCache = noCache })
		f.resolves(t, chat, "pant", "pantning")
		erased(writer{t, f}, 1)
		for range 2 {
			f.resolves(t, chat, "pant", "")
		}
	}
}
