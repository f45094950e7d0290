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
	phrases []string
}

var vocabulary = []chore{
	{"diskning", Chore, 1, []string{"diskat", "diskade", "disken är klar", "disken klar", "tömt diskmaskinen", "tömde diskmaskinen", "did the dishes", "done the dishes", "washed up", "dishes done"}},
	{"tvätt", Chore, 1, []string{"tvättat", "tvättade", "tvätten är klar", "tvätten klar", "hängt tvätten", "vikt tvätten", "did the laundry", "done the laundry", "laundry done"}},
	{"städning", Chore, 2, []string{"städat", "städade", "cleaned", "tidied up"}},
	{"dammsugning", Chore, 1.5, []string{"dammsugit", "dammsög", "vacuumed", "hoovered"}},
	{"matlagning", Chore, 1.5, []string{"lagat mat", "lagade mat", "lagat middag", "lagade middag", "cooked", "made dinner"}},
	{"handling", Chore, 1.5, []string{"handlat", "handlade", "did the shopping", "done the shopping", "bought groceries"}},
	{"sopor", Chore, 0.5, []string{"slängt soporna", "slängde soporna", "soporna är slängda", "took out the trash", "took the bins out"}},
	{"pantning", Chore, 1, []string{"pantat", "pantade", "returned the bottles"}},
	{"gräsklippning", Chore, 2, []string{"klippt gräset", "klippte gräset", "mowed the lawn"}},
	{"blommor", Chore, 0.5, []string{"vattnat blommorna", "vattnade blommorna", "watered the plants"}},
	{"promenad", Recovery, 1, []string{"promenerat", "promenerade", "tagit en promenad", "went for a walk"}},
	{"träning", Recovery, 1, []string{"tränat", "tränade", "worked out", "went to the gym"}},
	{"vila", Recovery, 1, []string{"vilat", "vilade", "tagit en tupplur", "took a nap"}},
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

// bare are the words by which people ask for an activity or name it, beside
// its phrases: nouns, infinitives and pasts.
var bare = map[string]string{
	"disk": "diskning", "disken": "diskning", "diska": "diskning", "dishes": "diskning", "the dishes": "diskning", "wash up": "diskning",
	"tvätta": "tvätt", "tvätten": "tvätt", "laundry": "tvätt", "the laundry": "tvätt",
	"städa": "städning", "clean": "städning", "the cleaning": "städning", "cleaning": "städning",
	"dammsuga": "dammsugning", "vacuum": "dammsugning", "the vacuuming": "dammsugning",
	"laga mat": "matlagning", "maten": "matlagning", "cook": "matlagning", "the cooking": "matlagning",
	"handla": "handling", "shop": "handling", "the shopping": "handling",
	"soporna": "sopor", "slänga soporna": "sopor", "trash": "sopor", "the trash": "sopor", "take out the trash": "sopor",
	"panta": "pantning", "panten": "pantning",
	"klippa gräset": "gräsklippning", "gräset": "gräsklippning", "mow the lawn": "gräsklippning",
	"vattna blommorna": "blommor", "blommorna": "blommor", "water the plants": "blommor",
	"promenera": "promenad", "walk": "promenad",
	"träna": "träning", "work out": "träning", "vila sig": "vila", "rest": "vila",
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
