package ledger_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

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

	other := ledger.Request{Key: "withdrawn"}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = ledger.Do(ctx, store, other, func(ctx context.Context, _ *ledger.Claim) (int, error) {
		cancel()
		return 0, ctx.Err()
	})
	wantErr(t, "a cancelled Do", err, context.Canceled)
	if c := mustClaim(t, store, other); c.Attempt != 1 {
		t.Errorf("attempt %d after a cancelled one", c.Attempt)
	}
}

func TestNamesThatCannotServe(t *testing.T) {
	t.Parallel()
	api := recordtest.Silent(t)
	for _, fixed := range []string{
		"seenAt", "state", "errorCode", strings.Repeat("x", 256), "a\xff",
	} {
		_, err := ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"pk": fixed}})
		recordtest.WantBad(t, err, "ledger", `Config.Names["pk"]`, fixed)
		_, err = ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"expiresAt": fixed}})
		recordtest.WantBad(t, err, "ledger", `Config.Names["expiresAt"]`, fixed)
	}
	_, err := ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"pk": "x", "expiresAt": "x"}})
	recordtest.WantBad(t, err, "ledger", `Config.Names["pk"]`, "two of one name")
	_, err = ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"expiresAt": "pk"}})
	recordtest.WantBad(t, err, "ledger", `Config.Names["expiresAt"]`, "the key's default")
	_, err = ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"pk": "expiresAt", "expiresAt": "pk"}})
	must(t, err) // strange, and clear
}
