package classify

import (
	_ "embed" // the tables
	"slices"
	"strconv"
	"strings"
)

// chore is an activity of the vocabulary: see vocabulary.txt.
type chore struct {
	name, kind          string
	effort              float64
	to                  [2]string
	verbs, things, ends map[string]bool
}

var (
	//go:embed vocabulary.txt
	vocabularyText string

	vocabulary    []*chore
	every         = &chore{verbs: map[string]bool{}, ends: map[string]bool{}}
	phrases       = map[string]string{} // of said, and the activity of each
	bare          = map[string]string{} // of asked, and the activity of each
	singles       []string              // the phrases of one word
	longestPhrase int
)

func init() {
	c := every
	for line := range strings.Lines(vocabularyText) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case line[0] != ' ' && c.add(f[0], f[1:]):
		case line[0] != ' ':
			effort, _ := strconv.ParseFloat(f[2], 64) // 0 fails TestWordsKnowsKindAndEffort
			c = &chore{name: f[0], kind: f[1], effort: effort, verbs: map[string]bool{}, things: map[string]bool{}, ends: map[string]bool{}}
			vocabulary = append(vocabulary, c)
		default:
			c.add(f[0], f[1:])
		}
	}
}

// add adds a line of the table to the activity; ok is false if the line is not a
// list.
func (of *chore) add(list string, keys []string) (ok bool) {
	all := strings.Split(strings.Join(keys, " "), ", ")
	switch list {
	case "to":
		of.to = [2]string(all)
		return true
	case "said", "asked":
		for _, phrase := range all {
			phrase = strings.TrimSuffix(phrase, ",") // at the end of a line
			longestPhrase = max(longestPhrase, strings.Count(phrase, " ")+1)
			switch {
			case list == "asked":
				bare[phrase] = of.name
				continue
			case !strings.Contains(phrase, " "):
				singles = append(singles, phrase)
			}
			phrases[phrase] = of.name
		}
		return true
	}
	set, ok := map[string]map[string]bool{"verbs": of.verbs, "things": of.things, "ends": of.ends}[list]
	for _, key := range keys {
		if !ok {
			break
		}
		set[key] = true
		if list == "things" && roles[key] == other {
			roles[key] = thing
		}
	}
	return ok
}

// find marks the deeds of a clause: the words which say that something was
// done.
func find(c []token) {
	for i := range c {
		if c[i].deed != nil {
			continue
		}
		name, length := longest(phrases, c[i:])
		from, last, confidence := i, i+length-1, listed
		if of, at := pair(c, i); at >= 0 && (name == "" || at > last) {
			name, from, last = of.name, min(i, at), max(i, at)
			c[at].role = thing
		}
		for j := i + 1; marked["manages"][c[i].key] && j < min(len(c), i+4) && name == ""; j++ {
			name, length = longest(bare, c[j:])
			last = j + length - 1
		}
		if name == "" {
			name, last, confidence = slipped(c[i].key), i, 0
		}
		if name == "" {
			continue
		}
		phrase := make([]string, 0, last-from+1)
		for j := from; j <= last; j++ {
			phrase = append(phrase, c[j].key)
			if c[j].role == other {
				c[j].role = thing
			}
		}
		c[i].role, c[i].deed = did, &deed{name: name, phrase: strings.Join(phrase, " "), confidence: confidence}
	}
}

// longest returns the longest phrase of a table that the words begin with.
func longest(of map[string]string, c []token) (name string, length int) {
	joined := ""
	for i := 0; i < min(longestPhrase, len(c)) && c[i].deed == nil; i++ {
		joined = strings.TrimSpace(joined + " " + c[i].key)
		if found, ok := of[joined]; ok {
			name, length = found, i+1
		}
	}
	return name, length
}

// reach is how many words may stand between a verb and its thing.
const reach = 6

// pair returns the nearest thing that the verb or end at c[i] is done to, and its
// activity. Without one, at is -1.
func pair(c []token, i int) (of *chore, at int) {
	at = -1
	key := c[i].key
	for _, what := range vocabulary {
		verb := what.verbs[key] || what.verbs["+"] && every.verbs[key]
		end := what.ends[key] || what.ends["+"] && every.ends[key]
		found := -1
		if verb {
			found = what.after(c, i)
		}
		if found < 0 && (end || verb && late(c, i)) {
			found = what.before(c, i)
		}
		if found >= 0 && (at < 0 || max(found-i, i-found) < max(at-i, i-at)) {
			of, at = what, found
		}
	}
	return of, at
}

