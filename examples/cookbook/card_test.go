package cookbook_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/tzclock"
)

// charging is a card with a limit of 1000 cents, and a handler that charges it.
func charging(t *testing.T) (*dynamotest.DB, *counter.Store, func(key, body string) int) {
	t.Helper()
	db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})
	spent, err := counter.New(db.Client(), "spent", tzclock.UTC, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Create(spent.Table())
	handler := cookbook.Idempotent{
		Answers:  newLedger(t, db, "answers"),
		Customer: func(*http.Request) string { return "ann" },
		Work:     cookbook.Card{ID: "card_ann", Limit: 1000, Spent: spent}.Charge,
	}
	d := desk{db: db, handler: handler}
	return db, spent, func(key, body string) int {
		return d.serve(request(t, func(r *http.Request) {
			r.Header.Set("Idempotency-Key", key)
			r.Body = io.NopCloser(strings.NewReader(body))
		})).StatusCode
	}
}

// Whatever is lost, a request that is sent again is counted once, and on one day.
func TestAChargeWithoutATimeCountsOnce(t *testing.T) {
	t.Parallel()
	eachLoss(t, 3, func(t *testing.T, lose func(*dynamotest.DB), crash bool) {
		db, spent, charge := charging(t)
		lose(db)
		charge("k-1", "600")
		db.Heal()
		time.Sleep(24 * time.Hour)
		for range 2 {
			if got := charge("k-1", "600"); got != http.StatusCreated {
				t.Errorf("answered %d", got)
			}
		}
		var used int64
		for back := range 3 {
			day, err := spent.Get(t.Context(), "card_ann", time.Now().AddDate(0, 0, -back))
			if err != nil {
				t.Error(err)
			}
			used += day.Used
		}
		if used != 600 {
			t.Errorf("%d cents are counted", used)
		}
	})
}

// What the card answers when it does not charge. What may have counted longer ago
// than the counter remembers is not counted again.
func TestAChargeThatIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, _, charge := charging(t)
		for _, want := range []struct {
			key, body string
			status    int
		}{
			{"k-1", "600", http.StatusCreated},
			{"k-2", "600", http.StatusPaymentRequired},
			{"k-2", "600", http.StatusPaymentRequired},
			{"k-3", "a lamp", http.StatusBadRequest},
			{"k-4", "400", http.StatusCreated},
		} {
			if got := charge(want.key, want.body); got != want.status {
				t.Errorf("%s: answered %d, want %d", want.key, got, want.status)
			}
		}
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Table: "spent", Times: -1})
		if got := charge("k-5", "1"); got != http.StatusServiceUnavailable {
			t.Errorf("answered %d", got)
		}
		db.Heal()
		time.Sleep(10 * 24 * time.Hour)
		for range 2 {
			if got := charge("k-5", "1"); got != http.StatusGone {
				t.Errorf("after 10 days: answered %d", got)
			}
		}
	})
}
