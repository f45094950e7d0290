package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	server := dynamotest.NewServer(nil)
	endpoint := httptest.NewServer(server.Handler())
	t.Cleanup(endpoint.Close)
	broken := httptest.NewServer(nil)
	t.Cleanup(broken.Close)
	for _, test := range []struct {
		args     string
		status   int
		out, log string
	}{
		{"-endpoint " + endpoint.URL + " -run ^get/get/", 0, "get               8 of    8\nall               8 of    8\n", ""},
		{"-endpoint " + broken.URL + " -run ^get/get/there", 1, "get/there\n    table provisioned_s: 404 : 404 page not found\n\nget               0 of    1\nall               0 of    1\n", ""},
		{"-endpoint " + broken.URL + " -run ^get/get/there -quiet", 1, "get               0 of    1\nall               0 of    1\n", ""},
		{"-endpoint http://127.0.0.1:1 -run ^get/get/there", 2, "", "connection refused"},
		{"-endpoint http://127.0.0.1:1 -run scan-refused", 2, "", "connection refused"},
		{"-endpoint " + endpoint.URL + " -races 3", 0, "| a put creates an item | 3 | 3 × 1 | 0 | 0 | 0 |\n", ""},
		{"-endpoint " + broken.URL + " -races 3", 2, "", "404 : 404 page not found"},
		{"-endpoint " + endpoint.URL + " -races 1 -racers 0", 2, "", "-racers must be at least 1"},
		{"-endpoint " + endpoint.URL + " -races 1 -racers 1", 0, "| a transaction with one token | 1 | 1 × 1 | 0 | 0 | 0 |\n", ""},
		{"-run x", 2, "", "usage: facts -endpoint URL"},
		{"-endpoint x more", 2, "", "usage: facts -endpoint URL"},
		{"-endpoint x -run (", 2, "", "missing closing"},
		{"-endpint x", 2, "", "flag provided but not defined"},
		{"-help", 0, "", "the URL to ask"},
	} {
		var out, log bytes.Buffer
		status := run(t.Context(), strings.Fields(test.args), &out, &log)
		if status != test.status || !strings.Contains(out.String(), test.out) || !strings.Contains(log.String(), test.log) {
			t.Errorf("%s: status %d, want %d\n%s\n%s", test.args, status, test.status, &out, &log)
		}
	}
	if tables := server.Tables(); len(tables) > 0 {
		t.Errorf("tables are left: %q", tables)
	}
}

// An endpoint that takes one thing for another has races that end otherwise.
func TestRacesNotice(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ from, to, name, want string }{
		{"attribute_not_exists(pk)", "attribute_not_exists(x)", "a put creates an item", "16 winners"},
		{"attribute_not_exists(pk)", "attribute_not_exists(x)", "put, update, transaction and INSERT create an item", " winners"},
		{`"v = :v"`, `"v >= :v"`, "an update expects version 1", "16 winners"},
		{`"v = :v"`, `"v < :v"`, "an update expects version 1", "0 winners"},
		{`"w":{"N":"`, `"w":{"N":"1`, "a put creates an item", "and the item is that of 1"},
		{"attribute_exists(pk)", "attribute_not_exists(x)", "a delete expects the item", "16 winners"},
		{`"ConditionExpression":"attribute_exists(pk)"`, `"ConditionExpression":"attribute_exists(pk)","TableName":"other"`, "a delete expects the item", "is refused: 400 ResourceNotFoundException"},
		{"ADD n :one", "SET n = :one", "ADD counts each", "two are told 1"},
		{` b"}},"UpdateExpression":"SET w = :i`, ` b"}},"UpdateExpression":"SET x = :i`, "a transaction of two items, others that fail, and readers", " one "},
		{"ClientRequestToken", "Token", "a transaction with one token", "a repetition is told that it failed"},
		{`ADD n :one","ExpressionAttributeValues":{":one":{"N":"1"}}}}]}`, `ADD n :one","ExpressionAttributeValues":{":one":{"N":"2"}}}}]}`, "a transaction with one token", "it took effect 2 times"},
		{`"ConsistentRead":true`, `"ConsistentRead":true,"ProjectionExpression":"pk"`, "a consistent read after an ADD", "-1 is read after"},
		{`"ConsistentRead":true`, `"ConsistentRead":true,"ProjectionExpression":"pk"`, "ADD counts each", "the sum is -1 after 16 additions"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := dynamotest.NewServer(nil).Handler()
			wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				body = bytes.ReplaceAll(body, []byte(test.from), []byte(test.to))
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				server.ServeHTTP(w, r)
			}))
			defer wrong.Close()
			var out, log bytes.Buffer
			status := run(t.Context(), []string{"-endpoint", wrong.URL, "-races", "1"}, &out, &log)
			found := false
			for line := range strings.Lines(out.String()) {
				found = found || strings.HasPrefix(line, test.name+": ") && strings.Contains(line, test.want)
			}
			if status != 1 || !found {
				t.Errorf("%s for %s: status %d, want %q\n%s\n%s", test.to, test.from, status, test.want, &out, &log)
			}
		})
	}
}

