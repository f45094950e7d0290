package dynamotest_test

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// seeing is an HTTP client that shows the requests that go through it.
type seeing struct {
	next dynamodb.HTTPClient
	see  func(*http.Request)
}

func (s seeing) Do(r *http.Request) (*http.Response, error) {
	s.see(r)
	return s.next.Do(r)
}

// A client in process does without what a network needs, and keeps the rest of
// what the SDK does. Options of the caller's own have the last word.
func TestInProcessClients(t *testing.T) {
	t.Parallel()
	var last *http.Request
	srv := dynamotest.NewServer(nil)
	see := func(o *dynamodb.Options) {
		o.HTTPClient = seeing{o.HTTPClient, func(r *http.Request) { last = r }}
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
