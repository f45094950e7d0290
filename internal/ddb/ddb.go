// Package ddb maps the SDK's errors. It is the one place of the library that
// names the SDK's exception types.
package ddb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Item is a stored item as the SDK gives it.
type Item = map[string]types.AttributeValue

// Wrap says which operation on which table failed. It names no keys: they may
// be personal data. The SDK's error stays reachable.
func Wrap(pkg, op, table string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s on table %s: %w", pkg, op, table, err)
}

// Refused reports whether a single write failed its condition, and returns the
// existing item, nil if none existed. The request must have asked for
// ReturnValuesOnConditionCheckFailure=ALL_OLD.
func Refused(err error) (old Item, ok bool) {
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return failed.Item, true
	}
	return nil, false
}

// Cancelled returns the reason for each action of a cancelled transaction, in
// the order of the actions. The code of an action that was not at fault is
// "None".
func Cancelled(err error) ([]types.CancellationReason, bool) {
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return cancelled.CancellationReasons, true
	}
	return nil, false
}

// Conflict reports whether the write met a transaction under way on the same
// item, or a write to it in another Region. Nothing was written, and the SDK
// does not try again by itself.
func Conflict(err error) bool {
	switch answered(err) {
	case "TransactionConflictException", "TransactionInProgressException", "ReplicatedWriteConflictException":
		return true
	}
	return Contended(err) && !hasReason(err, func(reason types.CancellationReason) bool { // it remains, however the conflict ends
		return codeOf(reason) != "None" && codeOf(reason) != conflict
	})
}

// answered returns the code of DynamoDB's answer, "" if the error is not an answer.
func answered(err error) string {
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		return answer.ErrorCode()
	}
	return ""
}

// conflict is the code of an action that met a transaction under way.
const conflict = "TransactionConflict"

// hasReason reports whether any action of a cancelled transaction failed for such a
// reason.
func hasReason(err error, such func(types.CancellationReason) bool) bool {
	reasons, _ := Cancelled(err)
	return slices.ContainsFunc(reasons, such)
}

// codeOf returns the reason's code. A reason without one counts as "None", the code
// of an action that was not at fault.
func codeOf(reason types.CancellationReason) string {
	if reason.Code == nil {
		return "None"
	}
	return *reason.Code
}

// ConditionFailed reports whether the action failed its condition.
func ConditionFailed(reason types.CancellationReason) bool {
	return codeOf(reason) == "ConditionalCheckFailed"
}

// Action returns what became of one action of a cancelled transaction. If its
// condition refused it, refused is true, and old is the existing item, nil if
// none existed. If the action was not at fault, it is neither refused nor an
// error. Anything else is an error with DynamoDB's code.
func Action(reason types.CancellationReason) (old Item, refused bool, err error) {
	switch code := codeOf(reason); code {
	case "None":
		return nil, false, nil
	case "ConditionalCheckFailed":
		return reason.Item, true, nil
	default:
		return nil, false, &smithy.GenericAPIError{Code: code, Message: aws.ToString(reason.Message)}
	}
}

// PutAction is the put as an action of a transaction. The caller may add to it.
func PutAction(in *dynamodb.PutItemInput) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName:                           in.TableName,
		Item:                                in.Item,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            maps.Clone(in.ExpressionAttributeNames),
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// UpdateAction is the update as an action of a transaction. The caller may add to
// it.
func UpdateAction(in *dynamodb.UpdateItemInput) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                           in.TableName,
		Key:                                 in.Key,
		UpdateExpression:                    in.UpdateExpression,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            maps.Clone(in.ExpressionAttributeNames),
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// CheckAction is the condition of an update as an action of a transaction.
func CheckAction(in *dynamodb.UpdateItemInput) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                           in.TableName,
		Key:                                 in.Key,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            maps.Clone(in.ExpressionAttributeNames),
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// Contended reports whether any action of a cancelled transaction met a
// transaction under way, whatever the reasons of the other actions. Another
// action's failed condition may come from that very transaction, part of whose
// items are not visible yet.
func Contended(err error) bool {
	return hasReason(err, func(reason types.CancellationReason) bool { return codeOf(reason) == conflict })
}

