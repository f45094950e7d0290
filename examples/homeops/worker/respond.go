package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
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
	silentWait  = "asked to wait"
	silentStop  = "blocked"
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

// silence says why a reply would disturb, "" when it would not. It comes before the
// cap, so that a suppressed reply takes nothing of it. A message without a number
// counts as later than all that was said.
func (w *Worker) silence(ctx context.Context, d delivery, m msg) (string, error) {
	switch {
	case d.stopped:
		return silentStop, nil
	case w.quiet(m):
		return silentQuiet, nil
	}
	pace, err := w.Messages.FastConversation(ctx, message.FastConversation{Scope: m.chat, Seq: cmp.Or(m.ID, math.MaxInt64), Actor: m.person.Key(), At: m.Time()})
	if err != nil {
		return silentFor(err), w.bestEffort(ctx, d, "fast conversation", err)
	}
	if pace.Fast {
		return silentFast, nil
	}
	return "", nil
}

// praise takes one of the day's replies and uses it. A fresh grant is leave to
// send, because no other delivery has it. If an earlier delivery took it, that
// delivery has sent, or died trying, or holds the reply back.
func (w *Worker) praise(ctx context.Context, d delivery, m msg, recorded []activity.Activity) error {
	take := counter.Take{Key: m.scope, Event: m.event, Weight: 1, Cap: RepliesADay}
	grant, err := w.Limits.Take(ctx, take)
	if err != nil {
		d.report.Silent = silentFor(err)
		return w.bestEffort(ctx, d, "reply", err)
	}
	deeds := make([]dialog.Deed, len(recorded))
	for i, a := range recorded {
		deeds[i] = dialog.Deed{Person: a.ActorName, Name: a.Name}
	}
	text := dialog.Praise(langOf(m.Words()), deeds, grant.Remaining)
	switch {
	case grant.First():
		return w.send(ctx, d, m, speech{text: text, grant: take})
	case grant.OK && d.heldBack:
		return w.sayOnce(ctx, d, m, speech{text: text, grant: take})
	case grant.Outcome == event.Duplicate:
		d.report.Silent = silentAgain
	default:
		d.report.Silent = silentCap
	}
	return nil
}

// answer says something that was asked for, or asks a question: once for each
// message, even if the chat's phrases change between two deliveries, and at
// most fifty times a day.
func (w *Worker) answer(ctx context.Context, d delivery, m msg, text string) error {
	return w.answerWith(ctx, d, m, speech{text: text})
}

func (w *Worker) answerWith(ctx context.Context, d delivery, m msg, s speech) error {
	s.grant = counter.Take{Key: m.scope + "#answers", Event: m.event, Weight: 1, Cap: AnswersADay}
	return w.say(ctx, d, m, s)
}

// say says something once, and takes it from the day's limit.
func (w *Worker) say(ctx context.Context, d delivery, m msg, s speech) error {
	if d.stopped {
		d.report.Silent = silentStop
		return nil
	}
	grant, err := w.Limits.Take(ctx, s.grant)
	if err != nil {
		d.report.Silent = silentFor(err)
		return w.bestEffort(ctx, d, "answer", err)
	}
	if grant.Refused() {
		d.report.Silent = silentCap
		return nil
	}
	return w.sayOnce(ctx, d, m, s)
}

// ask asks the sender what they meant, and mentions them. The bot does not speak up in quiet hours.
func (w *Worker) ask(ctx context.Context, d delivery, m msg, guess classify.Guess) error {
	if w.quiet(m) {
		d.report.Silent = silentQuiet
		return nil
	}
	text, ok := dialog.Ask(dialog.Question{Person: m.name(), Phrase: guess.Phrase, Name: guess.Name, Lang: langOf(m.Words())})
	if !ok {
		return nil
	}
	return w.answerWith(ctx, d, m, speech{text: text, mention: m.person})
}

// speech is something that the bot says to a message.
type speech struct {
	text    string
	mention telegram.User // whom it asks
	grant   counter.Take  // what it takes from the day's limit
	leave   *ledger.Claim // to send it; nil if a fresh grant is enough
}

