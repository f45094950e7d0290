package post

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// skew is how far the clock of the process that stored a fact may be ahead of
// the poster's.
const skew = 10 * time.Second

// takeOver settles the batch that another turn left open.
func (t *turn) takeOver(ctx context.Context) error {
	open := t.budget.used
	if open.Batch == "" {
		return nil
	}
	if !holdsFacts(open.Table) { // posting again makes the same rows
		t.Tally.add(func(n *Counts) { n.Again += open.Rows })
		t.settled()
		return nil
	}
	t.Log.Info("another turn left a batch open", "batch", open.Batch, "table", open.Table, "rows", open.Rows)
	return t.find(ctx, t.Clock.Now()) // the post began at PostAt, and may have been under way until now
}

// find asks the sink which rows of the open batch it has, and marks them. No post
// of the batch is under way since the given time. Facts that the sink does not have
// stay pending.
func (t *turn) find(ctx context.Context, since time.Time) error {
	open := t.budget.used
	if err := t.sleep(ctx, min(t.AskAfter, since.Add(t.AskAfter).Sub(t.Clock.Now()))); err != nil {
		return err
	}
	keys, err := t.ask(ctx, open.Table, open.Batch)
	if errors.Is(err, sink.ErrCannotAsk) {
		again, err := t.again(ctx, open)
		if err != nil {
			return err
		}
		t.budget.found(0)
		t.Tally.add(func(n *Counts) { n.Again += again })
		t.settled()
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.mark(ctx, open.Batch, keys); err != nil {
		return err
	}
	t.budget.found(len(keys))
	t.Tally.add(func(n *Counts) { n.Recovered += len(keys) })
	t.settled()
	return nil
}

// ask asks until the sink answers.
func (t *turn) ask(ctx context.Context, table, batch string) ([]string, error) {
	for {
		t.Tally.add(func(n *Counts) { n.Asked++ })
		keys, err := t.Sink.Posted(ctx, table, batch)
		later, ok := errors.AsType[*sink.WaitError](err)
		if !ok || errors.Is(err, sink.ErrCannotAsk) || ctx.Err() != nil {
			return keys, err
		}
		if err := t.rest(ctx, later.After, err); err != nil {
			return nil, err
		}
	}
}

// again is how many facts are posted again although the sink may have them: the
// unmarked facts of the open batch. The poster's row does not say which facts these
// are, but the facts of a batch are those that waited longest.
func (t *turn) again(ctx context.Context, open outbox.Poster) (int, error) {
	facts, err := t.Outbox.Pending(ctx, open.Table, open.Rows)
	facts = slices.DeleteFunc(facts, func(f outbox.Stored) bool { return f.ReceivedAt.After(open.PostAt.Add(skew)) })
	return len(facts), err
}

// holdsFacts reports whether the table's rows have their batch.
func holdsFacts(table string) bool { return slices.Contains(fact.FactTables, table) }
