package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

const (
	// mostItems is how many actions a transaction has beside the completion.
	mostItems = 99
	// repeats is how often DoTx calls the work again when an action is refused,
	// after pauses that begin at firstWait and double up to 1.28 s: 5 s in all, on
	// average.
	repeats   = 15
	firstWait = 5 * time.Millisecond
	// sendings is how often a transaction is sent while its outcome is unknown.
	// The SDK makes several attempts each time.
	sendings = 3
)

// Reasons returns why the last transaction of [DoTx] under this claim was refused:
// one reason for each action that the work returned, in the order of the actions.
// For an item of this library, pass the reason of its action to the Outcome of the
// item. It need not be the very item that was sent: make all items first, and ask
// those of this call, if they have the same input and places as those of the last
// call (see Spending.Buy in examples/cookbook). An action that was not
// at fault has the code "None". An action that was only throttled also has the code
// "None" here, and not the code that DynamoDB gave, because the action may succeed
// in the next transaction. Reasons is nil when the work is called for the first
// time.
//
// The Item of a reason is the existing row, if the action asked for the row
// with ReturnValuesOnConditionCheckFailure. The items of this library ask for
// it.
func (c *Claim) Reasons() []types.CancellationReason {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.reasons)
}

// DoTx is [Do] for work whose effects are writes to DynamoDB. The work returns
// its result and the actions of a transaction. DoTx sends the transaction,
// which also stores the result and completes the claim: everything takes effect
// exactly once, or nothing does. If the work returns no actions, DoTx does what
// Do does. More than 99 actions end the key with a permanent
// [*event.InputError]. So does a result that cannot be stored, with
// [ErrResultNotStored]: the work ran, and none of its actions were written.
//
// When the condition of an action fails, or an action is still throttled after
// several tries, nothing is written, and DoTx calls the work again under the
// same claim, up to 15 more times. The pauses before these calls grow up to 1.3
// seconds; together they take some 5 seconds, or as long as the context allows,
// and the lease is renewed meanwhile. [Claim.Reasons] says which actions were
// refused. The work should then make its items anew, leave out those that turned
// out to be duplicates, and return other actions, a result without actions, or
// an error, for example a [Permanent] error. DoTx returns an [*ItemError] when
// this happens to the 16th transaction, or when an action fails for any other
// reason. In both cases, DoTx gives the key up, as after an error of the work.
// Of all the transactions of a claim, at most one takes effect, even if some
// arrive late. A test that answers the transaction itself gives the completion the
// first reason, and the work's actions those after it: see Answer of package dynamotest.
//
// Make items of this library, such as a [Store.MarkItem], inside the work, and anew in
// each call: an item has the time and the nonce of one write, and each call of
// the work is another write. When the same transaction must be sent again, DoTx
// sends it itself, unchanged.
//
// The work may be called more than once for each claim, so what it does beside
// its actions should be safe to repeat. Work that completes or fails its claim
// itself must not return actions: they are not written, and DoTx returns an
// [*event.InputError], or [ErrResultDiffers] if the stored result is another. If
// an earlier transaction may have stored that result, too, and come late, DoTx
// returns an [event.ErrUnknownOutcome]. So do not make a [Claim.CompleteItem] of a
// result that is returned with actions. Return no [Claim.CheckItem] of this claim
// either: DoTx returns an [*event.InputError] and sends no transaction.
//
// DoTx stops renewing the lease before it sends the transaction. If less than a
// third of the lease is left then, it renews the lease once more. DoTx sends
// the transaction again, unchanged, after a conflict with another transaction,
// after an unknown outcome, and after the throttling of an action, which the
// SDK does not repeat. All this takes at most 5 s, even if the caller's context
// has ended. If the outcome stays unknown, DoTx gives the key up, within 5 s
// more; the answer to that request shows whether the transaction took effect.
//
// An attempt does not count if DoTx gives up because of throttling or conflicts
// with other transactions. It does not count either if the rows are busy: none of
// those that refused the last transaction is as it was when it refused the one
// before, or the context ended in the pause after that. Items of this library show
// the row; your own actions need ReturnValuesOnConditionCheckFailure for it. The
// event is not at fault. For an event that never gets through, rely on the queue's
// own limit of receives.
//
// DoTx also returns the errors of Do. After [ErrLeaseLost], another worker may
// have the key, and nothing was written. When DoTx returns an error, Value is
// zero, unless the work itself returned the error or returned no actions.
//
// Price: 2 requests, 5 WCU. This is for work with one action on an item up to 1
// KB. The claim costs 1 WCU, the completion costs 2 WCU for each KB of its row,
// and each action costs 2 WCU for each KB, and more if its table has indexes. A
// transaction that is refused, is throttled or conflicts with another
// transaction costs the same again. When a transaction is sent again after a
// lost reply, DynamoDB only reads: 2 RCU for each 4 KB of each action's item,
// including the completion. Renewals, replays and refusals of the claim cost as
// much as in [Do].
//
// Price (NoItems): 2 requests, 2 WCU. This is for work that returns no actions.
func DoTx[T any](ctx context.Context, s *Store, req Request, work func(context.Context, *Claim) (T, []types.TransactWriteItem, error)) (Result[T], error) {
	if work == nil {
		return Result[T]{}, event.BadInput(pkg, "work", "must not be nil")
	}

	claim, err := s.Claim(ctx, req)
	if err != nil {
		return replay[T](s, "DoTx", err)
	}

	var refused *ItemError // by the last transaction
	for {
		var items []types.TransactWriteItem
		value, err := attend(ctx, claim, func(ctx context.Context, c *Claim) (value T, err error) {
			if refused != nil && ddb.Pause(ctx, firstWait, len(c.sent)-1) != nil {
				return value, fmt.Errorf("%w: %w", ctx.Err(), refused)
			}
			value, items, err = work(ctx, c)
			return value, err
		})
		if err != nil || len(items) == 0 {
			return finish(ctx, claim, "DoTx", value, err)
		}

		text, err := claim.encode(value)
		switch {
		case err != nil:
			return finish(ctx, claim, "DoTx", *new(T), Permanent(fmt.Errorf("%w, and none of its actions were written: %w", ErrResultNotStored, err)))
		case claim.isSettled() && len(claim.sent) == 0: // else by a transaction that came late, perhaps
			return Result[T]{}, notWritten()
		case len(items) > mostItems:
			bad := event.BadInput(pkg, "items", fmt.Sprintf("must have at most %d actions, has %d", mostItems, len(items)))
			return finish(ctx, claim, "DoTx", *new(T), Permanent(bad))
		case slices.ContainsFunc(items, claim.isCheck):
			bad := event.BadInput(pkg, "items", "must not have the CheckItem of this claim: the completion checks it, and a transaction has one action for each row")
			return finish(ctx, claim, "DoTx", *new(T), bad)
		}

		stored, err := claim.commit(ctx, text, items)
		again := false
		refused, again = errors.AsType[*ItemError](err)
		switch {
		case err == nil && stored == text:
			return Result[T]{Value: value}, nil
		case err == nil:
			return earlier[T](s, stored)
		case again && refused.repeatable && len(claim.sent) <= repeats:
			continue
		case claim.isSettled() || errors.Is(err, ErrLeaseLost):
			return Result[T]{}, err
		}

		return finish(ctx, claim, "DoTx", *new(T), err)
	}
}

