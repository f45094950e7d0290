package worker

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
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
