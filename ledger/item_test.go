package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

// goldenDay is when the rows of testdata were written.
var goldenDay = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// goldenBench is a bench whose clock stands at goldenDay, and a ledger whose
// nonces are the same in every run.
func goldenBench(t *testing.T) (*bench, *ledger.Store) {
	t.Helper()
	b := newBench(t)
	b.clock.at = goldenDay
	return b, b.store(t, ledger.Config{Rand: strings.NewReader("nonce of claim 1nonce of claim 2")})
}

// The rows as they are stored, one for each state, and as Get reads them.
func TestGoldenRows(t *testing.T) {
	t.Parallel()
	seen := goldenDay
	until := goldenDay.Add(14 * 24 * time.Hour)
	for name, tc := range map[string]struct {
		write func(*testing.T, *ledger.Store)
		want  ledger.Record
	}{
		"marked": {
			func(t *testing.T, store *ledger.Store) { wantMark(t, store, order.Key, event.Created) },
			ledger.Record{State: ledger.Done},
		},
		"claimed": {
			func(t *testing.T, store *ledger.Store) { mustClaim(t, store, order) },
			ledger.Record{State: ledger.Claimed, Lease: goldenDay.Add(time.Minute), Fence: 1774785600001, Attempts: 1, Fingerprint: orderHash},
		},
		"failed": {
			func(t *testing.T, store *ledger.Store) {
				must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
			},
			ledger.Record{State: ledger.Failed, LastError: "no connection", Fence: 1774785600001, Attempts: 1, Fingerprint: orderHash},
		},
		"done": {
			func(t *testing.T, store *ledger.Store) {
				must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
				must(t, mustClaim(t, store, order).Complete(t.Context(), receipt{ID: "r-1", Cents: 1200}))
			},
			ledger.Record{State: ledger.Done, Result: []byte(`{"ID":"r-1","Cents":1200}`), Fence: 1774785600002, Attempts: 2, Fingerprint: orderHash},
		},
		"refused": {
			func(t *testing.T, store *ledger.Store) {
				must(t, mustClaim(t, store, order).Fail(t.Context(), ledger.Permanent(errors.New("card declined"))))
			},
			ledger.Record{State: ledger.Refused, LastError: "card declined", Fence: 1774785600001, Attempts: 1, Fingerprint: orderHash},
		},
		"coded": {
			func(t *testing.T, store *ledger.Store) {
				bad := fmt.Errorf("%w: charging: %w", event.ErrTooOld, event.BadInput("counter", "Take.Cap", "must not be negative"))
				must(t, mustClaim(t, store, order).Fail(t.Context(), ledger.Permanent(bad)))
			},
			ledger.Record{
				State: ledger.Refused, LastError: "event: too old to judge: charging: counter: Take.Cap must not be negative",
				Fence: 1774785600001, Attempts: 1, Fingerprint: orderHash,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, store := goldenBench(t)
			tc.write(t, store)
			golden.Want(t, b.client, b.table, "testdata/"+name+".json", "pk")
			tc.want.Key, tc.want.Source, tc.want.SeenAt, tc.want.ExpiresAt = order.Key, "ALOWARE", seen, until
			tc.want.Nonce = item.Text(golden.Item(t, "testdata/"+name+".json"), "claim")
			if diff := cmp.Diff(tc.want, mustGet(t, store, order.Key)); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// The row of the older system, as its documentation gives it: done without a
// result while it lives, and replaced when it has expired.
func TestTypeScriptRow(t *testing.T) {
	t.Parallel()
	b, store := goldenBench(t)
	golden.Put(t, b.client, b.table, "testdata/typescript.json")
	want := ledger.Record{
		Key: order.Key, State: ledger.Done, Source: "ALOWARE", Notes: "initial insert",
		SeenAt: time.Date(2026, 3, 15, 12, 0, 1, 0, time.UTC), ExpiresAt: goldenDay.Add(time.Second),
	}
	if diff := cmp.Diff(want, mustGet(t, store, order.Key)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	wantDone(t, b.store(t, ledger.Config{}), order, "")
	wantMark(t, b.store(t, ledger.Config{}), order.Key, event.Duplicate)
	golden.Want(t, b.client, b.table, "testdata/typescript.json", "pk") // untouched

	b.clock.Add(time.Second)
	mustClaim(t, b.store(t, ledger.Config{}), order)
	if r := mustGet(t, store, order.Key); r.Attempts != 1 || r.Notes != "" || !r.SeenAt.Equal(b.clock.Now()) {
		t.Errorf("something of the old life is left: %+v", r)
	}
}

// A row that this version cannot read is trouble, never a guess.
func TestUnreadableRows(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	for name, broken := range map[string]ddb.Item{
		"unknown state":    {"state": item.S("paused")},
		"fence is text":    {"fence": item.S("1")},
		"lease is text":    {"lease": item.S("1")},
		"attempts of half": {"attempts": &types.AttributeValueMemberN{Value: "1.5"}},
		"expiry is text":   {"expiresAt": item.S("soon")},
		"seen never":       {"seenAt": item.S("yesterday")},
		"fingerprint text": {"fingerprint": item.S("abc")},
	} {
		row := ddb.Item{"pk": item.S(name), "claim": item.S("x"), "state": item.S("done"), "expiresAt": item.N(b.clock.Now().Add(2 * time.Hour).Unix())}
		for attribute, value := range broken {
			row[attribute] = value
		}
		b.put(t, row)
		if c, err := store.Claim(t.Context(), ledger.Request{Key: name}); c != nil || !isTrouble(err) {
			t.Errorf("%s: Claim = %v, %v", name, c, err)
		}
		if r, ok, err := store.Get(t.Context(), name); ok || !isTrouble(err) {
			t.Errorf("%s: Get = %v, %v, %v", name, r, ok, err)
		}
	}
}

// isTrouble tells an error from the ledger's answers.
func isTrouble(err error) bool {
	var done *ledger.DoneError
	var busy *ledger.InProgressError
	return err != nil && !errors.As(err, &done) && !errors.As(err, &busy) && !errors.Is(err, ledger.ErrFingerprintMismatch) && strings.Contains(err.Error(), "on table")
}

func TestSourceIsTheFirstPart(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	for _, tc := range []struct {
		parts []string
		want  string
	}{
		{[]string{"ALOWARE", "719285063"}, "ALOWARE"},
		{[]string{"alone"}, "alone"},
		{[]string{"a:b%3A", "c"}, "a:b%3A"},
		{[]string{"x" + strings.Repeat("ö", 40), "c"}, "x" + strings.Repeat("ö", 31)},
	} {
		key, err := ledger.Key(tc.parts...)
		must(t, err)
		wantMark(t, store, key, event.Created)
		if got := mustGet(t, store, key).Source; got != tc.want {
			t.Errorf("source of %q: %q, want %q", key, got, tc.want)
		}
	}
}
