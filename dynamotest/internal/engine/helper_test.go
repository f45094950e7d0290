package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

// TestMain lets more garbage lie, of which histories of requests leave much.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// connect returns a client whose transport is the engine.
func connect(eng *engine.Engine) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String("http://dynamotest.invalid"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
		HTTPClient:       &http.Client{Transport: wire.Transport{Engine: eng}},
		RetryMaxAttempts: 1,
	})
}

// A clock stands still until Advance.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// music is a table with indexes of every kind.
const music = `{"TableName":"music","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[
		{"AttributeName":"artist","AttributeType":"S"},{"AttributeName":"song","AttributeType":"N"},
		{"AttributeName":"genre","AttributeType":"S"},{"AttributeName":"year","AttributeType":"N"}],
	"KeySchema":[{"AttributeName":"artist","KeyType":"HASH"},{"AttributeName":"song","KeyType":"RANGE"}],
	"LocalSecondaryIndexes":[{"IndexName":"by-year","Projection":{"ProjectionType":"KEYS_ONLY"},
		"KeySchema":[{"AttributeName":"artist","KeyType":"HASH"},{"AttributeName":"year","KeyType":"RANGE"}]}],
	"GlobalSecondaryIndexes":[
		{"IndexName":"genre-year","Projection":{"ProjectionType":"ALL"},
		 "KeySchema":[{"AttributeName":"genre","KeyType":"HASH"},{"AttributeName":"year","KeyType":"RANGE"}]},
		{"IndexName":"genre-title","Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["title"]},
		 "KeySchema":[{"AttributeName":"genre","KeyType":"HASH"}]}]}`

// plainTable is a table with a partition key and nothing else.
const plainTable = `{"TableName":"plain","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
	"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`

// newEngine returns an engine with the two tables.
func newEngine(t testing.TB, opt engine.Options) *engine.Engine {
	t.Helper()
	eng := engine.New(opt)
	for _, table := range []string{music, plainTable} {
		do(t, eng, "CreateTable", table)
	}
	return eng
}

// do performs an operation, which must succeed, and returns the reply.
func do(t testing.TB, eng *engine.Engine, op, body string) map[string]any {
	t.Helper()
	res := eng.Do(t.Context(), op, []byte(body))
	if res.Err != nil {
		t.Fatalf("%s %s: %v", op, body, res.Err)
	}
	if res.Body == nil {
		return nil
	}
	return decode(t, res.Body)
}

func decode(t testing.TB, body []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return out
}

// A refusal is a request and its error.
type refusal struct {
	name, op, body string
	code           string // without "Exception"
	message        string // a part of the text
}

func testRefusals(t *testing.T, eng *engine.Engine, refusals []refusal) {
	t.Helper()
	for _, r := range refusals {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			res := eng.Do(t.Context(), r.op, []byte(r.body))
			if res.Err == nil {
				t.Fatalf("%s %s is accepted: %s", r.op, r.body, res.Body)
			}
			if res.Err.Code != r.code+"Exception" || !strings.Contains(res.Err.Message, r.message) {
				t.Errorf("got  %v\nwant %sException: … %s …", res.Err, r.code, r.message)
			}
		})
	}
}

// av converts a Go value to an attribute value.
func av(v any) types.AttributeValue {
	switch v := v.(type) {
	case types.AttributeValue:
		return v
	case string:
		return &types.AttributeValueMemberS{Value: v}
	case int:
		return &types.AttributeValueMemberN{Value: fmt.Sprint(v)}
	case []string:
		return &types.AttributeValueMemberSS{Value: v}
	}
	panic(fmt.Sprintf("no attribute value of a %T", v))
}

// item makes an item, a key or expression values from alternating names and
// values.
func item(pairs ...any) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = av(pairs[i+1])
	}
	return out
}

// text returns the value of an attribute in its wire format.
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberSS:
		return strings.Join(v.Value, ",")
	case nil:
		return ""
	}
	panic(fmt.Sprintf("no text of a %T", v))
}

// column returns one attribute of each item.
func column(items []map[string]types.AttributeValue, name string) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = text(it[name])
	}
	return out
}

func names(it map[string]types.AttributeValue) string {
	out := make([]string, 0, len(it))
	for name := range it {
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func put(t testing.TB, db *dynamodb.Client, table string, it map[string]types.AttributeValue) {
	t.Helper()
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}); err != nil {
		t.Fatal(err)
	}
}

// code returns the name of an API error, or "".
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
