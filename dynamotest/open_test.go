package dynamotest_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		t.Setenv("DYNAMODB_ENDPOINT", endpoint)
		r := opened(t)
		if len(r.errors) != 1 || !strings.Contains(r.errors[0], "DYNAMODB_ENDPOINT") || !strings.Contains(r.errors[0], want) {
			t.Errorf("%q: want %q, got %q", endpoint, want, r.errors)
		}
		if secret := strings.Contains(endpoint, "secret"); len(r.errors) > 0 && strings.Contains(r.errors[0], endpoint) == secret {
			t.Errorf("%q: got %q", endpoint, r.errors)
		}
	}
}

// A client of a malformed endpoint says so at once, and sends nothing.
func TestConnectToAMalformedEndpoint(t *testing.T) {
	t.Parallel()
	tap := dynamotest.NewTap()
	for endpoint, want := range map[string]string{
		"localhost:8000": `the endpoint is "localhost:8000": it must begin with http:// or https://`,
		"":               `the endpoint is "": it must begin with http:// or https://`,
		"http://:8000":   "it must name a host",
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := dynamotest.Connect(endpoint, tap.Attach).ListTables(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), want) || time.Since(began) != 0 {
				t.Errorf("%q: got %v after %s", endpoint, err, time.Since(began))
			}
		})
	}
}

// A table that is protected against deletion does not stay on the endpoint.
func TestOpenDeletesProtectedTables(t *testing.T) {
	srv := dynamotest.NewServer(nil)
	here := httptest.NewServer(srv.Handler())
	defer here.Close()
	t.Setenv("DYNAMODB_ENDPOINT", here.URL)
	r := &recorder{TB: t}
	db := dynamotest.Open(r)
	plain, protected := orders(db.Name("orders")), orders(db.Name("protected"))
	protected.DeletionProtection = true
	db.Create(plain, protected)
	db.Name("missing")
	r.finish()
	out, err := srv.Client().ListTables(t.Context(), nil)
	if err != nil || len(out.TableNames) > 0 || len(r.errors) > 0 {
		t.Errorf("tables %v, %v, errors %q", out, err, r.errors)
	}
}

func TestOpenTakesAnyEndpointThatIsOne(t *testing.T) {
	for _, endpoint := range []string{
		"", "http://127.0.0.1:8000", "http://127.0.0.1:8000/", "HTTPS://dynamodb.example", "http://[::1]:8000", "http://proxy/dynamodb",
	} {
		t.Setenv("DYNAMODB_ENDPOINT", endpoint)
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
