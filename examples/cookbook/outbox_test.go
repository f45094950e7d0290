package cookbook_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// TestMain lets more garbage lie, of which schedules leave much.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

var long = flag.Bool("proof.long", false, "explore more of the outbox's schedules")

// market is a shop, and a warehouse that acts once for each key.
type market struct {
	cookbook.Shop
	db      *dynamotest.DB
	parcels map[string]string
	asked   int
	closed  bool // nobody sends
}

func newMarket(t *testing.T) *market {
	t.Helper()
	m := &market{db: dynamotest.New(t, nil), parcels: map[string]string{}}
	pk, sk := schema.String("pk"), schema.String("sk")
	m.db.Create(schema.Table{Name: "orders", Key: schema.Key{Partition: pk}})
	m.db.Create(schema.Table{Name: "outbox", Key: schema.Key{Partition: pk, Sort: sk}})
	m.Shop = cookbook.Shop{
		DB: m.db.Client(), Orders: "orders", Outbox: "outbox", Tries: 3,
		Seen: newLedger(t, m.db, "seen"), Locks: newLedger(t, m.db, "locks"),
		Send: func(_ context.Context, key, body string) error {
			m.asked++
			if m.closed {
				return errors.New("closed")
			}
			m.parcels[key] = body
			return nil
		},
	}
	return m
}

// keep places an order whose message is not sent at once.
func (m *market) keep(t *testing.T, order string) {
	t.Helper()
	m.closed = true
	if err := m.Place(t.Context(), order, "lamp"); err != nil {
		t.Fatal(err)
	}
	m.asked, m.closed = 0, false
}

// bodies are the rows of a table by their keys, with what they hold. In the outbox, dead
// letters are marked.
func (m *market) bodies(table, key, attribute string) map[string]string {
	rows := map[string]string{}
	for _, row := range m.db.Items(table) {
		f := record.Read(row)
		name := f.Text(key)
		if f.Text("pk") == "DEAD" {
			name = "dead " + name
		}
		rows[name] = f.Text(attribute)
	}
	return rows
}

// want checks the orders, the messages that wait, and the parcels.
func (m *market) want(t *testing.T, orders, waiting, parcels map[string]string) {
	t.Helper()
	got := []map[string]string{m.bodies("orders", "pk", "article"), m.bodies("outbox", "key", "body"), m.parcels}
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
// neither. SendAll sends what Place did not send.
func TestAnOrderAndItsMessage(t *testing.T) {
	t.Parallel()
	eachLoss(t, 3, func(t *testing.T, lose func(*dynamotest.DB), crash bool) {
		m := newMarket(t)
		lose(m.db)
		_ = m.Place(t.Context(), "1001", "lamp")
		m.db.Heal()
		if sent := len(m.bodies("outbox", "key", "body")) + len(m.parcels); (len(m.bodies("orders", "pk", "article")) == 0) != (sent == 0) {
			t.Error("the order without its message, or the message without its order")
		}
		time.Sleep(afterTheLease)
		for range 2 {
			if err := m.Place(t.Context(), "1001", "lamp"); err != nil {
				t.Fatal(err)
			}
			if err := m.SendAll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		m.want(t, oneOrder, nothing, oneMessage)
	})
}

// Whatever is lost, and wherever the worker crashes: the warehouse hears of the order,
// twice perhaps, and always by the same key.
func TestAMessageIsSentUntilItIsGone(t *testing.T) {
	t.Parallel()
	eachLoss(t, cookbook.Buckets+4, func(t *testing.T, lose func(*dynamotest.DB), crash bool) {
		m := newMarket(t)
		m.keep(t, "1001")
		lose(m.db)
		if err := m.SendAll(t.Context()); (err == nil) == crash && m.asked == 0 {
			t.Error(err)
		}
		m.db.Tap().Heal() // the last requests may have come before the crash
		time.Sleep(afterTheLease)
		if err := m.SendAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.want(t, oneOrder, nothing, oneMessage)
		asked := m.asked
		if err := m.SendAll(t.Context()); err != nil || m.asked != asked || asked < 1 || asked > 2 {
			t.Errorf("asked %d times, then %d; %v", asked, m.asked, err)
		}
	})
}

// A message that the warehouse refuses does not stop those of other keys. After so many
// tries, or a refusal for good, it is a dead letter, and can be put back.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	for _, id := range []string{"1", "2", "3"} {
		m.keep(t, id) // the first try
	}
	bucket := ""
	for _, row := range m.db.Items("outbox") {
		if f := record.Read(row); f.Text("key") == "ORDER:2" {
			bucket = f.Text("pk")
		}
	}
	send, refused := m.Send, errors.New("closed")
	m.Send = func(ctx context.Context, key, body string) error {
		if key == "ORDER:2" {
			return refused
		}
		return send(ctx, key, body)
	}
	parcels := map[string]string{"ORDER:1": "lamp", "ORDER:3": "lamp"}
	all := map[string]string{"1": "lamp", "2": "lamp", "3": "lamp"}
	for _, waiting := range []string{"ORDER:2", "dead ORDER:2"} {
		if err := m.SendAll(t.Context()); err == nil || !strings.Contains(err.Error(), "ORDER:2") {
			t.Errorf("%v", err)
		}
		m.want(t, all, map[string]string{waiting: "lamp"}, parcels)
	}
	again := func() {
		t.Helper()
		sk := record.Read(m.db.Items("outbox")[0]).Text("sk")
		defer func() {
			if got := record.Read(m.db.Items("outbox")[0]).Text("pk"); got != bucket {
				t.Errorf("again in %s, it was in %s", got, bucket)
			}
		}()
		for range 2 { // the second finds nothing
			if err := m.Again(t.Context(), sk); err != nil {
				t.Fatal(err)
			}
		}
		m.want(t, all, map[string]string{"ORDER:2": "lamp"}, parcels)
	}
	again()
	refused = ledger.Permanent(refused)
	if err := m.SendAll(t.Context()); err == nil {
		t.Error("no error")
	}
	m.want(t, all, map[string]string{"dead ORDER:2": "lamp"}, parcels)
	again()
	m.Send = send
	if err := m.SendAll(t.Context()); err != nil {
		t.Error(err)
	}
	parcels["ORDER:2"] = "lamp"
	m.want(t, all, nothing, parcels)
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

// An order whose transaction was throttled is stored by the next one.
func TestAnOrderThatIsThrottled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMarket(t)
		throttled := `{"__type": "TransactionCanceledException", "CancellationReasons": [{"Code": "None"}, {"Code": "ThrottlingError"}, {"Code": "None"}]}`
		m.db.Inject(dynamotest.Fault{Do: dynamotest.Answer(400, throttled), Op: "TransactWriteItems", Times: 6})
		if err := m.Place(t.Context(), "1001", "lamp"); err != nil {
			t.Fatal(err)
		}
		m.want(t, oneOrder, nothing, oneMessage)
	})
}

