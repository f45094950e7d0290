package record

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// The row of an event, beside its key. No row of a record can be in its
// partition, because [Key] makes one with an empty part.
const (
	attrTTL = "ttl"
	attrBy  = "by"  // the nonce of the call that counted the event
	attrAdd = "add" // what the event added, by the sum; not with Next

	ofEvents = "##" // follows the record's partition
)

const (
	mostEvents = 99 // of a transaction, beside the record
	mostSkew   = 24 * time.Hour
)

// The update expressions of an exact Kind. The version begins at a random number:
// a row that was deleted and made anew is never taken for the one before.
const (
	setExact = "SET #type = :type, #version = :version, #updatedAt = :updatedAt, #count = :count"
	addExact = "SET #type = :type, #version = if_not_exists(#version, :start) + :one, #updatedAt = :updatedAt ADD #count :count"
	ifExact  = "attribute_not_exists(#recent)"
)

var (
	// errRing is for a row that may have counted the event without a row for it.
	errRing      = errors.New("the row was written by a Kind without a Retention, so it does not say which events it has counted")
	errRetention = fmt.Errorf("the event happened longer ago than Kind.Retention less Config.MaxSkew: %w", event.ErrTooOld)
	errNoReason  = errors.New("the row refused the event for no known reason")
)

func (r *Rows[T]) checkExact() error {
	switch {
	case !r.kind.exact():
	case r.cfg.MaxSkew < 0 || r.cfg.MaxSkew > mostSkew:
		return event.BadInput(r.kind.Package, "Config.MaxSkew", "must be between 0 and a day")
	case r.kind.Retention <= r.cfg.MaxSkew:
		return event.BadInput(r.kind.Package, "Kind.Retention", "must be longer than Config.MaxSkew")
	}
	return nil
}

func sortOf(sort string, ev event.Event) string { return check.Enc(sort) + "#" + ev.String() }

// tooOld reports whether the event's row may have expired by any clock.
func (r *Rows[T]) tooOld(ev event.Event) bool {
	return !r.cfg.Now().Before(ev.Time().Add(r.kind.Retention - r.cfg.MaxSkew))
}

// exactly is apply for an exact Kind.
func (w *writing[T]) exactly(ctx context.Context, events []event.Event) (all []answer, err error) {
	e, err := w.exactWrite()
	if err != nil {
		return nil, err
	}

	err = e.count(ctx, slices.Compact(slices.Clone(events)))
	for _, ev := range events {
		given, ok := e.answers[ev]
		if !ok {
			break
		}
		all = append(all, given)
		if given.err == nil {
			e.answers[ev] = answer{outcome: event.Duplicate} // if it comes again
		}
	}

	return all, err
}

// exactWrite is a call on an exact Kind.
type exactWrite[T any] struct {
	*writing[T]
	nonce   string
	start   int64 // of the version of a new row
	sent    int   // different transactions so far
	known   bool
	row     Item // for next: the row, once it is known
	becomes Item // for next: the row after the transaction
	answers map[event.Event]answer
}

func (w *writing[T]) exactWrite() (*exactWrite[T], error) {
	var b [8]byte
	if _, err := io.ReadFull(w.cfg.Rand, b[:]); err != nil {
		return nil, fmt.Errorf("no randomness for a nonce: %w", err)
	}
	return &exactWrite[T]{
		writing: w, nonce: base64.RawURLEncoding.EncodeToString(b[:]), start: int64(binary.BigEndian.Uint64(b[:]) >> 24),
		answers: map[event.Event]answer{},
	}, nil
}

// count counts events that ascend, each once, and answers them. After an error the
// last of them have no answer.
func (e *exactWrite[T]) count(ctx context.Context, events []event.Event) error {
	for len(events) > 0 {
		if e.tooOld(events[0]) {
			e.answers[events[0]], events = answer{err: errRetention}, events[1:]
			continue
		}

		some := events[:min(mostEvents, len(events))]
		if err := e.transact(ctx, some); err != nil {
			return err
		}
		events = events[len(some):]
	}
	return nil
}

