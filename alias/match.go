package alias

import "context"

// Match is a phrase found in a text.
type Match struct {
	Alias
	// Start and End are byte offsets: text[Start:End] is the phrase as the text
	// spells it, and Phrase is the phrase as it is stored.
	Start, End int
}

// Match finds the phrases of the scope's book in a text. It reads from left to
// right, takes the longest phrase at each position, and goes on after that
// phrase. So matches never overlap, and "rain coat" hides "coat". Phrases begin
// and end where words do: "coat" is found in "coat, please" and "(coat)", but
// not in "coats". An emoji, with its skin tone and everything that is joined to
// it, is a word of its own. In scripts that put no spaces between words (Han,
// Hiragana, Thai, Lao, Khmer, Myanmar), every letter is a word of its own.
//
// Price: 1 request, 0.5 RCU. Match costs as much as [Store.All]: 0 requests if
// the scope's book is in memory.
func (s *Store) Match(ctx context.Context, scope, text string) ([]Match, error) {
	b, err := s.book(ctx, "Match", scope, false)
	if err != nil {
		return nil, err
	}
	return b.match(text), nil
}

// match tries the lengths of all phrases, longest first, at each position where
// a phrase may begin.
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
		end := at + len(a.Phrase)
		found = append(found, Match{Alias: a, Start: f.cut[at], End: f.cut[end]})
		at = end
	}

	return found
}

func (b *book) longest(f folded, at int) (Alias, bool) {
	if f.cut[at] == noCut {
		return Alias{}, false
	}

	for _, length := range b.lengths {
		end := at + length
		if end > len(f.text) || f.cut[end] == noCut {
			continue
		}
		if a, ok := b.find(f.text[at:end]); ok {
			return a, true
		}
	}
	return Alias{}, false
}
