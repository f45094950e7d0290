package worker

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
)

// save stores the message as it came. A message that is older than messages are
// kept may have been handled before.
func (w *Worker) save(ctx context.Context, m msg) (event.Outcome, error) {
	out, err := w.Messages.Save(ctx, message.Message{
		Scope: m.chat, Seq: m.ID, Actor: actorOf(m), ActorName: m.name(),
		Text: m.Words(), At: m.Time(), Raw: m.raw,
	})
	if errors.Is(err, event.ErrTooOld) {
		return event.Duplicate, nil
	}
	return out, err
}

func actorOf(m msg) string {
	if m.person.ID == 0 {
		return ""
	}
	return m.person.Key()
}

// record writes the activities of the message together and returns those that
// count: its own, or what another delivery recorded first.
func (w *Worker) record(ctx context.Context, d delivery, m msg, done []classify.Done) ([]activity.Activity, error) {
	done = m.distinct(done)
	if len(done) > activity.MaxSet { // no transaction takes more
		w.Log.ErrorContext(ctx, "step skipped", "step", "activities over 100", "delivery", d.ID)
		d.report.skip("activities over 100")
		done = done[:activity.MaxSet]
	}
	all := make([]activity.Activity, 0, len(done))
	names := map[string]string{m.person.Key(): m.name()}
	for i, what := range done {
		ev, err := m.deed().Nth(i + 1)
		if err != nil {
			return nil, err
		}
		actor := m.doer(what)
		if _, ok := names[actor]; !ok {
			if names[actor], err = w.called(ctx, d, *what.By); err != nil {
				return nil, err
			}
		}
		all = append(all, activity.Activity{
			Scope: m.scope, Actor: actor, ActorName: names[actor], Event: ev,
			Name: what.Name, Kind: what.Kind, Seq: m.ID, Effort: what.Effort, Confidence: what.Confidence,
		})
	}
	_, err := w.Activities.RecordAll(ctx, all)
	if conflict, ok := errors.AsType[*activity.ConflictError](err); ok {
		return conflict.Stored, nil
	}
	return all, err
}

// doer is the person whose activity it is.
func (m msg) doer(what classify.Done) string {
	actor := m.person.Key()
	if what.By != nil {
		actor = what.By.ID
	}
	return actor
}

// distinct leaves out what a message says twice of one person, such as a sender who
// also names themselves.
func (m msg) distinct(done []classify.Done) []classify.Done {
	said := map[[2]string]bool{}
	return slices.DeleteFunc(slices.Clone(done), func(what classify.Done) bool {
		deed := [2]string{m.doer(what), what.Name}
		again := said[deed]
		said[deed] = true
		return again
	})
}

// called returns the name of a person whom the message names, or how it names them
// if their name cannot be read.
func (w *Worker) called(ctx context.Context, d delivery, of classify.Person) (string, error) {
	p, _, err := w.Profiles.Get(ctx, of.ID)
	return cmp.Or(p.Name, of.Name), w.bestEffort(ctx, d, "doer", err)
}

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
