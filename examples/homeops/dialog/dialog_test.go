package dialog_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
)

func TestUnderstand(t *testing.T) {
	t.Parallel()
	const sv, en = dialog.Swedish, dialog.English
	for text, want := range map[string]dialog.Intent{
		"Vem diskade senast?":                         {Who: &dialog.Who{What: "diskade", Lang: sv}},
		"vem gjorde diskningen senast":                {Who: &dialog.Who{What: "diskningen", Lang: sv}},
		"Vem var det som slängde soporna senast?":     {Who: &dialog.Who{What: "slängde soporna", Lang: sv}},
		"Who did the dishes last?":                    {Who: &dialog.Who{What: "the dishes", Lang: en}},
		"who last did the dishes?":                    {Who: &dialog.Who{What: "the dishes", Lang: en}},
		"När diskade Anna senast?":                    {When: &dialog.When{Rest: "diskade Anna", Lang: sv}},
		"När gjorde Anna diskning senast?":            {When: &dialog.When{Rest: "Anna diskning", Lang: sv}},
		"när har Anna senast dammsugit?":              {When: &dialog.When{Rest: "Anna dammsugit", Lang: sv}},
		"When did Bo last do the dishes?":             {When: &dialog.When{Rest: "Bo the dishes", Lang: en}},
		"Hur ofta har Anna diskat den här veckan?":    {Often: &dialog.Often{Rest: "Anna diskat", Lang: sv}},
		"Hur många gånger diskade vi den här veckan?": {Often: &dialog.Often{Rest: "diskade vi", Lang: sv}},
		"How often did Bo do the dishes this week?":   {Often: &dialog.Often{Rest: "Bo do the dishes", Lang: en}},
		"pant betyder pantning":                       {Teach: &dialog.Teach{Phrase: "pant", Name: "pantning", Lang: sv}},
		"”ta ut Fido” betyder promenad!":              {Teach: &dialog.Teach{Phrase: "ta ut Fido", Name: "promenad", Lang: sv}},
		"hunden betyder ”hundvakt”":                   {Teach: &dialog.Teach{Phrase: "hunden", Name: "hundvakt", Quoted: true, Lang: sv}},
		"bins means sopor":                            {Teach: &dialog.Teach{Phrase: "bins", Name: "sopor", Lang: en}},
		"Nej, pant betyder städning":                  {Teach: &dialog.Teach{Phrase: "pant", Name: "städning", Correct: true, Lang: sv}},
		"No, bins means städning":                     {Teach: &dialog.Teach{Phrase: "bins", Name: "städning", Correct: true, Lang: en}},
		"🧺 betyder tvätt":                             {Teach: &dialog.Teach{Phrase: "🧺", Name: "tvätt", Lang: sv}},
		"nejlikor betyder blommor":                    {Teach: &dialog.Teach{Phrase: "nejlikor", Name: "blommor", Lang: sv}},
		"näsdukar betyder tvätt":                      {Teach: &dialog.Teach{Phrase: "näsdukar", Name: "tvätt", Lang: sv}},
		"nä, pant betyder städning":                   {Teach: &dialog.Teach{Phrase: "pant", Name: "städning", Correct: true, Lang: sv}},
		"Jag heter Anna Karin":                        {Named: &dialog.Named{Name: "Anna Karin", Lang: sv}},
		"Kalla mig My!":                               {Named: &dialog.Named{Name: "My", Lang: sv}},
		"my name is Bo.":                              {Named: &dialog.Named{Name: "Bo", Lang: en}},
		"/start":                                      {Start: &dialog.Start{}},
		"/start@homeops_bot now":                      {Start: &dialog.Start{}},
	} {
		got, ok := dialog.Understand(text)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%q: %v\n%s", text, ok, diff)
		}
	}
	for _, text := range []string{
		// common words, sentences and texts that are cut off teach nothing
		"det betyder disken", "Det betyder disken!", "”det” betyder disken", "nej, det betyder disken", "it means laundry", "that means laundry",
		"No, this means laundry", "på betyder disken", "ja betyder disken", "... betyder disken", "det som betyder disken", "pant och det betyder disken",
		"jag har diskat, det betyder disken", "diskat, tvättat betyder städning", "när vi kommer hem idag betyder disken", "notes that means laundry", "pant betyder ...",
		"\u200b betyder disken", strings.Repeat("x", 101) + " betyder disken",
		// not names
		"Jag heter Anna och jag har diskat", "Jag heter Anna. Jag har diskat", "Jag heter Anna, diskade nyss", "Jag heter Anna! Hej", "Jag heter Anna Karin Svensson", "Jag heter Anna och diskade",
		"jag heter som jag", "kalla mig när maten är klar", "call me later", "call me when dinner is done", "jag heter ...", "jag heter \u200b",
		// not questions
		"När senast?", "Vem senast?", "Vem \u200b senast?", "Vem ... senast?", "Vem " + strings.Repeat("x", 101) + " senast?",
		"", "diskat", "God morgon!", "Vad betyder pant?", "när kommer du?", "/started", "hur mår du?",
	} {
		if got, ok := dialog.Understand(text); ok {
			t.Errorf("%q is understood as %+v", text, got)
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]dialog.Reply{
		"Ja":                          {Yes: true},
		"ja, precis":                  {Yes: true},
		"Yes!":                        {Yes: true},
		"nej":                         {},
		"Nej, jag menade tvätt":       {Name: "tvätt"},
		"No, I meant laundry":         {Name: "laundry"},
		"nä":                          {},
		"nä 👎":                        {},
		"nä, jag menade tvätt":        {Name: "tvätt"},
		"nej\njag menade tvätt":       {Name: "tvätt"},
		"ja men nej":                  {},
		"ja, nej":                     {},
		"yes, no doubt":               {Yes: true},
		"ja nejlikorna":               {Yes: true},
		"japp":                        {Yes: true},
		"ja men nej jag menade tvätt": {Name: "tvätt"},
		"nej men jag menade tvätt":    {Name: "tvätt"},
		"yes but no, I meant laundry": {Name: "laundry"},
	} {
		if got, ok := dialog.Answer(text); !ok || got != want {
			t.Errorf("Answer(%q) = %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "jag vet inte", "jalapeño", "nejlikor är fina", "nobody", "näsduk", "nåja", "jaöl", "nej, inte alls"} {
		if got, ok := dialog.Answer(text); ok {
			t.Errorf("Answer(%q) = %+v", text, got)
		}
	}
}

// Law: a question that is read back has its phrase and name, and the person
// asked unless their name has guillemets.
func FuzzQuestion(f *testing.F) {
	f.Add("Anna", "diksat", "diskning", false)
	f.Add("", "a»b", "c", true)
	f.Add("Menade du", "rad\nbyte", "med «", true)
	f.Add("Bo, menade du", "a", "b", true)
	f.Add("«x» med «y»?", "a", "b", false)
	f.Fuzz(func(t *testing.T, person, phrase, name string, english bool) {
		q := dialog.Question{Person: person, Phrase: phrase, Name: name, Lang: dialog.Swedish}
		if english {
			q.Lang = dialog.English
		}
		text, ok := dialog.Ask(q)
		if !ok {
			return
		}
		if strings.ContainsAny(person, "«»") {
			q.Person = ""
		}
		if got, ok := dialog.Asked(text); !ok || got != q {
			t.Errorf("%q came back as %+v, %v", text, got, ok)
		}
	})
}

func TestAskedReadsOnlyQuestions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Tack Anna! diskning ✔", "Menade du diskning med diksat?", "Hej! «x», menade du «a» med «b»?", "Då vet jag: «a» är b ✔"} {
		if got, ok := dialog.Asked(text); ok {
			t.Errorf("Asked(%q) = %+v", text, got)
		}
	}
}

