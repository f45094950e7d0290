package record

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// Action is a write as one action of the caller's own transaction, such as one of
// ledger.DoTx. T is the answer of the method that does the same write alone, such as
// the Grant of counter's Take for a TakeItem.
//
// A transaction takes effect as a whole or not at all. So if the write is refused,
// DynamoDB cancels the whole transaction, and Outcome says why.
//
// Make an Action once for each logical write. After an unknown outcome, send the
// same Action again, unchanged.
type Action[T any] struct {
	// Item is the action, for TransactWriteItems.
	Item types.TransactWriteItem

	committed T
	refused   func(Item) (T, error)
	failed    func(error) error
}

// NewAction returns an action of a record of your own. Its condition must come with
// ReturnValuesOnConditionCheckFailure=ALL_OLD. committed is the answer if the
// transaction takes effect. refused gives the answer if the condition refused the
// action: row is the existing row, or nil. failed wraps the error of an action that
// failed in another way. Both functions are required.
func NewAction[T any](item types.TransactWriteItem, committed T, refused func(row Item) (T, error), failed func(error) error) *Action[T] {
	return &Action[T]{Item: item, committed: committed, refused: refused, failed: failed}
}

// Committed is the answer if the transaction took effect.
func (a *Action[T]) Committed() T { return a.committed }

// Outcome is the answer if the transaction was cancelled. Pass the reason at the
// action's place in [types.TransactionCanceledException].CancellationReasons. The
// cancelled transaction wrote nothing.
//
//   - "None": the zero T. The action was not at fault.
//   - "ConditionalCheckFailed": the answer or the error of the method that does the
//     write alone. If it is Created, an earlier transaction with this same Action
//     took effect as a whole, and its reply was lost. If it is a Duplicate, the
//     write is done: leave the action out.
//   - Any other code, such as a conflict: an error with that code. The same Action
//     may be sent again.
func (a *Action[T]) Outcome(reason types.CancellationReason) (T, error) {
	row, refused, err := ddb.Action(reason)
	switch {
	case err != nil:
		return *new(T), a.failed(err)
	case !refused:
		return *new(T), nil
	}
	return a.refused(row)
}
