package intake

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/spool"
)

// These are how long a request may wait for DynamoDB. HubSpot waits 5 s and sends
// again for a day. Aloware never sends again, and has waited 110 s.
const (
	HubSpotWithin = 4 * time.Second
	AlowareWithin = 90 * time.Second
)

// Held is how many of Aloware's requests may wait at once.
const Held = 256

// take settles a request that was read. A sender that hangs up does not stop it.
func (h *Handler) take(ctx context.Context, source string, began time.Time, text []byte) Counts {
	ctx = context.WithoutCancel(ctx)
	events := h.events(source, text)
	if source == fact.HubSpot {
		ctx, cancel := context.WithTimeout(ctx, HubSpotWithin-h.now().Sub(began))
		defer cancel()
		return h.Settle(ctx, events)
	}
	counts := Counts{Received: len(events), Waiting: len(events), Unstored: len(events)}
	why := errors.New("too many others wait")
	carries := slices.ContainsFunc(events, func(e fact.Event) bool { return e.Ignored == "" })
	// Half of the room for bodies is for those that are being read.
	many := h.aloware.requests.Add(1) > Held || h.aloware.bytes.Load() > h.bodies()/2
	if !many || !carries {
		patient, cancel := h.patience(ctx)
		counts, why = h.settle(patient, events)
		cancel()
	}
	h.aloware.requests.Add(-1)
	if counts.Unstored > 0 {
		h.put(ctx, &counts, why, spool.Entry{ReceivedAt: began, Body: text})
	}
	return counts
}

// patience is how long a request of Aloware may wait: no longer than HubSpot's once
// the service ends.
func (h *Handler) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, AlowareWithin)
	ending := h.Ending
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-ending:
		}
		last := time.AfterFunc(HubSpotWithin, cancel)
		<-ctx.Done()
		last.Stop()
	}()
	return ctx, cancel
}

// put keeps in the spool what was not stored. If it cannot, the event is lost unless
// its sender sends it again, which Aloware never does.
func (h *Handler) put(ctx context.Context, counts *Counts, why error, e spool.Entry) {
	err := errors.New("QUILL_SPOOL is not set")
	if h.Spool != nil {
		err = h.Spool.Put(e)
	}
	if err != nil {
		h.log().LogAttrs(ctx, slog.LevelError, "a webhook of Aloware is lost", slog.String("reason", why.Error()), slog.String("spool", err.Error()))
		return
	}
	h.log().LogAttrs(ctx, slog.LevelWarn, "a webhook is in the spool", slog.String("reason", why.Error()))
	counts.Spooled, counts.Unstored = counts.Unstored, 0
}

// errSpooledLong refuses an event whose mark may have expired: it may be known.
var errSpooledLong = event.BadInput("intake", "receivedAt", "is longer ago than the ledger's retention: the event was in the spool")

// TakeIn settles what is in the spool as if it came once more, until something
// cannot be stored. If the process ends before the file is erased, the events are
// duplicates the next time. What is older than Retention is kept as refused, for
// somebody to decide.
func (h *Handler) TakeIn(ctx context.Context) {
	err := h.Spool.Each(func(e spool.Entry) bool {
		events := h.events(fact.Aloware, e.Body)
		if h.now().Sub(e.ReceivedAt) >= or(h.Retention, Retention) {
			for i := range events {
				events[i].Err = errSpooledLong // except where it is ignored
			}
		}
		ctx, cancel := context.WithTimeout(ctx, HubSpotWithin)
		defer cancel()
		counts, failure := h.settle(ctx, events)
		if counts.Unstored > 0 {
			files, _ := h.Spool.Len() // Each has just read the directory
			h.log().LogAttrs(ctx, slog.LevelWarn, "the spool waits", slog.Int("files", files), slog.String("first", failure.Error()))
			return false
		}
		h.Tally.add(counts)
		h.log().LogAttrs(ctx, slog.LevelInfo, "taken from the spool", slog.Any("events", counts), slog.Time("receivedAt", e.ReceivedAt))
		return true
	})
	if err != nil {
		h.log().LogAttrs(ctx, slog.LevelError, "the spool needs a look", slog.String("error", err.Error()))
	}
}
