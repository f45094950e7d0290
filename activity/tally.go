package activity

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// Tally is how often an actor did something of one name and kind.
type Tally struct {
	Actor, Name, Kind string
	Count             int
}

// Tally counts the same activities as [Store.Count], but separately for each
// actor, name and kind: for the summary of a week, say. The result has one
// Tally for each combination that occurs, sorted by actor, name and kind. Names
// are in NFC.
//
// Price: 1 request, 0.5 RCU. The price is that of [Store.Count] with the same
// Filter.
func (s *Store) Tally(ctx context.Context, f Filter) ([]Tally, error) {
	counts := map[Tally]int{}
	for a, err := range s.counted(ctx, "Tally", f, append(countAttributes[:len(countAttributes):len(countAttributes)], attrActor, attrKind)) {
		if err != nil {
			return nil, err
		}
		counts[Tally{Actor: a.Actor, Name: canonical(a.Name), Kind: a.Kind}]++
	}

	all := slices.SortedFunc(maps.Keys(counts), func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})

	for i := range all {
		all[i].Count = counts[all[i]]
	}
	return all, nil
}
