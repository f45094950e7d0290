package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

const table = `{"TableName":"plain","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`

func newEngine(t testing.TB, hook engine.Hook) *engine.Engine {
	t.Helper()
	eng := engine.New(engine.Options{Hook: hook})
	if rep := wire.Do(t.Context(), eng, "CreateTable", []byte(table)); rep.Status != http.StatusOK {
		t.Fatalf("%s", rep.Body)
	}
	return eng
}

func client(endpoint string, transport http.RoundTripper) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: &endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
		HTTPClient:       &http.Client{Transport: transport},
		RetryMaxAttempts: 1,
	})
}

// throttle refuses every GetItem in one way and every DeleteItem in another.
func throttle(_ context.Context, call *engine.Call) engine.Decision {
	code, ok := map[string]string{"GetItem": api.Throttling, "DeleteItem": api.ThroughputExceeded}[call.Operation]
	if !ok {
		return engine.Decision{}
	}
	return engine.Decision{Answer: &api.Error{Code: code, Message: "slow down", Throttled: []api.ThrottlingReason{{Reason: "TableReadProvisionedThroughputExceeded", Resource: "arn"}}}}
}

// The SDK's client checks the wire format: of replies, of every error for which
// it has a type, and of the checksum, in memory and over a socket.
func TestTheClientUnderstands(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"in memory", "over a socket"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			eng := newEngine(t, throttle)
			db := client("http://dynamotest.invalid", wire.Transport{Engine: eng})
			if kind == "over a socket" {
				srv := httptest.NewServer(wire.Handler(eng))
				t.Cleanup(srv.Close)
				db = client(srv.URL, srv.Client().Transport)
			}
			checkClient(t, db)
		})
	}
}

func checkClient(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	ctx, plain := t.Context(), aws.String("plain")
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "å"}}
	never := aws.String("attribute_not_exists(id)")
	show := types.ReturnValuesOnConditionCheckFailureAllOld
	if _, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: plain, Item: key}); err != nil {
		t.Fatal(err)
	}
	_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: plain, Item: key, ConditionExpression: never, ReturnValuesOnConditionCheckFailure: show})
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || failed.Item["id"].(*types.AttributeValueMemberS).Value != "å" || failed.ErrorMessage() == "" {
		t.Errorf("a failed condition: %v", err)
	}
	_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: plain, Item: key, ConditionExpression: never, ReturnValuesOnConditionCheckFailure: show}},
	}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 1 || cancelled.CancellationReasons[0].Item == nil || cancelled.ErrorMessage() == "" {
		t.Errorf("a cancelled transaction: %v", err)
	}
	_, err = db.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("nowhere")})
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) {
		t.Errorf("a missing table: %v", err)
	}
	_, err = db.GetItem(ctx, &dynamodb.GetItemInput{TableName: plain, Key: key})
	var throttled *types.ThrottlingException
	if !errors.As(err, &throttled) || len(throttled.ThrottlingReasons) != 1 || aws.ToString(throttled.ThrottlingReasons[0].Resource) != "arn" {
		t.Errorf("a throttled read: %v", err)
	}
	_, err = db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: plain, Key: key})
	var exceeded *types.ProvisionedThroughputExceededException
	if !errors.As(err, &exceeded) || len(exceeded.ThrottlingReasons) != 1 || aws.ToString(exceeded.ThrottlingReasons[0].Reason) == "" {
		t.Errorf("a throttled write: %v", err)
	}
	arn := aws.String("arn:aws:dynamodb:us-east-1:123456789012:table/plain")
	if _, err := db.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: arn, Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}}); err != nil {
		t.Errorf("a reply without a body: %v", err)
	}
}

