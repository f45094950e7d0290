package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// number is a whole number of a row.
func number(t *testing.T, row ddb.Item, name string) int64 {
	t.Helper()
	attr, ok := row[name].(*types.AttributeValueMemberN)
	if !ok {
		t.Fatalf("the row has no number %s: %v", name, row)
	}
	x, err := strconv.ParseInt(attr.Value, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func wantMark(t *testing.T, store *ledger.Store, key string, want event.Outcome) {
	t.Helper()
	got, err := store.MarkSeen(t.Context(), key)
	if err != nil || got != want {
		t.Errorf("MarkSeen = %v, %v, want %v", got, err, want)
	}
}

// An expired row refuses nothing, whether it is deleted yet or not, and a row is not
// forgotten early: it expires by whole seconds, and the part of a second is the row's.
func TestMarkSeenExpires(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Retention: 24 * time.Hour})
	b.clock.Add(400 * time.Millisecond)
	wantMark(t, store, "k", event.Created)
	b.clock.Add(24*time.Hour + 599*time.Millisecond)
	wantMark(t, store, "k", event.Duplicate)
	b.clock.Add(time.Millisecond)
	wantMark(t, store, "k", event.Created)
	wantMark(t, store, "k", event.Duplicate)
}

// A put that meets a transaction on the row is sent again, with its nonce.
func TestMarkSeenMeetsATransaction(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	b.db.Inject(dynamotest.Fault{Do: dynamotest.Answer(400, `{"__type": "TransactionConflictException"}`), Op: "PutItem", Times: 2})
	if cost := b.db.Meter(func() { wantMark(t, store, "k", event.Created) }); cost.Requests != 3 {
		t.Errorf("%v, want 3", cost)
	}
	wantMark(t, store, "k", event.Duplicate)
}

// wantUnmarked marks a key and wants an error that says for certain that it is
// not marked.
func wantUnmarked(t *testing.T, ctx context.Context, name string, api ledger.API) {
	t.Helper()
	store, err := ledger.New(api, "ledger", nil)
	must(t, err)
	out, err := store.MarkSeen(ctx, "k")
	if err == nil || out != 0 || errors.Is(err, event.ErrUnknownOutcome) {
		t.Errorf("%s: MarkSeen = %v, %v, want a definite error", name, out, err)
	}
}

// What was never sent has not marked the key, and the error says so.
func TestMarkSeenThatWasNotSent(t *testing.T) {
	t.Parallel()
	const nobody = "http://127.0.0.1:1"
	once := func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
	malformed := func(o *dynamodb.Options) { o.BaseEndpoint = aws.String("localhost:8000") }
	wantUnmarked(t, t.Context(), "no region", dynamodb.New(dynamodb.Options{}))
	wantUnmarked(t, t.Context(), "malformed endpoint", dynamotest.Connect(nobody, once, malformed))
	wantUnmarked(t, t.Context(), "dial refused", dynamotest.Connect(nobody, once))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	wantUnmarked(t, over, "cancelled context", dynamotest.Connect(nobody))
}

// After a lost reply nothing is certain, whatever the last attempt met.
func TestMarkSeenThrottledAfterALostReply(t *testing.T) {
	t.Parallel()
	b := newOwnBench(t)
	store := b.store(t, ledger.Config{})
	throttled := dynamotest.Fault{Do: dynamotest.Throttle, Op: "PutItem", Times: -1}
	b.db.Inject(throttled)
	if out, err := store.MarkSeen(t.Context(), "k"); err == nil || out != 0 || errors.Is(err, event.ErrUnknownOutcome) {
		t.Errorf("throttled only: %v, %v, want a definite error", out, err)
	}
	b.db.Heal()
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"})
	throttled.Nth = 2
	b.db.Inject(throttled)
	if out, err := store.MarkSeen(t.Context(), "k"); out != 0 || !errors.Is(err, event.ErrUnknownOutcome) {
		t.Errorf("throttled after a lost reply: %v, %v, want ErrUnknownOutcome", out, err)
	}
	b.db.Heal()
	wantMark(t, store, "k", event.Duplicate)
}

// An API that drops the options of a call lets nobody see its attempts.
func TestMarkSeenByAnAPIThatDropsOptions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store, err := ledger.New(recordtest.Dropping{Client: b.client}, b.table, nil)
	must(t, err)
	wantMark(t, store, "k", event.Created)
	wantMark(t, store, "k", event.Duplicate)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := store.MarkSeen(over, "other"); out != 0 || !errors.Is(err, event.ErrUnknownOutcome) {
		t.Errorf("a cancelled context: %v, %v, want ErrUnknownOutcome", out, err)
	}
}

func ExampleKey() {
	seeds, _ := ledger.Key("ALOWARE", "719285063")
	other, _ := ledger.Key("HUBSPOT", "0-1", "a:b", "100%")
	fmt.Println(seeds)
	fmt.Println(other)
	_, err := ledger.Key("ALOWARE", "")
	fmt.Println(err)
	// Output:
	// ALOWARE:719285063
	// HUBSPOT:0-1:a%3Ab:100%25
	// ledger: parts[1] must not be empty: Key would be the same for all events in which it is empty
}

func TestKeyRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parts []string
		field string
	}{
		"no parts":         {nil, "parts"},
		"not UTF-8":        {[]string{"a", "\xff"}, "parts[1]"},
		"over 2048 bytes":  {[]string{"a", strings.Repeat("x", 2047)}, "parts"},
		"over by escaping": {[]string{strings.Repeat(":", 683)}, "parts"},
	} {
		key, err := ledger.Key(tc.parts...)
		recordtest.WantBad(t, err, "ledger", tc.field, name)
		if key != "" {
			t.Errorf("%s: a key came back with the error", name)
		}
	}
	if key, err := ledger.Key("a", strings.Repeat("x", 2046)); err != nil || len(key) != 2048 {
		t.Errorf("2048 bytes: %d, %v", len(key), err)
	}
}

// split undoes Key, so that no two lists of parts can share a key.
func split(key string) []string {
	parts := strings.Split(key, ":")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "%3A", ":"), "%25", "%")
	}
	return parts
}

func FuzzKey(f *testing.F) {
	f.Add("ALOWARE", "719285063", "x")
	f.Add("a:b", "c", "%3A")
	f.Add("a", "b:c", "%")
	f.Add("%25", ":", "%253A")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, parts := range [][]string{{a}, {a, b}, {a, b, c}} {
			key, err := ledger.Key(parts...)
			if err != nil {
				if key != "" {
					t.Errorf("Key(%q) = %q with %v", parts, key, err)
				}
				continue
			}
			if got := split(key); !slices.Equal(got, parts) {
				t.Errorf("Key(%q) = %q, which also reads %q", parts, key, got)
			}
		}
		if _, err := ledger.Key(a, b, c); err == nil && !strings.ContainsAny(a+b+c, "%:") {
			if key, _ := ledger.Key(a, b, c); key != a+":"+b+":"+c {
				t.Errorf("Key(%q, %q, %q) = %q: not as the older system joined", a, b, c, key)
			}
		}
	})
}
