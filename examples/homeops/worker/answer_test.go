package worker_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the chat has taught wins over the vocabulary.
func TestATaughtPhraseWins(t *testing.T) {
	t.Parallel()
	b := newBench(t, 0)
	wantSent(t, b.say(anna, "diskat betyder tvätt"), "Jag har lärt mig: «diskat» är tvätt ✔")
	wantSent(t, b.say(anna, "städat bilen betyder ”biltvätt”"), "Jag har lärt mig: «städat bilen» är biltvätt ✔")
	for text, want := range map[string][]string{
		"jag har DISKAT":           {"tvätt"},
		"Städat bilen":             {"biltvätt"},
		"dammsugit, städat bilen!": {"dammsugning", "biltvätt"},
	} {
		var names []string
		for _, a := range b.say(anna, text).Recorded {
			names = append(names, a.Name)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
