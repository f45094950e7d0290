package worker

import (
	"context"
	"strconv"

	"github.com/homeops/ddbpatterns/event"
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
