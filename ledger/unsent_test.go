package ledger_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

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
	b, store := opened(t, ledger.Config{})
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
	store, err := ledger.New(dropping{b.client}, b.table, nil)
	must(t, err)
	wantMark(t, store, "k", event.Created)
	wantMark(t, store, "k", event.Duplicate)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := store.MarkSeen(over, "other"); out != 0 || !errors.Is(err, event.ErrUnknownOutcome) {
		t.Errorf("a cancelled context: %v, %v, want ErrUnknownOutcome", out, err)
	}
}

// dropping is an API that takes no options, as some wrappers do.
type dropping struct{ ledger.API }

func (d dropping) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return d.API.PutItem(ctx, in)
}
