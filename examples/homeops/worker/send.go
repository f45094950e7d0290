package worker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/ledger"
)

// speech is something that the bot says to a message.
type speech struct {
	text    string
	mention telegram.User // whom it asks
	grant   counter.Take  // what it takes from the day's limit
	leave   *ledger.Claim // to send it; nil if a fresh grant is enough
}

// sayOnce sends what no delivery has sent. Leave to send is a claim of the
// message's key in the ledger. It is never completed, and nobody else gets a claim
// when its lease lapses, because the ledger has MaxAttempts 1: its holder has sent,
// or died trying. Only a release lets another delivery claim the key.
func (w *Worker) sayOnce(ctx context.Context, d delivery, m msg, s speech) error {
	leave, err := w.leave(ctx, m)
	if isTaken(err) {
		d.report.Silent, d.report.spoke = silentAgain, true
		return nil
	}
	if err != nil {
		d.report.Silent = silentFor(err)
		return w.bestEffort(ctx, d, "answer", err)
	}
	s.leave = leave
	return w.send(ctx, d, m, s)
}

// leave takes the leave to send. It is called when all that the message teaches
// is stored.
func (w *Worker) leave(ctx context.Context, m msg) (*ledger.Claim, error) {
	key, err := m.saidKey()
	if err != nil {
		return nil, err
	}
	return w.Seen.Claim(ctx, ledger.Request{Key: key})
}

// isTaken reports whether another delivery has, or had, the leave to send.
func isTaken(err error) bool {
	_, now := errors.AsType[*ledger.InProgressError](err)
	_, marked := errors.AsType[*ledger.DoneError](err) // by an earlier version
	return now || marked || errors.Is(err, ledger.ErrTooManyAttempts)
}

// saidKey is the ledger's key of what the bot says to the message, or unasked.
func (m msg) saidKey() (string, error) {
	if m.ID == 0 {
		return ledger.Key("JOB", m.event.String())
	}
	return ledger.Key("TELEGRAM", m.chat, m.idText(), "said")
}

// said reports whether the bot has asked or answered, or holds back what it
// would say. It does not know of praise that was sent at once.
func (w *Worker) said(ctx context.Context, m msg) (said, heldBack bool, _ error) {
	key, err := m.saidKey()
	if err != nil {
		return false, false, err
	}
	row, ok, err := w.Seen.Get(ctx, key)
	heldBack = ok && row.State == ledger.Failed // it was released
	return ok && !heldBack, heldBack, err
}

// send sends once. If it is unclear whether the message was sent, the grant is
// spent. A definite refusal gives it back, or is a *queue.LaterError: then a
// later delivery gets the leave to send.
func (w *Worker) send(ctx context.Context, d delivery, m msg, s speech) error {
	_, err := w.Sender.Send(ctx, telegram.Outgoing{Chat: m.Chat.ID, Text: s.text, ReplyTo: m.ID, Mention: s.mention})
	if err == nil {
		d.report.Sent, d.report.spoke = s.text, true
		return nil
	}
	d.report.Silent = err.Error()
	w.Log.WarnContext(ctx, "not sent", "delivery", d.ID, "error", err)
	refused, definite := errors.AsType[*telegram.RefusedError](err)
	switch {
	case !definite:
		d.report.spoke = true
		return nil
	case refused.RetryAfter > 0:
		d.report.Silent = silentWait
		w.settle(ctx, d, "hold back", w.holdBack(ctx, m, s.leave))
		seconds := (refused.RetryAfter + time.Second - 1) / time.Second
		return &queue.LaterError{After: refused.RetryAfter, Err: fmt.Errorf("worker: Telegram asks to wait %d s: %w", seconds, refused)}
	case refused.MovedTo != 0:
		w.settle(ctx, d, "move", w.moved(ctx, m, m.Chat, telegram.Chat{ID: refused.MovedTo}))
	case refused.Code == http.StatusForbidden && m.Chat.Private():
		_, err := w.DM.Set(ctx, dmstatus.Change{User: m.person.Key(), Chat: m.chat, Status: dmstatus.Stopped, Event: m.event})
		w.settle(ctx, d, "dm status", err)
	}
	_, err = w.Limits.Refund(ctx, counter.Refund{Key: s.grant.Key, Event: s.grant.Event, Weight: s.grant.Weight})
	w.settle(ctx, d, "refund", err)
	return nil
}

// holdBack releases the leave to send. A process that dies here leaves the
// message unsent. A message that needed no claim, because it had a fresh grant,
// gets one here and releases it.
func (w *Worker) holdBack(ctx context.Context, m msg, leave *ledger.Claim) (err error) {
	if leave == nil {
		if leave, err = w.leave(ctx, m); err != nil {
			return err
		}
	}
	return leave.Release(ctx)
}

// settle notes what went wrong after a refusal. The message will not be tried
// again, or comes again anyway, so this is not a reason to return the item.
func (w *Worker) settle(ctx context.Context, d delivery, step string, err error) {
	if err == nil {
		return
	}
	w.Log.ErrorContext(ctx, "step skipped", "step", step, "delivery", d.ID, "error", err)
	d.report.skip(step)
}
