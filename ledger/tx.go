package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Reasons returns why the last transaction of [DoTx] under this claim was refused: one
// reason for each action that the work returned, in their order. It is nil if no condition
// failed: in the work's first call, and after actions were only throttled. An action that
// was not at fault, or was throttled, has the code "None".
//
// For an item of this library, pass its action's reason to the Outcome of the same
// item, or of one made of the same input. The Item of a reason is the existing row, if
// the action asked for it with ReturnValuesOnConditionCheckFailure, as the items of this
// library do.
func (c *Claim) Reasons() []types.CancellationReason {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.reasons)
}

// DoTx is [Do] for work whose effects are writes to DynamoDB. The work returns its
// result and up to 99 actions. DoTx sends them in one transaction, which also stores
// the result and completes the claim: everything takes effect exactly once, or nothing
// does. Without actions, DoTx does what Do does. More than 99 end the key with a
// permanent [*event.InputError].
//
// When the condition of an action fails, or an action is still throttled after several
// tries, nothing is written, and DoTx calls the work again under the same claim, up to
// 15 more times, with pauses of some 5 seconds together. [Claim.Reasons] says which
// actions were refused. The work then returns other actions, a result without actions,
// or an error. If an item turns out to be a duplicate, leave it out, and all that an
// earlier transaction wrote together with it. After the last refusal, or another failure
// of an action, DoTx gives the key up and returns an [*ItemError].
//
// Make items of this library, such as a [Store.MarkItem], inside the work, anew in each
// call. Keep the item in a variable outside the work, so that the next call can ask for
// its Outcome. What the work does beside its actions should be safe to repeat. Work that
// returns actions must not settle its claim or return the claim's [Claim.CheckItem]:
// otherwise the actions are not written, and DoTx usually returns an
// [*event.InputError]. The package comment (Transactions) says more.
//
// DoTx also returns the errors of Do. After [ErrLeaseLost], nothing was written, unless
// an operator erased or forgot the key. With an error, Value is zero, unless the work
// itself returned the error or returned no actions.
//
// Price: 2 requests, 5 WCU. This is for work with one action on an item up to 1 KB. The
// claim costs 1 WCU; the completion and each action cost 2 WCU for each KB, and more if
// the action's table has indexes. A transaction that is refused, is throttled or
// conflicts costs the same again.
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

		err = claim.commit(ctx, text, items)
		refused, _ = errors.AsType[*ItemError](err)
		done, ended := errors.AsType[*DoneError](err)
		switch {
		case err == nil:
			return Result[T]{Value: value}, nil
		case ended: // by a transaction that came late, or by the work
			return completed[T](claim, "DoTx", done, false)
		case refused != nil && refused.repeatable && len(claim.sent) <= repeats:
			continue
		case claim.isSettled() || errors.Is(err, ErrLeaseLost):
			return Result[T]{}, err
		}

		return finish(ctx, claim, "DoTx", *new(T), err)
	}
}

// notWritten is the error of work that settled its claim itself.
func notWritten() error {
	return event.BadInput(pkg, "work", "returned actions after it had ended its claim: the actions were not written")
}

// commit sends the result and the items in one transaction. If an action was refused,
// the error is an [*ItemError]. If the claim is done with another result, the error is a
// [*DoneError]: an earlier transaction came late, or the work completed the claim itself.
func (c *Claim) commit(ctx context.Context, result string, items []types.TransactWriteItem) error {
	// The work is done: its result is sent even if the caller has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	if c.remaining() < c.span/renewalsPerLease {
		// After any other error, the condition of the completion decides.
		if err := c.Renew(ctx); errors.Is(err, ErrLeaseLost) {
			return err
		}
	}

	c.sent = append(c.sent, result)
	in := &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(c.token(len(c.sent))),
		TransactItems:      append([]types.TransactWriteItem{c.completion(result)}, items...),
	}

	err := c.send(ctx, in)
	reasons, cancelled := ddb.Cancelled(err)
	switch {
	case err == nil:
		c.setSettled()
		return nil
	case !cancelled || len(reasons) != len(in.TransactItems):
		// It may be about a table of the work's actions, and not the claim's.
		return fmt.Errorf("%s: DoTx on table %s, with %d actions of the work, perhaps on other tables: %w", pkg, c.store.table, len(items), err)
	case ddb.ConditionFailed(reasons[0]):
		return c.standing(c.store.names.Read(reasons[0].Item), result)
	}

	return c.refusal(reasons[1:], err)
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
// work itself did, and ErrUnknownOutcome if it may have been either: one of the
// results that were sent may have arrived late.
func (c *Claim) author(stored string, sent []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch own := slices.Contains(c.own, stored); {
	case !own:
		return nil
	case slices.Contains(sent, stored):
		return c.store.wrap("DoTx", fmt.Errorf("the claim was completed by the work itself, or with the actions by an earlier transaction that came late: %w", event.ErrUnknownOutcome))
	}
	return ErrResultDiffers
}

// byWork keeps a result with which the work completes the claim itself.
func (c *Claim) byWork(result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own = append(c.own, result)
}

// standing says what the row that refused the completion means. If it has this result,
// author says whose it is: that of an earlier transaction that came late, or the work's
// own. If it has another result, the error is a [*DoneError].
func (c *Claim) standing(old ddb.Item, result string) error {
	err := c.judge("DoTx", old, completedWith(result))
	if err == nil {
		err = c.author(result, c.sent[:len(c.sent)-1])
	}
	// A transaction only completes the claim, so the work has ended it otherwise.
	if _, failed := errors.AsType[*PermanentError](err); failed || errors.Is(err, errGivenUp) || errors.Is(err, ErrResultDiffers) {
		return notWritten()
	}
	return err
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

	if !slices.ContainsFunc(shown, ddb.ConditionFailed) {
		shown = nil // throttled alone: a work with one condition takes any Reasons for its refusal
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
