package classify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/classify"
)

func names(r classify.Result) []string {
	var names []string
	for _, d := range r.Done {
		names = append(names, d.Name)
	}
	return names
}

// at returns the phrase at its first place in the text.
func at(text, phrase, name string) classify.Known {
	start := strings.Index(text, phrase)
	return classify.Known{Phrase: phrase, Name: name, Start: start, End: start + len(phrase)}
}

// What the chat has taught wins over the vocabulary wherever the two overlap.
func TestWordsOfTheChatWin(t *testing.T) {
	t.Parallel()
	const mixed = "DISKAT, städat bilen och diskat"
	for text, tc := range map[string]struct {
		known []classify.Known
		want  []string
	}{
		"tog en pant":               {[]classify.Known{at("tog en pant", "pant", "pantning")}, []string{"pantning"}},
		"pant och pantat":           {[]classify.Known{at("pant och pantat", "pant", "pantning")}, []string{"pantning"}},
		"jag har diskat":            {[]classify.Known{at("jag har diskat", "diskat", "tvätt")}, []string{"tvätt"}},
		"städat bilen":              {[]classify.Known{at("städat bilen", "städat bilen", "biltvätt")}, []string{"biltvätt"}},
		"tömt diskmaskinen":         {[]classify.Known{at("tömt diskmaskinen", "diskmaskinen", "service")}, []string{"service"}},
		"lagat en god mat":          {[]classify.Known{at("lagat en god mat", "en god", "bakning")}, []string{"bakning"}}, // "lagat mat" does not close over it
		"tränat, sen pant, vilat 💤": {[]classify.Known{at("tränat, sen pant, vilat 💤", "pant", "pantning")}, []string{"träning", "pantning", "vila"}},
		mixed:                       {[]classify.Known{at(mixed, "städat bilen", "biltvätt")}, []string{"diskning", "biltvätt"}},
	} {
		got, err := classify.Words{}.Classify(t.Context(), classify.Message{Text: text, Known: tc.known})
		if diff := cmp.Diff(tc.want, names(got)); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}

func TestWordsKnowsKindAndEffort(t *testing.T) {
	t.Parallel()
	const text = "promenerat med hunden"
	got, err := classify.Words{}.Classify(t.Context(), classify.Message{Text: text, Known: []classify.Known{at(text, "hunden", "hundvakt")}})
	want := []classify.Done{
		{Name: "promenad", Kind: classify.Recovery, Effort: 1, Confidence: 0.9},
		{Name: "hundvakt", Kind: classify.Chore, Effort: 1, Confidence: 1},
	}
	if diff := cmp.Diff(want, got.Done); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestWordsGuessesASlip(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*classify.Guess{
		"diksat nu":         {Phrase: "diksat", Name: "diskning"},        // swapped
		"dammsugitt klart":  {Phrase: "dammsugitt", Name: "dammsugning"}, // one too many
		"dammsgit":          {Phrase: "dammsgit", Name: "dammsugning"},   // one too few
		"vacuumid":          {Phrase: "vacuumid", Name: "dammsugning"},   // one wrong
		"dikst":             nil,                                         // two slips
		"vila":              nil,                                         // too short to judge
		"diskat och diksat": nil,                                         // one thing is sure
		"diksat?":           nil,
	} {
		got, err := classify.Words{}.Classify(t.Context(), classify.Message{Text: text})
		if diff := cmp.Diff(want, got.Guess); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}

func TestNameOf(t *testing.T) {
	t.Parallel()
	for phrase, want := range map[string]string{
		"diskning": "diskning", "diskade": "diskning", "Disken": "diskning", "the dishes": "diskning", "dammsög": "dammsugning",
		"hängt tvätten": "tvätt", "hängde tvätten": "tvätt", "hänga tvätten": "tvätt", "vikt tvätten": "tvätt", "vek tvätten": "tvätt",
		"tömt ur diskmaskinen": "diskning", "tömde ur diskmaskinen": "diskning", "tog ut soporna": "sopor", "Take out the trash": "sopor",
		"tog en promenad": "promenad", "tagit en promenad": "promenad",
	} {
		if got, ok := classify.NameOf(phrase); !ok || got != want {
			t.Errorf("NameOf(%q) = %q, %v", phrase, got, ok)
		}
	}
	if got, ok := classify.NameOf("segling"); ok {
		t.Errorf("NameOf(segling) = %q", got)
	}
}

// Every activity of the vocabulary has a verb for suggestions in both languages.
// No verb says that it was done.
func TestVerbs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"diskning": {"diska", "does the dishes"}, "träning": {"träna", "works out"}, "hundvakt": {}, "": {},
	} {
		if got := [2]string{classify.VerbOf(name, false), classify.VerbOf(name, true)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{
		"diskning", "tvätt", "städning", "dammsugning", "matlagning", "handling", "sopor", "pantning", "gräsklippning", "blommor", "promenad", "träning", "vila",
	} {
		for _, english := range []bool{false, true} {
			verb := classify.VerbOf(name, english)
			if got, err := (classify.Words{}).Classify(t.Context(), classify.Message{Text: "Anna " + verb}); verb == "" || err != nil || len(got.Done) > 0 {
				t.Errorf("%s: %q is %+v, %v", name, verb, got, err)
			}
		}
	}
}
