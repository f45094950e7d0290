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

// answered reads a reply to a question of the bot's.
func (w *Worker) answered(m msg) (q dialog.Question, reply dialog.Reply, ok bool) {
	if !w.toBot(m) {
		return q, reply, false
	}
	if q, ok = dialog.Asked(m.ReplyTo.Text); !ok {
		return q, reply, false
	}
	reply, ok = dialog.Answer(m.Words())
	return q, reply, ok
}

// talk handles a message that wants something of the bot.
func (w *Worker) talk(ctx context.Context, d delivery, m msg) (handled bool, _ error) {
	intent, ok := dialog.Understand(m.Words())
	if !ok {
		return false, nil
	}
	d.report.Kind = KindAsk
	switch {
	case intent.Start != nil:
		return true, w.started(ctx, d, m)
	case intent.Who != nil:
		return true, w.who(ctx, d, m, *intent.Who)
	case intent.When != nil:
		return true, w.when(ctx, d, m, *intent.When)
	case intent.Often != nil:
		return true, w.often(ctx, d, m, *intent.Often)
	case intent.Named != nil:
		d.report.Kind = KindTeach
		return true, w.named(ctx, d, m, *intent.Named)
	}
	d.report.Kind = KindTeach
	return w.teach(ctx, d, m, *intent.Teach)
}

// started notes that the person may be written to in private.
func (w *Worker) started(ctx context.Context, d delivery, m msg) error {
	d.report.Kind = KindMember
	if !m.Chat.Private() {
		return nil
	}
	return w.setDM(ctx, d, dmstatus.Change{User: m.person.Key(), Chat: m.chat, Status: dmstatus.Started, Event: m.event})
}

// moved notes that a group became a supergroup.
func (w *Worker) moved(ctx context.Context, m msg, from, to telegram.Chat) error {
	_, err := w.Moves.Record(ctx, moved.Move{From: from.Key(), To: to.Key(), Event: m.event})
	return err
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
