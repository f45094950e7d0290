package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

const (
	// mostItems is how many actions a transaction has beside the completion.
	mostItems = 99
	// repeats is how often DoTx calls the work again when an action is refused.
	repeats = 3
	// sendings is how often a transaction is sent whose outcome stays unknown.
	// The SDK makes several attempts each time.
	sendings = 3
)

// Reasons returns how the actions fared that the work returned when [DoTx] last
// called it under this claim: one reason for each, in their order, for the
// Outcome of an item of this library. Those that were not at fault have the code
// "None", and so have those that were throttled beside one that was refused: they
// may do better in the next transaction. It is nil when the work is called for the
// first time.
//
// A reason has the row that stood there as Item if the action asked for it with
// ReturnValuesOnConditionCheckFailure, as the items of this library do.
func (c *Claim) Reasons() []types.CancellationReason {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.reasons)
}

// DoTx is [Do] for work whose effects are writes to DynamoDB. The work returns
// its result and the actions of a transaction, and that transaction stores the
// result and completes the claim with them: the whole takes effect exactly once,
// or nothing of it does. Without actions it is Do. More than 99 actions end the
// key as a result does that cannot be stored: with an [*event.InputError] that
// is permanent.
//
// When the condition of an action fails nothing is written, and the work is
// called again under the same claim, at most 3 times: [Claim.Reasons] tells it
// how each action fared. It makes its items anew, leaves out what is a duplicate,
// and returns other actions, a result without any, or an error, such as a
// [Permanent] one. Actions that are refused a fourth time are an [*ItemError], and
// so is one that fails for any other reason than its condition. Then the key is
// given up as after every error. At most one of all transactions takes effect,
// also of those that arrive late.
//
// Items of this library, such as [MarkItem], are made inside the work, at each
// call: an item keeps the time and the nonce of its making, and the work of a later
// delivery is another write. DoTx itself sends them again unchanged where they must
// be.
//
// The work may be called more than once for each claim, so what it does beside
// its actions should be safe to repeat. It must not complete or fail its claim
// itself and return actions: they are not written, and that is an
// [*event.InputError].
//
// Renewals end before the transaction is sent, after one more if less than a
// third of the lease is left. It is sent also when the caller's context has
// ended, within 5 s, and again, unchanged, after a conflict with another
// transaction, when actions were throttled, which the SDK leaves to its caller,
// and after an unknown outcome. When that stays unknown DoTx gives the key up,
// within 5 s more, and learns from that whether the transaction took effect.
//
// An attempt is not counted when the transaction met others, or was throttled,
// to the end: it is not the event that is at fault. A queue's own limit of
// receives ends what never gets through.
//
// The errors are those of Do. After [ErrLeaseLost] another worker may be at it,
// and nothing was written. An error comes without a value, unless it is the
// work's own.
//
// Price: 2 requests, 5 WCU. This is of work with one action, on an item up to 1
// KB: the claim is 1 WCU, the completion 2 WCU for each KB of its row, and each
// action 2 WCU for each KB. A transaction that is refused, throttled or meets
// another costs the same once more. One that is sent again after a lost reply is
// read instead, for 2 RCU for each action, the completion included, and 4 KB of
// its item. Renewals, replays and refusals of the claim are as of [Do].
//
// Price (NoItems): 2 requests, 2 WCU. The work returned no actions.
func DoTx[T any](ctx context.Context, s *Store, req Request, work func(context.Context, *Claim) (T, []types.TransactWriteItem, error)) (Result[T], error) {
	if work == nil {
		return Result[T]{}, event.BadInput(pkg, "work", "must not be nil")
	}
	claim, err := s.Claim(ctx, req)
	if err != nil {
		return replay[T](s, "DoTx", err)
	}
	var sent []string // results, each with a transaction that may arrive late
	for {
		var items []types.TransactWriteItem
		value, err := attend(ctx, claim, func(ctx context.Context, c *Claim) (value T, err error) {
			value, items, err = work(ctx, c)
			return value, err
		})
		if err != nil || len(items) == 0 {
			return finish(ctx, claim, "DoTx", value, err)
		}
		text, err := claim.encode(value)
		switch {
		case err != nil:
			return finish(ctx, claim, "DoTx", *new(T), Permanent(err))
		case claim.isSettled():
			return Result[T]{}, event.BadInput(pkg, "work", "must not complete or fail its claim and return actions: they were not written")
		case len(items) > mostItems:
			bad := event.BadInput(pkg, "items", fmt.Sprintf("must be at most %d, are %d", mostItems, len(items)))
			return finish(ctx, claim, "DoTx", *new(T), Permanent(bad))
		}
		sent = append(sent, text)
		stored, err := claim.commit(ctx, sent, items)
		refused, again := errors.AsType[*ItemError](err)
		switch {
		case err == nil && stored == text:
			return Result[T]{Value: value}, nil
		case err == nil:
			return earlier[T](s, stored)
		case again && refused.repeatable && len(sent) <= repeats:
			continue
		case claim.isSettled() || errors.Is(err, ErrLeaseLost):
			return Result[T]{}, err
		}
		return settle(ctx, claim, "DoTx", *new(T), err, ddb.Busy(err) || ddb.Throttled(err))
	}
}

// earlier answers for a transaction of an earlier call of the work, which came
// late and took effect.
func earlier[T any](s *Store, stored string) (res Result[T], err error) {
	return res, s.wrap("DoTx", json.Unmarshal([]byte(stored), &res.Value))
}

// commit sends the last result and the items in one transaction, and returns
// the result that stands: the last, or one that was sent before. An action that
// was refused is an [*ItemError].
func (c *Claim) commit(ctx context.Context, sent []string, items []types.TransactWriteItem) (stored string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer cancel()
	if c.remaining() < c.span/renewalsPerLease {
		if err := c.Renew(ctx); errors.Is(err, ErrLeaseLost) {
			return "", err
		}
	}
	result := sent[len(sent)-1]
	in := &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(c.token(len(sent))),
		TransactItems:      append([]types.TransactWriteItem{c.completeItem(result).Item}, items...),
	}
	err = c.send(ctx, in)
	reasons, cancelled := ddb.Cancelled(err)
	switch {
	case err == nil:
		c.setSettled()
		return result, nil
	case !cancelled || len(reasons) != len(in.TransactItems):
		// It may be another table that does not exist, or may not be written to.
		return "", fmt.Errorf("%s: DoTx on table %s and those of the work's actions (%d): %w", pkg, c.store.table, len(items), err)
	case ddb.ConditionFailed(reasons[0]):
		return c.standing(reasons[0].Item, sent)
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

// standing judges the row that refused the completion.
func (c *Claim) standing(old ddb.Item, sent []string) (stored string, err error) {
	err = c.judge("DoTx", old, func(stands row) bool {
		stored = string(stands.Result)
		return stands.State == Done && slices.Contains(sent, stored)
	})
	if _, done := errors.AsType[*DoneError](err); done {
		return "", ErrResultDiffers
	}
	if err == nil {
		c.setSettled()
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
	c.reasons = shown
	return first
}

// token is the transaction's, by which DynamoDB knows it again.
func (c *Claim) token(try int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", c.nonce, try))
	return hex.EncodeToString(sum[:16])
}
