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

// errRing is for a row that may have counted the event without a row for it.
var errRing = errors.New("the row was written by a Kind without a Retention, so it does not say which events it has counted")

func (r *Rows[T]) checkExact() error {
	switch {
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

var errRetention = fmt.Errorf("the event happened longer ago than the Kind's Retention: %w", event.ErrTooOld)

// exactly is apply for an exact Kind.
func (w *writing[T]) exactly(ctx context.Context, events []event.Event) (all []answer, err error) {
	e, err := w.exactWrite()
	if err != nil {
		return nil, err
	}

	distinct := slices.Compact(slices.Clone(events))
	answers, err := e.count(ctx, distinct)
	for _, ev := range events {
		at, _ := slices.BinarySearchFunc(distinct, ev, event.Event.Compare)
		if at >= len(answers) {
			break
		}
		all = append(all, answers[at])
		if answers[at].err == nil {
			answers[at].outcome = event.Duplicate // if it comes again
		}
	}

	return all, err
}

// exactWrite is a call on an exact Kind.
type exactWrite[T any] struct {
	*writing[T]
	by      string
	start   int64 // of the version of a new row
	sent    int   // different transactions so far
	read    bool
	row     Item // for next: the row as it is known
	becomes Item // for next: the row after the transaction
}

func (w *writing[T]) exactWrite() (*exactWrite[T], error) {
	var b [8]byte
	if _, err := io.ReadFull(w.cfg.Rand, b[:]); err != nil {
		return nil, fmt.Errorf("no randomness for a nonce: %w", err)
	}
	start := binary.BigEndian.Uint64(b[:]) >> 24
	return &exactWrite[T]{writing: w, by: base64.RawURLEncoding.EncodeToString(b[:]), start: int64(start)}, nil
}

// look reads the row that next computes from, once.
func (e *exactWrite[T]) look(ctx context.Context) (err error) {
	if e.next == nil || e.read {
		return nil
	}
	e.row, err = e.Rows.read(ctx, e.key, true)
	e.read = err == nil
	return err
}

// count counts events that ascend, each once.
func (e *exactWrite[T]) count(ctx context.Context, events []event.Event) (all []answer, err error) {
	for len(all) < len(events) {
		rest := events[len(all):]
		if e.tooOld(rest[0]) {
			all = append(all, answer{err: errRetention})
			continue
		}

		if err := e.look(ctx); err != nil {
			return all, err
		}

		answers, err := e.transact(ctx, rest[:min(mostEvents, len(rest))])
		if err != nil {
			return all, err
		}

		all = append(all, answers...)
	}
	return all, nil
}

// transact counts the events in one transaction, without those that turn out to be
// counted already.
func (e *exactWrite[T]) transact(ctx context.Context, events []event.Event) ([]answer, error) {
	answers := make([]answer, len(events))
	left := make([]int, len(events))
	for i := range left {
		left[i] = i
	}

	var in *dynamodb.TransactWriteItemsInput // sent again unchanged after a conflict
	for try := 1; ; {
		if in == nil {
			var err error
			if in, err = e.transaction(events, left); err != nil {
				return nil, err
			}
		}

		_, err := e.api.TransactWriteItems(ctx, in)
		if err == nil {
			for _, i := range left {
				answers[i].outcome = event.Created
			}
			e.row = e.becomes
			return answers, nil
		}

		reasons, cancelled := ddb.Cancelled(err)
		if cancelled && len(reasons) != len(in.TransactItems) || !cancelled && !ddb.Conflict(err) {
			return nil, err
		}

		told := tell(e.by, reasons)
		rest := told.answer(left, answers, func(i int) map[string]int64 { return e.add[events[i]] })
		switch {
		case len(rest) == 0:
			return answers, nil
		case told.fault:
			return nil, err
		case told.refused && !told.busy:
			if err := e.refused(told.stands, events[rest[0]]); err != nil {
				return nil, err
			}
			e.row, in = told.stands, nil
		}

		if len(rest) < len(left) { // it got on: there is no need to wait
			left, in = rest, nil
			continue
		}

		if err := giveUp(ctx, try, err); err != nil {
			return nil, err
		}

		if try++; in == nil && try > patience {
			e.read = false
			if err := e.look(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// transaction returns the request that counts some of the events.
func (e *exactWrite[T]) transaction(events []event.Event, indexes []int) (*dynamodb.TransactWriteItemsInput, error) {
	some := make([]event.Event, len(indexes))
	for n, i := range indexes {
		some[n] = events[i]
	}
	items, err := e.items(some)
	e.sent++
	return &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(e.by + "-" + strconv.Itoa(e.sent)), TransactItems: items,
	}, err
}

// items returns the actions that count the events: a row for each, and then the
// change of the record.
func (e *exactWrite[T]) items(events []event.Event) ([]types.TransactWriteItem, error) {
	partition, sort := item.Text(e.key, attrPK)+ofEvents, item.Text(e.key, attrSK)
	items := make([]types.TransactWriteItem, 0, len(events)+1)
	for _, ev := range events {
		row := keyOf(partition, sortOf(sort, ev))
		// The TTL has whole seconds, and is rounded up: the row must not expire early.
		row[attrTTL] = item.N(ev.Time().Add(e.kind.Retention + time.Second - 1).Unix())
		row[attrBy] = item.S(e.by)
		if e.add != nil {
			row[attrAdd] = added(e.add[ev])
		}
		items = append(items, types.TransactWriteItem{Put: &types.Put{
			TableName: aws.String(e.table), Item: row,
			ConditionExpression:                 aws.String(ifNone),
			ExpressionAttributeNames:            map[string]string{"#pk": attrPK},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}})
	}

	if e.next == nil { // Add needs no look at the row: its condition refuses attrRecent
		return append(items, ddb.UpdateAction(e.adding(events))), nil
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

	s := step{becomes: e.row}
	for _, ev := range events {
		if err := e.compute(&s, e.key, ev, e.next, false); err != nil {
			return nil, err
		}
		count++
		e.keep(&s, version, count)
	}

	e.becomes = s.becomes
	return append(items, ddb.UpdateAction(e.counting(e.key, e.row, s))), nil
}

// refused returns why the row refused the event, or nil if it is to be computed
// again from the row.
func (w *writing[T]) refused(row Item, ev event.Event) error {
	switch {
	case item.Has(row, attrRecent): // only a Kind without a Retention writes it
		return errRing
	case w.next != nil: // the row has changed since it was read
		return nil
	case len(w.atLeast) > 0:
		return w.floor(row, w.add[ev], w.atLeast)
	}
	return errNoReason
}

var errNoReason = errors.New("the row refused the event for no known reason")
