package post

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
	"github.com/homeops/ddbpatterns/ledger"
)

// turn is one holding of the lease.
type turn struct {
	*Poster
	claim    *ledger.Claim
	renewed  time.Time
	budget   *budget
	saved    string // the batch that the poster's row names
	batches  int
	troubles int            // of the sink, in a row
	alone    map[string]int // facts and rows refused alone since the last post to the table, by table
}

// refusedError says that the sink refused the rows.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return "post: the sink refused the rows: " + e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// send posts all the rows or none, and repeats the post as long as the sink asks to
// wait. An error about these rows is a *sink.UnknownError or a *refusedError. Any
// other error ends the turn, and the next turn finds out what became of the rows.
func (t *turn) send(ctx context.Context, table, batch string, rows []fact.Row) error {
	until := t.budget.used.Until // which a refusal forgets
	for {
		if err := t.allow(ctx, table, len(rows)); err != nil {
			return err
		}
		t.budget.used.Until = until
		t.budget.begin(batch, table, len(rows), t.Clock.Now())
		if err := t.save(ctx); err != nil {
			return err
		}
		if err := t.renew(ctx); err != nil {
			return err
		}
		err := t.post(ctx, table, rows)
		_, unknown := errors.AsType[*sink.UnknownError](err)
		later, wait := errors.AsType[*sink.WaitError](err)
		t.budget.end(err == nil || unknown, !wait || unknown, t.Clock.Now())
		t.Tally.add(func(n *Counts) { n.Posts++ })
		if err == nil {
			t.troubles = 0
			t.setLast(nil)
			return nil
		}
		if ctx.Err() != nil && !wait {
			return fmt.Errorf("post: %w during a post: %w", ctx.Err(), err)
		}
		switch {
		case unknown:
			return err
		case !wait:
			t.Tally.add(func(n *Counts) { n.Refused++ })
			return &refusedError{err}
		}
		t.settled()
		if err := t.rest(ctx, later.After, err); err != nil {
			return err
		}
	}
}

func (t *turn) post(ctx context.Context, table string, rows []fact.Row) error {
	ctx, cancel := linger(ctx)
	defer cancel()
	return t.Sink.Post(ctx, table, rows)
}

// linger returns a context that ends a while after the other, so that a post under
// way can be answered and marked after the process is asked to end.
func linger(ctx context.Context) (context.Context, func()) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return late, func() {
		stop()
		cancel()
	}
}

// allow waits until n rows may be posted to the table.
func (t *turn) allow(ctx context.Context, table string, n int) error {
	now := t.Clock.Now()
	at, err := t.budget.when(table, n, now)
	if err != nil {
		return err
	}
	return t.sleep(ctx, at.Sub(now))
}

// rest waits after a failure of the sink: as long as the sink says, or else longer
// after each failure.
func (t *turn) rest(ctx context.Context, after time.Duration, err error) error {
	if after <= 0 {
		after = backOff(t.troubles)
	}
	t.troubles++
	t.setLast(err)
	t.Log.Warn("trouble with the sink", "error", err, "again", after)
	return t.sleep(ctx, after)
}

// sleep waits, and keeps the lease. The clock may end it, even if the wait is 0.
func (t *turn) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return t.Clock.Sleep(ctx, 0)
	}
	for end := t.Clock.Now().Add(d); ; {
		now := t.Clock.Now()
		left := end.Sub(now)
		if left <= 0 {
			return nil
		}
		slice := min(left, max(t.renewed.Add(renewAt).Sub(now), time.Millisecond))
		if err := t.Clock.Sleep(ctx, slice); err != nil {
			return err
		}
		t.Tally.add(func(n *Counts) { n.Waited += slice })
		if err := t.keep(ctx); err != nil {
			return err
		}
	}
}

// keep renews the lease when a third of it has passed.
func (t *turn) keep(ctx context.Context) error {
	if t.Clock.Now().Sub(t.renewed) < renewAt {
		return nil
	}
	return t.renew(ctx)
}

func (t *turn) renew(ctx context.Context) error {
	now := t.Clock.Now()
	if err := t.claim.Renew(ctx); err != nil {
		return err
	}
	t.renewed = now
	return nil
}

// close writes that no batch is open.
func (t *turn) close(ctx context.Context) error {
	if t.saved == "" {
		return nil
	}
	t.settled()
	return t.save(ctx)
}

func (t *turn) save(ctx context.Context) error {
	if err := t.Outbox.SavePoster(ctx, t.budget.used); err != nil {
		return err
	}
	t.saved = t.budget.used.Batch
	return nil
}

// release gives the lease back, even if the context has ended. Before that it
// writes that no batch is open, if so. If that fails, the lease ends by itself.
func (t *turn) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if t.saved != "" && t.budget.used.Batch == "" {
		err := t.save(ctx)
		if err != nil {
			t.Log.Warn("the poster's row was not written", "error", err)
		}
	}
	if err := t.claim.Release(ctx); err != nil && !errors.Is(err, ledger.ErrLeaseLost) {
		t.Log.Warn("the poster's lease was not given back", "error", err)
	}
}

func (t *turn) nextBatch() string {
	t.batches++
	return fmt.Sprintf("%d.%d", t.claim.Fence, t.batches)
}