// Throttled reports whether a service of AWS had no capacity for the request, by the
// codes that the SDK knows, or DynamoDB none for actions of a cancelled transaction
// whose other reasons, if any, are conflicts with other transactions. Nothing was
// written by this attempt. The SDK sends a throttled request again by itself, but not
// a cancelled transaction.
func Throttled(err error) bool {
	if _, cancelled := Cancelled(err); !cancelled {
		_, busy := retry.DefaultThrottleErrorCodes[answered(err)]
		return busy && answered(err) != "LimitExceededException" // a quota, which time does not mend
	}
	return hasReason(err, ThrottledAction) && !hasReason(err, func(reason types.CancellationReason) bool { // it remains, whatever the capacity
		return codeOf(reason) != "None" && !BusyAction(reason)
	})
}

// ThrottledAction reports whether DynamoDB had no capacity for the action.
func ThrottledAction(reason types.CancellationReason) bool {
	return slices.Contains(throttles, codeOf(reason))
}

// BusyAction reports whether the action met another transaction, or DynamoDB had no
// capacity for it. A moment later it may succeed.
func BusyAction(reason types.CancellationReason) bool {
	return ThrottledAction(reason) || codeOf(reason) == conflict
}

// throttles are the codes of throttling in reasons.
var throttles = []string{
	"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException",
	"ProvisionedThroughputExceeded", "ThrottlingError",
}

// Busy reports whether the same transaction may succeed a moment later: it met
// another one ([Conflict], [Contended]), or some of its actions were throttled.
// It wrote nothing, and the SDK does not try again by itself.
func Busy(err error) bool {
	_, cancelled := Cancelled(err)
	return Conflict(err) || Contended(err) || cancelled && Throttled(err)
}

// is reports whether the error is, or wraps, an E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Missing reports whether the table or index does not exist. Requests about backups
// have an exception of their own for that.
func Missing(err error) bool {
	return is[*types.TableNotFoundException](err) || is[*types.ResourceNotFoundException](err)
}

// Unknown reports whether the endpoint does not know the operation. Then it is
// not DynamoDB, which knows them all.
func Unknown(err error) bool { return answered(err) == "UnknownOperationException" }

// InUse reports whether the table exists already or is being changed.
func InUse(err error) bool { return is[*types.ResourceInUseException](err) }

// BackupsUnavailable reports whether a table is so new that its backups cannot
// be changed yet.
func BackupsUnavailable(err error) bool { return is[*types.ContinuousBackupsUnavailableException](err) }

// Definite reports whether DynamoDB itself answered that nothing was written.
// Any other error (a lost connection, a deadline, a 5xx) leaves the outcome
// open. Definite judges one attempt: if the SDK may have made several, see
// [Attempts].
func Definite(err error) bool {
	apiErr, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	if apiErr.ErrorFault() == smithy.FaultClient {
		return true
	}
	// For codes that are not modelled, such as ValidationException and
	// AccessDeniedException, the SDK does not know whose fault it was.
	reply, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return ok && reply.HTTPStatusCode()/100 == 4
}

// conflictTries and conflictPause bound [Retry].
const (
	conflictTries = 6
	conflictPause = 20 * time.Millisecond
)

// Retry calls write again, after a pause with full jitter, while it meets a
// [Conflict]. It is only for writes that are safe to repeat.
func Retry(ctx context.Context, write func() error) error {
	return RetryIf(ctx, Conflict, write)
}

// Write sends a write by the method of a client, as [Retry] does. It returns the reply
// or, if the write was refused, what [Refused] does.
func Write[In, Out any](ctx context.Context, send func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), in *In) (out *Out, old Item, refused bool, err error) {
	err = Retry(ctx, func() error {
		out, err = send(ctx, in)
		return err
	})
	if old, refused = Refused(err); refused {
		return nil, old, true, nil
	}
	return out, nil, false, err
}

// Update is [Write] for an update. It returns the attributes that the update asks for
// or, if it was refused, the existing item.
func Update(ctx context.Context, send func(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error), in *dynamodb.UpdateItemInput) (row Item, refused bool, err error) {
	out, old, refused, err := Write(ctx, send, in)
	if refused || err != nil {
		return old, refused, err
	}
	return out.Attributes, false, nil
}

// RetryIf is [Retry] with errors of the caller's choice.
func RetryIf(ctx context.Context, again func(error) bool, write func() error) error {
	for try := 0; ; try++ {
		err := write()
		if err == nil || !again(err) || try == conflictTries-1 {
			return err
		}
		if Pause(ctx, conflictPause, try) != nil {
			return err
		}
	}
}

// Pause waits for a random part of base·2^try, the "full jitter" that spreads
// competing writers best, or until the context ends.
func Pause(ctx context.Context, base time.Duration, try int) error {
	timer := time.NewTimer(rand.N(base << min(try, 8)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
