package checkout

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/examples/internal/pipeline"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// provider is a Provider that is idempotent by the key. Card "bad" is declined.
type provider struct {
	Provider
	moved map[string]int64 // cents, by the key
	err   error            // after the money was moved
}

func (p *provider) Charge(_ context.Context, key, card string, cents int64) (string, error) {
	if card == "bad" {
		return "", ErrDeclined
	}
	p.moved[key] = cents
	return "ch_" + key, p.err
}

func (p *provider) Settle(_ context.Context, key, id string, cents int64) error {
	p.moved[key] = cents - p.moved[strings.TrimPrefix(id, "ch_")]
	return p.err
}

func (p *provider) Refund(_ context.Context, key, id string) error {
	p.moved[key] = 0
	for other, cents := range p.moved {
		if other != key {
			p.moved[key] -= cents
		}
	}
	return p.err
}

// till is a checkout of ann's whose limits are 1000 and 1500 cents.
type till struct {
	*Service
	provider *provider
	handler  http.Handler
	db       *dynamotest.DB
}

func open(t *testing.T) *till {
	t.Helper()
	db := dynamotest.New(t, nil)
	c := &till{provider: &provider{moved: map[string]int64{}}, db: db}
	var err error
	if c.Service, err = New(db.Client(), tzclock.UTC, c.provider, Limits{Customer: 1000, Merchant: 1500}); err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), c.Tables()...); err != nil {
		t.Fatal(err)
	}
	if c.handler, err = c.Handler(func(r *http.Request) string { return r.Header.Get("Person") }); err != nil {
		t.Fatal(err)
	}
	return c
}

func post(ctx context.Context, h http.Handler, person, key, path, body string) (int, string) {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Person", person)
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func (c *till) want(t *testing.T, key, path, body string, code int) string {
	t.Helper()
	got, said := post(t.Context(), c.handler, "ann", key, path, body)
	if got != code {
		t.Errorf("%s %s %s: answered %d, want %d: %s", key, path, body, got, code, said)
	}
	return said
}

// used checks the limits of ann and the shop, and what the provider moved.
func (c *till) used(t *testing.T, ann, shop, moved int64) {
	t.Helper()
	var sum int64
	for _, cents := range c.provider.moved {
		sum += cents
	}
	if sum != moved {
		t.Errorf("the provider moved %d, want %d", sum, moved)
	}
	for key, want := range map[string]int64{customer("ann"): ann, merchant("shop"): shop} {
		if got, err := c.Service.used.Get(t.Context(), key, time.Now()); err != nil || got.Used != want {
			t.Errorf("%s: %d used, want %d, %v", key, got.Used, want, err)
		}
	}
}

func charge(card string, cents int) string {
	return fmt.Sprintf(`{"card":%q,"merchant":"shop","cents":%d}`, card, cents)
}

func id(said string) string { return strings.Split(said, `"`)[7] }

// Each step is sent twice, and takes effect once.
func TestCheckout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		step := func(key, path, body string, code int, ann, shop, moved int64) (said string) {
			t.Helper()
			for range 2 {
				said = c.want(t, key, path, body, code)
				c.used(t, ann, shop, moved)
			}
			return said
		}
		step("k-0", "/charges", "lamp", http.StatusBadRequest, 0, 0, 0)
		step("k-1", "/charges", charge("bad", 600), http.StatusPaymentRequired, 0, 0, 0)
		path := "/charges/" + id(step("k-2", "/charges", charge("visa", 600), http.StatusCreated, 600, 600, 600))
		step("k-3", "/charges", charge("visa", 600), http.StatusPaymentRequired, 600, 600, 600)
		step("k-4", path+"/settlement", `{"cents":601}`, http.StatusUnprocessableEntity, 600, 600, 600)
		step("k-5", path+"/settlement", `{"cents":500}`, http.StatusOK, 500, 500, 500)
		step("k-6", path+"/refund", `{}`, http.StatusOK, 0, 0, 0)
		step("k-7", "/charges/other/refund", `{}`, http.StatusNotFound, 0, 0, 0)
		for _, other := range []string{"bo", "cy"} { // fill the merchant's limit
			if code, said := post(t.Context(), c.handler, other, "k-1", "/charges", charge("visa", 700)); code != http.StatusCreated {
				t.Error(said)
			}
		}
		step("k-8", "/charges", charge("visa", 200), http.StatusPaymentRequired, 0, 1400, 1400)
	})
}