func TestAnOrderCostsWhatThePageSays(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	place := func(order string) func() {
		return func() {
			if err := m.Place(t.Context(), order, "lamp"); err != nil {
				t.Error(err)
			}
		}
	}
	send := func() {
		if err := m.SendAll(t.Context()); err != nil {
			t.Error(err)
		}
	}
	m.db.Meter(place("1001")).Want(t, dynamotest.Price{Requests: 3, WCU: 8})
	m.db.Meter(place("1001")).Want(t, dynamotest.Price{Requests: 1, WCU: 1})
	m.db.Meter(send).Want(t, dynamotest.Price{Requests: cookbook.Buckets, RCU: cookbook.Buckets * 0.5})
	m.keep(t, "1002")
	m.db.Meter(send).Want(t, dynamotest.Price{Requests: cookbook.Buckets + 4, RCU: cookbook.Buckets*0.5 + 1, WCU: 3})
}

// In one bucket, a message that fails stops the later ones of its key, and no others. While
// another process sends, there is nothing to do.
func TestOneBucket(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	for i := range 2 * cookbook.Buckets { // so some share a bucket
		m.keep(t, fmt.Sprint(i))
	}
	rows := map[string][]string{}
	var bucket string
	for _, row := range m.db.Items("outbox") {
		f := record.Read(row)
		if bucket = f.Text("pk"); len(rows[bucket]) == 2 {
			break
		}
		rows[bucket] = append(rows[bucket], f.Text("key"))
		later := maps.Clone(row) // another message of the key, with a later event
		later["sk"] = record.Text("9" + f.Text("sk"))
		if _, err := m.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("outbox"), Item: later}); err != nil {
			t.Fatal(err)
		}
	}
	var asked []string
	m.Send = func(_ context.Context, key, _ string) error {
		if asked = append(asked, key); key == rows[bucket][0] {
			return errors.New("closed")
		}
		return nil
	}
	var n int
	if _, err := fmt.Sscanf(bucket, "OUT#%d", &n); err != nil {
		t.Fatal(err)
	}
	other, err := m.Locks.Claim(t.Context(), ledger.Request{Key: fmt.Sprint("OUTBOX:", n)})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SendBucket(t.Context(), n); err != nil || len(asked) > 0 {
		t.Errorf("beside another: %v, asked for %v", err, asked)
	}
	if err := other.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.SendBucket(t.Context(), n); err == nil {
		t.Error("no error")
	}
	count := map[string]int{}
	for _, key := range asked {
		count[key]++
	}
	if first, second := count[rows[bucket][0]], count[rows[bucket][1]]; first != 1 || second != 2 {
		t.Errorf("asked for %v: %d times for the one that fails, %d for the other", asked, first, second)
	}
}