// late reports whether the verb may stand after its thing: "disken har jag tagit",
// "soporna tog Bo", not "promenaden tog en timme".
func late(c []token, i int) bool {
	return i+1 < len(c) && c[i+1].person() || c[i].role != helper && slices.ContainsFunc(c[:i], func(t token) bool { return t.role == helper })
}

func (of *chore) after(c []token, i int) int {
	for j := i + 1; j < len(c) && j <= i+reach && c[j].deed == nil; j++ {
		switch {
		case of.takes(c[i], c[j]):
			return j
		case c[j].key == "att", c[j].key == "of" && c[j-1].key == "out": // "det tog tid att", "ran out of"
			return -1
		}
	}
	return -1
}

func (of *chore) before(c []token, i int) int {
	for j := i - 1; j >= max(0, i-reach) && c[j].deed == nil; j-- {
		switch {
		case of.takes(c[i], c[j]):
			return j
		case c[j].role == other, c[j].role == stranger:
			return -1
		}
	}
	return -1
}

// takes reports whether the verb means that the activity was done to the thing.
// With the verbs of every activity a machine does not count, because it may be
// done itself, or mended: "diskmaskinen är klar", "fixat diskmaskinen".
func (of *chore) takes(verb, what token) bool {
	if what.role == stranger && (every.verbs[verb.key] || every.ends[verb.key]) {
		return false
	}
	known := of.things[what.key]
	for i := range what.key {
		known = known || of.things["*"+what.key[i:]]
	}
	return known
}

// Names returns the activities of the vocabulary.
func Names() []string {
	var names []string
	for _, c := range vocabulary {
		names = append(names, c.name)
	}
	return slices.Compact(names) // an activity may have several blocks
}

// KindOf returns the kind and the usual effort of an activity. One that is not
// in the vocabulary, because the chat taught it, is a light chore.
func KindOf(name string) (kind string, effort float64) {
	if i := slices.IndexFunc(vocabulary, func(c *chore) bool { return c.name == name }); i >= 0 {
		return vocabulary[i].kind, vocabulary[i].effort
	}
	return Chore, 1
}

// VerbOf returns the words by which an activity of the vocabulary is suggested, ""
// for any other activity.
func VerbOf(name string, english bool) string {
	i := slices.IndexFunc(vocabulary, func(c *chore) bool { return c.name == name })
	switch {
	case i < 0:
		return ""
	case english:
		return vocabulary[i].to[1]
	}
	return vocabulary[i].to[0]
}

// NameOf returns the activity that a word or phrase of a question means.
func NameOf(phrase string) (name string, ok bool) {
	phrase = strings.Join(split(phrase), " ")
	if i := slices.IndexFunc(vocabulary, func(c *chore) bool { return c.name == phrase }); i >= 0 {
		return phrase, true
	}
	if name, ok = bare[phrase]; ok {
		return name, true
	}
	c := tokens(Message{Text: phrase})
	if len(c) == 0 || slices.ContainsFunc(c[1:], func(t token) bool { return t.role == other }) {
		return "", false
	}
	find(c)
	if c[0].deed != nil && c[0].deed.phrase == phrase && c[0].deed.confidence > 0 {
		return c[0].deed.name, true
	}
	return "", false
}

// role is what a word does in a sentence: see roles.txt. A word in no list is
// other.
type role string

const (
	other role = ""
	did   role = "did"   // something done begins here
	thing role = "thing" // what it was done to, by vocabulary.txt
	named role = "named" // somebody the chat knows

	sender, stranger, helper, aside, article, prep role = "sender", "stranger", "helper", "aside", "article", "prep"
	and, then, turn, relative, asking              role = "and", "then", "turn", "relative", "asking"
	not, doubt, void                               role = "not", "doubt", "void"
)

//go:embed roles.txt
var rolesText string

// roles has the role of each word, marked the words of each mark.
var roles, marked = readRoles()

func readRoles() (roles map[string]role, marked map[string]map[string]bool) {
	roles, marked = map[string]role{}, map[string]map[string]bool{}
	for line := range strings.Lines(rolesText) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		mark, besides := strings.CutPrefix(f[0], "=")
		if besides && marked[mark] == nil {
			marked[mark] = map[string]bool{}
		}
		for _, key := range f[1:] {
			if besides {
				marked[mark][key] = true
			} else {
				roles[key] = role(f[0])
			}
		}
	}
	return roles, marked
}
