package ddb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/homeops/ddbpatterns/event"
)

// Attempts watches the attempts of a call, whose error tells of the last one
// only: an earlier one may have taken effect and lost its reply before the
// last was throttled, or refused for another reason.
type Attempts struct {
	watched atomic.Bool // the API takes the option
	open    atomic.Bool // an attempt was sent, and may have taken effect
}

// Watch is an option of the call. It may watch several, one after the other.
func (a *Attempts) Watch(o *dynamodb.Options) {
	a.watched.Store(true)
	o.APIOptions = append(slices.Clone(o.APIOptions), func(stack *middleware.Stack) error {
		return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("WatchAttempts", a.attempt), middleware.Before)
	})
}

// attempt stands where a request is ready to be sent and its reply has been
// read. What fails earlier, such as the search for an endpoint or for
// credentials, never comes here.
func (a *Attempts) attempt(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	if err := ctx.Err(); err != nil {
		return middleware.DeserializeOutput{}, middleware.Metadata{}, &smithy.CanceledError{Err: err}
	}
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if !Definite(err) && !unsent(err) {
		a.open.Store(true)
	}
	return out, metadata, err
}

// unsent reports whether an HTTP client failed before it had anything to send
// on: it reached nobody, or could make nothing of the endpoint, which net/http
// says in words only. The same words of a server mean nothing: it was reached.
func unsent(err error) bool {
	if reply, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && reply.HTTPStatusCode() != 0 {
		return false // the SDK gives one without a status to what has no reply
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return failed.Op == "dial"
	}
	failed, ok := errors.AsType[*url.Error](err)
	if !ok {
		return false
	}
	text := failed.Err.Error() // may quote a server, but never at its beginning
	return strings.HasPrefix(text, "unsupported protocol scheme") || strings.HasPrefix(text, "http: no Host in request URL")
}

// Judge returns the calls' error: an [event.ErrUnknownOutcome] unless it is
// certain of every attempt that it wrote nothing. Of an API that does not take
// options nothing is certain.
func (a *Attempts) Judge(err error) error {
	if err == nil || a.watched.Load() && !a.open.Load() {
		return err
	}
	return fmt.Errorf("%w: %w", event.ErrUnknownOutcome, err)
}
