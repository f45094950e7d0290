package ledger_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
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

func TestMarkSeenKnowsItsOwnLostReply(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"})
	wantMark(t, store, "reply", event.Created)
	wantMark(t, store, "reply", event.Duplicate)
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem"})
	wantMark(t, store, "request", event.Created)
	wantMark(t, store, "request", event.Duplicate)
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
