package alias

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bookOf makes a book in which each phrase stands for itself.
func bookOf(phrases ...string) *book {
	var rows []row
	for _, phrase := range phrases {
		rows = append(rows, row{Alias: Alias{Phrase: phrase, Name: phrase}})
	}
	return newBook(rows, time.Time{})
}

// found formats each match as "phrase=part of the text".
func found(text string, matches []Match) []string {
	var said []string
	for _, m := range matches {
		said = append(said, m.Phrase+"="+text[m.Start:m.End])
	}
	return said
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		phrases string // by |
		text    string
		want    []string
	}{
		{"nothing known", "", "diska", nil},
		{"only whole words", "disk", "diskmaskin avdisk disk_ disk2 2disk", nil},
		{"beside punctuation", "disk", "(disk), «disk». disk-disk", []string{"disk=disk", "disk=disk", "disk=disk", "disk=disk"}},
		{"before a Swedish ending", "wc|tv", "wc:n och TV:n", []string{"wc=wc", "tv=TV"}},
		{"the longest", "dammsuga|dammsuga hallen|hallen", "dammsuga hallen", []string{"dammsuga hallen=dammsuga hallen"}},
		{"the longest that ends with a word", "dammsuga|dammsuga hall", "dammsuga hallen", []string{"dammsuga=dammsuga"}},
		{"from left to right, not overlapping", "a b|b c d|c", "a b c d", []string{"a b=a b", "c=c"}},
		{"across any white space", "ta disken", "ta\n\t\u00a0disken", []string{"ta disken=ta\n\t\u00a0disken"}},
		{"not across punctuation", "ta disken", "ta, disken", nil},
		{"with punctuation in the phrase", "t-shirt|c++", "T-shirt i C++!", []string{"t-shirt=T-shirt", "c++=C++"}},
		{"marks of their own", "tvätt", "tva\u0308tt och TVA\u0308TT", []string{"tvätt=tva\u0308tt", "tvätt=TVA\u0308TT"}},
		{"not without its marks", "bada", "båda ba\u030ada", nil},
		{"not a letter without its mark", "x", "x\u030a x\u030ay yx\u030a", nil},
		{"not before a letter behind a mark", "x\u030a", "x\u030ay", nil},
		{"nothing shown between", "diska", "di\u200bs\u00adka\ufeff!", []string{"diska=di\u200bs\u00adka\ufeff"}},
		{"not half a letter", "s|f", "ß ﬁ", nil},
		{"pictures", "🧺|disk", "🧺disk🧺 🧺🧺", []string{"🧺=🧺", "disk=disk", "🧺=🧺", "🧺=🧺", "🧺=🧺"}},
		{"a skin tone is the picture's", "👍|👍🏽", "👍🏽 👍🏿 👍", []string{"👍🏽=👍🏽", "👍=👍"}},
		{"not out of a joined picture", "👨|👩|👨👩👧", "👨\u200d👩 👨\u200d👩\u200d👧", []string{"👨👩👧=👨\u200d👩\u200d👧"}},
		{"a joiner at the end joins nothing", "👨|x", "👨\u200d x\u200d", []string{"👨=👨\u200d", "x=x\u200d"}},
		{"a joiner at the beginning joins nothing", "disk|👩", "\u200d\u200ddisk", []string{"disk=disk"}},
		{"nor behind what shows nothing there", "disk|👩", "\u200b\u200d👩", []string{"👩=👩"}},
		{"nor behind white space", "disk|👩", "x \u200ddisk\n\u200d👩 \u200d disk", []string{"disk=disk", "👩=👩", "disk=disk"}},
		{"nor behind a control", "disk", "x\x07\u200ddisk", []string{"disk=disk"}},
		{"a joiner behind a picture joins", "👩|👨", "👨\u200d\u200b👩", nil},
		{"not half of two flags", "🇪🇳|🇸🇪", "🇸🇪🇳🇴 🇳🇴🇸🇪", []string{"🇸🇪=🇸🇪", "🇸🇪=🇸🇪"}},
		{"not between two flags", "🇪🇳", "🇸🇪🇳🇴", nil},
		{"a letter with a mark is no half of a flag", "🇪🇸", "🇸\u0301🇪🇸", []string{"🇪🇸=🇪🇸"}},
		{"what is no text is no character", "\ufffd", "\xff \ufffd", []string{"\ufffd=\ufffd"}},
		{"a keycap", "1|1\u20e3", "1\ufe0f\u20e3 1", []string{"1\u20e3=1\ufe0f\u20e3", "1=1"}},
		{"a region's flag", "🏴", "🏴\U000E0067\U000E0062\U000E007F 🏴", []string{"🏴=🏴"}},
		{"scripts without spaces", "洗濯|ซักผ้า", "今日洗濯した。ฉันซักผ้าแล้ว", []string{"洗濯=洗濯", "ซักผ้า=ซักผ้า"}},
		{"behind what is no text", "disk", "\xff\x00disk\xffdisk", []string{"disk=disk", "disk=disk"}},
		{"not across a control", "ta disken", "ta\x07disken ta \x07 disken", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var phrases []string
			if c.phrases != "" {
				phrases = strings.Split(c.phrases, "|")
			}
			got := found(c.text, bookOf(phrases...).match(c.text))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Laws: the text of a match has its phrase as normal form; matches do not
// overlap; the same text gives the same matches; a phrase is found in itself
// and between others.
func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{"ta disken", "Jag TA\ndisken, sen diska\u030a"},
		{"🇸🇪", "🇸🇪🇳🇴"},
		{"👨👩", "👨\u200d👩\u200d👧"},
		{"ss", "ß\u0301"},
		{"\u0301", "a\u0301 \u0301"},
		{"\u0301\u0316", strings.Repeat("\u0301", 64)},
		{"x", "\xff\u200dx"},
		{"\u200dx", "\u200dx \u200dx"},
		{"가", "\u1100\u1161\u11a8"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, phrase, text string) {
		normal, err := Normalize(phrase)
		if err != nil {
			normal = "disk"
		}
		b := bookOf(normal)
		matches := b.match(text)
		end := 0
		for _, m := range matches {
			if m.Start < end || m.End <= m.Start || m.End > len(text) {
				t.Fatalf("match(%q) = [%d:%d] after %d", text, m.Start, m.End, end)
			}
			end = m.End
			if said, err := Normalize(text[m.Start:m.End]); err != nil || said != m.Phrase {
				t.Errorf("in %q %q is taken for %q: %v", text, text[m.Start:m.End], m.Phrase, err)
			}
		}
		if diff := cmp.Diff(matches, b.match(text)); diff != "" {
			t.Errorf("not the same again: %s", diff)
		}
		for _, around := range []string{normal, phrase, "och " + normal + " sen", "\x00" + normal + "\t"} {
			if err == nil && len(b.match(around)) == 0 {
				t.Errorf("%q is not found in %q", normal, around)
			}
		}
	})
}
