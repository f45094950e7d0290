package intake

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/homeops/ddbpatterns/examples/internal/sleep"
)

const (
	// oneTry is how long send waits for a reply before it sends the request again.
	// A lost reply must not use up all the time.
	oneTry = 1500 * time.Millisecond

	shortestPause, longestPause = 25 * time.Millisecond, 400 * time.Millisecond
)

var errUnprocessed = errors.New("keys were left unprocessed")

// once turns off the SDK's retries, whose pauses can last seconds: send itself
// tries again.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// send sends a request until it gets a final answer, or the context ends. The
// request must be safe to repeat.
func (h *Handler) send(ctx context.Context, request func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		one, cancel := context.WithTimeout(ctx, oneTry)
		err := request(one)
		cancel()
		if err == nil || !passes(err) || !h.wait(ctx, pause) {
			return err
		}
	}
}

// passes reports whether the same request may succeed a moment later: nobody
// answered, or somebody other than DynamoDB answered, or DynamoDB had no capacity,
// or the request met another transaction.
func passes(err error) bool {
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return slices.ContainsFunc(cancelled.CancellationReasons, func(reason types.CancellationReason) bool {
			return slices.Contains([]string{"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}, aws.ToString(reason.Code))
		})
	}
	if said, ok := errors.AsType[smithy.APIError](err); ok {
		if _, throttled := retry.DefaultThrottleErrorCodes[said.ErrorCode()]; throttled {
			return true
		}
	}
	reply, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return !ok || reply.HTTPStatusCode()/100 != http.StatusBadRequest/100
}

// wait waits for a random part of the longest pause, which spreads competitors
// best. It is false if the context ended.
func (h *Handler) wait(ctx context.Context, longest time.Duration) bool {
	var random [2]byte
	h.random(random[:])
	return sleep.For(ctx, longest*time.Duration(binary.BigEndian.Uint16(random[:]))>>16) == nil
}
