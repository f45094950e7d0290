package worker

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/message"
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
