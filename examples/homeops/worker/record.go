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

// stored asks what an earlier delivery recorded. The first delivery of a
// message need not ask.
func (w *Worker) stored(ctx context.Context, d delivery, m msg) ([]activity.Activity, error) {
	if !d.report.Duplicate {
		return nil, nil
	}
	return w.Activities.OfEvent(ctx, m.chat, m.event)
}

// record writes the activities of the message together and returns those that
// stand: its own, or what another delivery recorded first.
func (w *Worker) record(ctx context.Context, m msg, done []classify.Done) ([]activity.Activity, error) {
	all := make([]activity.Activity, 0, len(done))
	for i, what := range done[:min(len(done), activity.MaxSet)] {
		ev, err := m.event.Nth(i + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, activity.Activity{
			Scope: m.chat, Actor: m.person.Key(), ActorName: m.name(), Event: ev,
			Name: what.Name, Kind: what.Kind, Seq: m.ID, Effort: what.Effort, Confidence: what.Confidence,
		})
	}
	_, err := w.Activities.RecordAll(ctx, all)
	if conflict, ok := errors.AsType[*activity.ConflictError](err); ok {
		return conflict.Stored, nil
	}
	return all, err
}
