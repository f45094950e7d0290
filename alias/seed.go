package alias

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

// seedsAtOnce bounds the requests that Seed sends at a time.
const seedsAtOnce = 8

// sow writes a seed if its phrase never had an item, not even as a forgotten one.
var sow = expression{naming + "#confirmations = :zero", "attribute_not_exists(#pk)"}

// Seed adds to the scope's book those phrases of the application's own vocabulary that
// the book lacks. seeds maps each phrase to its name. Seed does not change phrases that
// were seeded, learned, corrected or forgotten. It returns how many phrases it
// wrote. A phrase that it found after the reply to its write was lost does not count.
// Many processes may call Seed at once, each of them at every start.
//
// If some phrases fail, Seed goes on with the others. At its end it returns an
// [*event.LeftoverError] that names each phrase that failed, as the caller spelled it.
// The reason may be bad input, two spellings of one phrase with two names, or
// throttling. All other phrases are in the book, or stay forgotten. Another call writes
// only the leftovers.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. This is for one new phrase. Seed reads the
// book, as [Store.All] does. Then it writes the phrases that the book lacks, 8
// at a time. Each takes 1 request and 2 WCU. If the book has all phrases, Seed
// writes nothing.
func (s *Store) Seed(ctx context.Context, scope string, seeds map[string]string) (created int, _ error) {
	if _, _, err := s.partitions(scope); err != nil {
		return 0, check.Positional(err)
	}

	planned, left := s.plan(scope, seeds)
	if len(planned) == 0 {
		return 0, leftover(left)
	}

	b, err := s.book(ctx, "Seed", scope, false)
	if err != nil {
		return 0, err
	}

	var mu sync.Mutex // guards created and left
	var group errgroup.Group
	group.SetLimit(seedsAtOnce)

	for _, seed := range planned {
		if _, known := b.entries[seed.phrase]; known {
			continue
		}

		group.Go(func() error { // a failure does not stop the others
			_, refused, err := s.update(ctx, seed.place, sow, s.naming(seed.place, seed.name, FromSeed))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				left = append(left, event.Leftover{Key: seed.given, Err: s.wrap("Seed", err)})
			case !refused:
				created++
			}
			return nil
		})
	}

	_ = group.Wait() // left has the errors
	return created, leftover(left)
}

// leftover is the error that names the leftovers, nil without any.
func leftover(left []event.Leftover) error {
	if len(left) == 0 {
		return nil
	}
	slices.SortFunc(left, func(a, b event.Leftover) int { return cmp.Compare(a.Key, b.Key) })
	return &event.LeftoverError{Leftovers: left}
}

// seed is a phrase of the vocabulary, as the caller spelled it, and its name.
type seed struct {
	place
	given, name string
}

// plan returns each phrase once, and the spellings that are bad input. If
// spellings of one phrase have two names, all of them are bad input.
func (s *Store) plan(scope string, seeds map[string]string) (planned []seed, bad []event.Leftover) {
	spellings := map[string][]seed{} // by phrase
	for given, name := range seeds {
		p, err := s.place(scope, given)
		if err = cmp.Or(err, check.SortKey(pkg, "Name", name)); err != nil {
			bad = append(bad, event.Leftover{Key: given, Err: err})
			continue
		}
		spellings[p.phrase] = append(spellings[p.phrase], seed{p, given, name})
	}

	for _, same := range spellings {
		if !slices.ContainsFunc(same, func(other seed) bool { return other.name != same[0].name }) {
			planned = append(planned, same[0])
			continue
		}
		for _, seed := range same {
			bad = append(bad, event.Leftover{Key: seed.given, Err: event.BadInput(pkg, "Phrase", "is given twice, in spellings that stand for different names")})
		}
	}
	return planned, bad
}
