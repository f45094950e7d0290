package proof_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ledger"
)

// These are the calls of ledger that do the work themselves, and those of operators.

func order() ledger.Request { return ledger.Request{Key: "ORDER:1", Payload: []byte("a")} }

// does does its work by Do.
func does(name string) call {
	return call{name, func(ctx context.Context, p process) string {
		res, err := ledger.Do(ctx, keys(p).Store, order(), func(_ context.Context, c *ledger.Claim) (string, error) {
			p.note("holds %d", c.Fence)
			return name, nil
		})
		return claimed(err, fmt.Sprintf("done %q", res.Value))
	}}
}

// transacts does its work by DoTx: it counts in another row.
func transacts(name string) call {
	counts := types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String("ledger"), Key: row{"pk": text("EFFECT")},
		UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: row{":one": number(1)},
	}}
	return call{name, func(ctx context.Context, p process) string {
		res, err := ledger.DoTx(ctx, keys(p).Store, order(), func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
			p.note("holds %d", c.Fence)
			return name, []types.TransactWriteItem{counts}, nil
		})
		return claimed(err, fmt.Sprintf("done %q", res.Value))
	}}
}

// transacted is the rule of transactions: they count when they complete.
func transacted(was, is rows, now time.Time) error {
	counted := num(is["EFFECT"], "n") - num(was["EFFECT"], "n")
	completed := int64(0)
	if r, old := is["ORDER:1"], was["ORDER:1"]; strings.HasPrefix(str(r, "result"), `"Tx`) && str(r, "claim")+str(r, "state") != str(old, "claim")+str(old, "state") {
		completed = 1
	}
	if counted != completed {
		return fmt.Errorf("%d completed, and %d counted", completed, counted)
	}
	return ledgerStep(false)(was, is, now)
}

// locks writes under a lock, which one of them renews before: the fence, in another row, which has no
// condition of its own.
func locks(name string, wait time.Duration) call {
	return call{name, func(ctx context.Context, p process) string {
		req := order()
		req.Holder, req.WaitUpTo = name, wait
		var fence int64
		err := ledger.Hold(ctx, keys(p).Store, req, func(ctx context.Context, c *ledger.Claim) error {
			fence = c.Fence
			p.note("holds %d", fence)
			ctx = context.WithoutCancel(ctx)
			if name == "Renews" { // and hears nothing, as one that was stopped
				_ = c.Renew(ctx)
			}
			return underLock(ctx, p, c)
		})
		return claimed(err, fmt.Sprint("failed ", fence)) // given up, as by Fail
	}}
}

// checks writes under a claim that nobody renews.
var checks = call{"Checks", func(ctx context.Context, p process) string {
	c, err := keys(p).Claim(ctx, order())
	return worked(ctx, p, c, err, func(ctx context.Context, c *ledger.Claim) (string, error) { return "written", underLock(ctx, p, c) })
}}

// underLock writes if the claim is held. A conflict with a renewal, or with others, is
// sent again.
func underLock(ctx context.Context, p process, c *ledger.Claim) error {
	check := c.CheckItem()
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{check.Item, {Update: &types.Update{
		TableName: aws.String("ledger"), Key: row{"pk": text("EFFECT")},
		UpdateExpression: aws.String("SET fence = :fence"), ExpressionAttributeValues: row{":fence": number(c.Fence)},
	}}}}
	for try := 0; ; try++ {
		_, err := p.api.TransactWriteItems(ctx, in)
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			if _, lost := check.Outcome(cancelled.CancellationReasons[0]); errors.Is(lost, ledger.ErrLeaseLost) {
				return lost
			}
		}
		if err == nil || try == 2 {
			return err
		}
	}
}

// written is the rule of locks: only the holder of the last claim writes.
func written(was, is rows, now time.Time) error {
	old, wrote := num(was["EFFECT"], "fence"), num(is["EFFECT"], "fence")
	if r := is["ORDER:1"]; wrote != old && (wrote < old || str(r, "state") != "claimed" || num(r, "fence") != wrote) {
		return fmt.Errorf("the holder with the fence %d wrote after %d, and the key is %s with the fence %d", wrote, old, str(r, "state"), num(r, "fence"))
	}
	return steps(false, false, 1<<30)(was, is, now)
}

// operated reads the row, and does something with what it saw.
func operated(name string, do func(context.Context, *ledger.Operators, ledger.Record) error) call {
	return call{name, func(ctx context.Context, p process) string {
		ops := keys(p)
		r, ok, err := ops.Get(ctx, "ORDER:1")
		if err == nil && ok {
			err = do(ctx, ops, r)
		}
		return found(err)
	}}
}

// found is the answer to a call that needs a row.
func found(err error) string {
	if errors.Is(err, ledger.ErrNotFound) {
		return "no row"
	}
	return claimed(err, "operated")
}

var (
	forget = operated("Forget", func(ctx context.Context, ops *ledger.Operators, r ledger.Record) error { return ops.Forget(ctx, r) })
	reopen = operated("Reopen", func(ctx context.Context, ops *ledger.Operators, r ledger.Record) error { return ops.Reopen(ctx, r) })
	erase  = call{"Erase", func(ctx context.Context, p process) string { return found(keys(p).Erase(ctx, "ORDER:1")) }}
	// backfills gives a row of another program its expiry.
	backfills = filling("ledger", row{"pk": text("ORDER:1")}, func(p process) func(row) (*dynamodb.UpdateItemInput, bool, error) { return keys(p).Backfill })
)