// sayOnce sends what no delivery has sent. Leave to send is a claim of the
// message's key in the ledger. It is never completed, and nobody else gets a claim
// when its lease lapses, because the ledger has MaxAttempts 1: its holder has sent,
// or died trying. Only a release lets another delivery claim the key.
func (w *Worker) sayOnce(ctx context.Context, d delivery, m msg, s speech) error {
	leave, err := w.leave(ctx, m)
	if isTaken(err) {
		d.report.Silent, d.report.spoke = silentAgain, true
		return nil
	}
	if err != nil {
		d.report.Silent = silentFor(err)
		return w.bestEffort(ctx, d, "answer", err)
	}
	s.leave = leave
	return w.send(ctx, d, m, s)
}

// leave takes the leave to send. It is called when all that the message teaches
// is stored.
func (w *Worker) leave(ctx context.Context, m msg) (*ledger.Claim, error) {
	key, err := m.saidKey()
	if err != nil {
		return nil, err
	}
	return w.Seen.Claim(ctx, ledger.Request{Key: key})
}

// isTaken reports whether another delivery has, or had, the leave to send.
func isTaken(err error) bool {
	_, now := errors.AsType[*ledger.InProgressError](err)
	_, marked := errors.AsType[*ledger.DoneError](err) // by an earlier version
	return now || marked || errors.Is(err, ledger.ErrTooManyAttempts)
}

// saidKey is the ledger's key of what the bot says to the message, or unasked.
func (m msg) saidKey() (string, error) {
	if m.ID == 0 {
		return ledger.Key("JOB", m.event.String())
	}
	return ledger.Key("TELEGRAM", m.chat, m.idText(), "said")
}

// said reports whether the bot has asked or answered, or holds back what it
// would say. It does not know of praise that was sent at once.
func (w *Worker) said(ctx context.Context, m msg) (said, heldBack bool, _ error) {
	key, err := m.saidKey()
	if err != nil {
		return false, false, err
	}
	row, ok, err := w.Seen.Get(ctx, key)
	heldBack = ok && row.State == ledger.Failed // it was released
	return ok && !heldBack, heldBack, err
}

// send sends once. If it is unclear whether the message was sent, the grant is
// spent. A definite refusal gives it back, or is a *queue.LaterError: then a
// later delivery gets the leave to send.
func (w *Worker) send(ctx context.Context, d delivery, m msg, s speech) error {
	_, err := w.Sender.Send(ctx, telegram.Outgoing{Chat: m.Chat.ID, Text: s.text, ReplyTo: m.ID, Mention: s.mention})
	if err == nil {
		d.report.Sent, d.report.spoke = s.text, true
		return nil
	}
	d.report.Silent = err.Error()
	w.Log.WarnContext(ctx, "not sent", "delivery", d.ID, "error", err)
	refused, definite := errors.AsType[*telegram.RefusedError](err)
	switch {
	case !definite:
		d.report.spoke = true
		return nil
	case refused.RetryAfter > 0:
		d.report.Silent = silentWait
		w.settle(ctx, d, "hold back", w.holdBack(ctx, m, s.leave))
		seconds := (refused.RetryAfter + time.Second - 1) / time.Second
		return &queue.LaterError{After: refused.RetryAfter, Err: fmt.Errorf("worker: Telegram asks to wait %d s: %w", seconds, refused)}
	case refused.MovedTo != 0:
		w.settle(ctx, d, "move", w.moved(ctx, m, m.Chat, telegram.Chat{ID: refused.MovedTo}))
	case refused.Code == http.StatusForbidden && m.Chat.Private():
		_, err := w.DM.Set(ctx, dmstatus.Change{User: m.person.Key(), Chat: m.chat, Status: dmstatus.Stopped, Event: m.event})
		w.settle(ctx, d, "dm status", err)
	}
	_, err = w.Limits.Refund(ctx, counter.Refund{Key: s.grant.Key, Event: s.grant.Event, Weight: s.grant.Weight})
	w.settle(ctx, d, "refund", err)
	return nil
}

// holdBack releases the leave to send. A process that dies here leaves the
// message unsent. A message that needed no claim, because it had a fresh grant,
// gets one here and releases it.
func (w *Worker) holdBack(ctx context.Context, m msg, leave *ledger.Claim) (err error) {
	if leave == nil {
		if leave, err = w.leave(ctx, m); err != nil {
			return err
		}
	}
	return leave.Release(ctx)
}

// settle notes what went wrong after a refusal. The message will not be tried
// again, or comes again anyway, so this is not a reason to return the item.
func (w *Worker) settle(ctx context.Context, d delivery, step string, err error) {
	if err == nil {
		return
	}
	w.Log.ErrorContext(ctx, "step skipped", "step", step, "delivery", d.ID, "error", err)
	d.report.skip(step)
}