// A conflict is sent again, and so are the judge's requests after an error of the
// server; a racer's error leaves open who has won. A refusal does not hide winners.
func TestRacesGoOn(t *testing.T) {
	t.Parallel()
	type faults = []dynamotest.Fault
	refuse := func(kind string) dynamotest.Effect { return dynamotest.Answer(400, `{"__type":"`+kind+`"}`) }
	down := dynamotest.InternalError
	for _, test := range []struct {
		faults faults
		status int
		line   string
	}{
		{faults{{Do: down.After(), Op: "PutItem"}}, 0, `| a put creates an item | 1 | 1 × . | 0 | 1 | 0 |`},
		{faults{{Do: dynamotest.Conflict, Op: "TransactWriteItems", Times: 5}}, 0, `| put, update, .* | 1 | 1 × 1 | 5 | 0 | 0 |`},
		{faults{{Do: refuse("RequestLimitExceeded"), Op: "PutItem", Times: 5}}, 0, `| a put creates an item | 1 | 1 × 1 | 5 | 0 | 0 |`},
		{faults{{Do: down, Op: "GetItem", Times: 3}}, 0, `| a put creates an item | 1 | 1 × 1 | 0 | 3 | 0 |`},
		{faults{{Do: down, Op: "GetItem", Times: 4}}, 1, `a put creates an item: the judge gets no answer`},
		{faults{{Do: down, Op: "PutItem", Nth: 21}}, 0, `| an update expects version 1 | 1 | 1 × 1 | 0 | 1 | 0 |`},
		{faults{{Do: refuse("X"), Op: "PutItem", Nth: 21}}, 1, `| an update expects version 1 | 1 | 1 × 0, refused | 0 | 0 | 0 |`},
		{faults{{Do: down, Op: "DeleteItem", Times: 16}}, 0, `| a delete expects the item | 1 | 1 × 0 | 0 | 16 | 0 |`},
		{faults{{Do: down, Op: "TransactWriteItems", Nth: 13, Times: 16}}, 0, `| a transaction with one token | 1 | 1 × 0 | 0 | 16 | 0 |`},
		{faults{{Do: refuse("X"), Op: "TransactWriteItems", Nth: 13, Times: 16}}, 1, `| a transaction with one token | 1 | 1 × 0, refused | 0 | 0 | 0 |`},
		{faults{{Do: refuse("X"), Op: "DeleteItem"}, {Do: dynamotest.Answer(200, "{}"), Op: "DeleteItem", Nth: 2}}, 1, `a delete expects the item: round 1: 2 winners`},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			server := dynamotest.NewServer(nil)
			for _, fault := range test.faults {
				server.Tap().Inject(fault)
			}
			// The Tap of a client can also answer in place of the server.
			endpoint := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: through{server.Client().Options().HTTPClient}})
			defer endpoint.Close()
			var out, log bytes.Buffer
			status := run(t.Context(), []string{"-endpoint", endpoint.URL, "-races", "1"}, &out, &log)
			if !regexp.MustCompile(`(?m)^`+strings.ReplaceAll(test.line, "|", `\|`)+`$`).Match(out.Bytes()) || status != test.status {
				t.Errorf("%+v: status %d, want %d and %s\n%s\n%s", test.faults, status, test.status, test.line, &out, &log)
			}
		})
	}
}

type through struct{ dynamodb.HTTPClient }

func (t through) RoundTrip(r *http.Request) (*http.Response, error) { return t.Do(r) }
