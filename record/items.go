package record

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// ApplyItem is an [Apply] as actions of the caller's own transaction: see
// [Rows.ApplyItem]. It is like an [Action], but of one row or two.
type ApplyItem struct {
	// Items are the actions. An exact [Kind] always has two. Any other Kind has one,
	// or none if the event is counted already.
	Items []types.TransactWriteItem

	asked Apply
	nonce string // the nonce of an exact Kind, "" of another
	pkg   string
	wrap  func(error) error
}

// ApplyItem returns the Apply for a transaction, such as one of ledger.DoTx. It
// reads the row, except for Add, and writes nothing. It returns the errors that
// Apply returns before it writes.
//
// Make an ApplyItem once for each logical write. After an unknown outcome, send
// the same Items again, unchanged: an exact Kind recognizes its own write. Send
// them within [Config].MaxSkew after the call. DynamoDB refuses two actions on
// one item, so a transaction has at most one ApplyItem for each row.
//
// A transaction takes effect as a whole or not at all. If one of the Items is refused,
// as when the row has changed since it was read, DynamoDB cancels the whole
// transaction, and [ApplyItem.Outcome] says why.
//
// Price: 1 request, 1 RCU, 2 WCU. The request reads the row. In the transaction,
// each action costs 2 WCU for each KB, even if it is cancelled.
//
// Price (ExactAdd): 0 requests, 4 WCU.
//
// Price (ExactNext): 1 request, 1 RCU, 4 WCU.
func (r *Rows[T]) ApplyItem(ctx context.Context, a Apply) (*ApplyItem, error) {
	w, err := r.one(a)
	if err != nil {
		return nil, err
	}

	method := cmp.Or(a.Method, "ApplyItem")
	a.Add, a.AtLeast = maps.Clone(a.Add), maps.Clone(a.AtLeast)
	i := &ApplyItem{asked: a, pkg: r.kind.Package, wrap: func(err error) error { return r.wrap(method, err) }}
	if r.kind.exact() {
		err = w.exactItem(ctx, i)
	} else {
		err = w.ringItem(ctx, i)
	}

	if err != nil {
		return nil, i.wrap(err)
	}
	return i, nil
}

// Outcome says what a cancelled transaction means for the event. Pass the
// cancellation reasons of exactly these Items, in their order, or none if there
// are no Items.
//
//   - 0 and no error: the Items did not cause the cancellation, and nothing was
//     written.
//   - Created: an earlier try of this transaction took effect as a whole, and its
//     reply was lost. Only an exact [Kind] recognizes that.
//   - Duplicate: the event is counted already. Actions that always share its
//     transaction, such as the goods of a purchase, are done, too. Send only the other
//     actions, without the Items. If the Kind is not exact and the outcome of an
//     earlier try is unknown, that try may have counted the event: then send nothing.
//     ledger.DoTx and an exact Kind know.
//   - [ErrContended]: the row has changed since it was read. Make the ApplyItem
//     anew.
//   - [*FloorError], [*AddError], [event.ErrTooOld]: as from [Rows.Apply].
//   - An error with DynamoDB's code: DynamoDB refused an action for another
//     reason. After a conflict with another transaction, or throttling, send the
//     whole transaction again.
func (i *ApplyItem) Outcome(reasons []types.CancellationReason) (event.Outcome, error) {
	if len(reasons) != len(i.Items) {
		return 0, event.BadInput(i.pkg, "reasons", fmt.Sprintf("must have one element for each of the %d Items, has %d", len(i.Items), len(reasons)))
	}
	outcome := i.ringOutcome
	if i.nonce != "" {
		outcome = i.exactOutcome
	}
	out, err := outcome(reasons)
	return out, i.wrap(err)
}

// Committed is the answer if the transaction took effect: Created, or Duplicate if
// there are no Items.
func (i *ApplyItem) Committed() event.Outcome {
	if len(i.Items) == 0 {
		return event.Duplicate
	}
	return event.Created
}

// ringItem makes the action for a row that remembers its latest events: none if the
// event is counted already.
func (w *writing[T]) ringItem(ctx context.Context, i *ApplyItem) error {
	row, err := w.read(ctx, w.key, true)
	if err != nil {
		return err
	}
	s, err := w.step(row, []event.Event{i.asked.Event})
	if err != nil {
		return err
	}
	if s.taken > 0 {
		i.Items = []types.TransactWriteItem{ddb.UpdateAction(w.counting(row, s))}
	}
	return s.answers[0].err // of the one event
}

func (i *ApplyItem) ringOutcome(reasons []types.CancellationReason) (event.Outcome, error) {
	if len(reasons) == 0 {
		return event.Duplicate, nil
	}

	row, refused, err := ddb.Action(reasons[0])
	if err != nil || !refused {
		return 0, err
	}

	ring, err := item.Bytes(row, attrRecent)
	if err != nil {
		return 0, err
	}

	_, outcome, err := counted(ring).Add(i.asked.Event)
	if err != nil || outcome == event.Duplicate {
		return outcome, err
	}

	return 0, ErrContended
}

// exactItem makes the two actions of an exact Kind: one writes the event's row, and one
// changes the record.
func (w *writing[T]) exactItem(ctx context.Context, i *ApplyItem) error {
	if w.tooOld(i.asked.Event) {
		return errRetention
	}

	e, err := w.exactWrite()
	if err != nil {
		return err
	}
	i.nonce = e.nonce
	i.Items, err = e.items(ctx, []event.Event{i.asked.Event})
	return err
}

// exactOutcome reads the reasons of the event's row and of the record. The event's row,
// if it stands, is written for good, whatever the other reason is.
func (i *ApplyItem) exactOutcome(reasons []types.CancellationReason) (event.Outcome, error) {
	row, counted, eventErr := ddb.Action(reasons[0])
	if counted {
		given := answerOf(row, i.nonce, i.asked.Add)
		return given.outcome, given.err
	}

	row, refused, err := ddb.Action(reasons[1])
	if err = cmp.Or(eventErr, err); err != nil || !refused {
		return 0, err
	}
	return 0, refusal(row, i.asked.Next, i.asked.Add, i.asked.AtLeast)
}

// answerOf answers the call with the nonce for an event whose row exists. If the row has
// that nonce, an earlier try of the same call wrote it.
func answerOf(row Item, nonce string, add map[string]int64) answer {
	if err := differs(row, add); err != nil {
		return answer{err: err}
	}
	if item.Text(row, attrBy) == nonce {
		return answer{outcome: event.Created}
	}
	return answer{outcome: event.Duplicate}
}

// told is what the reasons of a cancelled transaction say.
type told struct {
	rest    []event.Event // that are not counted
	refused bool          // by the record, which stands
	stands  Item
	busy    bool // some action met another transaction, or was throttled
	fault   bool // some action failed in another way
}

// tell reads the reasons, the record's last, none after a conflict of the whole
// request. It answers the events that are counted already.
func (e *exactWrite[T]) tell(events []event.Event, reasons []types.CancellationReason) (t told) {
	if len(reasons) == 0 {
		return told{rest: events}
	}

	for n, ev := range events {
		if row, counted, _ := ddb.Action(reasons[n]); counted {
			e.answers[ev] = answerOf(row, e.nonce, e.add[ev])
		} else {
			t.rest = append(t.rest, ev)
		}
	}

	for _, reason := range reasons {
		_, _, err := ddb.Action(reason)
		t.busy = t.busy || ddb.BusyAction(reason)
		t.fault = t.fault || err != nil && !ddb.BusyAction(reason)
	}

	t.stands, t.refused, _ = ddb.Action(reasons[len(events)])
	return t
}