func TestErrorBodies(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, nil)
	for _, tt := range []struct {
		op, body string
		status   int
		want     string
	}{
		{"PutItem", `{"TableName":"plain","Item":{}}`, 400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"One or more parameter values were invalid: Missing the key id in the item"}`},
		{"PutItem", `{"TableName":"nowhere","Item":{}}`, 400, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}`},
		{"PutItem", `{"TableName":["plain"]}`, 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"Unrecognized collection type class java.lang.String"}`},
		{"Fly", `{}`, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException","message":"dynamotest does not have \"Fly\""}`},
		{"PutItem", strings.Repeat(" ", wire.MaxBody+1), 413, `{"__type":"com.amazon.coral.service#RequestEntityTooLargeException","message":"Request size exceeds the limit of 16777216 bytes"}`},
	} {
		rep := wire.Do(t.Context(), eng, "DynamoDB_20120810."+tt.op, []byte(tt.body))
		if rep.Status != tt.status || string(rep.Body) != tt.want {
			t.Errorf("%s\ngot  %d %s\nwant %d %s", tt.op, rep.Status, rep.Body, tt.status, tt.want)
		}
	}
}

// A reply has its cost if the request asks for it, in memory and over a socket.
func TestHeaders(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, nil)
	server := httptest.NewServer(wire.Handler(eng))
	t.Cleanup(server.Close)
	ids := map[string]bool{}
	for name, transport := range map[string]http.RoundTripper{"in memory": wire.Transport{Engine: eng}, "over a socket": server.Client().Transport} {
		for _, body := range []string{
			`{"TableName":"plain","Item":{"id":{"S":"x"}}}`,
			`{"TableName":"plain","Item":{"id":{"S":"x"}},"ConditionExpression":"attribute_not_exists(id)"}`,
		} {
			for _, want := range []string{"", `[{"TableName":"plain","CapacityUnits":1.0,"WriteCapacityUnits":1.0,"Table":{"CapacityUnits":1.0,"WriteCapacityUnits":1.0}}]`} {
				header, text := put(t, transport, server.URL, body, want != "")
				if got := header.Get(wire.CapacityHeader); got != want {
					t.Errorf("%s: capacity %s, want %s", name, got, want)
				}
				if got, want := header.Get("X-Amz-Crc32"), fmt.Sprint(crc32.ChecksumIEEE(text)); got != want {
					t.Errorf("%s: checksum %s, want %s", name, got, want)
				}
				if got, want := header.Get("Content-Length"), fmt.Sprint(len(text)); got != want {
					t.Errorf("%s: length %s, want %s", name, got, want)
				}
				if got := header.Get("Content-Type"); got != "application/x-amz-json-1.0" {
					t.Errorf("%s: Content-Type %q", name, got)
				}
				ids[header.Get("X-Amzn-RequestId")] = true
			}
		}
	}
	for id := range ids {
		if !regexp.MustCompile(`^[A-Z0-5]{52}$`).MatchString(id) {
			t.Errorf("a request id is %q", id)
		}
	}
	if len(ids) != 8 {
		t.Errorf("8 requests have %d ids", len(ids))
	}
}

// put sends a PutItem, which may ask for its price, and returns the reply's header
// and body.
func put(t *testing.T, transport http.RoundTripper, endpoint, body string, priced bool) (http.Header, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
	if priced {
		r.Header.Set(wire.CapacityHeader, "")
	}
	reply, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.Header, text
}

// send posts a body to a handler as any HTTP client may.
func send(t testing.TB, h http.Handler, method, target string, body io.Reader) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/", body)
	r.Header.Set("X-Amz-Target", target)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte{' '}, len(p))), nil }

// torn is a body that breaks off.
type torn struct{}

