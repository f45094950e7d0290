package cookbook

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Leader lets one of several processes lead: it polls a supplier's prices, and writes them.
type Leader struct {
	DB    *dynamodb.Client
	Locks *ledger.Store
	Key   string // of the lock, such as LEADER:prices
	Name  string // of this process, for people who ask who leads
	Lead  func(ctx context.Context, c *ledger.Claim) error
	Log   func(error)
}

// Run leads whenever no other process does, until the context ends.
func (l Leader) Run(ctx context.Context) {
	stand := ledger.Request{Key: l.Key, Holder: l.Name, Lease: 15 * time.Second, WaitUpTo: time.Hour}
	for ctx.Err() == nil {
		err := ledger.Hold(ctx, l.Locks, stand, l.Lead)
		if _, busy := errors.AsType[*ledger.InProgressError](err); busy {
			continue // after an hour
		}
		if err != nil && ctx.Err() == nil {
			l.Log(err)
		}
		select { // a leader that failed lets another lead
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

// Publish writes if this process still leads, and returns ledger.ErrLeaseLost if not.
func (l Leader) Publish(ctx context.Context, c *ledger.Claim, prices ...types.TransactWriteItem) error {
	leads := c.CheckItem()
	in := &dynamodb.TransactWriteItemsInput{TransactItems: append([]types.TransactWriteItem{leads.Item}, prices...)}
	for try := 1; ; try++ {
		_, err := l.DB.TransactWriteItems(ctx, in)
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) {
			return err
		}
		if _, lost := leads.Outcome(cancelled.CancellationReasons[0]); errors.Is(lost, ledger.ErrLeaseLost) {
			return lost
		}
		if try == 5 || !conflict(cancelled) {
			return err
		}
		time.Sleep(time.Duration(try) * 20 * time.Millisecond)
	}
}

// PublishEvent is Publish for a record of your own: it counts the event once.
func PublishEvent[T any](ctx context.Context, l Leader, c *ledger.Claim, rows *record.Rows[T], a record.Apply) (event.Outcome, error) {
	for try := 1; ; try++ {
		item, err := rows.ApplyItem(ctx, a) // anew: another may have changed the row
		if err != nil {
			return 0, err
		}
		err = l.Publish(ctx, c, item.Items...)
		cancelled, refused := errors.AsType[*types.TransactionCanceledException](err)
		switch {
		case err == nil:
			return item.Committed(), nil // without a Retention, a Duplicate has no items
		case !refused: // ErrLeaseLost, or trouble: call again with the same event
			return 0, err
		}
		out, why := item.Outcome(cancelled.CancellationReasons[1:])
		if out != 0 {
			return out, nil
		}
		if try == 5 || !errors.Is(why, record.ErrContended) {
			return 0, cmp.Or(why, err) // without a why, the check was in the way, and nothing is written
		}
	}
}

// conflict reports whether another transaction or a renewal was in the way.
func conflict(cancelled *types.TransactionCanceledException) bool {
	for _, reason := range cancelled.CancellationReasons {
		if aws.ToString(reason.Code) == "TransactionConflict" {
			return true
		}
	}
	return false
}

// Nightly is what each of five workers calls at the same hour: one does the job of the
// night, and all return its result. The rows that the job returns are written with the
// result, or not at all.
func Nightly(ctx context.Context, runs *ledger.Store, zone tzclock.Zone, scheduled time.Time, job func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error)) (string, error) {
	key, err := ledger.Key("REPORT", zone.Date(scheduled).String())
	if err != nil {
		return "", err
	}
	done, err := ledger.DoTx(ctx, runs, ledger.Request{Key: key, WaitUpTo: 6 * time.Hour}, job)
	return done.Value, err
}
