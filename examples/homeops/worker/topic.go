package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/words"
)

// topic is what a question is about.
type topic struct {
	people    []person // whom it names, each once
	everybody bool     // it says "we"
	stranger  bool     // it names somebody the chat does not know
	activity  string   // "" if it names none
	known     bool     // the activity is one that the chat or the vocabulary has
	words     int      // of the activity
}

// person is somebody a question is about.
type person struct{ id, said string }

func (t topic) nobody() bool { return len(t.people) == 0 }

// strange reports whether the activity has a stranger in it, as far as one can
// tell: "Doris diskat" is not an activity, but "diskat" is.
func (t topic) strange() bool { return !t.known && !t.everybody && t.words > 1 }

// each returns a line for each person.
func (t topic) each(line func(person) (string, error)) (string, error) {
	lines := make([]string, len(t.people))
	for i, p := range t.people {
		var err error
		if lines[i], err = line(p); err != nil {
			return "", err
		}
	}
	return strings.Join(lines, "\n"), nil
}

// token is a word of a question, or somebody's name.
type token struct {
	words.Word
	who person // if it is somebody the chat knows
	all bool   // if it is "we"
}

func (t token) known() bool { return t.who.id != "" || t.all }

// topicOf takes a question apart.
func (w *Worker) topicOf(ctx context.Context, m msg, text string, lang dialog.Lang) (topic, error) {
	found, err := w.Names.Match(ctx, m.scope, text)
	if err != nil {
		return topic{}, err
	}
	var tokens []token
	at := 0
	for _, f := range found {
		tokens = append(tokens, wordsOf(m, text[at:f.Start], lang)...)
		tokens = append(tokens, token{who: person{id: f.Name, said: text[f.Start:f.End]}})
		at = f.End
	}
	t, rest := part(append(tokens, wordsOf(m, text[at:], lang)...))
	t.activity, t.known, err = w.activityIn(ctx, m.scope, rest)
	t.words = len(trim(rest))
	return t, err
}

// wordsOf knows the sender and everybody. "I" is somebody in English only.
func wordsOf(m msg, text string, lang dialog.Lang) []token {
	var tokens []token
	for _, word := range words.Of(text) {
		t := token{Word: word}
		switch {
		case t.Key == "jag", t.Key == "i" && lang == dialog.English:
			t.who = person{id: m.person.Key(), said: m.name()}
		case everybody[t.Key]:
			t.all = true
		}
		tokens = append(tokens, t)
	}
	return tokens
}

// part tells people from the words of the activity. An "and" between two
// people goes with them; one between somebody and a word makes a stranger of
// the word.
func part(tokens []token) (t topic, rest []words.Word) {
	for i, tok := range tokens {
		switch {
		case tok.all:
			t.everybody = true
		case tok.known():
			if !slices.ContainsFunc(t.people, func(p person) bool { return p.id == tok.who.id }) {
				t.people = append(t.people, tok.who)
			}
		case joins[tok.Key] && i > 0 && i+1 < len(tokens) && (tokens[i-1].known() || tokens[i+1].known()):
			t.stranger = t.stranger || !tokens[i-1].known() || !tokens[i+1].known()
		default:
			rest = append(rest, tok.Word)
		}
	}
	return t, rest
}

// trim takes off the words around an activity in a question.
func trim(of []words.Word) []words.Word {
	for len(of) > 0 && around[of[0].Key] {
		of = of[1:]
	}
	for len(of) > 0 && around[of[len(of)-1].Key] {
		of = of[:len(of)-1]
	}
	return of
}

var (
	everybody = words.Set("vi man någon nån we anyone anybody someone somebody")
	joins     = words.Set("och eller and or")
	around    = words.Set("gjort gjorde tog tagit det den en ett do did done it a")
)
