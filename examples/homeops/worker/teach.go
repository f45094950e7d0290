package worker

import (
	"context"
	"errors"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
)

// teach learns a phrase, or corrects one. A message that names no activity
// teaches nothing after all, and is left to be classified.
func (w *Worker) teach(ctx context.Context, d delivery, m msg, t dialog.Teach) (handled bool, _ error) {
	name, known, err := w.nameOf(ctx, m.scope, t.Name)
	if err != nil {
		return true, w.bestEffort(ctx, d, "teach", err)
	}
	if !known && !t.Quoted {
		return false, nil
	}
	if t.Correct {
		return true, w.correct(ctx, d, m, t.Lang, t.Phrase, name)
	}
	_, err = w.Phrases.Put(ctx, alias.Put{Scope: m.scope, Phrase: t.Phrase, Name: name, Event: m.event, Actor: m.person.Key()})
	if taken, ok := errors.AsType[*alias.TakenError](err); ok {
		return true, w.answer(ctx, d, m, dialog.Taken(t.Lang, t.Phrase, taken.Owner, name))
	}
	if err != nil {
		return true, w.bestEffort(ctx, d, "teach", err)
	}
	return true, w.answer(ctx, d, m, dialog.Taught(t.Lang, t.Phrase, name))
}

func (w *Worker) correct(ctx context.Context, d delivery, m msg, lang dialog.Lang, phrase, name string) error {
	_, err := w.Phrases.Correct(ctx, alias.Correct{Scope: m.scope, Phrase: phrase, Name: name, Event: m.event, Actor: m.person.Key()})
	if taken, ok := errors.AsType[*alias.TakenError](err); ok {
		name, err = taken.Owner, nil // an earlier delivery meant another: the first wins
	}
	if err != nil {
		return w.bestEffort(ctx, d, "correct", err)
	}
	return w.answer(ctx, d, m, dialog.Corrected(lang, phrase, name))
}

// named learns what the sender is called.
func (w *Worker) named(ctx context.Context, d delivery, m msg, n dialog.Named) error {
	_, err := w.Names.Put(ctx, alias.Put{Scope: m.scope, Phrase: n.Name, Name: m.person.Key(), Event: m.event, Actor: m.person.Key()})
	if _, taken := errors.AsType[*alias.TakenError](err); taken {
		return w.answer(ctx, d, m, dialog.NameTaken(n.Lang, n.Name))
	}
	if err != nil {
		return w.bestEffort(ctx, d, "named", err)
	}
	return w.answer(ctx, d, m, dialog.Hello(n.Lang, n.Name))
}

// replied handles the reply to a question of the bot's, which is read from the
// question's text. Anybody's reply teaches. What was done is credited only to the
// person whom the bot asked, once, under the question's event.
func (w *Worker) replied(ctx context.Context, d delivery, m msg, q asked, before earlier) error {
	name := q.Name
	switch {
	case !q.reply.Yes && q.reply.Name == "":
		return w.answer(ctx, d, m, dialog.Meant(q.Question))
	case !q.reply.Yes:
		var err error
		if name, err = w.meant(ctx, m, q.reply, before); err != nil {
			return w.bestEffort(ctx, d, "correct", err)
		}
	}
	if q.whom == 0 || q.whom == m.person.ID {
		if err := w.recordReply(ctx, d, m, name, before); err != nil {
			return err
		}
	}
	if q.reply.Yes {
		return w.confirmed(ctx, d, m, q.Question)
	}
	return w.correct(ctx, d, m, q.Lang, q.Phrase, name)
}

// meant is the activity that a no names: what an earlier delivery took it for,
// even if the word has come to mean something else since.
func (w *Worker) meant(ctx context.Context, m msg, reply dialog.Reply, before earlier) (string, error) {
	if recordedBy(m, before.recorded) {
		return before.recorded[0].Name, nil
	}
	name, _, err := w.nameOf(ctx, m.scope, reply.Name)
	return name, err
}

// recordedBy reports whether it was this message that recorded what follows from
// the question, and not another reply.
func recordedBy(m msg, recorded []activity.Activity) bool {
	return len(recorded) > 0 && recorded[0].Seq == m.ID
}

// confirmed counts the yes for the phrase. The first yes teaches it.
func (w *Worker) confirmed(ctx context.Context, d delivery, m msg, q dialog.Question) error {
	_, err := w.Phrases.Put(ctx, alias.Put{Scope: m.scope, Phrase: q.Phrase, Name: q.Name, Event: m.event, Actor: m.person.Key()})
	if err == nil {
		_, err = w.Phrases.Confirm(ctx, alias.Confirm{Scope: m.scope, Phrase: q.Phrase, Name: q.Name, Event: m.event})
	}
	if taken, ok := errors.AsType[*alias.TakenError](err); ok {
		return w.answer(ctx, d, m, dialog.Taken(q.Lang, q.Phrase, taken.Owner, q.Name))
	}
	if err != nil {
		return w.bestEffort(ctx, d, "confirm", err)
	}
	return w.answer(ctx, d, m, dialog.Confirmed(q))
}

// recordReply records and learns what a reply says was done, unless another
// reply has recorded it. The answer to the reply takes the place of praise.
func (w *Worker) recordReply(ctx context.Context, d delivery, m msg, name string, before earlier) error {
	recorded := before.recorded
	if len(recorded) == 0 {
		kind, effort := classify.KindOf(name)
		var err error
		recorded, err = w.record(ctx, d, m, []classify.Done{{Name: name, Kind: kind, Effort: effort, Confidence: 1}})
		if err != nil {
			return critical("record", err)
		}
	}
	if !recordedBy(m, recorded) {
		return nil
	}
	err := w.follow(ctx, d, m, recorded, silentAnswer)
	d.report.Kind, d.report.Silent = KindTeach, ""
	return err
}

// silentAnswer replaces praise if an answer follows.
const silentAnswer = "answered instead"
