// Package words splits texts into words, in one way for all of homeops: for what
// a message says was done, for questions, and for the phrases and names that
// people teach.
//
// A word is a run of letters and digits, in which an apostrophe, a hyphen or an
// underscore may stand: "haven't", "Åsa-Märta". Pictures that follow one another
// are a word of their own. Invisible characters are passed over. All other
// characters separate words.
//
// A word's key is the form that lists of words have: folded as package alias
// folds phrases, with one form of apostrophe and one of hyphen.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Word is a word or a picture of a text.
type Word struct {
	Text    string // as in the text
	Key     string
	Picture bool
	Start   int    // its place in the text, in bytes
	glue    string // what separates it from the next word: a space for any white space
}

// Of returns the words of a text.
func Of(text string) []Word {
	var found []Word
	end := 0 // of the last word
	for at := 0; at < len(text); {
		length, picture := wordAt(text[at:])
		if length == 0 {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
			continue
		}
		if between := text[end:at]; len(found) > 0 && !strings.ContainsFunc(between, unicode.IsSpace) {
			found[len(found)-1].glue = between
		}
		end = at + length
		found = append(found, Word{Text: text[at:end], Key: fold(text[at:end]), Picture: picture, Start: at, glue: " "})
		at = end
	}
	return found
}

// Keys returns the keys of the words of a text.
func Keys(text string) []string {
	var keys []string
	for _, w := range Of(text) {
		keys = append(keys, w.Key)
	}
	return keys
}

// Join makes one text of words. Words that were joined stay joined: "tv/radio".
func Join(words []Word) string {
	var text strings.Builder
	for i, w := range words {
		text.WriteString(w.Text)
		if i+1 < len(words) {
			text.WriteString(w.glue)
		}
	}
	return text.String()
}

// Set returns a list of keys, separated by white space, as a set.
func Set(list string) map[string]bool {
	set := map[string]bool{}
	for _, key := range strings.Fields(list) {
		set[key] = true
	}
	return set
}

const quotes = `"'”“„’‘«»‹›`

// Bare strips quotes and space around a phrase.
func Bare(text string) string { return strings.Trim(strings.TrimSpace(text), quotes) }

// Quoted reports whether a phrase is in quotes.
func Quoted(text string) bool { return Bare(text) != strings.TrimSpace(text) }

// wordAt returns the length of the word at the beginning of the text, 0 if the
// text does not begin with a word.
func wordAt(text string) (length int, picture bool) {
	first, _ := utf8.DecodeRuneInString(text)
	picture = unicode.Is(unicode.So, first)
	belongs := letter
	if picture {
		belongs = pictorial
	} else if !letter(first) {
		return 0, false
	}
	joined := false // by an apostrophe or the like, if a letter follows
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		at += size
		switch {
		case belongs(r):
			length, joined = at, false
		case joined && invisible(r):
		case joined:
			return length, picture
		case invisible(r), unicode.IsMark(r):
			length = at
		case !picture && strings.ContainsRune(joiners, r):
			joined = true
		default:
			return length, picture
		}
	}
	return length, picture
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// pictorial reports whether the character is a picture or a skin tone of one.
func pictorial(r rune) bool {
	return unicode.Is(unicode.So, r) || r >= '\U0001F3FB' && r <= '\U0001F3FF'
}

const (
	apostrophes = "'’"
	hyphens     = "-\u2010\u2011"
	joiners     = apostrophes + hyphens + "_"
)

// invisible reports whether the character only steers how others are drawn.
func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == '\u034f'
}

// fold makes a word's key.
func fold(word string) string {
	word = strings.Map(func(r rune) rune {
		switch {
		case invisible(r):
			return -1
		case strings.ContainsRune(apostrophes, r):
			return '\''
		case strings.ContainsRune(hyphens, r):
			return '-'
		}
		return r
	}, word)
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(word)))
}
