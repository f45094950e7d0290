package alias

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
)

// seedsAtOnce bounds the requests that Seed has under way.
const seedsAtOnce = 8

// unknown: nothing was ever known of the phrase, not even that it was
// forgotten.
var unknown = expression{
	condition: "attribute_not_exists(#pk)",
	names:     item.Names(attrPK),
}

// Seeded is what a Seed did.
type Seeded struct {
	Created int // phrases that were not in the book
	Kept    int // phrases that were, whatever they stand for, or were forgotten
}

// Seed writes the vocabulary an application brings along, phrase to name, as
// far as the scope's book lacks it: what was learned, corrected or forgotten
// stays so, and so does what stands in an older system's spelling. It may be
// called at every start, by many processes at once.
//
// It goes on past failures and returns an [*event.LeftoverError] that
// names each phrase not written as it was given; calling again writes just those. Bad input and two
// spellings of one phrase with two names are refused before anything is
// written.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. Of one new phrase: the book is read as by
// [Store.All], then each phrase it lacks is a request of 2 WCU, 8 at a time.
// Of phrases all known, nothing is written.
func (s *Store) Seed(ctx context.Context, scope string, seeds map[string]string) (Seeded, error) {
	planned, err := s.plan(scope, seeds)
	if err != nil {
		return Seeded{}, err
	}
	// The rows that stand in the end are known, so nobody need read them
	// again: until then all who ask for the book wait for this flight.
	f, b := s.cache.begin(scope)
	var after *book
	var wrote bool
	defer func() { s.cache.end(scope, f, after, wrote) }()
	if b == nil {
		if b, err = s.fetch(ctx, scope, s.cache.wrote(scope)); err != nil {
			return Seeded{}, s.wrap("Seed", err)
		}
	}
	lacking := slices.DeleteFunc(planned, func(s seed) bool { return b.has(s.phrase) })
	wrote = len(lacking) > 0
	s.plantAll(ctx, lacking)
	done, rows, left := harvest(lacking)
	done.Kept += len(planned) - len(lacking)
	if left != nil {
		return done, &event.LeftoverError{Leftovers: left}
	}
	after = newBook(append(slices.Clone(b.rows), rows...), b.read)
	return done, nil
}

// harvest sums up what became of the seeds.
func harvest(seeds []seed) (done Seeded, rows []row, left []event.Leftover) {
	for _, seed := range seeds {
		switch {
		case seed.err != nil:
			left = append(left, event.Leftover{Key: seed.given, Err: seed.err})
			continue
		case seed.created:
			done.Created++
		default:
			done.Kept++
		}
		rows = append(rows, seed.stands)
	}
	slices.SortFunc(left, func(a, b event.Leftover) int { return cmp.Compare(a.Key, b.Key) })
	return done, rows, left
}

// seed is one phrase and what became of it.
type seed struct {
	place
	given, name string
	stands      row // this one or, where another writer was faster, that one's
	created     bool
	err         error
}

// plan returns the seeds by phrase, each phrase once.
func (s *Store) plan(scope string, seeds map[string]string) ([]seed, error) {
	if _, err := s.partition(scope); err != nil {
		return nil, err
	}
	planned := map[string]seed{}
	for _, given := range slices.Sorted(maps.Keys(seeds)) {
		name := seeds[given]
		p, err := s.place(scope, given)
		if err != nil {
			return nil, err
		}
		if err := check.SortKey(pkg, "Name", name); err != nil {
			return nil, err
		}
		if other, ok := planned[p.phrase]; ok && other.name != name {
			return nil, event.BadInput(pkg, "seeds", "give two names to one phrase, in two spellings")
		}
		planned[p.phrase] = seed{place: p, given: given, name: name}
	}
	return slices.SortedFunc(maps.Values(planned), func(a, b seed) int { return cmp.Compare(a.phrase, b.phrase) }), nil
}

// plantAll writes the seeds side by side. One that fails stops no other.
func (s *Store) plantAll(ctx context.Context, seeds []seed) {
	var group errgroup.Group
	group.SetLimit(seedsAtOnce)
	for i := range seeds {
		group.Go(func() error {
			seeds[i].plant(ctx, s)
			return nil
		})
	}
	_ = group.Wait() // each seed holds its own error
}

func (seed *seed) plant(ctx context.Context, s *Store) {
	it := seed.newItem(seed.name, FromSeed, s.cfg.Now())
	got, err := s.plant(ctx, seed.place, it)
	if err == nil && !got.refused {
		seed.created = true
		got.by, err = s.decode("Seed", seed.scope, it)
	}
	seed.stands, seed.err = got.by, err
}
