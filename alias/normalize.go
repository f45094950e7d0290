package alias

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

// Normalize returns the form in which phrases are stored and compared. This
// form is in Unicode's NFC and case folded. It has one space for every run of
// white space, and no space at its ends. It does not have invisible characters
// (zero-width and directional marks, soft hyphens, variation selectors,
// fillers, stray tags). Letters keep their marks: "båda" and "bada" are two
// words. Normalize is idempotent.
//
// This is normal form 2. Form 1 kept some invisible characters: [Store.Backfill]
// moves its rows.
//
// The error is an [*event.InputError] if the phrase has no visible character,
// has a control character other than white space, is not UTF-8, or has a
// normal form longer than a sort key may be.
func Normalize(phrase string) (string, error) {
	normal, err := normalize(phrase)
	return normal, check.Positional(err)
}

func normalize(phrase string) (string, error) {
	if err := check.Text(pkg, "Phrase", phrase); err != nil {
		return "", err
	}
	text := strings.Trim(fold(phrase).text, " ")
	if text == "" {
		return "", event.BadInput(pkg, "Phrase", "must hold a visible character")
	}
	if strings.ContainsRune(text, barrier) {
		return "", event.BadInput(pkg, "Phrase", "must not hold control characters")
	}
	return text, check.SortKey(pkg, "Phrase", text)
}

// barrier replaces in a folded text what a phrase cannot hold: control
// characters and bytes that are not UTF-8.
const barrier = 0

// folded is a text in normal form, except for white space at its ends.
type folded struct {
	text string
	// cut has an element for each byte of text and one for its end: the offset
	// in the original at which a phrase may begin or end there, or noCut.
	cut []int
}

const noCut = -1

// fold brings a text into normal form, character by character of the original:
// a letter with its marks, or another single character. So each has its place
// in both texts.
func fold(text string) folded {
	kept, from := strip(text)
	out := make([]byte, 0, len(kept))
	cut := make([]int, 0, len(kept)+1)
	caser := cases.Fold() // not to be shared between goroutines

	for at := 0; at < len(kept); {
		next := at + 1
		if alone(kept, at) {
			out = append(out, byte(unicode.ToLower(rune(kept[at]))))
		} else {
			next = at + norm.NFC.NextBoundary(kept[at:], true)
			lowered := caser.Bytes(norm.NFD.Bytes(kept[at:next]))
			out = norm.NFC.Append(out, bytes.Map(cherokee, lowered)...)
		}

		cut = append(cut, from[at])
		for len(cut) < len(out) {
			cut = append(cut, noCut)
		}

		at = next
	}

	f := folded{text: string(out), cut: append(cut, len(text))}
	f.keepWordsWhole()
	return f
}

// alone reports whether the byte is a character without marks: white space, the
// barrier, or ASCII that no character of several bytes follows.
func alone(kept []byte, at int) bool {
	switch c := kept[at]; {
	case c == ' ', c == barrier:
		return true
	case c >= utf8.RuneSelf:
		return false
	}
	return at+1 == len(kept) || kept[at+1] < utf8.RuneSelf
}

// cherokee corrects x/text, which folds Cherokee letters in both directions:
// Unicode folds the small letters to the capital ones, which are older.
func cherokee(r rune) rune {
	switch {
	case r >= '\uab70' && r <= '\uabbf':
		return r - '\uab70' + '\u13a0'
	case r >= '\u13f8' && r <= '\u13fd':
		return r - '\u13f8' + '\u13f0'
	}
	return r
}

// zeroWidthJoiner joins two emoji to one: no phrase begins or ends at it.
const zeroWidthJoiner = '\u200d'

