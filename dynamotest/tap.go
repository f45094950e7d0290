package dynamotest

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/fault"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// Tap sits in a client's transport and works on every backend. It meters
// requests, and can delay, lose or answer them.
//
//	tap := dynamotest.NewTap()
//	db := dynamodb.NewFromConfig(cfg, tap.Attach)
//
// A Tap is safe for concurrent use and may serve several clients.
type Tap struct {
	faults *fault.Set
	server *control // nil on other backends

	mu     sync.Mutex // guards the fields below; held while faults are added or healed
	meters []*Meter   // of the running spans
}

// NewTap returns a Tap that is attached to nothing yet.
func NewTap() *Tap { return &Tap{faults: fault.NewSet(nil)} }

// Attach is an option for dynamodb.New and dynamodb.NewFromConfig. It wraps the
// client's HTTP client. If the Tap does not belong to a server of this process,
// Attach also makes the requests ask for their consumed capacity, unless the
// caller has set ReturnConsumedCapacity. DynamoDB does not charge for this. A client
// of another kind, such as one of DynamoDB Streams, can have the HTTPClient that
// Attach leaves in the options; the meter knows the price of its requests only if
// the replies report it.
func (t *Tap) Attach(o *dynamodb.Options) {
	next := o.HTTPClient
	if next == nil {
		next = http.DefaultClient
	}
	o.HTTPClient = tapped{tap: t, next: next}
	if t.server != nil {
		return // its replies carry their price
	}
	o.APIOptions = append(slices.Clone(o.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(askForCapacity, middleware.Before)
	})
}

// tapped is the HTTP client of a client with a Tap.
type tapped struct {
	tap  *Tap
	next dynamodb.HTTPClient
}

// Do sends the request unless a fault loses it, records what it cost, and
// returns the reply unless a fault loses that. Faults may delay either, call
// functions before either, or answer instead.
func (c tapped) Do(r *http.Request) (*http.Response, error) {
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	meters := c.tap.metersOf(r.Context())
	var req api.Request // decoded once for all that need it
	if c.tap.faults.OnTransport() || len(meters) > 0 && api.OperationNamed(op).Has(api.Statements) {
		body, err := readBody(r)
		if err != nil {
			return nil, err
		}
		req = target.Decode(op, body)
	}

	fate := c.tap.faults.Transport(op, req)
	metered := metered{meters: meters, op: op, reads: readsOnly(op, req), started: now()}
	if err := waitFor(r.Context(), fate.Before); err != nil {
		return nil, err
	}

	if fate.Fate != nil && fate.Fate.Kind != fault.LoseReply {
		metered.lost()
		return instead(r, fate.Fate)
	}
	return c.send(r, fate, metered)
}

// instead returns what the caller of a request gets that is not sent.
func instead(r *http.Request, fate *fault.Effect) (*http.Response, error) {
	if fate.Kind == fault.LoseRequest {
		return nil, connectionReset("write")
	}
	return &http.Response{
		StatusCode: fate.Status, Status: http.StatusText(fate.Status), Request: r,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(fate.Body)), ContentLength: int64(len(fate.Body)),
	}, nil
}

// send sends the request, and returns the reply unless a fault loses it.
func (c tapped) send(r *http.Request, fate fault.Passage, metered metered) (*http.Response, error) {
	meters := metered.meters
	sent := r
	if len(meters) > 0 {
		sent = priced(r)
	}

	reply, err := c.next.Do(sent)
	switch {
	case err != nil: // sent; it may have taken effect
		metered.lost()
		return nil, err
	case len(meters) > 0:
		if err := metered.record(reply); err != nil {
			return nil, err
		}
	}

	err = waitFor(r.Context(), fate.After)
	if fate.Fate != nil && err == nil {
		err = connectionReset("read")
	}

	if err != nil {
		_ = reply.Body.Close()
		return nil, err
	}
	return reply, nil
}

// metersOf returns the meters of the running spans and the context's own.
func (t *Tap) metersOf(ctx context.Context) []*Meter {
	t.mu.Lock()
	meters := slices.Clone(t.meters)
	t.mu.Unlock()
	for own, _ := ctx.Value(meterKey{}).(*Meter); own != nil; own = own.outer {
		meters = append(meters, own)
	}
	return meters
}

// askForCapacity sets ReturnConsumedCapacity before the input is signed, on a
// copy, because callers may share their input. A caller's own setting stays.
var askForCapacity = middleware.InitializeMiddlewareFunc("AskForCapacity", func(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	in.Parameters = withCapacity(in.Parameters)
	return next.HandleInitialize(ctx, in)
})

// withCapacity returns a copy of an input that asks for the capacity, or the input
// itself if it has no such member or if the member is set.
func withCapacity(input any) any {
	const member = "ReturnConsumedCapacity"
	in := reflect.ValueOf(input)
	if in.Kind() != reflect.Pointer || in.IsNil() || in.Elem().Kind() != reflect.Struct {
		return input
	}
	if mode := in.Elem().FieldByName(member); !mode.IsValid() || mode.String() != "" {
		return input
	}
	own := reflect.New(in.Type().Elem())
	own.Elem().Set(in.Elem())
	own.Elem().FieldByName(member).SetString(string(types.ReturnConsumedCapacityIndexes))
	return own.Interface()
}

// Connect returns a client of an endpoint that needs no account, such as
// DynamoDB Local. The client's credentials are made up. The options, such as a
// Tap's Attach, apply last. The endpoint is a URL such as http://127.0.0.1:8000. If
// it is malformed, every call fails at once, without a request.
func Connect(endpoint string, options ...func(*dynamodb.Options)) *dynamodb.Client {
	if err := checkEndpoint("the endpoint", endpoint); err != nil {
		options = append(slices.Clone(options), func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, failing(err)) })
	}
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.CredentialsProviderFunc(localCredentials),
	}, options...)
}

// failing is an API option with which every call fails.
func failing(err error) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("dynamotest.endpoint", func(
			context.Context, middleware.InitializeInput, middleware.InitializeHandler,
		) (out middleware.InitializeOutput, meta middleware.Metadata, _ error) {
			return out, meta, err
		}), middleware.Before)
	}
}

func localCredentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local", Source: "dynamotest"}, nil
}
