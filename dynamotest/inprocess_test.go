package dynamotest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// A client in process leaves out what only a network needs, and keeps the rest
// of the SDK.
func TestInProcessClients(t *testing.T) {
	t.Parallel()
	var last *http.Request
	srv := dynamotest.NewServer(nil)
	see := func(o *dynamodb.Options) {
		next := o.HTTPClient
		o.HTTPClient = doer(func(r *http.Request) (*http.Response, error) { last = r; return next.Do(r) })
	}
	if _, err := srv.Client(see).ListTables(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := last.Header.Get("Authorization"); got != "" {
		t.Errorf("it is signed: %s", got)
	}
	for _, name := range []string{"X-Amz-Target", "Amz-Sdk-Invocation-Id", "Amz-Sdk-Request", "User-Agent"} {
		if last.Header.Get(name) == "" {
			t.Errorf("the SDK's header %s is missing", name)
		}
	}
}

// A client that is made from an in-process client's options for another endpoint
// resolves and signs again.
func TestAClientThatLeavesTheProcess(t *testing.T) {
	t.Parallel()
	srv := dynamotest.NewServer(nil)
	var got *http.Request
	port := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		srv.Handler().ServeHTTP(w, r)
	}))
	defer port.Close()
	away := func(o *dynamodb.Options) {
		o.BaseEndpoint, o.HTTPClient = aws.String(port.URL), http.DefaultClient
	}
	for name, list := range map[string]func() error{
		"a new client": func() error {
			_, err := dynamodb.New(srv.Client().Options(), away).ListTables(t.Context(), nil)
			return err
		},
		"one call": func() error {
			_, err := srv.Client().ListTables(t.Context(), nil, away)
			return err
		},
	} {
		got = nil
		if err := list(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got == nil || got.Header.Get("Authorization") == "" {
			t.Errorf("%s: the request did not arrive signed", name)
		}
	}
}

// Credentials that cannot be retrieved are an error, as on a network.
func TestCredentialsOfInProcessClients(t *testing.T) {
	t.Parallel()
	expired := errors.New("expired")
	client := dynamotest.NewServer(nil).Client(func(o *dynamodb.Options) {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, expired })
	})
	if _, err := client.ListTables(t.Context(), nil); !errors.Is(err, expired) {
		t.Errorf("got %v", err)
	}
}
