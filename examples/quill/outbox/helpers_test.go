package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

const table = "QuillFacts"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// env is an outbox whose clock advances by a millisecond at each reading, so that
// the index has one order.
type env struct {
	*outbox.Store
	db *dynamotest.DB

	mu         sync.Mutex
	now        time.Time
	unreadable map[string]string // what Config.Unreadable was told
}

func (e *env) clock() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(time.Millisecond)
	return e.now
}

func (e *env) tell(key string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unreadable[key] = err.Error()
}

// open returns an outbox on a server of its own, whose clients retry without
// pauses.
func open(t *testing.T, options ...func(*dynamotest.Config)) *env {
	t.Helper()
	cfg := dynamotest.Config{MaxBackoff: time.Millisecond}
	for _, option := range options {
		option(&cfg)
	}
	e := &env{db: dynamotest.New(t, &cfg), now: noon, unreadable: map[string]string{}}
	var err error
	e.Store, err = outbox.New(e.db.Client(), table, &outbox.Config{Now: e.clock, Unreadable: e.tell})
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), e.db.Client(), e.Table()); err != nil {
		t.Fatal(err)
	}
	return e
}

func callKey(n int) string { return fmt.Sprint("ALOWARE:CALL:", n) }

// call is a fact of 1 KB at most.
func call(n int) fact.Fact {
	return fact.Fact{
		Key: callKey(n), Table: fact.Communications, At: noon.Add(-time.Minute),
		Row: fact.Row{"kind": "call", "id": fmt.Sprint(n), "seconds": json.Number("33"), "user": ""},
		Dimension: &fact.Dimension{
			Key: "ALOWARE:CONTACT:44500", Table: fact.Contacts, Row: fact.Row{"firstName": "Dee", "lastName": ""},
		},
	}
}

// send performs the action in a transaction, as the intake does, and returns the
// outcome.
func (e *env) send(ctx context.Context, i *record.Action[outbox.Put]) (event.Outcome, outbox.Stored, error) {
	_, err := e.db.Client().TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{i.Item}})
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		put, err := i.Outcome(cancelled.CancellationReasons[0])
		return put.Outcome, put.Stored, err
	}
	if err != nil {
		return 0, outbox.Stored{}, err
	}
	return i.Committed().Outcome, outbox.Stored{}, nil
}

func (e *env) item(t *testing.T, f fact.Fact) *record.Action[outbox.Put] {
	t.Helper()
	i, err := e.PutItem(f)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// put writes calls that do not exist yet.
func (e *env) put(t *testing.T, ns ...int) {
	t.Helper()
	for _, n := range ns {
		if out, _, err := e.send(t.Context(), e.item(t, call(n))); err != nil || out != event.Created {
			t.Fatalf("call %d: %v, %v", n, out, err)
		}
	}
}

func (e *env) mark(t *testing.T, batch string, ns ...int) {
	t.Helper()
	var keys []string
	for _, n := range ns {
		keys = append(keys, callKey(n))
	}
	if _, err := e.MarkPosted(t.Context(), batch, keys); err != nil {
		t.Fatal(err)
	}
}

func keysOf(facts []outbox.Stored) []string {
	var keys []string
	for _, f := range facts {
		keys = append(keys, f.Key)
	}
	return keys
}

func (e *env) wantPending(t *testing.T, limit int, ns ...int) {
	t.Helper()
	got, err := e.Pending(t.Context(), fact.Communications, limit)
	var want []string
	for _, n := range ns {
		want = append(want, callKey(n))
	}
	if diff := cmp.Diff(want, keysOf(got)); err != nil || diff != "" {
		t.Errorf("Pending(%d): %v (-want +got)\n%s", limit, err, diff)
	}
}

func (e *env) wantPosted(t *testing.T, n int, batch string) {
	t.Helper()
	got, ok, err := e.Get(t.Context(), callKey(n))
	if err != nil || !ok || got.Batch != batch || got.PostedAt.IsZero() == (batch != "") {
		t.Errorf("call %d is posted in %q at %s, %v, %v, want %q", n, got.Batch, got.PostedAt, ok, err, batch)
	}
}

// wantBad checks that the error is bad input of the field, without a request.
func (e *env) wantBad(t *testing.T, field string, do func() error) {
	t.Helper()
	var err error
	cost := e.db.Meter(func() { err = do() })
	if bad, ok := errors.AsType[*event.InputError](err); !ok || bad.Field != field || bad.Package != "outbox" {
		t.Errorf("got %v, want an InputError of %s", err, field)
	}
	if cost.Requests != 0 {
		t.Errorf("%s: bad input was sent: %v", field, cost)
	}
}

// raw puts an item as somebody else would.
func (e *env) raw(t *testing.T, it map[string]types.AttributeValue) {
	t.Helper()
	name := table
	if _, err := e.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: it}); err != nil {
		t.Fatal(err)
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