func TestTextsInBothLanguages(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 25, 2, 30, 0, 0, time.UTC)
	q := dialog.Question{Phrase: "diksat", Name: "diskning"}
	texts := func(lang dialog.Lang) []string {
		q.Lang = lang
		return []string{
			dialog.Praise(lang, []dialog.Deed{{Person: "Anna", Name: "diskning"}, {Person: "Anna", Name: "tvätt"}}, 2), dialog.Praise(lang, []dialog.Deed{{Person: "Anna", Name: "diskning"}}, 0),
			dialog.Confirmed(q), dialog.Corrected(lang, "pant", "städning"), dialog.Meant(q), dialog.Taught(lang, "pant", "pantning"),
			dialog.Taken(lang, "pant", "pantning", "städning"), dialog.Hello(lang, "Bo"), dialog.NameTaken(lang, "Bo"),
			dialog.LastDone(lang, "Anna", "diskning", at), dialog.NeverDone(lang, "", "segling"),
			dialog.Times(lang, "", "diskning", 3), dialog.Times(lang, "Anna", "diskning", 3), dialog.NoSuchPerson(lang),
			dialog.NoSuchActivity(lang), dialog.NeverDone(lang, "Anna", "segling"),
		}
	}
	want := []string{
		"Tack Anna! diskning, tvätt ✔", "Tack Anna! diskning ✔ (Nu är jag tyst till i morgon.)",
		"Då vet jag: «diksat» är diskning ✔", "Rättat: «pant» är städning ✔", "Vad betyder «diksat» då? Skriv: nej, diksat betyder …",
		"Jag har lärt mig: «pant» är pantning ✔", "«pant» är redan pantning. Skriv: nej, pant betyder städning", "Hej Bo!",
		"Någon annan heter redan Bo här.", "diskning: Anna, 2026-10-25 02:30", "segling: aldrig, vad jag vet",
		"diskning den här veckan: 3", "diskning den här veckan av Anna: 3", "Vem? Säg «jag heter …», så vet jag.",
		"Vad då? Nämn en syssla, som disken.", "segling: Anna aldrig, vad jag vet",
	}
	if diff := cmp.Diff(want, texts(dialog.Swedish)); diff != "" {
		t.Error(diff)
	}
	want = []string{
		"Thanks Anna! diskning, tvätt ✔", "Thanks Anna! diskning ✔ (Quiet until tomorrow now.)",
		"Got it: «diksat» is diskning ✔", "Corrected: «pant» is städning ✔", "What does «diksat» mean then? Write: no, diksat means …",
		"Learned: «pant» is pantning ✔", "«pant» is pantning already. Write: no, pant means städning", "Hello Bo!",
		"Somebody else is called Bo here.", "diskning: Anna, 2026-10-25 02:30", "segling: never, as far as I know",
		"diskning this week: 3", "diskning this week by Anna: 3", "Who? Say «my name is …», and I will know.",
		"Did what? Name a chore, such as the dishes.", "segling: Anna never, as far as I know",
	}
	if diff := cmp.Diff(want, texts(dialog.English)); diff != "" {
		t.Error(diff)
	}
}

