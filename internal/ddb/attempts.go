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

// Attempts watches the attempts of a call. The call's error describes only the
// last attempt: an earlier one may have taken effect and lost its reply before
// the last was throttled, or refused for another reason.
type Attempts struct {
	watched atomic.Bool // the API takes the option
	open    atomic.Bool // an attempt was sent, and may have taken effect
}

// Watch is an option of the call. The same Attempts may watch several calls,
// one after the other.
func (a *Attempts) Watch(o *dynamodb.Options) {
	a.watched.Store(true)
	o.APIOptions = append(slices.Clone(o.APIOptions), func(stack *middleware.Stack) error {
		return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("WatchAttempts", a.attempt), middleware.Before)
	})
}

// attempt wraps the sending of a finished request and the reading of its reply, and notes
// an attempt that may have written, or has. A failure before that, such as a missing
// endpoint or missing credentials, never gets here.
func (a *Attempts) attempt(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	if err := ctx.Err(); err != nil { // nothing is sent, which the HTTP client's error would not tell
		return middleware.DeserializeOutput{}, middleware.Metadata{}, &smithy.CanceledError{Err: err}
	}
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if !Definite(err) && !unsent(err) {
		a.open.Store(true)
	}
	return out, metadata, err
}

// unsent reports whether an HTTP client failed before it had a connection to
// send on: it could not connect, or could not use the endpoint. Net/http
// reports the latter only in words. The same words from a server do not count,
// because the server was reached.
func unsent(err error) bool {
	if reply, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && reply.HTTPStatusCode() != 0 {
		return false // for an attempt without a reply, the SDK makes a response without a status
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

// Open reports whether an attempt may have written. With an API that ignores
// options, nothing is certain.
func (a *Attempts) Open() bool { return a.Lost() || !a.watched.Load() }

// Lost reports whether an attempt is known that may have written. With an API that
// ignores options, none is.
func (a *Attempts) Lost() bool { return a.open.Load() }

// Judge returns the calls' error. It is an [event.ErrUnknownOutcome] unless
// every attempt certainly wrote nothing.
func (a *Attempts) Judge(err error) error {
	if err == nil || !a.Open() {
		return err
	}
	return fmt.Errorf("%w: %w", event.ErrUnknownOutcome, err)
}
