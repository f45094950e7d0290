package worker

import (
	"context"
	"strings"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/memory"
)

// who answers "who did X last?".
func (w *Worker) who(ctx context.Context, d delivery, m msg, q dialog.Who) error {
	name, _, err := w.nameOf(ctx, m.chat, q.What)
	if err != nil {
		return w.bestEffort(ctx, d, "answer", err)
	}
	last, ok, err := w.Memory.LastOf(ctx, m.chat, name)
	if err != nil {
		return w.bestEffort(ctx, d, "answer", err)
	}
	if !ok {
		return w.answer(ctx, d, m, dialog.NeverDone(q.Lang, name))
	}
	return w.answer(ctx, d, m, dialog.LastDone(q.Lang, last.ActorName, name, last.At.In(w.Zone.Location())))
}

// when answers "when did U last do X?".
func (w *Worker) when(ctx context.Context, d delivery, m msg, q dialog.When) error {
	person, rest, err := w.personIn(ctx, m, q.Rest)
	if err != nil {
		return w.bestEffort(ctx, d, "answer", err)
	}
	if person.id == "" {
		return w.answer(ctx, d, m, dialog.NoSuchPerson(q.Lang))
	}
	name, _, err := w.nameOf(ctx, m.chat, rest)
	if err != nil {
		return w.bestEffort(ctx, d, "answer", err)
	}
	last, ok, err := w.Memory.LastBy(ctx, m.chat, person.id, name)
	if err != nil {
		return w.bestEffort(ctx, d, "answer", err)
	}
	if !ok {
		return w.answer(ctx, d, m, dialog.NeverDone(q.Lang, name))
	}
	return w.answer(ctx, d, m, dialog.LastDone(q.Lang, person.said, name, last.At.In(w.Zone.Location())))
}

// often answers "how often this week?", of everybody or of one person.
func (w *Worker) often(ctx context.Context, d delivery, m msg, q dialog.Often) error {
	person, rest, err := w.personIn(ctx, m, q.Rest)
	if err != nil {
		return w.bestEffort(ctx, d, "answer", err)
	}
	name, _, err := w.nameOf(ctx, m.chat, rest)
	if err != nil {
		return w.bestEffort(ctx, d, "answer", err)
	}
	n, err := w.Memory.ThisWeek(ctx, memory.Week{Scope: m.chat, Actor: person.id, Name: name, Of: m.Time()})
	if err != nil {
		return w.bestEffort(ctx, d, "answer", err)
	}
	return w.answer(ctx, d, m, dialog.Times(q.Lang, person.said, name, n))
}

// person is somebody a question is about.
type person struct{ id, said string }

// personIn finds who a question is about, by the names the chat knows or as
// "I", and returns what else it says. No person is no error.
func (w *Worker) personIn(ctx context.Context, m msg, text string) (person, string, error) {
	found, err := w.Names.Match(ctx, m.chat, text)
	if err != nil {
		return person{}, "", err
	}
	if len(found) > 0 {
		return person{id: found[0].Name, said: text[found[0].Start:found[0].End]}, without(text, found[0]), nil
	}
	var rest []string
	var who person
	for _, word := range strings.Fields(text) {
		switch strings.ToLower(word) {
		case "jag", "i":
			who = person{id: m.person.Key(), said: m.name()}
		case "vi", "we", "do":
		default:
			rest = append(rest, word)
		}
	}
	return who, strings.Join(rest, " "), nil
}

func without(text string, m alias.Match) string {
	rest := strings.Fields(text[:m.Start] + " " + text[m.End:])
	for len(rest) > 1 && (strings.EqualFold(rest[0], "do") || strings.EqualFold(rest[0], "gjort")) {
		rest = rest[1:]
	}
	return strings.Join(rest, " ")
}

// nameOf returns the canonical activity that a phrase means: what the chat has
// taught, what the vocabulary knows, or else the phrase itself; known is then
// false.
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
	return normal, false, nil
}
