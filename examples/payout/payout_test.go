package payout

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
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/limit"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// bank is a Bank that is idempotent by the key. Account "closed" is declined.
type bank struct {
	paid map[string]int64 // cents, by the key
	err  error            // after the money was moved
	then func(key string) // after that
}

func (b *bank) Pay(_ context.Context, key string, p Payout) error {
	if p.Account == "closed" {
		return ErrDeclined
	}
	b.paid[key] = p.Cents
	if b.then != nil {
		b.then(key)
	}
	return b.err
}

// shop is a service, its bank and its table, in a bubble.
type shop struct {
	*Service
	bank    *bank
	db      *dynamotest.DB
	handler http.Handler
	dead    []string
}

func open(t *testing.T) *shop {
	t.Helper()
	c := &shop{bank: &bank{paid: map[string]int64{}}, db: dynamotest.New(t, nil)}
	var err error
	if c.Service, err = New(c.db.Client(), tzclock.UTC, Configs{}); err != nil {
		t.Fatal(err)
	}
	c.Bank, c.PerDay = c.bank, 1000
	c.Merchant = func(*http.Request) string { return "acme" }
	c.Dead = func(_ context.Context, body []byte, _ error) error { c.dead = append(c.dead, string(body)); return nil }
	if err := schema.Create(t.Context(), c.db.Client(), c.Tables()...); err != nil {
		t.Fatal(err)
	}
	if c.handler, err = c.Handler(); err != nil {
		t.Fatal(err)
	}
	return c
}

// post sends a payout of so many cents and returns the status.
func (c *shop) post(key, account string, cents int64) int {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/payouts", strings.NewReader(fmt.Sprintf(`{"account":%q,"cents":%d}`, account, cents)))
	r.Header.Set("Idempotency-Key", key)
	c.handler.ServeHTTP(w, r)
	return w.Code
}

// tell is the bank's webhook.
func (c *shop) tell(id, key, status string, at time.Time) int {
	w := httptest.NewRecorder()
	body := fmt.Sprintf(`{"id":%q,"merchant":"acme","payout":%q,"at":%q,"status":{"name":%q}}`, id, key, at.Format(time.RFC3339), status)
	c.handler.ServeHTTP(w, httptest.NewRequest("POST", "/reports", strings.NewReader(body)))
	return w.Code
}

// used wants so many cents of the day to be used.
func (c *shop) used(t *testing.T, want int64) {
	t.Helper()
	if got, err := c.day.Get(t.Context(), "acme", time.Now()); err != nil || got.Used != want {
		t.Errorf("%d cents are used, want %d; %v", got.Used, want, err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		for _, step := range []struct {
			key, account   string
			cents          int64
			code           int
			sleep, usedNow int64
		}{
			{key: "1", account: "a", cents: 1001, code: 402},     // above the day's amount
			{key: "2", account: "closed", cents: 600, code: 402}, // declined: both limits are given back
			{key: "3", account: "a", cents: 600, code: 201, usedNow: 600},
			{key: "3", account: "a", cents: 600, code: 201, usedNow: 600}, // replayed
			{key: "4", account: "a", cents: 100, code: 201, usedNow: 700},
			{key: "5", account: "a", cents: 100, code: 429, usedNow: 700},
			{key: "5", account: "a", cents: 100, code: 201, sleep: 60, usedNow: 800},
			{key: "5", account: "a", cents: 101, code: 422, usedNow: 800}, // another request
			{key: "6", account: "a", cents: -1, code: 400, usedNow: 800},
			{key: "7", account: "a", cents: 2e12, code: 400, usedNow: 800, sleep: 60}, // and it uses no turn
			{key: "8", account: "a", cents: 1, code: 201, usedNow: 801},
			{key: "9", account: "a", cents: 1, code: 429, usedNow: 801},
			{key: "9", account: "a", cents: 1, code: 410, usedNow: 801, sleep: 3601}, // it would count in an hour that is over
		} {
			time.Sleep(time.Duration(step.sleep) * time.Second)
			if got := c.post(step.key, step.account, step.cents); got != step.code {
				t.Errorf("%+v: %d", step, got)
			}
			c.used(t, step.usedNow)
		}
		if len(c.bank.paid) != 4 {
			t.Errorf("paid %v", c.bank.paid)
		}
	})
}

// timedOut opens a service that was asked for a payout: the bank paid, and its answer is lost.
func timedOut(t *testing.T) *shop {
	t.Helper()
	c := open(t)
	c.bank.err = errors.New("timeout")
	if got := c.post("1", "a", 100); got != http.StatusGatewayTimeout {
		t.Error(got)
	}
	c.bank.err = nil
	return c
}

// A retry asks the bank again under the same key, although others have used up the minute.
func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := timedOut(t)
		cost := c.db.Meter(func() {
			if got := c.post("2", "a", 100); got != http.StatusCreated {
				t.Error(got)
			}
		})
		if cost.Requests != 6 || cost.RCU != 1 || cost.WCU != 5 { // as docs/payouts.md says
			t.Errorf("%+v", cost)
		}
		if got := c.post("1", "a", 100); got != http.StatusCreated || len(c.bank.paid) != 2 {
			t.Error(got, c.bank.paid)
		}
		c.used(t, 200)
	})
}