// transact counts the events in one transaction, without those that turn out to be
// counted already.
func (e *exactWrite[T]) transact(ctx context.Context, left []event.Event) error {
	var in *dynamodb.TransactWriteItemsInput // sent again unchanged after a conflict
	for try := 1; ; {
		if in == nil {
			items, err := e.items(ctx, left)
			if err != nil {
				return err
			}
			e.sent++
			token := e.nonce + "-" + strconv.Itoa(e.sent)
			in = &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(token), TransactItems: items}
		}

		_, err := e.api.TransactWriteItems(ctx, in)
		if err == nil {
			for _, ev := range left {
				e.answers[ev] = answer{outcome: event.Created}
			}
			e.row = e.becomes
			return nil
		}

		reasons, cancelled := ddb.Cancelled(err)
		if cancelled && len(reasons) != len(in.TransactItems) || !cancelled && !ddb.Conflict(err) {
			return err
		}

		told := e.tell(left, reasons)
		switch {
		case len(told.rest) == 0:
			return nil
		case told.fault:
			return err
		case told.refused && !told.busy:
			if err := refusal(told.stands, e.next, e.add[told.rest[0]], e.atLeast); !errors.Is(err, ErrContended) {
				return err
			}
			e.row, in = told.stands, nil
		}

		if len(told.rest) < len(left) { // it got on: there is no need to wait
			left, in = told.rest, nil
			continue
		}

		if err := giveUp(ctx, try, err); err != nil {
			return err
		}
		if try++; in == nil && try > patience {
			e.known = false // the row may have changed in the pause
		}
	}
}

// items returns the actions that count the events: a row for each, and then the
// change of the record.
func (e *exactWrite[T]) items(ctx context.Context, events []event.Event) ([]types.TransactWriteItem, error) {
	partition, sort := item.Text(e.key, attrPK)+ofEvents, item.Text(e.key, attrSK)
	items := make([]types.TransactWriteItem, 0, len(events)+1)
	for _, ev := range events {
		row := keyOf(partition, sortOf(sort, ev))
		// The TTL has whole seconds, and is rounded up: the row must not expire early.
		row[attrTTL] = item.N(ev.Time().Add(e.kind.Retention + time.Second - 1).Unix())
		row[attrBy] = item.S(e.nonce)
		if e.add != nil {
			row[attrAdd] = added(e.add[ev])
		}
		items = append(items, ddb.PutAction(&dynamodb.PutItemInput{
			TableName: aws.String(e.table), Item: row,
			ConditionExpression:      aws.String(ifNone),
			ExpressionAttributeNames: map[string]string{"#pk": attrPK},
		}))
	}

	if e.next == nil { // Add needs no look at the row: its condition refuses attrRecent
		return append(items, ddb.UpdateAction(e.adding(events))), nil
	}
	update, err := e.computing(ctx, events)
	if err != nil {
		return nil, err
	}
	return append(items, ddb.UpdateAction(update)), nil
}

// computing returns the update that Next computes from the row, which is read unless it
// is known.
func (e *exactWrite[T]) computing(ctx context.Context, events []event.Event) (*dynamodb.UpdateItemInput, error) {
	if !e.known {
		row, err := e.read(ctx, e.key, true)
		if err != nil {
			return nil, err
		}
		e.row, e.known = row, true
	}
	if item.Has(e.row, attrRecent) {
		return nil, errRing
	}

	_, version, count, err := e.standing(e.row)
	if err != nil {
		return nil, err
	}
	if !item.Has(e.row, attrVersion) {
		version = e.start // random, so that a row made anew is not taken for the old one
	}

	s := step{becomes: e.row, own: Item{}}
	for _, ev := range events {
		count++
		if err := e.compute(&s, ev, version, count, false); err != nil {
			return nil, err
		}
	}

	e.becomes = s.becomes
	return e.counting(e.row, s), nil
}

// refusal says why the record refused an event: ErrContended if it has changed since
// it was read, and the event is to be computed again.
func refusal(row Item, next Next, add, atLeast map[string]int64) error {
	switch {
	case item.Has(row, attrRecent): // only a Kind without a Retention writes it
		return errRing
	case next != nil:
		return ErrContended
	}
	return below(row, add, atLeast)
}
