package worker

import (
	"context"
	"errors"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/message"
)

// Reasons to say nothing.
const (
	silentQuiet = "quiet hours"
	silentFast  = "fast conversation"
	silentCap   = "cap reached"
	silentAgain = "said before"
	silentStep  = "a step was skipped"
	silentOld   = "too old to answer"
)

// silentFor is the reason when a step of the reply met trouble.
func silentFor(err error) string {
	if errors.Is(err, event.ErrTooOld) {
		return silentOld
	}
	return silentStep
}

// quiet reports whether the message was sent, or is processed, in quiet
// hours.
func (w *Worker) quiet(m msg) bool {
	return w.Quiet.Contains(w.Zone, m.Time()) || w.Quiet.Contains(w.Zone, w.Now())
}

// silence says why a reply would disturb, "" when it would not. It comes
// before the cap, so that a suppressed reply takes nothing of it.
func (w *Worker) silence(ctx context.Context, d delivery, m msg) (string, error) {
	if w.quiet(m) {
		return silentQuiet, nil
	}
	pace, err := w.Messages.FastConversation(ctx, message.FastConversation{Scope: m.chat, Seq: m.ID, Actor: m.person.Key(), At: m.Time()})
	if err != nil {
		return silentFor(err), w.bestEffort(ctx, d, "fast conversation", err)
	}
	if pace.Fast {
		return silentFast, nil
	}
	return "", nil
}

// praise takes one of the day's replies and uses it. Only a fresh grant is
// used: whoever took it on an earlier delivery has sent, or died trying.
func (w *Worker) praise(ctx context.Context, d delivery, m msg, recorded []activity.Activity) error {
	grant, err := w.Limits.Take(ctx, counter.Take{Key: m.chat, Event: m.event, Cap: RepliesADay})
	if err != nil {
		d.report.Silent = silentFor(err)
		return w.bestEffort(ctx, d, "reply", err)
	}
	if !grant.OK || grant.Outcome != event.Created {
		d.report.Silent = silentAgain
		if grant.Outcome != event.Duplicate {
			d.report.Silent = silentCap
		}
		return nil
	}
	names := make([]string, len(recorded))
	for i, a := range recorded {
		names[i] = a.Name
	}
	text := dialog.Praise(langOf(m.Words()), m.name(), names, grant.Remaining)
	return w.send(ctx, d, m, text, counter.Refund{Key: m.chat, Event: m.event})
}

// send sends once. A definite refusal gives the grant back; when it is unclear
// whether the message was sent, the grant is spent.
func (w *Worker) send(ctx context.Context, d delivery, m msg, text string, grant counter.Refund) error {
	_, err := w.Sender.Send(ctx, telegram.Outgoing{Chat: m.Chat.ID, Text: text, ReplyTo: m.ID})
	if err == nil {
		d.report.Sent = text
		return nil
	}
	d.report.Silent = err.Error()
	w.Log.WarnContext(ctx, "not sent", "delivery", d.ID, "error", err)
	if _, refused := errors.AsType[*telegram.RefusedError](err); !refused {
		return nil
	}
	if _, err := w.Limits.Refund(ctx, grant); err != nil {
		// The reply will not be tried again, so there is nothing to go back for.
		w.Log.ErrorContext(ctx, "step skipped", "step", "refund", "delivery", d.ID, "error", err)
		d.report.skip("refund")
	}
	return nil
}

// answer says something that was asked for, or asks: once for each message,
// however the chat's phrases change between two deliveries, and at most fifty
// times a day.
func (w *Worker) answer(ctx context.Context, d delivery, m msg, text string) error {
	cap := counter.Take{Key: m.chat + "#answers", Event: m.event, Cap: AnswersADay}
	grant, err := w.Limits.Take(ctx, cap)
	if err != nil {
		d.report.Silent = silentFor(err)
		return w.bestEffort(ctx, d, "answer", err)
	}
	if !grant.OK {
		d.report.Silent = silentCap
		return nil
	}
	key, err := m.saidKey()
	if err != nil {
		return err
	}
	first, err := w.Seen.MarkSeen(ctx, key)
	if err != nil {
		d.report.Silent = silentFor(err)
		return w.bestEffort(ctx, d, "answer", err)
	}
	if first != event.Created {
		d.report.Silent = silentAgain
		return nil
	}
	return w.send(ctx, d, m, text, counter.Refund{Key: cap.Key, Event: cap.Event})
}

// saidKey is the ledger's key of what the bot says to the message, praise
// apart. It is marked last, when all that the message teaches stands.
func (m msg) saidKey() (string, error) { return ledger.Key("TELEGRAM", m.chat, m.idText(), "said") }

// said reports whether the bot has asked or answered.
func (w *Worker) said(ctx context.Context, m msg) (bool, error) {
	key, err := m.saidKey()
	if err != nil {
		return false, err
	}
	_, ok, err := w.Seen.Get(ctx, key)
	return ok, err
}

// ask asks what somebody meant. The bot does not speak up in quiet hours.
func (w *Worker) ask(ctx context.Context, d delivery, m msg, guess classify.Guess) error {
	if w.quiet(m) {
		d.report.Silent = silentQuiet
		return nil
	}
	text, ok := dialog.Ask(dialog.Question{Phrase: guess.Phrase, Name: guess.Name, Lang: langOf(m.Words())})
	if !ok {
		return nil
	}
	return w.answer(ctx, d, m, text)
}
