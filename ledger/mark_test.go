package ledger_test

import (
	"errors"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
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

func TestMarkSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	wantMark(t, store, "ALOWARE:1", event.Created)
	wantMark(t, store, "ALOWARE:1", event.Duplicate)
	wantMark(t, store, "ALOWARE:2", event.Created)
}

// An expired row refuses nothing, whether it is deleted yet or not, and a row
// is not forgotten a second early.
func TestMarkSeenExpires(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{Retention: 24 * time.Hour})
	wantMark(t, store, "k", event.Created)
	b.clock.Add(24*time.Hour - time.Second)
	wantMark(t, store, "k", event.Duplicate)
	b.clock.Add(time.Second)
	wantMark(t, store, "k", event.Created)
	wantMark(t, store, "k", event.Duplicate)
}

// Rows expire by whole seconds, and the part of a second is the row's.
func TestMarkSeenExpiresByWholeSeconds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{Retention: 24 * time.Hour})
	b.clock.Add(400 * time.Millisecond)
	wantMark(t, store, "k", event.Created)
	b.clock.Add(24*time.Hour + 599*time.Millisecond)
	wantMark(t, store, "k", event.Duplicate)
	b.clock.Add(time.Millisecond)
	wantMark(t, store, "k", event.Created)
}

func TestMarkSeenKnowsItsOwnLostReply(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"})
	wantMark(t, store, "reply", event.Created)
	wantMark(t, store, "reply", event.Duplicate)
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem"})
	wantMark(t, store, "request", event.Created)
	wantMark(t, store, "request", event.Duplicate)
}

func TestMarkSeenSaysWhenItCannotKnow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem", Times: -1})
	got, err := store.MarkSeen(t.Context(), "k")
	if got != 0 || !errors.Is(err, event.ErrUnknownOutcome) {
		t.Errorf("all replies lost: %v, %v", got, err)
	}
	b.db.Heal()
	wantMark(t, store, "k", event.Duplicate)
}

// Rows of the TypeScript system have no grace: they expire by their TTL.
func TestMarkSeenReadsOlderRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	older := func(key string, expires time.Duration) ddb.Item {
		return ddb.Item{
			"pk": item.S(key), "seenAt": item.S("2025-11-05T17:30:00Z"), "source": item.S("ALOWARE"), "notes": item.S("initial insert"),
			"expiresAt": item.N(b.clock.Now().Add(expires).Unix()),
		}
	}
	for name, tc := range map[string]struct {
		row  ddb.Item
		want event.Outcome
	}{
		"live":                      {older("live", 14*24*time.Hour), event.Duplicate},
		"live for less than a hour": {older("hour", time.Second), event.Duplicate},
		"expired":                   {older("expired", 0), event.Created},
		"never expires":             {ddb.Item{"pk": item.S("never"), "seenAt": item.S("2025-11-05T17:30:00Z")}, event.Duplicate},
	} {
		b.put(t, tc.row)
		key := tc.row["pk"].(*types.AttributeValueMemberS).Value
		if got, err := store.MarkSeen(t.Context(), key); err != nil || got != tc.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, tc.want)
		}
		wantMark(t, store, key, event.Duplicate)
	}
}

func TestMarkSeenOnceAmongMany(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	const callers = 16
	outcomes := make([]event.Outcome, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			var err error
			if outcomes[i], err = store.MarkSeen(t.Context(), "k"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	count := map[event.Outcome]int{}
	for _, out := range outcomes {
		count[out]++
	}
	if count[event.Created] != 1 || count[event.Duplicate] != callers-1 {
		t.Errorf("outcomes: %v", count)
	}
}

// A put that meets a transaction on the row is sent again, with its nonce.
func TestMarkSeenMeetsATransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	b.db.Inject(dynamotest.Fault{Do: dynamotest.Answer(400, `{"__type": "TransactionConflictException"}`), Op: "PutItem", Times: 2})
	if cost := b.db.Meter(func() { wantMark(t, store, "k", event.Created) }); cost.Requests != 3 {
		t.Errorf("%v, want 3", cost)
	}
	wantMark(t, store, "k", event.Duplicate)
}

func TestMarkSeenWithoutRandomness(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{Rand: io.LimitReader(nil, 0)})
	if out, err := store.MarkSeen(t.Context(), "k"); out != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("MarkSeen = %v, %v", out, err)
	}
}
