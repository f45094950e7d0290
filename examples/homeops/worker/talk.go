package worker

import (
	"context"
	"errors"
	"strconv"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/examples/homeops/moved"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

func (m msg) idText() string { return strconv.FormatInt(m.ID, 10) }

// asked is a question of the bot's, and what a message replies to it.
type asked struct {
	dialog.Question
	reply dialog.Reply
	whom  int64       // 0: anybody may say what they did
	event event.Event // what was done follows from the question: two yeses credit once
}

// answered reads a reply to a question of the bot's. It is nil if the message is
// not one.
func (w *Worker) answered(m msg) *asked {
	if !w.toBot(m) || m.Forwarded() {
		return nil
	}
	question, ok := dialog.Asked(m.ReplyTo.Text)
	if !ok {
		return nil
	}
	reply, ok := dialog.Answer(m.Words())
	if !ok {
		return nil
	}
	ev, err := event.New(m.ReplyTo.Time(), "telegram", m.chat, strconv.FormatInt(m.ReplyTo.ID, 10))
	if err != nil || m.ReplyTo.Date <= 0 || m.Date < m.ReplyTo.Date { // no time of a question
		ev = m.event
	}
	return &asked{Question: question, reply: reply, whom: m.ReplyTo.Mentions(), event: ev}
}

// talk handles a message that wants something of the bot.
func (w *Worker) talk(ctx context.Context, d delivery, m msg) (handled bool, _ error) {
	if m.intent == nil {
		return false, nil
	}
	intent := *m.intent
	d.report.Kind = kindOf(intent)
	var text string
	var err error
	switch {
	case intent.Start != nil:
		return true, w.started(ctx, d, m)
	case intent.Teach != nil:
		return w.teach(ctx, d, m, *intent.Teach)
	case intent.Named != nil:
		return true, w.named(ctx, d, m, *intent.Named)
	case intent.Who != nil:
		text, err = w.who(ctx, m, *intent.Who)
	case intent.When != nil:
		text, err = w.when(ctx, m, *intent.When)
	case intent.Often != nil:
		text, err = w.often(ctx, m, *intent.Often)
	default:
		text, err = w.ofHousehold(ctx, m, intent)
	}
	if err != nil {
		return true, w.bestEffort(ctx, d, "answer", err)
	}
	return true, w.answer(ctx, d, m, text)
}

func kindOf(intent dialog.Intent) Kind {
	switch {
	case intent.Teach != nil, intent.Named != nil, intent.About != nil:
		return KindTeach
	case intent.Promise != nil:
		return KindPromise
	}
	return KindAsk
}

// started notes that the person may be written to in private.
func (w *Worker) started(ctx context.Context, d delivery, m msg) error {
	d.report.Kind = KindMember
	if !m.Chat.Private() {
		return nil
	}
	return w.setDM(ctx, d, dmstatus.Change{User: m.person.Key(), Chat: m.chat, Status: dmstatus.Started, Event: m.event})
}

// moved notes that a group became a supergroup, and that the household is
// written to there.
func (w *Worker) moved(ctx context.Context, m msg, from, to telegram.Chat) error {
	if _, err := w.Moves.Record(ctx, moved.Move{From: from.Key(), To: to.Key(), Event: m.event}); err != nil {
		return err
	}
	return w.Profiles.Moved(ctx, from.Key(), to.Key(), m.event)
}

// stopped reports whether the person has blocked the bot, as far as is known.
func (w *Worker) stopped(ctx context.Context, d delivery, m msg) (bool, error) {
	status, _, err := w.DM.Get(ctx, m.person.Key())
	return status == dmstatus.Stopped, w.bestEffort(ctx, d, "dm status", err)
}

// member notes that a person blocked the bot, or let it in again.
func (w *Worker) member(ctx context.Context, d delivery, u telegram.Update) error {
	d.report.Kind = KindMember
	change := u.MyChatMember
	if !change.Chat.Private() {
		return nil
	}
	ev, err := event.New(change.Time(), "telegram", change.Chat.Key(), "my_chat_member", strconv.FormatInt(u.ID, 10))
	if err != nil {
		return err
	}
	if err := ev.Check("worker", "date", w.Now()); err != nil {
		return err
	}
	status := dmstatus.Started
	if s := change.New.Status; s == "kicked" || s == "left" {
		status = dmstatus.Stopped
	}
	return w.setDM(ctx, d, dmstatus.Change{User: change.From.Key(), Chat: change.Chat.Key(), Status: status, Event: ev})
}

func (w *Worker) setDM(ctx context.Context, d delivery, change dmstatus.Change) error {
	_, err := w.DM.Set(ctx, change)
	return w.bestEffort(ctx, d, "dm status", err)
}

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