// notWritten is the error of work that settled its claim itself.
func notWritten() error {
	return event.BadInput(pkg, "work", "returned actions after it had completed or failed its claim: the actions were not written")
}

// earlier returns the result of a transaction of an earlier call of the work,
// which arrived late and took effect.
func earlier[T any](s *Store, stored string) (res Result[T], err error) {
	return res, s.wrap("DoTx", json.Unmarshal([]byte(stored), &res.Value))
}

// commit sends the result and the items in one transaction, and returns the
// stored result: this one, or one that was sent before. An action that was
// refused is an [*ItemError].
func (c *Claim) commit(ctx context.Context, result string, items []types.TransactWriteItem) (stored string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	if c.remaining() < c.span/renewalsPerLease {
		if err := c.Renew(ctx); errors.Is(err, ErrLeaseLost) {
			return "", err
		}
	}

	c.sent = append(c.sent, result)
	in := &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(c.token(len(c.sent))),
		TransactItems:      append([]types.TransactWriteItem{c.completion(result)}, items...),
	}

	err = c.send(ctx, in)
	reasons, cancelled := ddb.Cancelled(err)
	switch {
	case err == nil:
		c.setSettled()
		return result, nil
	case !cancelled || len(reasons) != len(in.TransactItems):
		// The table that does not exist, or may not be written, can be another
		// one.
		return "", fmt.Errorf("%s: DoTx on table %s and on the tables of the work's actions (%d): %w", pkg, c.store.table, len(items), err)
	case ddb.ConditionFailed(reasons[0]):
		return c.standing(c.store.names.Read(reasons[0].Item), result)
	}

	return "", c.refusal(reasons[1:], err)
}

