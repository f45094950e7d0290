package alias_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for phrase, want := range map[string]string{
		"  Ta \t\n disken ":             "ta disken",
		"tva\u0308tt":                   "tvätt",      // a + diaeresis
		"A\u030ak":                      "åk",         // A + ring
		"\u212bk":                       "åk",         // the sign for ångström
		"\u00a0disk\u2003torka\u3000":   "disk torka", // no-break, em and ideographic space
		"Stra\u00dfe":                   "strasse",
		"\u0130stanbul":                 "i\u0307stanbul",
		"di\u200bsk\ufeff":              "disk", // zero-width space, byte order mark
		"❤\ufe0f":                       "❤",
		"👨\u200d👩\u200d👧":               "👨👩👧",
		"a\u200b\u030a":                 "å", // the mark belongs to the letter, whatever was between
		"\ufb01xa":                      "fixa",
		"\ufffd":                        "\ufffd", // a character like any other
		"\u1100\u1161":                  "가",      // Hangul composes across its letters
		strings.Repeat("x", 1024) + " ": strings.Repeat("x", 1024),
	} {
		got, err := alias.Normalize(phrase)
		if err != nil || got != want {
			t.Errorf("Normalize(%q) = %q, %v; want %q", phrase, got, err, want)
		}
	}
}

// Normal form 2, character by character: these are dropped, their neighbours
// are not.
func TestNormalizeDropsWhatShowsNothing(t *testing.T) {
	t.Parallel()
	for _, bounds := range [][2]rune{
		{0xad, 0xad},
		{0x34f, 0x34f},
		{0x61c, 0x61c},
		{0x115f, 0x1160},
		{0x180b, 0x180f},
		{0x200b, 0x200f},
		{0x202a, 0x202e},
		{0x2060, 0x206f},
		{0x2800, 0x2800},
		{0x3164, 0x3164},
		{0xfe00, 0xfe0f},
		{0xfeff, 0xfeff},
		{0xffa0, 0xffa0},
		{0xe0000, 0xe007f},
		{0xe0100, 0xe01ef},
	} {
		for r := bounds[0]; r <= bounds[1]; r++ {
			for _, word := range []string{"disk", "葛城"} {
				letters := []rune(word)
				text := string(letters[0]) + string(r) + string(letters[1:]) + string(r)
				if got, err := alias.Normalize(text); err != nil || got != word {
					t.Errorf("%U: %+q, %v", r, got, err)
				}
			}
			if got, err := alias.Normalize(string(r)); err == nil {
				t.Errorf("%U alone: %+q; want bad input", r, got)
			}
		}
		for _, r := range []rune{bounds[0] - 1, bounds[1] + 1} {
			if got, err := alias.Normalize("di" + string(r) + "sk"); err != nil || got == "disk" {
				t.Errorf("%U: %+q, %v; want it to stay", r, got, err)
			}
		}
	}
}

// Tags stay only if they spell a region behind a black flag.
func TestNormalizeKeepsFlagsOfRegions(t *testing.T) {
	t.Parallel()
	const scotland, wales = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"
	for phrase, want := range map[string]string{
		scotland:                          scotland,
		"heja " + wales + " Heja":         "heja " + wales + " heja",
		"🏴\U000e007f":                     "🏴", // spells nothing
		"🏴\U000e0067\U000e0062":           "🏴", // never ends
		"🏴\U000e0067\U000e0041\U000e007f": "🏴", // no region has capital letters
		"🏁\U000e0067\U000e0062\U000e007f": "🏁",
		scotland + "\U000e0067":           scotland,
		"🏴\u200b" + scotland[len("🏴"):]:   "🏴",
	} {
		if got, err := alias.Normalize(phrase); err != nil || got != want {
			t.Errorf("Normalize(%+q) = %+q, %v; want %+q", phrase, got, err, want)
		}
	}
}