// strip drops invisible characters and joins white space. For each byte that is
// left it returns the offset in the text, or noCut if a joiner was before it.
func strip(text string) (kept []byte, from []int) {
	joined, spelled := false, 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		offset := at
		at += size
		switch {
		case unicode.IsSpace(r):
			joined = false
			if len(kept) > 0 && kept[len(kept)-1] == ' ' {
				continue
			}
			r = ' '
		case r == utf8.RuneError && size == 1, unicode.IsControl(r):
			joined = false
			r = barrier
		case r == blackFlag:
			spelled = at + regionTags(text[at:])
		case showsNothing(r) && at > spelled:
			joined = joined || r == zeroWidthJoiner && joins(kept)
			continue
		}

		if joined {
			offset = noCut
		}

		joined = false
		kept = utf8.AppendRune(kept, r)
		for len(from) < len(kept) {
			from = append(from, offset)
		}
	}

	return kept, from
}

// blackFlag begins the flags of regions such as Scotland: the tags behind it
// spell the region, and they are visible.
const blackFlag = '\U0001F3F4'

// regionTags returns how many bytes at the beginning of the text spell a region
// in tags, with the tag that ends it.
func regionTags(text string) int {
	for at, r := range text {
		switch {
		case r == '\U000E007F' && at > 0:
			return at + utf8.RuneLen(r)
		case r >= '\U000E0030' && r <= '\U000E0039', r >= '\U000E0061' && r <= '\U000E007A':
		default:
			return 0
		}
	}
	return 0
}

// joins reports whether a joiner after the text has something to join. It does
// not at the beginning, and after white space or the barrier.
func joins(kept []byte) bool {
	return len(kept) > 0 && kept[len(kept)-1] != ' ' && kept[len(kept)-1] != barrier
}

// showsNothing reports whether the character is invisible: it only controls how
// its neighbours are laid out or drawn. These are the characters of normal form
// 2: another list would be another form, in which stored phrases have other
// keys.
func showsNothing(r rune) bool {
	switch {
	case r == '\u00ad', // soft hyphen
		r == '\u034f',                // combining grapheme joiner
		r == '\u061c',                // Arabic letter mark
		r == '\u115f', r == '\u1160', // Hangul fillers
		r == '\u3164', r == '\uffa0', // the same of compatibility
		r == '\u2800',                          // blank Braille pattern
		r >= '\u180b' && r <= '\u180f',         // Mongolian variation selectors and vowel separator
		r >= '\u200b' && r <= '\u200f',         // zero-width space and joiners, directional marks
		r >= '\u202a' && r <= '\u202e',         // directional embedding
		r >= '\u2060' && r <= '\u206f',         // word joiner, invisible operators, isolates
		r >= '\ufe00' && r <= '\ufe0f',         // variation selectors
		r == '\ufeff',                          // byte order mark
		r >= '\U000E0000' && r <= '\U000E007F', // tags; strip keeps those that spell a flag
		r >= '\U000E0100' && r <= '\U000E01EF': // variation selectors of ideographs
		return true
	}
	return false
}

// keepWordsWhole forbids the cuts inside words and emoji. Marks belong to the
// character that they are drawn into, and the letters of flags come in pairs.
func (f *folded) keepWordsWhole() {
	before, half := edge, false // half a flag: the first of its two letters
	for at, r := range f.text {
		if isMark(r) && before != edge {
			f.cut[at], half = noCut, false
			continue
		}
		here := kindOf(r)
		half = here == flag && !half
		if here == word && before == word || here == flag && !half {
			f.cut[at] = noCut
		}
		before = here
	}
}

type kind uint8

const (
	edge kind = iota // white space, barrier, begin of text
	word             // letters, digits, '_'
	flag             // one of the two letters of a flag
	sign             // punctuation, symbols, pictures, and letters of scripts that put no space between words
)

func kindOf(r rune) kind {
	switch {
	case r == ' ', r == barrier:
		return edge
	case r >= '\U0001F1E6' && r <= '\U0001F1FF':
		return flag
	// Scripts without spaces between words. Another list would match other phrases.
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return sign
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.Is(unicode.Pc, r):
		return word
	}
	return sign
}

// isMark reports whether the character is drawn into the one before: combining
// marks, skin tones, and the tags that spell a region's flag.
func isMark(r rune) bool {
	return unicode.IsMark(r) ||
		r >= '\U0001F3FB' && r <= '\U0001F3FF' ||
		r >= '\U000E0020' && r <= '\U000E007F'
}
