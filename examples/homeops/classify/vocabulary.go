package classify

import (
	"slices"
	"strings"
)

// chore is an entry of the vocabulary. Its phrases say that it was done:
// "diskat" does, "diska" does not.
type chore struct {
	name    string
	kind    string
	effort  float64
	verbs   [2]string // to do it, in Swedish; does it, in English
	phrases []string
}

// Phrases of a verb stand in pairs: "har hängt tvätten", "hängde tvätten".
var vocabulary = []chore{
	{"diskning", Chore, 1, [2]string{"diska", "does the dishes"}, []string{
		"diskat", "diskade", "disken är klar", "disken klar",
		"tömt diskmaskinen", "tömde diskmaskinen", "tömt ur diskmaskinen", "tömde ur diskmaskinen",
		"plockat ur diskmaskinen", "plockade ur diskmaskinen", "kört diskmaskinen", "körde diskmaskinen",
		"done the dishes", "did the dishes", "washed the dishes", "washed up", "dishes done",
		"emptied the dishwasher", "loaded the dishwasher",
	}},
	{"tvätt", Chore, 1, [2]string{"tvätta", "does the laundry"}, []string{
		"tvättat", "tvättade", "tvätten är klar", "tvätten klar",
		"hängt tvätten", "hängde tvätten", "hängt upp tvätten", "hängde upp tvätten", "vikt tvätten", "vek tvätten",
		"done the laundry", "did the laundry", "laundry done", "hung the laundry", "hung up the laundry", "folded the laundry",
	}},
	{"städning", Chore, 2, [2]string{"städa", "cleans"}, []string{"städat", "städade", "cleaned", "tidied up"}},
	{"dammsugning", Chore, 1.5, [2]string{"dammsuga", "vacuums"}, []string{"dammsugit", "dammsög", "vacuumed", "hoovered"}},
	{"matlagning", Chore, 1.5, [2]string{"laga mat", "cooks"}, []string{
		"lagat mat", "lagade mat", "lagat maten", "lagade maten", "lagat middag", "lagade middag", "cooked", "made dinner",
	}},
	{"handling", Chore, 1.5, [2]string{"handla", "does the shopping"}, []string{
		"handlat", "handlade", "done the shopping", "did the shopping", "bought groceries",
	}},
	{"sopor", Chore, 0.5, [2]string{"gå ut med soporna", "takes out the trash"}, []string{
		"slängt soporna", "slängde soporna", "tagit ut soporna", "tog ut soporna",
		"gått ut med soporna", "gick ut med soporna", "soporna är slängda",
		"taken out the trash", "took out the trash", "taken the bins out", "took the bins out",
	}},
	{"pantning", Chore, 1, [2]string{"panta", "returns the bottles"}, []string{"pantat", "pantade", "returned the bottles"}},
	{"gräsklippning", Chore, 2, [2]string{"klippa gräset", "mows the lawn"}, []string{"klippt gräset", "klippte gräset", "mown the lawn", "mowed the lawn"}},
	{"blommor", Chore, 0.5, [2]string{"vattna blommorna", "waters the plants"}, []string{"vattnat blommorna", "vattnade blommorna", "watered the plants"}},
	{"promenad", Recovery, 1, [2]string{"ta en promenad", "goes for a walk"}, []string{
		"promenerat", "promenerade", "tagit en promenad", "tog en promenad", "gone for a walk", "went for a walk",
	}},
	{"träning", Recovery, 1, [2]string{"träna", "works out"}, []string{"tränat", "tränade", "worked out", "been to the gym", "went to the gym"}},
	{"vila", Recovery, 1, [2]string{"vila", "rests"}, []string{"vilat", "vilade", "tagit en tupplur", "tog en tupplur", "taken a nap", "took a nap"}},
}

// phrases is the vocabulary by phrase; singles are its phrases of one word, in
// the order of the vocabulary.
var (
	phrases       = map[string]string{}
	singles       []string
	longestPhrase int
)