func (torn) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestHostileRequests(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, nil)
	h := wire.Handler(eng)
	deep := func(open, end string) string { return strings.Repeat(open, 100_000) + strings.Repeat(end, 100_000) }
	put := func(v string) string { return `{"TableName":"plain","Item":{"id":{"S":"x"},"v":` + v + `}}` }
	condition := func(src string) string {
		quoted, err := json.Marshal(src)
		if err != nil {
			t.Fatal(err)
		}
		return `{"TableName":"plain","Item":{"id":{"S":"x"}},"ConditionExpression":` + string(quoted) + `}`
	}
	for name, r := range map[string]struct {
		target string
		body   io.Reader
		status int
	}{
		"endless body":           {"PutItem", endless{}, 413},
		"torn body":              {"PutItem", torn{}, 400},
		"no body":                {"PutItem", http.NoBody, 400},
		"no JSON":                {"PutItem", strings.NewReader("\xff\x00{"), 400},
		"truncated JSON":         {"PutItem", strings.NewReader(`{"TableName":"pl`), 400},
		"invalid UTF-8":          {"PutItem", strings.NewReader(put("{\"S\":\"\xff\"}")), 400},
		"something after":        {"PutItem", strings.NewReader(put(`{"S":"y"}`) + "{}"), 400},
		"deep arrays":            {"PutItem", strings.NewReader(deep("[", "]")), 400},
		"deep unknown member":    {"PutItem", strings.NewReader(`{"X":` + deep(`{"a":`, "}") + `}`), 400},
		"deep lists":             {"PutItem", strings.NewReader(put(strings.Repeat(`{"L":[`, 50_000))), 400},
		"deep parentheses":       {"PutItem", strings.NewReader(condition(strings.Repeat("(", 2000) + "a = b" + strings.Repeat(")", 2000))), 400},
		"deep negations":         {"PutItem", strings.NewReader(condition(strings.Repeat("NOT ", 1000) + "a = b")), 400},
		"a huge number":          {"PutItem", strings.NewReader(put(`{"N":"1E999999999999"}`)), 400},
		"a number of a megabyte": {"PutItem", strings.NewReader(put(`{"N":"` + strings.Repeat("9", 1<<20) + `"}`)), 400},
		"a JSON number":          {"Query", strings.NewReader(`{"TableName":"plain","Limit":1e999}`), 400},
		"unknown target":         {"DropEverything", strings.NewReader(`{}`), 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := send(t, h, http.MethodPost, "DynamoDB_20120810."+r.target, r.body)
			if w.Code != r.status || !strings.Contains(w.Body.String(), `"__type"`) {
				t.Errorf("%d %.200s", w.Code, w.Body)
			}
		})
	}
	t.Cleanup(func() {
		if rep := wire.Do(context.Background(), eng, "Scan", []byte(`{"TableName":"plain"}`)); !strings.Contains(string(rep.Body), `"Count":0`) {
			t.Errorf("a refused request has written: %s", rep.Body)
		}
	})
}

func TestOtherMethodsAndTargets(t *testing.T) {
	t.Parallel()
	h := wire.Handler(newEngine(t, nil))
	if w := send(t, h, http.MethodGet, "", http.NoBody); w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), "healthy") {
		t.Errorf("GET: %d %s", w.Code, w.Body)
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodPatch} {
		w := send(t, h, method, "DynamoDB_20120810.ListTables", strings.NewReader("{}"))
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "is a POST") {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
	for _, tt := range []struct{ method, target, text string }{
		{http.MethodPost, "ListTables", "an operation in X-Amz-Target"},
		{http.MethodPost, "", "an operation in X-Amz-Target"},
		{http.MethodPost, "Other_20120810.ListTables", `does not have \"Other_20120810.ListTables\"`},
		{http.MethodPost, "DynamoDBStreams_20120810.ListTables", `does not have \"DynamoDBStreams_20120810.ListTables\"`},
		{http.MethodPost, "DynamoDB_20120810.ListStreams", `does not have \"DynamoDB_20120810.ListStreams\"`},
		{http.MethodPost, "DynamoDB_20120810.Fly\xff" + strings.Repeat("y", 1000), strings.Repeat("y", 95) + `\""`},
	} {
		w := send(t, h, tt.method, tt.target, strings.NewReader("{}"))
		if text := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(text, "#UnknownOperationException") || !strings.Contains(text, tt.text) {
			t.Errorf("%s %q: %d %s", tt.method, tt.target, w.Code, w.Body)
		}
	}
}

func TestStreamsAreAServiceOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := send(t, wire.Handler(newEngine(t, nil)), http.MethodPost, "DynamoDBStreams_20120810.ListStreams", strings.NewReader("{}"))
	if got, want := w.Body.String(), `{"Streams":[]}`; w.Code != http.StatusOK || got != want {
		t.Errorf("got %d %s, want %s", w.Code, got, want)
	}
}

func TestACallThatWasGivenUpHasNoEffect(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	db := client("http://dynamotest.invalid", wire.Transport{Engine: eng})
	_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("plain"), Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "x"}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if rep := wire.Do(t.Context(), eng, "Scan", []byte(`{"TableName":"plain"}`)); !strings.Contains(string(rep.Body), `"Count":0`) {
		t.Errorf("the table has %s", rep.Body)
	}
}