// send sends the transaction, always the same, until its outcome is known.
func (c *Claim) send(ctx context.Context, in *dynamodb.TransactWriteItemsInput) error {
	unknown := 0
	again := func(err error) bool {
		if ddb.Definite(err) {
			return ddb.Busy(err)
		}
		unknown++
		return unknown < sendings
	}
	return ddb.RetryIf(ctx, again, func() error {
		_, err := c.store.api.TransactWriteItems(ctx, in)
		return err
	})
}

// author is nil if a transaction of DoTx stored the result, ErrResultDiffers if the
// work itself did, and ErrUnknownOutcome if it may have been either. Only so many
// of the first transactions may have arrived late.
func (c *Claim) author(stored string, late int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch own := slices.Contains(c.own, stored); {
	case own && slices.Contains(c.sent[:late], stored):
		return event.ErrUnknownOutcome
	case own || !slices.Contains(c.sent, stored):
		return ErrResultDiffers
	}
	return nil
}

// told says more of an author that is not known.
func (c *Claim) told(op string, author error) error {
	if errors.Is(author, event.ErrUnknownOutcome) {
		return c.store.wrap(op, fmt.Errorf("the work itself or an earlier transaction of DoTx, which came late, has completed the claim: %w", author))
	}
	return author
}

// byWork keeps a result with which the work completes the claim itself.
func (c *Claim) byWork(result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own = append(c.own, result)
}

// standing reads the row that refused the completion.
func (c *Claim) standing(old ddb.Item, result string) (stored string, err error) {
	var author error
	err = c.judge("DoTx", old, func(stands row) bool {
		stored = string(stands.Result)
		author = c.author(stored, len(c.sent)-1)
		return stands.State == Done && author == nil
	})

	_, done := errors.AsType[*DoneError](err)
	_, failed := errors.AsType[*PermanentError](err)
	switch {
	case err == nil:
		c.setSettled()
	case failed || errors.Is(err, errGivenUp) || done && stored == result && errors.Is(author, ErrResultDiffers):
		return "", notWritten()
	case done:
		return "", c.told("DoTx", author)
	}

	return stored, err
}

// refusal keeps the reasons for the work to see, and returns the first action
// that is at fault.
func (c *Claim) refusal(reasons []types.CancellationReason, cause error) error {
	first := &ItemError{Index: -1, table: c.store.table, cause: cause, repeatable: true}
	shown := slices.Clone(reasons)
	for i, reason := range reasons {
		_, refused, err := ddb.Action(reason)
		switch {
		case ddb.ThrottledAction(reason):
			shown[i] = types.CancellationReason{Code: aws.String("None")}
		case err != nil:
			first.repeatable = false
		case !refused:
			continue
		}
		if first.Index < 0 {
			first.Index, first.Code, first.message = i, aws.ToString(reason.Code), aws.ToString(reason.Message)
		}
	}

	if first.Index < 0 { // the completion's own trouble
		return c.store.wrap("DoTx", cause)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	first.contended = first.repeatable && !stays(shown, c.reasons)
	c.reasons = shown

	return first
}

// stays reports whether a row refused an action now and before, and did not change.
func stays(now, before []types.CancellationReason) bool {
	return slices.ContainsFunc(now, func(n types.CancellationReason) bool {
		return ddb.ConditionFailed(n) && slices.ContainsFunc(before, func(b types.CancellationReason) bool {
			return ddb.ConditionFailed(b) && reflect.DeepEqual(n.Item, b.Item)
		})
	})
}

// token is the ClientRequestToken by which DynamoDB recognizes the transaction.
func (c *Claim) token(try int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", c.nonce, try))
	return hex.EncodeToString(sum[:16])
}
