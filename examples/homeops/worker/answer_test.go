package worker_test

import (
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/examples/homeops/telegram"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// What the chat has taught wins over the vocabulary.
func TestATaughtPhraseWins(t *testing.T) {
	b := start(t)
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

// An activity that the chat made up is known by its name from then on, however
// many words it has.
func TestATaughtActivityCanBeAskedFor(t *testing.T) {
	b := start(t)
	b.say(anna, "Fido betyder ”gå ut med hunden”")
	b.say(anna, "Fido igen")
	wantSent(t, b.say(bo, "Hur ofta blev det gå ut med hunden den här veckan?"), "gå ut med hunden den här veckan: 1")
	wantSent(t, b.say(bo, "Rex betyder gå ut med hunden"), "Jag har lärt mig: «Rex» är gå ut med hunden ✔")
}

// A sentence that only looks like teaching or an introduction is classified
// like any other.
func TestSentencesTeachNothing(t *testing.T) {
	b := start(t)
	stranger := telegram.User{ID: 5003, Username: "ann"} // whose own name is learned
	for _, text := range []string{"Jag heter Anna och jag har diskat", "jag har diskat, och det betyder disken"} {
		if r := b.say(stranger, text); r.Kind != worker.KindActivity || len(r.Recorded) != 1 || r.Recorded[0].Name != "diskning" {
			t.Errorf("%q: %s %+v", text, r.Kind, r.Recorded)
		}
	}
	if r := b.say(stranger, "det betyder disken"); r.Kind != worker.KindNone || r.Sent != "" {
		t.Errorf("%s, sent %q", r.Kind, r.Sent)
	}
	phrases, err := b.Phrases.All(t.Context(), chatKey)
	names, nameErr := b.Names.All(t.Context(), chatKey)
	if err != nil || nameErr != nil || len(phrases) > 0 || len(names) != 1 || names[0].Phrase != "ann" {
		t.Errorf("learned %v %v, %v, %v", phrases, names, err, nameErr)
	}
}

func TestAShortNoIsANo(t *testing.T) {
	b := start(t)
	b.say(anna, "diksat nu")
	bare, meant := b.reply(anna, "nä"), b.reply(anna, "ja men nej jag menade tvätt")
	if r := b.handle(bare); len(r.Recorded) != 0 || r.Sent != "Vad betyder «diksat» då? Skriv: nej, diksat betyder …" {
		t.Errorf("sent %q, recorded %+v", r.Sent, r.Recorded)
	}
	if r := b.handle(meant); len(r.Recorded) != 1 || r.Recorded[0].Name != "tvätt" || r.Sent != "Rättat: «diksat» är tvätt ✔" {
		t.Errorf("sent %q, recorded %+v", r.Sent, r.Recorded)
	}
}

// What is taught, said and asked for is taken apart in one way.
func TestWordsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ teach, said, ask, name string }{
		{"tv/radio betyder ”lagning”", "tv/radio!", "Vem gjorde tv/radio senast?", "lagning"},
		{"mom’s lamp betyder ”lagning”", "(mom’s lamp)", "Vem gjorde ”mom’s lamp” senast?", "lagning"},
		{"", "sta\u0308dat", "Vem sta\u0308dade senast?", "städning"},
		{"", "slängt soporna", "När slängde Bo soporna senast?", "sopor"},
		{"", "slängt soporna", "När tog Bo ut soporna senast?", "sopor"},
	} {
		b := newBench(t, 0)
		b.say(bo, "Jag heter Bo")
		if tc.teach != "" {
			b.say(anna, tc.teach)
		}
		if r := b.say(bo, tc.said); len(r.Recorded) != 1 || r.Recorded[0].Name != tc.name {
			t.Errorf("%q: recorded %+v", tc.said, r.Recorded)
		}
		if r := b.say(anna, tc.ask); !strings.HasPrefix(r.Sent, tc.name+": Bo, ") {
			t.Errorf("%q: sent %q", tc.ask, r.Sent)
		}
	}
}
