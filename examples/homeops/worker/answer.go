package worker

import (
	"context"
	"slices"

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
