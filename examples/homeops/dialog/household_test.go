package dialog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
)

func TestPromise(t *testing.T) {
	t.Parallel()
	const sv, en = dialog.Swedish, dialog.English
	for text, want := range map[string]dialog.Promise{
		"Jag lovar att diska":                               {What: "diska", Said: "diska", Lang: sv},
		"Jag lovar att jag ska diska ikväll!! 🙏":            {What: "diska", Said: "diska ikväll", Lang: sv},
		"jag lovar att ta ut soporna i morgon":              {What: "ta ut soporna", Said: "ta ut soporna i morgon", By: "i morgon", Lang: sv},
		"jag lovar att gå ut med soporna imorgon bitti":     {What: "gå ut med soporna", Said: "gå ut med soporna imorgon bitti", By: "imorgon", Lang: sv},
		"jag lovar att diska senast fredag":                 {What: "diska", Said: "diska senast fredag", By: "fredag", Lang: sv},
		"jag lovar att diska senast på fredag kväll":        {What: "diska", Said: "diska senast på fredag kväll", By: "fredag", Lang: sv},
		"I promise to do the dishes":                        {What: "do the dishes", Said: "do the dishes", Lang: en},
		"I promise I’ll do the dishes tonight 😇":            {What: "do the dishes", Said: "do the dishes tonight", Lang: en},
		"i promise that I will vacuum tomorrow morning":     {What: "vacuum", Said: "vacuum tomorrow morning", By: "tomorrow", Lang: en},
		"I promise to take out the trash by Friday":         {What: "take out the trash", Said: "take out the trash by Friday", By: "friday", Lang: en},
		"jag lovar att köpa fredagsmys":                     {What: "köpa fredagsmys", Said: "köpa fredagsmys", Lang: sv},
		"Jag lovar att fira i dag och städa senast onsdag ": {What: "fira i dag och städa", Said: "fira i dag och städa senast onsdag", By: "onsdag", Lang: sv},
	} {
		got, ok := dialog.Understand(text)
		if diff := cmp.Diff(dialog.Intent{Promise: &want}, got); !ok || diff != "" {
			t.Errorf("%q: %v\n%s", text, ok, diff)
		}
	}
}

func TestAboutTheHousehold(t *testing.T) {
	t.Parallel()
	const sv, en = dialog.Swedish, dialog.English
	promises := func(rest string, lang dialog.Lang) dialog.Intent {
		return dialog.Intent{Promises: &dialog.Promises{Rest: rest, Lang: lang}}
	}
	balance := func(lang dialog.Lang) dialog.Intent {
		return dialog.Intent{Week: &dialog.Week{Balance: true, Lang: lang}}
	}
	week := func(before bool, lang dialog.Lang) dialog.Intent {
		return dialog.Intent{Week: &dialog.Week{Before: before, Lang: lang}}
	}
	about := func(a dialog.About) dialog.Intent { return dialog.Intent{About: &a} }
	for text, want := range map[string]dialog.Intent{
		"Vad har jag lovat?": promises("jag", sv), "vad har Bo lovat att göra": promises("Bo", sv), "Vad lovade Anna?": promises("Anna", sv),
		"Vad har vi lovat?": promises("vi", sv), "vad har du lovat?": promises("du", sv), "What have I promised?": promises("I", en), "what has Bo promised to do?": promises("Bo", en),
		"What did Bo promise?": promises("Bo", en),
		"Hur ligger vi till?":  balance(sv), "vem har gjort mest den här veckan?": balance(sv), "How do we stand?": balance(en), "Who has done the most this week?": balance(en),
		"Hur var veckan?": week(false, sv), "Hur var förra veckan?": week(true, sv), "sammanfatta veckan": week(false, sv), "Sammanfatta förra veckan!": week(true, sv),
		"How was the week?": week(false, en), "how was last week?": week(true, en), "Sum up the week": week(false, en), "sum up this week": week(false, en),
		"Jag bor här!": about(dialog.About{Home: true, Lang: sv}), "I live here": about(dialog.About{Home: true, Lang: en}),
		"Skriv svenska till mig": about(dialog.About{Language: sv, Lang: sv}), "skriv engelska till mig": about(dialog.About{Language: en, Lang: sv}),
		"Write to me in Swedish":       about(dialog.About{Language: sv, Lang: en}),
		"Min tidszon är Europe/London": about(dialog.About{Zone: "Europe/London", Lang: sv}), "my time zone is Etc/GMT+5.": about(dialog.About{Zone: "Etc/GMT+5", Lang: en}),
		"my timezone is Nowhere": about(dialog.About{Zone: "Nowhere", Lang: en}),
	} {
		got, ok := dialog.Understand(text)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%q: %v\n%s", text, ok, diff)
		}
	}
}

// A promise is for today, for tomorrow, or for the next such day, which may be today.
func TestAhead(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]int{"": 0, "i morgon": 1, "tomorrow": 1, "onsdag": 0, "torsdag": 1, "tisdag": 6, "söndag": 4, "sunday": 4, "monday": 5, "saturday": 3} {
		if got := (dialog.Promise{By: by}).Ahead(time.Wednesday); got != want {
			t.Errorf("%q on a Wednesday is %d days ahead, want %d", by, got, want)
		}
	}
	for by, want := range map[string]int{"söndag": 1, "sunday": 1, "saturday": 0, "fredag": 6} {
		if got := (dialog.Promise{By: by}).Ahead(time.Saturday); got != want {
			t.Errorf("%q on a Saturday is %d days ahead, want %d", by, got, want)
		}
	}
}

// The bot leaves alone what people say among themselves.
func TestNothingOfTheHousehold(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"jag lovar", "jag lovar ingenting", "han lovar att diska", "jag lovade att diska",
		"jag lovar inte att diska", "lovar du att diska?", "jag lovar att diska?", "jag lovar att 🙏", "jag lovar att " + strings.Repeat("x", 101),
		"Bo sa: jag lovar att diska", "I promise", "I promise not to do the dishes", "she promised to vacuum", "I promised to vacuum", "do you promise to vacuum?",
		"vad har Bo lovat dig?", "vad har ... lovat?", "Vad har Bo inte lovat mig att göra?",
		"Hur ligger det till?", "hur ligger vi till med packningen?", "vem har gjort mål?", "How do you stand it?", "How do we stand on this?",
		"Hur var din vecka?", "hur var veckan i skolan?", "How was your week?", "How was last weekend?", "vi ses förra veckan",
		"Bor du här?", "jag bor här?", "jag bor här ibland", "I live here no more", "han bor här", "skriv till mig", "skriv svenska", "skriv tyska till mig",
		"Write to me", "min tidszon är trasig nu", "min tidszon är Europe/London?", "my time zone is", "vad är min tidszon?",
	} {
		if got, ok := dialog.Understand(text); ok {
			t.Errorf("%q is understood as %+v", text, got)
		}
	}
}

// Sums are shown without floating-point noise.
func TestLoad(t *testing.T) {
	t.Parallel()
	tenth := 0.1
	text := dialog.Standing(dialog.Swedish, []dialog.Share{{Person: "Anna", Net: tenth + 0.2}, {Person: "Bo", Net: 1234.5}})
	if want := "Belastning den här veckan\nBo: 1234,5, 1234,2 mer än Anna\nAnna: 0,3"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}
