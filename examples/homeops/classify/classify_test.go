package classify_test

import (
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

func TestWords(t *testing.T) {
	t.Parallel()
	pant := []classify.Known{{Phrase: "pant", Name: "pantning"}}
	for _, tc := range []struct {
		text  string
		known []classify.Known
		want  []string
	}{
		{"Jag har diskat 👍", nil, []string{"diskning"}},
		{"Diskade och DAMMSÖG!", nil, []string{"diskning", "dammsugning"}},
		{"Lagat middag, sen diskade jag, diskat klart", nil, []string{"matlagning", "diskning"}},
		{"I did the dishes", nil, []string{"diskning"}},
		{"tog en pant", pant, []string{"pantning"}},
		{"pant och pantat", pant, []string{"pantning"}},
		{"Kan du diska?", nil, nil},
		{"Har du diskat?", nil, nil},
		{"Jag har inte diskat", nil, nil},
		{"Ska ha diskat till kl 8", nil, nil},
		{"diska", nil, nil},
		{"", nil, nil},
		{"God morgon", nil, nil},
	} {
		got, err := classify.Words{}.Classify(t.Context(), tc.text, tc.known)
		if diff := cmp.Diff(tc.want, names(got)); err != nil || diff != "" || got.Guess != nil {
			t.Errorf("%q: %v, guess %v\n%s", tc.text, err, got.Guess, diff)
		}
	}
}

func TestWordsKnowsKindAndEffort(t *testing.T) {
	t.Parallel()
	got, err := classify.Words{}.Classify(t.Context(), "promenerat med hunden", []classify.Known{{Phrase: "hunden", Name: "hundvakt"}})
	want := []classify.Done{
		{Name: "hundvakt", Kind: classify.Chore, Effort: 1, Confidence: 1},
		{Name: "promenad", Kind: classify.Recovery, Effort: 1, Confidence: 0.9},
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
		got, err := classify.Words{}.Classify(t.Context(), text, nil)
		if diff := cmp.Diff(want, got.Guess); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}

func TestNameOf(t *testing.T) {
	t.Parallel()
	for phrase, want := range map[string]string{
		"diskning": "diskning", "diskade": "diskning", "Disken": "diskning", "the dishes": "diskning", "dammsög": "dammsugning",
	} {
		if got, ok := classify.NameOf(phrase); !ok || got != want {
			t.Errorf("NameOf(%q) = %q, %v", phrase, got, ok)
		}
	}
	if got, ok := classify.NameOf("segling"); ok {
		t.Errorf("NameOf(segling) = %q", got)
	}
}
