package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/words"
	"github.com/homeops/ddbpatterns/memory"
)

// who answers "who did X last?".
func (w *Worker) who(ctx context.Context, m msg, q dialog.Who) (string, error) {
	name, _, err := w.activityIn(ctx, m.scope, words.Of(q.What))
	if err != nil {
		return "", err
	}
	if name == "" {
		return dialog.NoSuchActivity(q.Lang), nil
	}
	return w.lastOf(ctx, m.scope, name, q.Lang)
}

// when answers "when did U last do X?", with a line for each U.
func (w *Worker) when(ctx context.Context, m msg, q dialog.When) (string, error) {
	about, err := w.topicOf(ctx, m, q.Rest, q.Lang)
	switch {
	case err != nil:
		return "", err
	case about.activity == "":
		return dialog.NoSuchActivity(q.Lang), nil
	case about.stranger || about.nobody() && !about.everybody:
		return dialog.NoSuchPerson(q.Lang), nil
	case about.nobody():
		return w.lastOf(ctx, m.scope, about.activity, q.Lang)
	}
	return about.each(func(p person) (string, error) {
		last, ok, err := w.Memory.LastBy(ctx, m.scope, p.id, about.activity)
		return w.lastDone(last, ok, p.said, about.activity, q.Lang), err
	})
}

// often answers "how often this week?", of everybody or with a line for each
// person named.
func (w *Worker) often(ctx context.Context, m msg, q dialog.Often) (string, error) {
	about, err := w.topicOf(ctx, m, q.Rest, q.Lang)
	switch {
	case err != nil:
		return "", err
	case about.activity == "":
		return dialog.NoSuchActivity(q.Lang), nil
	case about.stranger || about.nobody() && about.strange():
		return dialog.NoSuchPerson(q.Lang), nil
	case about.nobody():
		about.people = []person{{}} // whose name is "": anybody
	}
	return about.each(func(p person) (string, error) {
		n, err := w.Memory.ThisWeek(ctx, memory.ThisWeek{Scope: m.scope, Actor: p.id, Name: about.activity, Of: m.Time()})
		return dialog.Times(q.Lang, p.said, about.activity, n), err
	})
}

// lastOf says when an activity was done last, and by whom.
func (w *Worker) lastOf(ctx context.Context, chat, name string, lang dialog.Lang) (string, error) {
	last, ok, err := w.Memory.LastOf(ctx, chat, name)
	return w.lastDone(last, ok, last.ActorName, name, lang), err
}

func (w *Worker) lastDone(last activity.Activity, ok bool, by, name string, lang dialog.Lang) string {
	if !ok {
		return dialog.NeverDone(lang, by, name)
	}
	return dialog.LastDone(lang, by, name, last.At.In(w.Zone.Location()))
}

// activityIn returns the canonical activity that words of a question mean,
// without the words around it; "" if they mean none.
func (w *Worker) activityIn(ctx context.Context, chat string, of []words.Word) (name string, known bool, _ error) {
	if len(of) == 0 {
		return "", false, nil
	}
	name, known, err := w.nameOf(ctx, chat, words.Join(of))
	if known || err != nil {
		return name, known, err
	}
	if inner := trim(of); len(inner) < len(of) {
		return w.activityIn(ctx, chat, inner)
	}
	return name, false, nil
}

// nameOf returns the canonical activity that a phrase means: what the chat has
// taught, what the vocabulary knows, or else the phrase itself. In the last
// case known reports whether the chat has taught a phrase for that.
func (w *Worker) nameOf(ctx context.Context, chat, phrase string) (name string, known bool, _ error) {
	normal, err := alias.Normalize(phrase)
	if err != nil {
		return "", false, err
	}
	taught, ok, err := w.Phrases.Resolve(ctx, chat, normal)
	if err != nil {
		return "", false, err
	}
	if ok {
		return taught.Name, true, nil
	}
	if name, ok := classify.NameOf(normal); ok {
		return name, true, nil
	}
	all, err := w.Phrases.All(ctx, chat)
	known = slices.ContainsFunc(all, func(a alias.Alias) bool { return a.Name == normal })
	return normal, known, err
}

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
