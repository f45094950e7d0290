package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
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

// named is the row as it is stored, under the names of the format.
func (b *bench) named(t *testing.T, key string) ddb.Item {
	t.Helper()
	row := recordtest.Row(t, b.client, b.table, ddb.Item{"hash": item.S(key)})
	return golden.Original(t, otherNames(t), row)
}

func TestOtherNamesInTheTable(t *testing.T) {
	t.Parallel()
	_, store := newNamed(t)
	got := store.Table()
	want := schema.Table{Name: got.Name, Key: schema.Key{Partition: schema.String("hash")}, TTL: "time.to.live"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Table (-want +got):\n%s", diff)
	}
}

// Under other names the rows are those of testdata, except for the names.
func TestOtherNamesGiveTheSameRows(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*testing.T, *ledger.Store){
		"marked": func(t *testing.T, store *ledger.Store) { wantMark(t, store, order.Key, event.Created) },
		"done": func(t *testing.T, store *ledger.Store) {
			must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
			must(t, mustClaim(t, store, order).Complete(t.Context(), receipt{ID: "r-1", Cents: 1200}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, store := newNamed(t)
			write(t, store)
			if diff := cmp.Diff(golden.Format(golden.Item(t, "testdata/"+name+".json")), golden.Format(b.named(t, order.Key))); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
			if r := mustGet(t, store, order.Key); r.Key != order.Key || !r.ExpiresAt.Equal(goldenDay.Add(14*24*time.Hour)) {
				t.Errorf("record: %+v", r)
			}
		})
	}
}

// Every request that the ledger has works under other names.
func TestOtherNamesInEveryRequest(t *testing.T) {
	t.Parallel()
	b, store := newNamed(t)
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
	b.leaveNamed(t, store)
}

// leaveNamed gives up a claim whose caller left.
func (b *bench) leaveNamed(t *testing.T, store *ledger.Store) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	b.leaves(1, false, func() { cancel(errDeploy) })
	_, err := store.Claim(ctx, ledger.Request{Key: "left"})
	wantErr(t, "a claim whose caller left", err, context.Canceled)
	if r := mustGet(t, store, "left"); r.State != ledger.Failed || r.Attempts != 0 {
		t.Errorf("record: %+v", r)
	}
}

func TestNamesThatCannotServe(t *testing.T) {
	t.Parallel()
	api := recordtest.Silent(t)
	for _, fixed := range []string{
		"seenAt", "source", "notes", "state", "claim", "lease", "fence", "attempts", "fingerprint", "result", "lastError", "errorCode",
		strings.Repeat("x", 256), "a\xff",
	} {
		_, err := ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"pk": fixed}})
		recordtest.WantBad(t, err, "ledger", `Config.Names["pk"]`, fixed)
		_, err = ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"expiresAt": fixed}})
		recordtest.WantBad(t, err, "ledger", `Config.Names["expiresAt"]`, fixed)
	}
	_, err := ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"id": "pk"}}) // the wrong way round
	recordtest.WantBad(t, err, "ledger", `Config.Names["id"]`, "not of the format")
	if !strings.Contains(err.Error(), "one of pk, seenAt, ") {
		t.Error(err)
	}
	_, err = ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"pk": "x", "expiresAt": "x"}})
	recordtest.WantBad(t, err, "ledger", `Config.Names["pk"]`, "two of one name")
	_, err = ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"expiresAt": "pk"}})
	recordtest.WantBad(t, err, "ledger", `Config.Names["expiresAt"]`, "the key's default")
	_, err = ledger.New(api, "ledger", &ledger.Config{Names: map[string]string{"pk": "expiresAt", "expiresAt": "pk"}})
	must(t, err) // strange, and clear
}

// A table with a sort key is not for the ledger, and schema says so by name.
func TestATableWithASortKeyIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	table := store.Table()
	table.Name = b.db.Name("sorted")
	table.Key.Sort = schema.String("sk")
	recordtest.Create(t, b.client, table)
	other, err := ledger.New(b.client, table.Name, nil)
	must(t, err)
	err = schema.Create(t.Context(), b.client, other.Table())
	var mismatch *schema.MismatchError
	if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "sk") || !strings.Contains(err.Error(), aws.ToString(&table.Name)) {
		t.Errorf("Create: %v", err)
	}
}
