package ddb_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// These happen to an attempt in place of a reply with a status.
const (
	lost      = 0  // sent, and no reply
	noAddress = -1 // could not connect
	garbled   = -2 // status 200 and a body that is not JSON
	hangs     = -3 // until the context ends
	gateway   = -4 // status 502, with the text that net/http has for a request that it did not send
	noHTTP    = -5 // a reply that is only this text, which net/http quotes
	redialled = -6 // status 200, and reading the body ended in a failure to dial
)

// replies answers a client's attempts one after the other, with a status or one
// of the above. The last reply repeats.
type replies struct {
	statuses []int
	attempts int
}

func (r *replies) Do(request *http.Request) (*http.Response, error) {
	r.attempts++
	status := r.statuses[min(r.attempts, len(r.statuses))-1]
	body := `{"__type":"com.amazonaws.dynamodb.v20120810#` + map[int]string{
		400: "ValidationException", 429: "ThrottlingException", 500: "InternalServerError",
	}[status] + `"}`
	switch status {
	case lost:
		return nil, &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}
	case noAddress:
		return nil, &net.OpError{Op: "dial", Err: errors.New("no such host")}
	case noHTTP:
		return nil, &url.Error{Op: "Post", URL: "http://x", Err: errors.New(`net/http: malformed HTTP response "http: no Host in request URL"`)}
	case redialled:
		reader := iotest.ErrReader(&net.OpError{Op: "dial", Err: errors.New("no such host")})
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(reader)}, nil
	case hangs:
		<-request.Context().Done()
		return nil, request.Context().Err()
	case garbled:
		status, body = 200, "{"
	case gateway:
		status, body = 502, `{"__type":"BadGateway","message":"unsupported protocol scheme; no Host in request URL"}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func client(server *replies, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "eu-north-1", HTTPClient: server,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
		DisableValidateResponseChecksum: true,
	}, options...)
}

// call makes a watched call, and checks the verdict (whether it may have been
// performed) and the number of attempts.
func call(t *testing.T, ctx context.Context, name string, server *replies, attempts int, unknown bool, options ...func(*dynamodb.Options)) {
	t.Helper()
	var watched ddb.Attempts
	_, err := client(server, options...).DescribeLimits(ctx, &dynamodb.DescribeLimitsInput{}, watched.Watch)
	judged := watched.Judge(err)
	if err == nil || !errors.Is(judged, err) || errors.Is(judged, event.ErrUnknownOutcome) != unknown || server.attempts != attempts {
		t.Errorf("%s: %v after %d attempts, want unknown %v after %d", name, judged, server.attempts, unknown, attempts)
	}
}

// An error describes the last attempt. An earlier attempt may leave the outcome
// open.
func TestAttempts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		statuses []int
		attempts int
		unknown  bool
	}{
		"refused at once":               {[]int{400}, 1, false},
		"throttled three times":         {[]int{429}, 3, false},
		"lost, then refused":            {[]int{lost, 400}, 2, true},
		"lost, then throttled":          {[]int{lost, 429}, 3, true},
		"failed, then refused":          {[]int{500, 400}, 2, true},
		"throttled, then refused":       {[]int{429, 400}, 2, false},
		"never dialled":                 {[]int{noAddress}, 3, false},
		"lost, then dialled in vain":    {[]int{lost, noAddress}, 3, true},
		"dialled in vain, then refused": {[]int{noAddress, 400}, 2, false},
		"a reply that is none":          {[]int{garbled}, 1, true},
		"a reply in words of net/http":  {[]int{gateway, 400}, 2, true},
		"no HTTP, in those words":       {[]int{noHTTP, 400}, 2, true},
		"a body that dials anew":        {[]int{redialled, 400}, 2, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			call(t, t.Context(), name, &replies{statuses: tc.statuses}, tc.attempts, tc.unknown)
		})
	}
}

// A call that fails before it has a request to send has written nothing.
func TestAttemptsThatWereNotSent(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]func(*dynamodb.Options){
		"no region":      func(o *dynamodb.Options) { o.Region = "" },
		"no scheme":      endpoint("localhost:8000"),
		"no host":        endpoint("http://"),
		"another scheme": endpoint("dynamodb://localhost:8000"),
		"a bad host":     func(o *dynamodb.Options) { o.BaseEndpoint = aws.String("http://local host:8000") },
		"a bad port":     func(o *dynamodb.Options) { o.BaseEndpoint = aws.String("http://localhost:port") },
		"no credentials": func(o *dynamodb.Options) { o.Credentials = noCredentials },
	} {
		call(t, t.Context(), name, &replies{statuses: []int{200}}, 0, false, option)
	}
}

// endpoint is an option for a client of the network.
func endpoint(address string) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.BaseEndpoint, o.HTTPClient, o.Retryer = aws.String(address), &http.Client{}, aws.NopRetryer{}
	}
}

var noCredentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{}, errors.New("no credentials")
})

// A context that ends before the request is sent has written nothing; one
// that ends later leaves it open.
func TestAttemptsAndTheirContext(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	call(t, over, "over before the call", &replies{statuses: []int{200}}, 0, false)

	ending, cancel := context.WithCancel(t.Context())
	call(t, ending, "over before the request is signed", &replies{statuses: []int{200}}, 0, false, func(o *dynamodb.Options) {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			cancel()
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		})
	})

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		call(t, ctx, "over before the reply", &replies{statuses: []int{hangs}}, 1, true)
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		call(t, ctx, "over between two attempts", &replies{statuses: []int{429}}, 1, false)
	})
}

// A write that took effect is not denied because something failed after it.
func TestAttemptsThatSucceeded(t *testing.T) {
	t.Parallel()
	failing := middleware.FinalizeMiddlewareFunc("Failing", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleFinalize(ctx, in)
		return out, metadata, errors.Join(err, errors.New("the caller's own middleware failed"))
	})
	server := &replies{statuses: []int{200}}
	call(t, t.Context(), "performed", server, 1, true, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error { return stack.Finalize.Add(failing, middleware.After) })
	})
}

// An API that ignores the options may have sent the request more than once,
// even if its error says that the last attempt wrote nothing.
func TestAttemptsThatNobodyWatched(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"cancelled": context.Canceled, "throttled": answered(400, errOther)} {
		var attempts ddb.Attempts
		if judged := attempts.Judge(err); !errors.Is(judged, event.ErrUnknownOutcome) || !errors.Is(judged, err) {
			t.Errorf("%s: %v, want ErrUnknownOutcome", name, judged)
		}
		if err := attempts.Judge(nil); err != nil {
			t.Errorf("no error became %v", err)
		}
	}
}
