package cookbook_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/ledger"
)

// warehouse sends a parcel for each key.
type warehouse struct {
	parcels map[string]string
	asked   int
	trouble func() error
	dead    []error
	full    error // of the dead letters
}

func (w *warehouse) ship(_ context.Context, key, order string) (string, error) {
	w.asked++
	if w.trouble != nil {
		if err := w.trouble(); err != nil {
			return "", err
		}
	}
	w.parcels[key] = order
	return "parcel of " + order, nil
}

// provider delivers charges to a shop.
type provider struct {
	*warehouse
	db   *dynamotest.DB
	seen *ledger.Store
	hook cookbook.Webhook
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	s := &provider{warehouse: &warehouse{parcels: map[string]string{}}, db: dynamotest.New(t, nil)}
	s.seen = newLedger(t, s.db, "seen")
	s.hook = cookbook.Webhook{
		Seen: s.seen, Oldest: 13 * 24 * time.Hour, Ship: s.ship,
		Dead: func(_ context.Context, _ []byte, why error) error {
			s.dead = append(s.dead, why)
			return s.full
		},
	}
	return s
}

// deliver posts the body, and checks the status and how many parcels were sent.
func (s *provider) deliver(t *testing.T, body string, status, parcels int) http.Header {
	t.Helper()
	w := httptest.NewRecorder()
	s.hook.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/charges", strings.NewReader(body)))
	if status != 0 && w.Code != status || len(s.parcels) != parcels {
		t.Errorf("answered %d with %d parcels, want %d with %d", w.Code, len(s.parcels), status, parcels)
	}
	return w.Header()
}

func succeeded(t *testing.T, id string) string {
	t.Helper()
	body, err := json.Marshal(cookbook.ChargeSucceeded{ID: id, Order: "1001", CreatedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Whatever is lost, and wherever the worker crashes: one parcel.
func TestAChargeIsShippedOnce(t *testing.T) {
	t.Parallel()
	eachLoss(t, 2, func(t *testing.T, lose func(*dynamotest.DB), crash bool) {
		s := newProvider(t)
		body := succeeded(t, "evt-1")
		lose(s.db)
		w := httptest.NewRecorder()
		s.hook.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/charges", strings.NewReader(body)))
		if ok := w.Code == http.StatusOK; ok == crash {
			t.Errorf("answered %d", w.Code)
		}
		s.db.Heal()
		time.Sleep(afterTheLease)
		s.deliver(t, body, http.StatusOK, 1)
		asked := s.asked
		s.deliver(t, body, http.StatusOK, 1)
		if s.asked != asked || len(s.dead) > 0 {
			t.Errorf("shipped again after a 200, or dead: %v", s.dead)
		}
	})
}

func TestAChargeCostsWhatThePageSays(t *testing.T) {
	t.Parallel()
	s := newProvider(t)
	body := succeeded(t, "evt-1")
	s.db.Meter(func() { s.deliver(t, body, http.StatusOK, 1) }).Want(t, dynamotest.Price{Requests: 2, WCU: 2})
	s.db.Meter(func() { s.deliver(t, body, http.StatusOK, 1) }).Want(t, dynamotest.Price{Requests: 1, WCU: 1})
}

// While a delivery is at it, or has crashed, the others are to come again.
func TestAChargeInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newProvider(t)
		body := succeeded(t, "evt-1")
		s.trouble = func() error {
			s.trouble = nil
			if again := s.deliver(t, body, http.StatusServiceUnavailable, 0).Get("Retry-After"); again != "71" {
				t.Errorf("Retry-After %q", again)
			}
			panic("crash")
		}
		func() {
			defer func() { _ = recover() }()
			s.deliver(t, body, 0, 0)
		}()
		s.deliver(t, body, http.StatusServiceUnavailable, 0)
		time.Sleep(afterTheLease)
		s.deliver(t, body, http.StatusOK, 1)
	})
}

// What no further delivery can help is kept for people, and not delivered again.
func TestChargesThatNoDeliveryHelps(t *testing.T) {
	t.Parallel()
	s := newProvider(t)
	for _, body := range []string{"{", "{}", `{"ID":""}`, `{"ID":"` + strings.Repeat("x", 1<<20) + `"}`} {
		s.deliver(t, body, http.StatusOK, 0)
	}
	if len(s.dead) != 4 {
		t.Errorf("dead: %v", s.dead)
	}

	body := succeeded(t, "evt-1")
	s.trouble = func() error { return errors.New("closed") }
	for range 5 {
		s.deliver(t, body, http.StatusServiceUnavailable, 0)
	}
	s.full = errors.New("full")
	s.deliver(t, body, http.StatusServiceUnavailable, 0)
	s.full = nil
	s.deliver(t, body, http.StatusOK, 0)
	if s.asked != 5 || len(s.dead) != 6 || !errors.Is(s.dead[5], ledger.ErrTooManyAttempts) {
		t.Errorf("asked %d times, dead: %v", s.asked, s.dead)
	}
	s.trouble = nil
	row, _, err := s.seen.Get(t.Context(), "CHARGE:evt-1")
	ops, bad := s.seen.Operators(s.db.Client())
	if err := cmp.Or(err, bad); err != nil {
		t.Fatal(err)
	}
	if err := ops.Reopen(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	s.deliver(t, body, http.StatusOK, 1)
	if err := s.seen.Erase(t.Context(), "CHARGE:evt-1"); err != nil {
		t.Fatal(err)
	}
	s.deliver(t, body, http.StatusOK, 1)
	if s.asked != 6 || len(s.dead) != 6 {
		t.Errorf("asked %d times, dead: %v", s.asked, s.dead)
	}
}

// A charge is not shipped again when its row has expired.
func TestAChargeThatIsTooOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newProvider(t)
		body := succeeded(t, "evt-1")
		const day = 24 * time.Hour
		time.Sleep(12 * day)
		s.deliver(t, body, http.StatusOK, 1) // late, and the first
		time.Sleep(13 * day)
		s.deliver(t, body, http.StatusOK, 1) // too old for a first, and known
		time.Sleep(2 * day)
		if len(s.dead) > 0 {
			t.Errorf("dead: %v", s.dead)
		}
		s.db.Server().ExpireTTL()
		s.deliver(t, body, http.StatusOK, 1)
		if s.asked != 1 || len(s.dead) != 1 || !errors.Is(s.dead[0], event.ErrTooOld) {
			t.Errorf("asked %d times, dead: %v", s.asked, s.dead)
		}
	})
}
