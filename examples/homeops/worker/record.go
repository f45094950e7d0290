package worker

import (
	"context"
	"errors"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/message"
)

// save stores the message as it came.
func (w *Worker) save(ctx context.Context, m msg) (event.Outcome, error) {
	return w.Messages.Save(ctx, message.Message{
		Scope: m.chat, Seq: m.ID, Actor: actorOf(m), ActorName: m.name(),
		Text: m.Words(), At: m.Time(), Raw: m.raw,
	})
}

func actorOf(m msg) string {
	if m.person.ID == 0 {
		return ""
	}
	return m.person.Key()
}

// record writes the activities of the message together and returns those that
// stand: its own, or what another delivery recorded first.
func (w *Worker) record(ctx context.Context, d delivery, m msg, done []classify.Done) ([]activity.Activity, error) {
	if len(done) > activity.MaxSet { // no transaction takes more
		w.Log.ErrorContext(ctx, "step skipped", "step", "activities over 100", "delivery", d.ID)
		d.report.skip("activities over 100")
		done = done[:activity.MaxSet]
	}
	all := make([]activity.Activity, 0, len(done))
	for i, what := range done {
		ev, err := m.deed().Nth(i + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, activity.Activity{
			Scope: m.scope, Actor: m.person.Key(), ActorName: m.name(), Event: ev,
			Name: what.Name, Kind: what.Kind, Seq: m.ID, Effort: what.Effort, Confidence: what.Confidence,
		})
	}
	_, err := w.Activities.RecordAll(ctx, all)
	if conflict, ok := errors.AsType[*activity.ConflictError](err); ok {
		return conflict.Stored, nil
	}
	return all, err
}
