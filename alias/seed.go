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

// seedsAtOnce bounds the requests that Seed sends at a time.
const seedsAtOnce = 8

// unknown means that the phrase never had an item, not even as a forgotten one.
var unknown = expression{
	condition: "attribute_not_exists(#pk)",
	names:     item.Names(attrPK),
}

// Seed adds to the scope's book those phrases of the application's own
// vocabulary that the book lacks. seeds maps each phrase to its name. Seed does
// not change phrases that were learned, corrected or forgotten, or phrases in
// an older system's spelling. It returns the number of phrases that it wrote,
// without a phrase that it found after the reply to its write was lost. Many processes may call Seed at once, each of
// them at every start.
//
// If some phrases fail, Seed goes on with the others. At its end it returns an
// [*event.LeftoverError] that names each phrase that failed, as the caller spelled
// it. The reason may be bad input, two spellings of one phrase with two names, or
// throttling. All other phrases are in the book. Another call writes only the
// leftovers.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. This is for one new phrase. Seed reads the
// book, as [Store.All] does. Then it writes the phrases that the book lacks, 8
// at a time. Each takes 1 request and 2 WCU. If the book has all phrases, Seed
// writes nothing.
func (s *Store) Seed(ctx context.Context, scope string, seeds map[string]string) (created int, _ error) {
	if _, err := s.partition(scope); err != nil {
		return 0, check.Positional(err)
	}
	planned, bad := s.plan(scope, seeds)
	if len(bad) > 0 && len(planned) == 0 {
		return 0, leftover(bad)
	}
	// After the writes all rows are known, so nobody needs to read them again:
	// until then all callers that ask for the book wait for this flight.
	f, b := s.cache.begin(scope)
	var after *book
	var wrote bool
	defer func() { s.cache.end(scope, f, after, wrote) }()
	if b == nil {
		var err error
		if b, err = s.fetch(ctx, scope, s.cache.wrote(scope)); err != nil {
			return 0, s.wrap("Seed", err)
		}
	}
	lacking := slices.DeleteFunc(planned, func(s seed) bool { return b.has(s.phrase) })
	wrote = len(lacking) > 0
	s.plantAll(ctx, lacking)
	created, rows, left := harvest(lacking)
	if left == nil {
		after = newBook(append(slices.Clone(b.rows), rows...), b.read)
	}
	return created, leftover(append(left, bad...))
}

// leftover is the error that names the leftovers, nil without any.
func leftover(left []event.Leftover) error {
	if len(left) == 0 {
		return nil
	}
	slices.SortFunc(left, func(a, b event.Leftover) int { return cmp.Compare(a.Key, b.Key) })
	return &event.LeftoverError{Leftovers: left}
}

// harvest sums up the results of the seeds.
func harvest(seeds []seed) (created int, rows []row, left []event.Leftover) {
	for _, seed := range seeds {
		if seed.err != nil {
			left = append(left, event.Leftover{Key: seed.given, Err: seed.err})
			continue
		}
		if seed.created {
			created++
		}
		rows = append(rows, seed.stands)
	}
	return created, rows, left
}

// seed is one phrase and its result.
type seed struct {
	place
	given, name string
	stands      row // this one or, if another writer was faster, its row
	created     bool
	err         error
}

// plan returns the seeds by phrase, each phrase once, and those that are bad
// input. If spellings of one phrase have two names, all of them are bad input.
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
			bad = append(bad, event.Leftover{Key: seed.given, Err: event.BadInput(pkg, "Phrase", "is given twice, in spellings that stand for different names")})
		}
	}
	return planned, bad
}

// plantAll writes the seeds side by side. A failure does not stop the others.
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