// After the life of the bank's keys, nobody asks it again. The key stays among those that
// failed, for people.
func TestKeyLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := timedOut(t)
		clear(c.bank.paid)
		time.Sleep(keyLife + time.Second)
		if got := c.post("1", "a", 100); got != http.StatusGatewayTimeout || len(c.bank.paid) != 0 {
			t.Error(got, c.bank.paid)
		}
		for _, row := range c.db.Items("answers") {
			if got := record.Read(row).Text("state"); got != string(ledger.Failed) {
				t.Errorf("the key is %s", got)
			}
		}
	})
}

// A machine stands still before it takes of the day, and another attempt answers for good that
// the request is too old. When the machine wakes up, it does not ask the bank.
func TestAMachineThatStoodStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		var ahead atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		s, err := New(c.db.Client(), tzclock.UTC, Configs{
			Ledger: ledger.Config{Now: now}, Limit: limit.Config{Now: now}, Counter: counter.Config{Now: now}, Record: record.Config{Now: now},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Bank, s.PerDay, s.Merchant, s.Dead = c.bank, 1000, c.Merchant, c.Dead
		if c.handler, err = s.Handler(); err != nil {
			t.Fatal(err)
		}
		c.db.Inject(dynamotest.Fault{Op: "UpdateItem", Table: "days", Do: dynamotest.Before(func() {
			time.Sleep(time.Millisecond) // until the lease is watched
			ahead.Store(int64(fresh + time.Minute))
			if got := c.post("k", "a", 600); got != http.StatusGone {
				t.Error(got)
			}
		})})
		if got := c.post("k", "a", 600); got != http.StatusServiceUnavailable || len(c.bank.paid) != 0 {
			t.Error(got, c.bank.paid)
		}
	})
}

// Every reply of a step is lost. The same request goes on afterwards, and all counts once.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	for _, fault := range []dynamotest.Fault{{Op: "UpdateItem", Table: "minutes"}, {Op: "UpdateItem", Table: "days"}, {Op: "UpdateItem", Table: "payouts"}, {Op: "UpdateItem", Table: "answers"}} {
		for account, want := range map[string]int{"a": 201, "closed": 402} {
			synctest.Test(t, func(t *testing.T) {
				c := open(t)
				fault.Do, fault.Times = dynamotest.LoseReply, -1
				c.db.Inject(fault)
				if got := c.post("1", account, 100); got < 500 {
					t.Errorf("%s, %s: %d", fault.Table, account, got)
				}
				c.db.Heal()
				time.Sleep(2 * time.Minute) // the lease and the skew budget
				if got := c.post("1", account, 100); got != want {
					t.Errorf("%s, %s: %d, want %d", fault.Table, account, got, want)
				}
				c.used(t, int64(100*len(c.bank.paid)))
			})
		}
	}
}

// A payout comes back before its request is answered, and the report twice and late: the
// amount is given back once, and the status is the latest.
func TestReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		if got := c.post("0", "a", 100); got != http.StatusCreated {
			t.Error(got)
		}
		now, payout := time.Now(), ""
		c.bank.err = errors.New("timeout")
		c.bank.then = func(key string) {
			payout = key
			for _, told := range []int{c.tell("3", key, "returned", now), c.tell("1", key, "accepted", now), c.tell("3", key, "returned", now)} {
				if told != http.StatusOK {
					t.Error(told)
				}
			}
		}
		if got := c.post("1", "a", 600); got != http.StatusGatewayTimeout {
			t.Error(got)
		}
		c.bank.err = nil
		if got := c.post("1", "a", 600); got != http.StatusCreated {
			t.Error(got)
		}
		c.used(t, 100)
		if got, _, err := c.statuses.Of(t.Context(), "acme", payout); got.Name != "returned" || err != nil {
			t.Error(got, err)
		}
	})
}

// A report that no delivery can help is kept for people. If it cannot be kept, it must come
// again, and so must one that meets trouble.
func TestDeadReports(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		other, err := event.New(time.Now(), "not ours")
		if err != nil {
			t.Fatal(err)
		}
		if got := c.tell("1", other.String(), "paid", time.Now()); got != http.StatusOK || len(c.dead) != 1 {
			t.Error(got, c.dead)
		}
		if got := c.tell("1", strings.Repeat("x", 1<<20), "paid", time.Now()); got != http.StatusOK || len(c.dead) != 2 {
			t.Error(got, len(c.dead))
		}
		c.db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: "GetItem", Table: "payouts", Times: -1})
		if got := c.tell("1", "po", "paid", time.Now()); got != http.StatusServiceUnavailable || len(c.dead) != 2 {
			t.Error(got, c.dead)
		}
		c.db.Heal()
		c.Dead = func(context.Context, []byte, error) error { return errors.New("full") }
		if got := c.tell("1", "po", "paid", time.Now()); got != http.StatusServiceUnavailable {
			t.Error(got)
		}
	})
}
