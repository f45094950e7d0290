package cookbook_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// market is a shop, and a warehouse that acts once for each key.
type market struct {
	cookbook.Shop
	db      *dynamotest.DB
	parcels map[string]string
	asked   int
}

func newMarket(t *testing.T) *market {
	t.Helper()
	m := &market{db: dynamotest.New(t, nil), parcels: map[string]string{}}
	for _, table := range []string{"orders", "outbox"} {
		m.db.Create(schema.Table{Name: table, Key: schema.Key{Partition: schema.String("pk")}})
	}
	m.Shop = cookbook.Shop{
		DB: m.db.Client(), Orders: "orders", Outbox: "outbox", Seen: newLedger(t, m.db, "seen"),
		Send: func(_ context.Context, key, body string) error {
			m.asked++
			m.parcels[key] = body
			return nil
		},
	}
	return m
}

// bodies are the rows of a table, with what they hold.
func (m *market) bodies(table, attribute string) map[string]string {
	rows := map[string]string{}
	for _, row := range m.db.Items(table) {
		f := record.Read(row)
		rows[f.Text("pk")] = f.Text(attribute)
	}
	return rows
}

// want checks the orders, the messages that wait, and the parcels.
func (m *market) want(t *testing.T, orders, waiting, parcels map[string]string) {
	t.Helper()
	got := []map[string]string{m.bodies("orders", "article"), m.bodies("outbox", "body"), m.parcels}
	if diff := gocmp.Diff([]map[string]string{orders, waiting, parcels}, got); diff != "" {
		t.Errorf("orders, outbox, parcels (-want +got):\n%s", diff)
	}
}

var (
	nothing    = map[string]string{}
	oneOrder   = map[string]string{"1001": "lamp"}
	oneMessage = map[string]string{"ORDER:1001": "lamp"}
)

// Whatever is lost, and wherever the shop crashes: an order and its message, or
// neither.
func TestAnOrderAndItsMessage(t *testing.T) {
	t.Parallel()
	eachLoss(t, 2, func(t *testing.T, lose func(*dynamotest.DB), crash bool) {
		m := newMarket(t)
		lose(m.db)
		if err := m.Place(t.Context(), "1001", "lamp"); (err == nil) == crash {
			t.Error(err)
		}
		m.db.Heal()
		if len(m.bodies("orders", "article")) != len(m.bodies("outbox", "body")) {
			t.Error("the order without its message, or the message without its order")
		}
		time.Sleep(afterTheLease)
		for range 2 {
			if err := m.Place(t.Context(), "1001", "lamp"); err != nil {
				t.Fatal(err)
			}
		}
		m.want(t, oneOrder, oneMessage, nothing)
	})
}

// Whatever is lost, and wherever the worker crashes: the warehouse hears of the order,
// twice perhaps, and always by the same key.
func TestAMessageIsSentUntilItIsGone(t *testing.T) {
	t.Parallel()
	eachLoss(t, 2, func(t *testing.T, lose func(*dynamotest.DB), crash bool) {
		m := newMarket(t)
		if err := m.Place(t.Context(), "1001", "lamp"); err != nil {
			t.Fatal(err)
		}
		lose(m.db)
		if err := m.SendAll(t.Context()); (err == nil) == crash {
			t.Error(err)
		}
		m.db.Heal()
		if err := m.SendAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.want(t, oneOrder, nothing, oneMessage)
		asked := m.asked
		if err := m.SendAll(t.Context()); err != nil || m.asked != asked || asked > 2 {
			t.Errorf("asked %d times, then %d; %v", asked, m.asked, err)
		}
	})
}

// A message that the warehouse refuses stays, and does not stop the others.
func TestAMessageThatIsRefused(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	for _, id := range []string{"1", "2", "3"} {
		if err := m.Place(t.Context(), id, "lamp"); err != nil {
			t.Fatal(err)
		}
	}
	send, refused := m.Send, ""
	m.Send = func(ctx context.Context, key, body string) error {
		if refused = cmp.Or(refused, key); key == refused { // the first
			return errors.New("closed")
		}
		return send(ctx, key, body)
	}
	if err := m.SendAll(t.Context()); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("%v, %s was refused", err, refused)
	}
	if waiting := m.bodies("outbox", "body"); len(waiting) != 1 || waiting[refused] == "" || len(m.parcels) != 2 {
		t.Errorf("waiting: %v, parcels: %v", waiting, m.parcels)
	}
}

// An order that comes again when the ledger has forgotten its key is not told again.
func TestAnOrderThatComesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMarket(t)
		for range 2 {
			if err := m.Place(t.Context(), "1001", "lamp"); err != nil {
				t.Fatal(err)
			}
			if err := m.SendAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(15 * 24 * time.Hour)
		}
		m.want(t, oneOrder, nothing, oneMessage)
		if m.asked != 1 {
			t.Errorf("told %d times", m.asked)
		}
	})
}

func TestAnOrderCostsWhatThePageSays(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	place := func() {
		if err := m.Place(t.Context(), "1001", "lamp"); err != nil {
			t.Error(err)
		}
	}
	send := func() {
		if err := m.SendAll(t.Context()); err != nil {
			t.Error(err)
		}
	}
	m.db.Meter(place).Want(t, dynamotest.Price{Requests: 2, WCU: 7})
	m.db.Meter(send).Want(t, dynamotest.Price{Requests: 2, RCU: 1, WCU: 1})
	m.db.Meter(place).Want(t, dynamotest.Price{Requests: 1, WCU: 1})
}