// What can never be charged is refused at once, and holds nothing. A second settlement that
// the provider takes leaves the limits as the first has set them.
func TestWhatCannotBe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		long := fmt.Sprintf(`{"card":"visa","merchant":%q,"cents":100}`, strings.Repeat("x", 2050))
		c.want(t, "k-1", "/charges", long, http.StatusBadRequest)
		c.want(t, "k-2", "/charges", `{"card":"visa","merchant":"shop","cents":2000000000000}`, http.StatusBadRequest)
		c.used(t, 0, 0, 0)
		path := "/charges/" + id(c.want(t, "k-3", "/charges", charge("visa", 600), http.StatusCreated))
		c.want(t, "k-4", path+"/settlement", `{"cents":500}`, http.StatusOK)
		c.want(t, "k-5", path+"/settlement", `{"cents":400}`, http.StatusOK)
		c.used(t, 500, 500, 300) // the provider took both
	})
}

func TestPrices(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, want := range []dynamotest.Price{{Requests: 3, WCU: 9}, {Requests: 1, WCU: 1}} {
		c.db.Meter(func() { c.want(t, "k-1", "/charges", charge("visa", 600), http.StatusCreated) }).Want(t, want)
	}
	declined := func() { c.want(t, "k-2", "/charges", charge("bad", 100), http.StatusPaymentRequired) }
	c.db.Meter(declined).Want(t, dynamotest.Price{Requests: 3, WCU: 11})
}

// While the provider does not answer, the limits stay taken. The client asks again with
// the same key, and hears what happened.
func TestTheProviderDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		c.provider.err = errors.New("timeout")
		c.want(t, "k-1", "/charges", charge("visa", 600), http.StatusGatewayTimeout)
		c.used(t, 600, 600, 600)
		c.provider.err = nil
		path := "/charges/" + id(c.want(t, "k-1", "/charges", charge("visa", 600), http.StatusCreated))
		for _, next := range []string{"/settlement", "/refund"} {
			c.provider.err = errors.New("timeout")
			c.want(t, next, path+next, `{"cents":500}`, http.StatusGatewayTimeout)
			c.provider.err = ErrDeclined
			c.want(t, next, path+next, `{"cents":500}`, http.StatusConflict)
		}
		c.provider.err = nil
		c.want(t, "k-2", path+"/refund", `{}`, http.StatusOK)
		c.used(t, 0, 0, 0)
	})
}

// A request of yesterday that has taken nothing is not charged today, and another one, whose
// answer is unknown, hears what the provider did.
func TestTheNextDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		c.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "TransactWriteItems", Times: -1})
		c.want(t, "k-1", "/charges", charge("visa", 600), http.StatusServiceUnavailable)
		c.db.Heal()
		c.provider.err = errors.New("timeout")
		c.want(t, "k-2", "/charges", charge("visa", 300), http.StatusGatewayTimeout)
		c.provider.err = nil
		time.Sleep(24 * time.Hour)
		for range 2 {
			c.want(t, "k-1", "/charges", charge("visa", 600), http.StatusGone)
			c.want(t, "k-2", "/charges", charge("visa", 300), http.StatusCreated)
			c.used(t, 0, 0, 300)
		}
		// After a week, nobody can know what the limits hold. The key still says so.
		c.provider.err = errors.New("timeout")
		c.want(t, "k-3", "/charges", charge("visa", 200), http.StatusGatewayTimeout)
		time.Sleep(9 * 24 * time.Hour)
		c.want(t, "k-3", "/charges", charge("visa", 200), http.StatusGatewayTimeout)
		requests, err := c.Requests()
		if err != nil {
			t.Fatal(err)
		}
		unknown := 0
		for range requests.List(t.Context(), ledger.Filter{States: []ledger.State{ledger.Failed}}) {
			unknown++
		}
		if unknown != 1 {
			t.Errorf("%d keys have failed, want 1", unknown)
		}
	})
}

