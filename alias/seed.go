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
	Kept    int // phrases that were, whatever they stand for, or were forgotten; also one whose put took effect and lost its reply
}

// Seed writes the vocabulary an application brings along, phrase to name, as
// far as the scope's book lacks it: what was learned, corrected or forgotten
// stays so, and so does what stands in an older system's spelling. It may be
// called at every start, by many processes at once.
//
// It goes on past failures and returns an [*event.LeftoverError] that names each
// phrase not written, as it was given, with its reason: bad input, two spellings of
// one phrase with two names, throttling. All others are in the book; calling again
// writes just those.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. Of one new phrase: the book is read as by
// [Store.All], then each phrase it lacks is a request of 2 WCU, 8 at a time.
// Of phrases all known, nothing is written.
func (s *Store) Seed(ctx context.Context, scope string, seeds map[string]string) (Seeded, error) {
	if _, err := s.partition(scope); err != nil {
		return Seeded{}, check.Positional(err)
	}
	planned, bad := s.plan(scope, seeds)
	if len(bad) > 0 && len(planned) == 0 {
		return Seeded{}, leftover(bad)
	}
	// The rows that stand in the end are known, so nobody need read them
	// again: until then all who ask for the book wait for this flight.
	f, b := s.cache.begin(scope)
	var after *book
	var wrote bool
	defer func() { s.cache.end(scope, f, after, wrote) }()
	if b == nil {
		var err error
		if b, err = s.fetch(ctx, scope, s.cache.wrote(scope)); err != nil {
			return Seeded{}, s.wrap("Seed", err)
		}
	}
	lacking := slices.DeleteFunc(planned, func(s seed) bool { return b.has(s.phrase) })
	wrote = len(lacking) > 0
	s.plantAll(ctx, lacking)
	done, rows, left := harvest(lacking)
	done.Kept += len(planned) - len(lacking)
	if left == nil {
		after = newBook(append(slices.Clone(b.rows), rows...), b.read)
	}
	return done, leftover(append(left, bad...))
}

// leftover is the error that names them, if there are any.
func leftover(left []event.Leftover) error {
	if len(left) == 0 {
		return nil
	}
	slices.SortFunc(left, func(a, b event.Leftover) int { return cmp.Compare(a.Key, b.Key) })
	return &event.LeftoverError{Leftovers: left}
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

// plan returns the seeds by phrase, each phrase once, and those that are bad
// input: of spellings of one phrase with two names all are.
func (s *Store) plan(scope string, seeds map[string]string) (planned []seed, bad []event.Leftover) {
	spellings := map[string][]seed{} // by phrase
	for _, given := range slices.Sorted(maps.Keys(seeds)) {
		p, err := s.place(scope, given)
		if err == nil {
			err = check.SortKey(pkg, "Name", seeds[given])
		}
		if err != nil {
			bad = append(bad, event.Leftover{Key: given, Err: err})
			continue
		}
		spellings[p.phrase] = append(spellings[p.phrase], seed{place: p, given: given, name: seeds[given]})
	}
	for _, phrase := range slices.Sorted(maps.Keys(spellings)) {
		same := spellings[phrase]
		last := same[len(same)-1]
		if !slices.ContainsFunc(same, func(other seed) bool { return other.name != last.name }) {
			planned = append(planned, last)
			continue
		}
		for _, seed := range same {
			bad = append(bad, event.Leftover{Key: seed.given, Err: event.BadInput(pkg, "Phrase", "is given another name in another spelling")})
		}
	}
	return planned, bad
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
