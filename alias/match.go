package alias

import "context"

// Match is a phrase found in a text.
type Match struct {
	Alias
	// Start and End are byte offsets: text[Start:End] is what the text says,
	// and Normalize makes the Phrase of it.
	Start, End int
}

// Match finds the phrases of the scope's book in a text. It reads from left to
// right, takes the longest phrase that begins where it stands, and goes on
// behind it, so that matches never overlap and "dammsuga hallen" hides
// "dammsuga". Phrases begin and end where words do: "disk" is in "disk, tack"
// and "(disk)", not in "diskmaskin". A picture is a word of its own, with its
// skin tone and whatever is joined to it; in scripts without spaces every
// letter is.
//
// Price: 1 request, 0.5 RCU. Warm 0 requests; as [Store.All].
func (s *Store) Match(ctx context.Context, scope, text string) ([]Match, error) {
	b, err := s.book(ctx, "Match", scope)
	if err != nil {
		return nil, err
	}
	return b.match(text), nil
}

// match tries, where a phrase may begin, the lengths there are, longest first.
func (b *book) match(text string) []Match {
	var found []Match
	if len(b.lengths) == 0 {
		return found
	}
	f := fold(text)
	for at := 0; at < len(f.text); {
		a, ok := b.longest(f, at)
		if !ok {
			at++
			continue
		}
		end := at + len(a.normal)
		found = append(found, Match{Alias: a.Alias, Start: f.cut[at], End: f.cut[end]})
		at = end
	}
	return found
}

func (b *book) longest(f folded, at int) (entry, bool) {
	if f.cut[at] == noCut {
		return entry{}, false
	}
	for _, length := range b.lengths {
		end := at + length
		if end > len(f.text) || f.cut[end] == noCut {
			continue
		}
		if a, ok := b.entries[f.text[at:end]]; ok {
			return a, true
		}
	}
	return entry{}, false
}