func TestNormalizeRefuses(t *testing.T) {
	t.Parallel()
	for name, phrase := range map[string]string{
		"empty":             "",
		"nothing visible":   "\u200b\ufe0f\u00ad",
		"a control":         "disk\x07",
		"NUL":               "di\x00sk",
		"no UTF-8":          "disk\xff",
		"half a surrogate":  "\xed\xa0\x80",
		"longer than a key": strings.Repeat("å", 513),
	} {
		_, err := alias.Normalize(phrase)
		recordtest.WantBad(t, err, "alias", "Phrase", name)
	}
}

// Laws: normal forms are fixed points and valid keys; texts that are equivalent
// in Unicode have the same normal form.
func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{
		"Ta  disken", "A\u030a", "\u0130", "ß\u0345\u0301", "👨\u200d👩", "\u1100\u1161\u11a8", "❤\ufe0f", "\xff",
		"α\u0345\u0301", "\u1fb3", " \u030a", "\u2000\u2001x", strings.Repeat("\u0301", 70), "a" + strings.Repeat("\u0316\u0301", 40),
		"\u0149", "\u01f0", "\u0390", "\u1e9e", "\U0001D15E", "\u2126\u212a", "q\u0323\u0307", "\u034f\u0301\u0316",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, phrase string) {
		normal, err := alias.Normalize(phrase)
		if err != nil {
			return
		}
		if again, err := alias.Normalize(normal); err != nil || again != normal {
			t.Errorf("Normalize(%q) = %q, and of that %q, %v", phrase, normal, again, err)
		}
		if !utf8.ValidString(normal) || normal == "" || len(normal) > 1024 ||
			strings.TrimSpace(normal) != normal || strings.Contains(normal, "  ") {
			t.Errorf("Normalize(%q) = %q is no sound key", phrase, normal)
		}
		if marks(phrase) {
			return
		}
		if !norm.NFC.IsNormalString(normal) {
			t.Errorf("Normalize(%q) = %q is not NFC", phrase, normal)
		}
		for name, form := range map[string]norm.Form{"NFD": norm.NFD, "NFC": norm.NFC} {
			if same, err := alias.Normalize(form.String(phrase)); err != nil || same != normal {
				t.Errorf("Normalize(%q) = %q, of its %s %q, %v", phrase, normal, name, same, err)
			}
		}
	})
}

// marks reports whether the text holds more marks in a row than Unicode's
// stream-safe format allows; x/text breaks such sequences.
func marks(text string) bool {
	run := 0
	for _, r := range norm.NFKD.String(text) {
		if norm.NFD.PropertiesString(string(r)).CCC() == 0 {
			run = 0
			continue
		}
		if run++; run > 20 {
			return true
		}
	}
	return false
}

// Laws: the normal form of every character is a fixed point, alone and under
// marks that reorder, compose and fold, and the same in either case.
func TestNormalizeEveryCharacter(t *testing.T) {
	t.Parallel()
	for r := ' '; r <= unicode.MaxRune; r++ {
		if !unicode.IsGraphic(r) || unicode.In(r, unicode.Han, unicode.Hangul, unicode.Tangut) {
			continue // many, with neither case nor marks
		}
		for _, marks := range []string{"", "\u0345\u0323\u0301"} {
			normal, err := alias.Normalize(string(r) + marks)
			if err != nil {
				continue // white space, what shows nothing
			}
			if again, err := alias.Normalize(normal); err != nil || again != normal {
				t.Errorf("%U%+q: %+q, and of that %+q, %v", r, marks, normal, again, err)
			}
			if !norm.NFC.IsNormalString(normal) {
				t.Errorf("%U%+q: %+q is not NFC", r, marks, normal)
			}
			other := unicode.SimpleFold(r)
			if r == '\u0345' || other == '\u0345' { // a mark in one case, a letter in the other
				continue
			}
			if folded, err := alias.Normalize(string(other) + marks); err != nil || folded != normal {
				t.Errorf("%U%+q: %+q, but of %U %+q, %v", r, marks, normal, other, folded, err)
			}
		}
	}
}
