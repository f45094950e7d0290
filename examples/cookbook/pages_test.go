package cookbook_test

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/ledger"
)

// keys is an empty ledger for people.
func keys(t *testing.T, db *dynamotest.DB, table string) *ledger.Operators {
	t.Helper()
	seen, err := ledger.New(db.Client(), table, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Create(seen.Table())
	ops, _ := seen.Operators(db.Client())
	return ops
}

// Each purchase is held and logged once, also when the ledger has forgotten its key,
// and when only the limit knows it. The log has two full pages, and no third.
func TestBuy(t *testing.T) {
	t.Parallel()
	db, s := opened(t)
	log, err := activity.New(db.Client(), "log", &activity.Config{ActorType: types.ScalarAttributeTypeS, Now: func() time.Time { return placed.Add(time.Hour) }})
	if err != nil {
		t.Fatal(err)
	}
	db.Create(log.Table())
	if grant, err := s.Authorize(t.Context(), kept(t, "7", 50)); !grant.OK || err != nil {
		t.Fatal(grant, err)
	}
	for _, table := range []string{"seen", "seen-again"} {
		seen := keys(t, db, table)
		for i, want := range []string{20: "over the limit"} {
			p := cookbook.Purchase{Order: fmt.Sprint(i), Customer: "ann", PlacedAt: placed, Cents: 50}
			if got, err := s.Buy(t.Context(), seen.Store, log, p); got != cmp.Or(want, "bought") || err != nil {
				t.Errorf("purchase %d: %q, %v", i, got, err)
			}
		}
	}
	wantUsed(t, s, 1000)
	voided := cookbook.Purchase{Order: "voided", Customer: "bo", PlacedAt: placed, Cents: 50}
	h, err := voided.Hold()
	if err := errors.Join(err, s.Void(t.Context(), h)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Buy(t.Context(), keys(t, db, "seen-voided").Store, log, voided); got != "voided" || err != nil {
		t.Errorf("a purchase that was voided before: %q, %v", got, err)
	}
	for cursor, pages := "", 2; pages > 0; pages-- {
		page, next, err := cookbook.Latest(t.Context(), log, "shop", cursor)
		if len(page) != 10 || (next == "") != (pages == 1) || err != nil {
			t.Errorf("%d, %q, %v", len(page), next, err)
		}
		cursor = next
	}
}

func TestGivenUp(t *testing.T) {
	t.Parallel()
	db, _ := opened(t)
	ops := keys(t, db, "seen")
	for i := range 20 {
		c, err := ops.Claim(t.Context(), ledger.Request{Key: fmt.Sprint(i)})
		if err == nil {
			err = c.Fail(t.Context(), errors.New("no connection"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ops.Claim(t.Context(), ledger.Request{Key: "under way"}); err != nil {
		t.Fatal(err)
	}
	for cursor, pages := "", 2; pages > 0; pages-- {
		page, next, err := cookbook.GivenUp(t.Context(), ops, cursor)
		if len(page) != 10 || err != nil {
			t.Fatal(len(page), err)
		}
		for _, r := range page {
			if err := ops.Reopen(t.Context(), ledger.Record{Key: r.Key, Nonce: r.Nonce, Fence: r.Fence}); err != nil {
				t.Error(err)
			}
		}
		cursor = next
	}
}
