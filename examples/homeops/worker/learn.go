package worker

import (
	"context"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/pattern"
)

// learnEffort moves the person's average effort for the activity. An average is not a
// sum: its row remembers the 32 latest events, which is part of the format, so a deed
// that arrives after 32 later ones of this person and activity is in every sum and not
// in the average. The log says so.
func (w *Worker) learnEffort(ctx context.Context, d delivery, a activity.Activity) error {
	_, err := w.Effort.Observe(ctx, ema.Observe{Subject: a.Actor, Metric: a.Name, Event: a.Event, Value: a.Effort})
	return w.bestEffort(ctx, d, "effort", err)
}

// learnHabit counts the weekday and the hour.
func (w *Worker) learnHabit(ctx context.Context, d delivery, a activity.Activity) error {
	_, err := w.Habits.Observe(ctx, pattern.Observe{Scope: a.Scope, Actor: a.Actor, Name: a.Name, Event: a.Event})
	return w.bestEffort(ctx, d, "habit", err)
}

// The metrics of Prefs.
const (
	IgnoresSuggestions   = "ignoresSuggestions" // earlier versions learned ignoreRate from thanks and reminders, too
	ResponseTiming       = "responseTimingPref"
	InteractionFrequency = "interactionFrequency"
)

// learnTiming learns, from a reply to one of the bot's messages, how many
// seconds the person takes to answer.
func (w *Worker) learnTiming(ctx context.Context, d delivery, m msg) error {
	if !w.toBot(m) || m.ReplyTo.Date <= 0 || m.Date < m.ReplyTo.Date {
		return nil
	}
	_, err := w.Prefs.Observe(ctx, ema.Observe{
		Subject: m.person.Key(), Metric: ResponseTiming, Event: m.event,
		Value: m.Time().Sub(m.ReplyTo.Time()).Seconds(),
	})
	return w.bestEffort(ctx, d, "timing", err)
}

// toBot reports whether the message replies to one of the bot's.
func (w *Worker) toBot(m msg) bool {
	return m.ReplyTo != nil && m.ReplyTo.From != nil && m.ReplyTo.From.ID == w.BotID
}
