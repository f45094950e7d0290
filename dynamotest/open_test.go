package dynamotest_test

import (
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// An invalid endpoint fails the test at once. The message names the variable, its
// value and what is wrong with it.
func TestOpenRefusesAMalformedEndpoint(t *testing.T) {
	for endpoint, want := range map[string]string{
		"127.0.0.1:8000":                   "must begin with http:// or https://",
		"localhost:8000":                   "must begin with http:// or https://",
		"localhost":                        "must begin with http:// or https://",
		"//127.0.0.1:8000":                 "must begin with http:// or https://",
		"tcp://127.0.0.1:8000":             "must begin with http:// or https://",
		" http://127.0.0.1:8000":           "must begin with http:// or https://",
		"http://":                          "must name a host",
		"http://:8000":                     "must name a host",
		"http:127.0.0.1:8000":              "must name a host",
		"http://127.0.0.1:8000?x=1":        "must have no query",
		"http://127.0.0.1:8000/?":          "must have no query",
		"http://127.0.0.1:8000/#x":         "must have no fragment",
		"http://127.0.0.1:eight":           "cannot be parsed: invalid port",
		"http://127.0.0.1:8000/%zz":        "cannot be parsed: invalid URL escape",
		"http://ann:secret@127.0.0.1:8000": "must have no user",
		"http://ann:secret@127.0.0.1:x":    "cannot be parsed",
	} {
		t.Setenv(dynamotest.EndpointVariable, endpoint)
		r := opened(t)
		if len(r.errors) != 1 || !strings.Contains(r.errors[0], "DYNAMODB_ENDPOINT") || !strings.Contains(r.errors[0], want) {
			t.Errorf("%q: want %q, got %q", endpoint, want, r.errors)
		}
		if secret := strings.Contains(endpoint, "secret"); len(r.errors) > 0 && strings.Contains(r.errors[0], endpoint) == secret {
			t.Errorf("%q: got %q", endpoint, r.errors)
		}
	}
}

func TestOpenTakesAnyEndpointThatIsOne(t *testing.T) {
	for _, endpoint := range []string{
		"", "http://127.0.0.1:8000", "http://127.0.0.1:8000/", "HTTPS://dynamodb.example", "http://[::1]:8000", "http://proxy/dynamodb",
	} {
		t.Setenv(dynamotest.EndpointVariable, endpoint)
		if r := opened(t); len(r.errors) > 0 {
			t.Errorf("%q: %q", endpoint, r.errors)
		}
	}
}

// opened runs Open in a test, and returns after it has opened a database or
// ended the test.
func opened(t *testing.T) *recorder {
	t.Helper()
	r, ended := &recorder{TB: t}, make(chan struct{})
	go func() {
		defer close(ended)
		dynamotest.Open(r)
	}()
	<-ended
	r.finish()
	return r
}