func init() {
	for _, c := range vocabulary {
		for _, phrase := range append([]string{c.name}, c.phrases...) {
			words := strings.Fields(phrase)
			longestPhrase = max(longestPhrase, len(words))
			if phrase != c.name { // the noun alone states nothing
				phrases[phrase] = c.name
				if len(words) == 1 {
					singles = append(singles, phrase)
				}
			}
		}
	}
}

// KindOf returns the kind and the usual effort of an activity: what it is in
// the vocabulary, and a light chore when the chat taught it.
func KindOf(name string) (kind string, effort float64) {
	if i := slices.IndexFunc(vocabulary, func(c chore) bool { return c.name == name }); i >= 0 {
		return vocabulary[i].kind, vocabulary[i].effort
	}
	return Chore, 1
}

// VerbOf returns the verb by which an activity of the vocabulary is suggested, "" of
// another.
func VerbOf(name string, english bool) string {
	i := slices.IndexFunc(vocabulary, func(c chore) bool { return c.name == name })
	switch {
	case i < 0:
		return ""
	case english:
		return vocabulary[i].verbs[1]
	}
	return vocabulary[i].verbs[0]
}

// bare are the words by which people ask for an activity or name it, beside
// its phrases: nouns, infinitives and pasts.
var bare = map[string]string{
	"disk": "diskning", "disken": "diskning", "diska": "diskning", "diskningen": "diskning", "diskmaskinen": "diskning",
	"tömma diskmaskinen": "diskning", "tömma ur diskmaskinen": "diskning", "plocka ur diskmaskinen": "diskning", "köra diskmaskinen": "diskning",
	"dishes": "diskning", "the dishes": "diskning", "wash up": "diskning", "wash the dishes": "diskning",
	"empty the dishwasher": "diskning", "load the dishwasher": "diskning",
	"tvätta": "tvätt", "tvätten": "tvätt", "hänga tvätten": "tvätt", "hänga upp tvätten": "tvätt", "vika tvätten": "tvätt",
	"laundry": "tvätt", "the laundry": "tvätt", "hang the laundry": "tvätt", "hang up the laundry": "tvätt", "fold the laundry": "tvätt",
	"städa": "städning", "städningen": "städning", "clean": "städning", "tidy up": "städning", "the cleaning": "städning", "cleaning": "städning",
	"dammsuga": "dammsugning", "dammsugningen": "dammsugning", "vacuum": "dammsugning", "hoover": "dammsugning", "the vacuuming": "dammsugning",
	"laga mat": "matlagning", "laga maten": "matlagning", "laga middag": "matlagning", "maten": "matlagning",
	"cook": "matlagning", "make dinner": "matlagning", "the cooking": "matlagning",
	"handla": "handling", "handlingen": "handling", "shop": "handling", "the shopping": "handling", "buy groceries": "handling",
	"soporna": "sopor", "slänga soporna": "sopor", "ta ut soporna": "sopor", "gå ut med soporna": "sopor",
	"trash": "sopor", "the trash": "sopor", "take out the trash": "sopor", "take the bins out": "sopor",
	"panta": "pantning", "panten": "pantning", "return the bottles": "pantning",
	"klippa gräset": "gräsklippning", "gräset": "gräsklippning", "mow the lawn": "gräsklippning",
	"vattna blommorna": "blommor", "blommorna": "blommor", "water the plants": "blommor",
	"promenera": "promenad", "promenaden": "promenad", "ta en promenad": "promenad", "walk": "promenad", "go for a walk": "promenad",
	"träna": "träning", "work out": "träning", "go to the gym": "träning",
	"vila sig": "vila", "ta en tupplur": "vila", "rest": "vila", "take a nap": "vila",
}

// NameOf returns the activity that a word or phrase of a question means.
func NameOf(phrase string) (name string, ok bool) {
	phrase = strings.Join(split(phrase), " ")
	if i := slices.IndexFunc(vocabulary, func(c chore) bool { return c.name == phrase }); i >= 0 {
		return phrase, true
	}
	if name, ok := phrases[phrase]; ok {
		return name, true
	}
	name, ok = bare[phrase]
	return name, ok
}