// A machine stands still before it takes the limits, and another attempt answers for good that
// the request is too old. When the machine wakes up, it does not charge.
func TestAMachineThatStoodStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		var ahead atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		cfg := stores{ledger: ledger.Config{Now: now, Lease: 10 * time.Second, MaxSkew: 5 * time.Second}, counter: counter.Config{Now: now}}
		s, err := newService(c.Service.db, tzclock.UTC, c.provider, Limits{Customer: 1000, Merchant: 1500}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if c.handler, err = s.Handler(func(r *http.Request) string { return r.Header.Get("Person") }); err != nil {
			t.Fatal(err)
		}
		c.db.Inject(dynamotest.Fault{Op: "TransactWriteItems", Table: "limits", Do: dynamotest.Before(func() {
			time.Sleep(time.Millisecond) // until the lease is watched
			ahead.Store(int64(fresh + time.Minute))
			c.want(t, "k", "/charges", charge("visa", 300), http.StatusGone)
		})})
		c.want(t, "k", "/charges", charge("visa", 300), http.StatusServiceUnavailable)
		c.want(t, "k", "/charges", charge("visa", 300), http.StatusGone)
		if len(c.provider.moved) != 0 {
			t.Errorf("charged: %v", c.provider.moved)
		}
	})
}

// After an erasure, a person is found nowhere but in keys of the ledger, without what was
// stored there. The provider is asked about the charge whose answer is unknown.
func TestErase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		c.want(t, "k-1", "/charges", charge("visa", 600), http.StatusCreated)
		c.want(t, "k-2", "/charges", charge("bad", 100), http.StatusPaymentRequired)
		c.provider.err = errors.New("timeout")
		c.want(t, "k-3", "/charges", charge("visa", 200), http.StatusGatewayTimeout)
		c.provider.err = nil
		if code, _ := post(t.Context(), c.handler, "anna", "k-1", "/charges", charge("visa", 100)); code != http.StatusCreated {
			t.Error(code)
		}
		requests, err1 := c.Requests()
		gone, err2 := ledger.New(c.Service.db, "gone", nil)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		c.db.Create(gone.Table())
		asked := 0
		erasure := cookbook.Personal{
			Requests: requests, Gone: gone, Wait: time.Minute,
			Stores: []func(context.Context, string) (int, error){c.Erase},
			Ask: func(_ context.Context, r ledger.Record) error {
				ev, err := event.New(r.SeenAt, r.Key)
				if asked++; c.provider.moved[ev.String()] != 200 {
					t.Errorf("the provider does not know %s", ev)
				}
				return err
			},
		}
		if err := erasure.Erase(t.Context(), "ann"); !errors.Is(err, cookbook.ErrUnderWay) {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if err := erasure.Erase(t.Context(), "ann"); err != nil || asked != 1 {
			t.Errorf("asked %d times, %v", asked, err)
		}
		kept := 0
		for _, table := range []string{"answers", "limits", "charges"} {
			for _, row := range c.db.Items(table) {
				text := fmt.Sprint(record.Read(row).Text("pk"), record.Read(row).Text("chatId"))
				if strings.HasPrefix(text, "anna") {
					kept++
				} else if strings.HasPrefix(text, "ann") && (table != "answers" || record.Read(row).Has("result") || record.Read(row).Has("fingerprint")) {
					t.Errorf("%s has %v", table, row)
				}
			}
		}
		if kept != 3 {
			t.Errorf("of somebody else, %d rows are left", kept)
		}
		c.want(t, "k-1", "/charges", charge("visa", 600), http.StatusGone)
	})
}

