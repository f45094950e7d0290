package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// transact sends the actions in one transaction, and returns why it was
// cancelled, if it was.
func (b *bench) transact(t *testing.T, actions ...types.TransactWriteItem) []types.CancellationReason {
	t.Helper()
	_, err := b.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	reasons, ok := ddb.Cancelled(err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	return reasons
}

func mustMark(t *testing.T, store *ledger.Store, key string) *record.Action[event.Outcome] {
	t.Helper()
	mark, err := store.MarkItem(key)
	must(t, err)
	return mark
}

func wantOutcome(t *testing.T, what string, outcome func(types.CancellationReason) (event.Outcome, error), reason types.CancellationReason, want event.Outcome) {
	t.Helper()
	if got, err := outcome(reason); got != want || err != nil {
		t.Errorf("%s: %v, %v, want %v", what, got, err, want)
	}
}

// The same transaction twice is one mark, also without a token to know it by;
// that of another delivery writes nothing at all.
func TestMarkItem(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Retention: 24 * time.Hour})
	mark, other := mustMark(t, store, "k"), mustMark(t, store, "k")
	if reasons := b.transact(t, mark.Item, b.add("effect")); reasons != nil || mark.Committed() != event.Created {
		t.Fatalf("the first: %v, %v", reasons, mark.Committed())
	}
	again := b.transact(t, mark.Item, b.add("effect"))
	wantOutcome(t, "again", mark.Outcome, again[0], event.Created)
	wantOutcome(t, "again, the effect", mark.Outcome, again[1], 0)
	wantOutcome(t, "another delivery", other.Outcome, b.transact(t, other.Item, b.add("effect"))[0], event.Duplicate)
	wantMark(t, store, "k", event.Duplicate)
	b.wantTimes(t, 1)
	b.clock.Add(24 * time.Hour)
	if reasons := b.transact(t, mustMark(t, store, "k").Item); reasons != nil {
		t.Errorf("an expired key: %v", reasons)
	}
}

// Outcome tells how the completion fared, as Complete would.
func TestCompleteItemOutcome(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	complete := func(c *ledger.Claim, result any) *record.Action[event.Outcome] {
		done, err := c.CompleteItem(result)
		must(t, err)
		return done
	}
	c := mustClaim(t, store, order)
	done, other := complete(c, "paid"), complete(c, "else")
	if reasons := b.transact(t, done.Item); reasons != nil {
		t.Fatalf("completion: %v", reasons)
	}
	wantOutcome(t, "again", done.Outcome, b.transact(t, done.Item)[0], event.Created)
	if out, err := other.Outcome(b.transact(t, other.Item)[0]); out != 0 || !isDone(err) {
		t.Errorf("another result: %v, %v", out, err)
	}
	wantDone(t, store, order, `"paid"`)

	dead := mustClaim(t, store, ledger.Request{Key: "taken over"})
	b.clock.Add(time.Hour)
	mustClaim(t, store, ledger.Request{Key: "taken over"})
	late := complete(dead, "late")
	if out, err := late.Outcome(b.transact(t, late.Item)[0]); out != 0 || !isLost(err) {
		t.Errorf("taken over: %v, %v", out, err)
	}
}

// Other reasons than a condition are errors with their codes.
func TestOutcomesOfOtherReasons(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	done, err := mustClaim(t, store, order).CompleteItem(1)
	must(t, err)
	mark := mustMark(t, store, "k")
	for name, outcome := range map[string]func(types.CancellationReason) (event.Outcome, error){"CompleteItem": done.Outcome, "MarkItem": mark.Outcome} {
		wantOutcome(t, name, outcome, types.CancellationReason{Code: aws.String("None")}, 0)
		out, err := outcome(types.CancellationReason{Code: aws.String("TransactionConflict")})
		var apiErr smithy.APIError
		if out != 0 || !errors.As(err, &apiErr) || apiErr.ErrorCode() != "TransactionConflict" || !strings.HasPrefix(err.Error(), "ledger: "+name+" on table ") {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}

// book writes the effect, a row beside the ledger's, and the completion in one
// transaction.
func (b *bench) book(t *testing.T, c *ledger.Claim, result any) error {
	t.Helper()
	done, err := c.CompleteItem(result)
	must(t, err)
	effect := types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String(b.table), Item: ddb.Item{"pk": item.S("effect"), "fence": item.N(c.Fence)},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
	_, err = b.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{done.Item, effect}})
	return err
}

