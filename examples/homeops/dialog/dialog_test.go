package dialog_test

import (
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
