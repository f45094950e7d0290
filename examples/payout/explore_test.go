package payout

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/limit"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// remote is the bank as the explorer sees it: each call is an effect, and its key a note.
type remote struct{ p *explore.Process }

func (b remote) Pay(_ context.Context, key string, p Payout) error {
	b.p.Note("key %s", key)
	if err := b.p.Do("pay", nil); err != nil || p.Account != "closed" {
		return err
	}
	return ErrDeclined
}

// A payout's server dies anywhere, or hears no reply, and the client sends the request again
// until it is answered. In every order, the bank hears one key and the limits count once.
func TestEverySchedule(t *testing.T) {
	t.Parallel()
	seeded := open(t).db.Server()
	for _, account := range []string{"a", "closed"} {
		t.Run(account, func(t *testing.T) {
			report := explore.Handler(t, explore.Config{
				Server: seeded, Faults: explore.Faults{Deaths: 1, Unheard: 1, Late: 1, Total: 1},
			}, explore.Deliveries[string]{
				Messages: []string{account}, Visibility: 2 * time.Minute, // longer than the lease and the skew budget
				// What follows from the time and the nonces of a run, among them the payout's event.
				Ignore: []string{
					"claim", "fence", "attempts", "lease", "seenAt", "expiresAt", // ledger
					"updatedAt", "ttl", "sk", "event", // record
					"e_*",       // counter
					"t_*", "l*", // limit
				},
				End: func(v *explore.View) error {
					keys := map[string]bool{}
					for _, note := range v.Notes() {
						_, key, _ := strings.Cut(note, "key ")
						keys[key] = true
					}
					if len(keys) != 1 {
						return fmt.Errorf("the bank heard %v", keys)
					}
					return nil
				},
			}, server)
			if !report.Exhausted {
				t.Error(report)
			}
		})
	}
}

// server is one life of a server, and the client's request to it.
func server(p *explore.Process) func(context.Context, string) error {
	// Time passes in steps of two seconds: with a Timeout of 200 ms, limit would give up.
	s, err := New(p.Client(), tzclock.UTC, Configs{
		ledger.Config{Now: p.Now, Rand: p.Rand()},
		limit.Config{Now: p.Now, Rand: p.Rand(), Timeout: time.Minute},
		counter.Config{Now: p.Now, Rand: p.Rand()},
		record.Config{Now: p.Now, Rand: p.Rand()},
	})
	if err != nil {
		panic(err)
	}
	s.Bank, s.PerDay, s.Merchant = remote{p}, 1000, func(*http.Request) string { return "acme" }
	handler, err := s.Handler()
	if err != nil {
		panic(err)
	}
	return func(ctx context.Context, account string) error {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(ctx, "POST", "/payouts", strings.NewReader(fmt.Sprintf(`{"account":%q,"cents":600}`, account)))
		r.Header.Set("Idempotency-Key", "k-1")
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusCreated && w.Code != http.StatusPaymentRequired {
			return fmt.Errorf("answered %d", w.Code)
		}
		return nil
	}
}
