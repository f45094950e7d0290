package words_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/examples/homeops/words"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, as, keys string }{
		{"", "", ""},
		{" ... – !? \u200b \u0308", "", ""},
		{"Jag har DISKAT, tack!", "Jag har DISKAT tack", "jag har diskat tack"},
		{"diskat,tvättat/städat", "diskat tvättat städat", "diskat tvättat städat"},
		{"sta\u0308dat di\u00adskat", "sta\u0308dat di\u00adskat", "städat diskat"},
		{"haven’t haven't", "haven’t haven't", "haven't haven't"},
		{"'diskat' ’diskat’ ”diskat” «diskat»", "diskat diskat diskat diskat", "diskat diskat diskat diskat"},
		{"Åsa-Märta Åsa - Märta", "Åsa-Märta Åsa Märta", "åsa-märta åsa märta"},
		{"Anna-Karin’s -- 'a'-b", "Anna-Karin’s a b", "anna-karin's a b"},
		{"_diskat_ homeops_bot -x-", "diskat homeops_bot x", "diskat homeops_bot x"},
		{"diskat👍🏽 🧺 ❤️x", "diskat 👍🏽 🧺 ❤️ x", "diskat 👍🏽 🧺 ❤ x"},
		{"👨‍👩‍👧 🇸🇪", "👨‍👩‍👧 🇸🇪", "👨👩👧 🇸🇪"},
		{"Anna, Bo & Åsa-Märta!", "Anna Bo Åsa-Märta", "anna bo åsa-märta"},
		{"caf\u0065\u0301.", "caf\u0065\u0301", "café"},
		{"a\xffb", "a \xff b", "a \ufffd b"},
		{"kl 8.30", "kl 8 30", "kl 8 30"},
		{"STRASSE Straße", "STRASSE Straße", "strasse strasse"},
	} {
		var as []string
		for _, w := range words.Of(tc.text) {
			as = append(as, w.Text)
		}
		if diff := cmp.Diff(strings.Fields(tc.as), as); diff != "" && len(as)+len(tc.as) > 0 {
			t.Errorf("%q:\n%s", tc.text, diff)
		}
		if diff := cmp.Diff(strings.Fields(tc.keys), words.Keys(tc.text)); diff != "" && len(tc.keys) > 0 {
			t.Errorf("%q:\n%s", tc.text, diff)
		}
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	for _, w := range words.Of("1 diskat 🧺🧺 ❤️") {
		if want := strings.ContainsAny(w.Text, "🧺❤"); w.Picture != want {
			t.Errorf("%q: %v", w.Text, w.Picture)
		}
	}
}

// A phrase that people taught keeps its punctuation; a list of words has none.
func TestJoin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"  Tog ut,  soporna! ": "Tog ut soporna",
		"tv/radio och R&B!":    "tv/radio och R&B",
		"mom’s dishes":         "mom’s dishes",
		"diskat👍":              "diskat👍",
		"":                     "",
	} {
		if got := words.Join(words.Of(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := words.Join(append(words.Of("tog"), words.Of("ut soporna")...)); got != "tog ut soporna" {
		t.Errorf("of two texts: %q", got)
	}
}

func TestBare(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"pant": "pant", " pant ": "pant", "”pant”": "pant", " «ta ut Fido» ": "ta ut Fido", "‘pant’": "pant", "„pant“": "pant", "mom’s": "mom’s", "”": "",
	} {
		if got := words.Bare(text); got != want || words.Quoted(text) != (want != strings.TrimSpace(text)) {
			t.Errorf("%q: %q, quoted %v", text, got, words.Quoted(text))
		}
	}
}

// Law: a text has the same words as its normal form, under which phrases are
// stored.
func FuzzKeys(f *testing.F) {
	for _, text := range []string{"Jag har DISKAT!", "sta\u0308dat", "di\u200bskat", "👨‍👩‍👧", "haven’t", "x\u0308 \u0308", "STRASSE Straße", "ŉ ς Σ ﬁ", "1️⃣", "a-\u200bb", "❤️", "a\xff", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range text {
			// Package alias mends some letters by itself, and one mark becomes a
			// letter when it is folded.
			if r >= '\u13a0' && r <= '\u13fd' || r >= '\uab70' && r <= '\uabbf' || r == '\u0345' {
				return
			}
		}
		keys := words.Keys(text)
		normal, err := alias.Normalize(text)
		if err != nil {
			return // not a phrase
		}
		if diff := cmp.Diff(keys, words.Keys(normal)); diff != "" {
			t.Errorf("%q and %q have other words:\n%s", text, normal, diff)
		}
		if joined := words.Join(words.Of(text)); joined != "" {
			if diff := cmp.Diff(keys, words.Keys(joined)); diff != "" {
				t.Errorf("%q and %q have other words:\n%s", text, joined, diff)
			}
		}
	})
}