func TestLooksEnglish(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Did the dishes!": true, "cooked": true, "(done)": true,
		"": false, "diskat": false, "Göthe har ringt": false, "bandet": false,
	} {
		if got := dialog.LooksEnglish(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// When a text that the bot said unasked comes back in a reply, it is neither a
// request to the bot nor one of its questions.
func TestWhatIsSaidUnasked(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"Anna brukar diska nu.":                                dialog.Suggestion(dialog.Swedish, "Anna", "diska", "diskning"),
		"Anna usually does the dishes now.":                    dialog.Suggestion(dialog.English, "Anna", "does the dishes", "diskning"),
		"Anna brukar göra det här nu: hundvakt.":               dialog.Suggestion("", "Anna", "", "hundvakt"),
		"Anna usually does this now: hundvakt.":                dialog.Suggestion(dialog.English, "Anna", "", "hundvakt"),
		"Bo, du lovade «städa på lördag». Hur går det?":        dialog.Reminder("", "Bo", "städa på lördag"),
		"Bo, you promised «clean on Monday». How is it going?": dialog.Reminder(dialog.English, "Bo", "clean on Monday"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, ok := dialog.Asked(got); ok {
			t.Errorf("%q asks what somebody meant", got)
		}
		if intent, ok := dialog.Understand(got); ok {
			t.Errorf("%q wants %+v", got, intent)
		}
	}
}

// The bot understands each form in the README.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## What one may write")
	section, _, _ = strings.Cut(section, "\n## ")
	forms := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1)
	if len(forms) < 25 {
		t.Errorf("%d forms", len(forms))
	}
	for _, form := range forms {
		if intent, ok := dialog.Understand(form[1]); !ok {
			t.Errorf("%s: %+v", form[1], intent)
		}
	}
}

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