// The action is the caller's own: what the caller adds to it shows nowhere else.
func TestItemsMayBeExtended(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	c := mustClaim(t, store, order)
	for range 2 {
		done, err := c.CompleteItem("paid")
		must(t, err)
		for _, names := range []map[string]string{done.Item.Update.ExpressionAttributeNames, mustMark(t, store, "k").Item.Put.ExpressionAttributeNames} {
			if names["#hint"] != "" {
				t.Error("the next action has the name that was added to the first")
			}
			names["#hint"] = "hint"
		}
	}
}

// The transaction of the work is this claim's own, whatever the work heard of it: no
// replay. Work that returns another result is told so, and neither is the answer.
func TestDoWithATransaction(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stored   any
		returned string
		heard    error // what the work makes of the transaction
		want     error
	}{
		"heard":                 {"booked", "booked", nil, nil},
		"its reply is lost":     {"booked", "", errors.New("connection reset"), nil},
		"taken for permanent":   {"booked", "", ledger.Permanent(errors.New("reset")), nil},
		"another result":        {"booked", "else", nil, ledger.ErrResultDiffers},
		"of another type":       {receipt{ID: "r-1"}, "else", nil, ledger.ErrResultDiffers},
		"that cannot be stored": {"booked", strings.Repeat("x", 101), nil, ledger.ErrResultDiffers},
	} {
		b, store := opened(t, ledger.Config{MaxResult: 100})
		res, err := ledger.Do(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (string, error) {
			must(t, b.book(t, c, tc.stored))
			return tc.returned, tc.heard
		})
		want := ledger.Result[string]{Value: "booked"}
		if tc.want != nil {
			want.Value = ""
		}
		if res != want || !errors.Is(err, tc.want) || isPermanent(err) {
			t.Errorf("%s: Do = %+v, %v", name, res, err)
		}
		text, err := json.Marshal(tc.stored)
		must(t, err)
		wantDone(t, store, order, string(text))
	}
}

// otherNames are those of a table of other software: a reserved word, and a dot.
func otherNames(t *testing.T) map[string]string {
	t.Helper()
	names := golden.Renamed(t, "ledger")
	names["pk"], names["expiresAt"] = "hash", "time.to.live"
	return names
}

// newNamed is a ledger in a table of other names.
func newNamed(t *testing.T) (*bench, *ledger.Store) {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	b := &bench{db: db, client: db.Client(), table: db.Name("idempotency"), clock: &clock{at: goldenDay}}
	store := b.store(t, ledger.Config{
		Names: otherNames(t), Rand: strings.NewReader(strings.Repeat("nonce of claim 1nonce of claim 2", 20)),
	})
	recordtest.Create(t, b.client, store.Table())
	return b, store
}

// Every request that the ledger has works under other names.
func TestOtherNamesInEveryRequest(t *testing.T) {
	t.Parallel()
	b, store := newNamed(t)
	if table := store.Table(); table.Key != (schema.Key{Partition: schema.String("hash")}) || table.TTL != "time.to.live" {
		t.Errorf("Table: %+v", table)
	}
	wantMark(t, store, "marked", event.Created)
	wantMark(t, store, "marked", event.Duplicate)
	b.clock.Add(14 * 24 * time.Hour)
	wantMark(t, store, "marked", event.Created)

	var w worker
	for range 2 {
		_, err := ledger.Do(t.Context(), store, order, w.do)
		must(t, err)
	}
	w.wantRuns(t, 1)
	b.clock.Add(14 * 24 * time.Hour)
	c := mustClaim(t, store, order) // over an expired row
	wantBusy(t, store, order, time.Minute+10*time.Second)
	must(t, c.Renew(t.Context()))
	done, err := c.CompleteItem("by transaction")
	must(t, err)
	_, err = b.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{done.Item}})
	must(t, err)
	wantDone(t, store, order, `"by transaction"`)

	tx := ledger.Request{Key: "DoTx"}
	for range 2 { // and replayed
		mark, err := store.MarkItem("marked by DoTx")
		must(t, err)
		res, err := ledger.DoTx(t.Context(), store, tx, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
			return "paid", []types.TransactWriteItem{mark.Item}, nil
		})
		if err != nil || res.Value != "paid" {
			t.Errorf("DoTx = %v, %v", res, err)
		}
	}
	if r := mustGet(t, store, "marked by DoTx"); r.State != ledger.Done {
		t.Errorf("record: %+v", r)
	}

	poison := ledger.Request{Key: "poison"}
	must(t, mustClaim(t, store, poison).Fail(t.Context(), ledger.Permanent(event.ErrTooOld)))
	_, err = store.Claim(t.Context(), poison)
	wantErr(t, "a permanent error that is known", err, event.ErrTooOld)
}