// Whatever their ids are, a person's limit is not a merchant's.
func TestIDsThatAreWordsOfTheKeys(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, shop := range []string{"CUSTOMER", "CHARGES", "LIMIT"} {
		body := fmt.Sprintf(`{"card":"visa","merchant":%q,"cents":100}`, shop)
		if code, said := post(t.Context(), c.handler, "MERCHANT", shop, "/charges", body); code != http.StatusCreated {
			t.Errorf("%s: %d %s", shop, code, said)
		}
	}
	if _, err := c.Erase(t.Context(), "MERCHANT"); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int64{customer("MERCHANT"): 0, merchant("CUSTOMER"): 100, merchant("CHARGES"): 100, merchant("LIMIT"): 100} {
		if got, err := c.Service.used.Get(t.Context(), key, time.Now()); err != nil || got.Used != want {
			t.Errorf("%s: %d used, want %d, %v", key, got.Used, want, err)
		}
	}
}

// remote is the provider as the explorer sees it: each call is an effect.
type remote struct {
	Provider
	p *explore.Process
}

func (r remote) Charge(_ context.Context, key, card string, _ int64) (string, error) {
	err := r.p.Do("asked", func() error { return nil })
	if card == "bad" {
		return "", ErrDeclined
	}
	r.p.Note("charged under %s", key)
	return "ch_" + key, err
}

// One charge is delivered to two servers, which die anywhere and hear no replies: all that
// the provider hears has one key, and the limits count once. So it is with a decline.
func TestPipeline(t *testing.T) {
	t.Parallel()
	seeded := open(t).db.Server()
	start := func(p *explore.Process) func(context.Context, string) error {
		s, err := newService(p.Client(), tzclock.UTC, remote{p: p}, Limits{1000, 1000}, stores{
			ledger.Config{Now: p.Now, Rand: p.Rand(), Lease: 10 * time.Second, MaxSkew: 5 * time.Second}, counter.Config{Now: p.Now, Rand: p.Rand()},
		})
		if err != nil {
			panic(err)
		}
		h, err := s.Handler(func(*http.Request) string { return "ann" })
		if err != nil {
			panic(err)
		}
		return func(ctx context.Context, card string) error {
			code, said := post(ctx, h, "ann", "k-1", "/charges", charge(card, 600))
			if code == http.StatusCreated || code == http.StatusPaymentRequired {
				return nil
			}
			return fmt.Errorf("%d: %s", code, said)
		}
	}
	for card, charged := range map[string]int{"visa": 1, "bad": 0} {
		t.Run(card, func(t *testing.T) {
			pipeline.Test(t, 60, explore.Config{Server: seeded, Moves: 1}, explore.Deliveries[string]{
				Messages: []string{card}, Visibility: time.Minute,
				// What follows from the time and the nonces of a run, among them the charge's id.
				Ignore: []string{"sk", "provider", "result", "e_*", "seenAt", "updatedAt", "expiresAt", "claim", "fence", "attempts", "lease"},
				End: func(v *explore.View) error {
					keys := map[string]bool{}
					for _, note := range v.Notes() {
						if _, key, ok := strings.Cut(note, "charged under "); ok {
							keys[key] = true
						}
					}
					if len(keys) != charged || len(v.Items("charges")) != charged {
						return fmt.Errorf("charged under %v, %d rows", keys, len(v.Items("charges")))
					}
					return nil
				},
			}, start)
		})
	}
}

// An empty id is bad input, and erases nobody.
func TestEraseOfNobody(t *testing.T) {
	t.Parallel()
	c := open(t)
	first := c.want(t, "k-1", "/charges", charge("visa", 600), http.StatusCreated)
	var bad *event.InputError
	if n, err := c.Erase(t.Context(), ""); n != 0 || !errors.As(err, &bad) {
		t.Errorf("erased %d, %v", n, err)
	}
	if again := c.want(t, "k-1", "/charges", charge("visa", 600), http.StatusCreated); again != first {
		t.Errorf("%s, and then %s", first, again)
	}
}