// A message that another process sends meanwhile is gone, and no error.
func TestAnotherSendsMeanwhile(t *testing.T) {
	t.Parallel()
	for name, failed := range map[string]error{"fails": errors.New("closed"), "refused": ledger.Permanent(errors.New("closed"))} {
		for _, before := range []string{"UpdateItem", "TransactWriteItems"} {
			m := newMarket(t)
			m.keep(t, "1001")
			m.Send = func(context.Context, string, string) error {
				m.db.Inject(dynamotest.Fault{Table: "outbox", Op: before, Do: dynamotest.Before(func() {
					row := m.db.Items("outbox")[0]
					key := map[string]types.AttributeValue{"pk": row["pk"], "sk": row["sk"]}
					if _, err := m.db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("outbox"), Key: key}); err != nil {
						t.Error(err)
					}
				})})
				return failed
			}
			err := m.SendAll(t.Context())
			if before == "TransactWriteItems" && name == "fails" {
				m.db.Tap().Heal() // it is not a dead letter yet
				continue
			}
			if (err != nil) != (before == "TransactWriteItems") || len(m.db.Items("outbox")) > 0 {
				t.Errorf("%s, gone before %s: %v, %v", name, before, err, m.db.Items("outbox"))
			}
		}
	}
}

// Two processes and one message, in many orders, while one dies, or a request arrives
// late or twice: the message is sent, and then it is gone, or it is a dead letter. What
// was sent or buried is never revived.
func TestOutboxExplored(t *testing.T) {
	t.Parallel()
	placed, empty := newMarket(t), newMarket(t)
	placed.keep(t, "1001")
	var bucket int
	if _, err := fmt.Sscanf(record.Read(placed.db.Items("outbox")[0]).Text("pk"), "OUT#%d", &bucket); err != nil {
		t.Fatal(err)
	}
	dispatch := func(ctx context.Context, s cookbook.Shop) {
		for range 2 { // once more when another's lease is over
			_ = s.SendBucket(ctx, bucket)
			time.Sleep(afterTheLease)
		}
	}
	place := func(ctx context.Context, s cookbook.Shop) {
		for s.Place(ctx, "1001", "lamp") != nil {
			time.Sleep(afterTheLease)
		}
	}
	closed, no := errors.New("closed"), ledger.Permanent(errors.New("no"))
	for name, tc := range map[string]struct {
		market       *market
		ann          func(context.Context, cookbook.Shop)
		toAnn, toBob error // what the warehouse answers
	}{
		"two dispatchers":                         {placed, dispatch, nil, nil},
		"two dispatchers, one fails":              {placed, dispatch, closed, nil},
		"two dispatchers, both are refused":       {placed, dispatch, no, no},
		"the shop and a dispatcher":               {empty, place, nil, nil},
		"the shop fails, and a dispatcher":        {empty, place, closed, nil},
		"the shop is refused, and a dispatcher":   {empty, place, no, nil},
		"the shop, and a dispatcher that refuses": {empty, place, nil, no},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := func(s *explore.Schedule) {
				for i, name := range []string{"ann", "bob"} {
					s.Caller(name, func(ctx context.Context, p *explore.Process) {
						run, answer := tc.ann, tc.toAnn
						if i > 0 {
							run, answer = dispatch, tc.toBob
						}
						shop := cookbook.Shop{DB: p.Client(), Orders: "orders", Outbox: "outbox", Tries: 1_000, Send: func(_ context.Context, key, _ string) error {
							return p.Do(key, func() error { return answer })
						}}
						var err1, err2 error
						shop.Seen, err1 = ledger.New(p.Client(), "seen", &ledger.Config{Now: p.Now, Rand: p.Rand(), MaxAttempts: 1_000})
						shop.Locks, err2 = ledger.New(p.Client(), "locks", &ledger.Config{Now: p.Now, Rand: p.Rand(), MaxAttempts: 1_000})
						if err := errors.Join(err1, err2); err != nil {
							t.Error(err)
						}
						run(ctx, shop)
					})
				}
				gone := false
				s.Always(func(v *explore.View) error { return outboxHolds(v, &gone) })
			}
			cfg := explore.Config{Server: tc.market.db.Server(), Moments: []time.Duration{time.Minute + 10*time.Second}}
			if !*long {
				cfg.Schedules = 60 // the cheapest of many
			}
			t.Run("orders", func(t *testing.T) { explore.Test(t, cfg, program) })
			cfg.Faults = explore.Faults{Late: 1, Twice: 1, Unheard: 1, Deaths: 1, Total: 1}
			if *long {
				t.Run("one fault", func(t *testing.T) { explore.Test(t, cfg, program) })
				cfg.Schedules, cfg.Within, cfg.Samples = 20_000, 4*time.Second, 100
			}
			cfg.Moves, cfg.Faults.Total = 1, 2
			t.Run("faults", func(t *testing.T) { explore.Test(t, cfg, program) })
		})
	}
}

// outboxHolds checks that an order has one whole row in the outbox, waiting or dead, or
// that its message was sent; and that no row comes back.
func outboxHolds(v *explore.View, gone *bool) error {
	rows := v.Items("outbox")
	if len(rows) > 1 || *gone && len(rows) > 0 {
		return fmt.Errorf("revived: %v", rows)
	}
	for _, row := range rows {
		if got := slices.Sorted(maps.Keys(row)); !slices.Equal(got, []string{"body", "key", "pk", "sk", "tries"}) {
			return fmt.Errorf("not whole: %v", got)
		}
	}
	if len(rows) == 0 && len(v.Items("orders")) > 0 {
		if *gone = true; v.Effects()["ORDER:1001"] == 0 {
			return errors.New("lost: neither sent nor kept")
		}
	}
	return nil
}
