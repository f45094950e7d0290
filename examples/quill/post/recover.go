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

// takeOver settles the batch that another turn left open.
func (t *turn) takeOver(ctx context.Context) error {
	open := t.budget.used
	if open.Batch == "" {
		return nil
	}
	if !holdsFacts(open.Table) { // posting again makes the same rows
		t.count(func(s *outbox.Sums) { s.RowsReposted += open.Rows })
		t.settled()
		return nil
	}
	t.Log.Info("another turn left a batch open", "batch", open.Batch, "table", open.Table, "rows", open.Rows)
	return t.find(ctx)
}

// find asks the sink which rows of the open batch it has, and marks them. No post of
// the batch is under way since the row's PostAt. Facts that the sink does not have stay
// pending.
func (t *turn) find(ctx context.Context) error {
	open := t.budget.used
	if err := t.sleep(ctx, open.PostAt.Add(t.AskAfter).Sub(t.Clock.Now())); err != nil {
		return err
	}
	keys, err := t.ask(ctx, open.Table, open.Batch)
	if errors.Is(err, sink.ErrCannotAsk) {
		again, err := t.again(ctx, open)
		if err != nil {
			return err
		}
		t.budget.found(0)
		t.count(func(s *outbox.Sums) {
			s.Reposted += again
			s.Recovered += max(0, open.Rows-again) // marked, but not counted
		})
		t.settled()
		return nil
	}
	if err != nil {
		return err
	}
	done, err := t.mark(ctx, open.Batch, keys)
	if err != nil {
		return err
	}
	t.budget.found(len(keys))
	t.count(func(s *outbox.Sums) {
		s.Recovered += done.Marked
		s.Doubled += inOther(done, open.Batch+late)
	})
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
// are, but the facts of a batch are those that waited longest, except those that were
// left aside.
func (t *turn) again(ctx context.Context, open outbox.Poster) (int, error) {
	facts, err := t.Outbox.Pending(ctx, open.Table, open.Rows+len(t.facts))
	facts = slices.DeleteFunc(facts, func(f outbox.Stored) bool {
		return f.ReceivedAt.After(open.Until) || t.facts[f.Key].err != nil
	})
	return min(len(facts), open.Rows), err
}

// holdsFacts reports whether the table's rows have their batch.
func holdsFacts(table string) bool { return slices.Contains(fact.FactTables, table) }

// settled notes that the outcome of the batch is known. The row gets this with the
// next batch, or when the turn ends well.
func (t *turn) settled() {
	u := &t.budget.used
	u.Batch, u.Table, u.Rows, u.Until = "", "", 0, time.Time{}
}
