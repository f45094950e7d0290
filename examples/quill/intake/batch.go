package intake

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

// Ahead is how far ahead of the server's clock an event may be dated. A later one
// is refused: the latest change of a contact or a deal wins, so no real change
// could replace this one until then. A day leaves room for times of another zone
// than they are read in.
const Ahead = 24 * time.Hour

var errAhead = event.BadInput("intake", "At", "is more than a day ahead of the server's clock")

// Settle settles events like those of one request. It drops copies, and stores or
// keeps all others side by side, each on its own, so that a failing event does not
// keep another from being stored. Events that are not settled when the context ends
// are Unstored. The Tally does not change: refused events that are settled again,
// after the cause was mended, were received before.
func (h *Handler) Settle(ctx context.Context, events []fact.Event) Counts {
	counts, failure := h.settle(ctx, events)
	if failure != nil {
		h.log().LogAttrs(ctx, slog.LevelError, "events not stored",
			slog.Int("events", counts.Unstored), slog.String("first", failure.Error()))
	}
	return counts
}

// settle also returns why the first of the unstored events is not stored. It is an
// error in the log only if the spool does not have the events.
func (h *Handler) settle(ctx context.Context, events []fact.Event) (counts Counts, failure error) {
	verdicts := make([]verdict, len(events))
	failures := make([]error, len(events))
	first := distinct(events, verdicts)
	old, unread := h.oldMarks(ctx, first, events)
	h.sideBySide(len(first), func(n int) {
		i := first[n]
		e := events[i]
		switch {
		case e.Ignored != "":
			verdicts[i] = isIgnored
			h.log().LogAttrs(ctx, slog.LevelInfo, "event ignored", slog.String("source", e.Source), slog.String("kind", fmt.Sprintf("%.80s", e.Ignored)))
		case e.Err != nil:
			verdicts[i], failures[i] = h.keep(ctx, e, e.Err)
		case e.At.After(h.now().Add(Ahead)):
			verdicts[i], failures[i] = h.keep(ctx, e, errAhead)
		case unread != nil && len(h.oldKeys(e)) > 0:
			failures[i] = unread // it is unknown whether the event is new
		default:
			verdicts[i], failures[i] = h.store(ctx, e, old.verdict(e))
		}
	})
	for i, v := range verdicts {
		counts.count(v)
		if failure == nil {
			failure = failures[i]
		}
	}
	return counts, failure
}

// distinct returns the places of the events to be settled, in their order. Among
// events with the same key it chooses the first. The others are duplicates,
// whatever happens to the first.
func distinct(events []fact.Event, verdicts []verdict) (first []int) {
	seen := map[string]bool{}
	for i, e := range events {
		if e.Err == nil && e.Ignored == "" {
			if seen[e.Delivery] {
				verdicts[i] = isDuplicate
				continue
			}
			seen[e.Delivery] = true
		}
		first = append(first, i)
	}
	return first
}

// keep keeps a refused event, for 90 days since it was received: its sender will not
// send it again.
func (h *Handler) keep(ctx context.Context, e fact.Event, why error) (verdict, error) {
	refusal := outbox.Refusal{Source: e.Source, Reason: why.Error(), Body: string(e.Raw), At: e.Since}
	if e.Since.IsZero() {
		refusal.At = h.now()
	}
	if err := h.send(ctx, func(ctx context.Context) error { return h.Outbox.Refuse(ctx, refusal) }); err != nil {
		return unstored, err
	}
	h.log().LogAttrs(ctx, slog.LevelWarn, "event refused", slog.String("source", e.Source), slog.String("reason", why.Error()))
	return isRefused, nil
}

// sideBySide calls f with 0 to n-1, some of them at the same time.
func (h *Handler) sideBySide(n int, f func(int)) {
	var group errgroup.Group
	group.SetLimit(or(h.SideBySide, SideBySide))
	for i := range n {
		group.Go(func() error {
			f(i)
			return nil
		})
	}
	_ = group.Wait() // f handles its own errors
}
