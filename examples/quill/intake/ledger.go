package intake

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/record"
)

// notes is the text that rows of deliveries have in the existing table.
const notes = "initial insert"

// store marks an event and writes its fact. An event that is known by an old key, and
// one that waits for another, is only marked.
func (h *Handler) store(ctx context.Context, e fact.Event, known verdict) (verdict, error) {
	write := e.Fact
	if known != unstored {
		write = nil
	}
	outcome, stands, err := h.commit(ctx, e, write)
	if _, bad := errors.AsType[*event.InputError](err); bad { // it can never be stored
		return h.keep(ctx, e, err)
	}
	if err == nil && stands != nil { // another delivery wrote the fact
		outcome, _, err = h.commit(ctx, e, nil)
	}
	switch {
	case err != nil:
		return unstored, err
	case outcome == event.Duplicate:
		return isDuplicate, nil
	case known != unstored:
		return known, nil
	case e.Fact == nil:
		return isWaiting, nil
	case stands == nil && len(e.LeftOut) > 0:
		h.log().LogAttrs(ctx, slog.LevelInfo, "columns left out", slog.String("source", e.Source), slog.Any("fields", e.LeftOut))
		return isIncomplete, nil
	case stands == nil:
		return isNew, nil
	case !later(stands.Row, e.Fact.Row):
		return isDuplicate, nil
	}
	h.log().LogAttrs(ctx, slog.LevelInfo, "a later status is not counted", slog.String("fact", e.Fact.Key),
		slog.String("counted", state(stands.Row)), slog.String("later", state(e.Fact.Row)))
	return isLater, nil
}

// later reports whether the new fact says that the same call ended differently. If
// the stored fact is unreadable, it is false.
func later(stands, comes fact.Row) bool { return stands != nil && state(stands) != state(comes) }

// state is how a call ended. For a fact that is not a call it is always the
// same.
func state(row fact.Row) string {
	status, _ := row["status"].(string)
	disposition, _ := row["disposition"].(string)
	return status + "/" + disposition
}

// commit marks the delivery of the event and, unless it is nil, writes the fact. One
// transaction does both or nothing, and is sent until it is decided. commit returns
// event.Created if the transaction took effect, even if the first reply was lost, or
// all replies were and the event came again. It returns event.Duplicate if another
// transaction has marked the delivery. If only an existing fact with the same key
// prevents it, commit returns that fact, and nothing was written.
func (h *Handler) commit(ctx context.Context, e fact.Event, f *fact.Fact) (event.Outcome, *outbox.Stored, error) {
	t, err := h.transaction(e.Delivery, f)
	if err != nil {
		return 0, nil, err
	}
	t = h.undecided.share(e.Delivery, t)
	outcome, stands := event.Created, (*outbox.Stored)(nil)
	err = h.send(ctx, func(ctx context.Context) error {
		_, err := h.DB.TransactWriteItems(ctx, &t.in, once)
		return err
	})
	if err != nil {
		outcome, stands, err = judge(err, t.mark, t.put)
	}
	h.undecided.end(e, t, err == nil)
	if err != nil {
		return 0, nil, fmt.Errorf("intake: TransactWriteItems on table %s and the outbox: %w", h.Ledger.Table().Name, err)
	}
	if outcome == event.Created {
		outcome = t.created()
	}
	return outcome, stands, nil
}

// transaction returns a new transaction for the delivery and its fact.
func (h *Handler) transaction(delivery string, f *fact.Fact) (*transaction, error) {
	mark, err := h.Ledger.MarkItem(delivery)
	if err != nil {
		return nil, err
	}
	mark.Item.Put.Item["notes"] = &types.AttributeValueMemberS{Value: notes}
	t := &transaction{mark: mark, in: dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(h.token()), // the same in every attempt
		TransactItems:      []types.TransactWriteItem{mark.Item},
	}}
	if f != nil {
		if t.put, err = h.Outbox.PutItem(*f); err != nil {
			return nil, err
		}
		t.in.TransactItems = append(t.in.TransactItems, t.put.Item)
	}
	return t, nil
}

func (h *Handler) token() string {
	var b [16]byte
	h.random(b[:])
	return hex.EncodeToString(b[:])
}

// judge finds out which item of a cancelled transaction was refused. If none was,
// it returns the transaction's error.
func judge(err error, mark *record.Action[event.Outcome], put *record.Action[outbox.Put]) (event.Outcome, *outbox.Stored, error) {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || len(cancelled.CancellationReasons) == 0 {
		return 0, nil, err
	}
	reasons := cancelled.CancellationReasons
	outcome, markErr := mark.Outcome(reasons[0])
	if markErr != nil || outcome != 0 {
		return outcome, nil, markErr
	}
	if put == nil || len(reasons) < 2 {
		return 0, nil, err
	}
	stands, putErr := put.Outcome(reasons[1])
	if putErr != nil || stands.Outcome != event.Duplicate {
		return 0, nil, errors.Join(err, putErr)
	}
	return 0, &stands.Stored, nil
}
