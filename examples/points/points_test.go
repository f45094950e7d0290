package points_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/examples/points"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
	"github.com/homeops/ddbpatterns/record"
)

// shop is a shop with a table of points and a ledger.
type shop struct {
	db     *dynamotest.DB
	points points.Store
	seen   *ledger.Store
}

func open(t *testing.T) shop {
	t.Helper()
	db := dynamotest.Open(t, pricetest.Watch, dynamotest.MaxBackoff(time.Millisecond)) // the SDK's retries do not wait for seconds
	balance, err1 := points.New(db.Client(), db.Name("shop"))
	seen, err2 := ledger.New(db.Client(), db.Name("seen"), nil)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	db.Create(balance.Table(), seen.Table())
	return shop{db, balance, seen}
}

// ordered is the event of an order, so many minutes ago.
func ordered(t *testing.T, minutes int) event.Event {
	t.Helper()
	at := time.Now().Add(-time.Duration(minutes) * time.Minute).Truncate(time.Minute)
	return recordtest.Event(t, at, "shop", "order", fmt.Sprint(minutes))
}

func (s shop) earn(t *testing.T, order event.Event, n int64, want event.Outcome) {
	t.Helper()
	if out, err := s.points.Earn(t.Context(), "ann", order, n); out != want || err != nil {
		t.Errorf("Earn = %v, %v, want %v", out, err, want)
	}
}

func (s shop) wantPoints(t *testing.T, want int64) {
	t.Helper()
	if got, err := s.points.Of(t.Context(), "ann"); got != want || err != nil {
		t.Errorf("Of = %d, %v, want %d", got, err, want)
	}
}

// A backlog that arrives newest first, twice, earns each order's points once.
func TestABacklog(t *testing.T) {
	s := open(t)
	var orders []event.Event
	for i := range 50 {
		orders = append(orders, ordered(t, i))
	}
	for _, want := range []event.Outcome{event.Created, event.Duplicate} {
		for _, order := range orders {
			s.earn(t, order, 10, want)
		}
	}
	s.wantPoints(t, 500)
}

// buy is a purchase of one lamp.
func (s shop) buy(purchase event.Event, n int64) func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
	return s.points.Buy("ann", purchase, n, s.lamp("ann", purchase))
}

// lamp hands over a lamp, of which a second one would be counted, too.
func (s shop) lamp(customer string, _ event.Event) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(s.db.Name("shop")), Key: record.Item{"pk": record.Text("LAMPS"), "sk": record.Text(customer)},
		UpdateExpression: aws.String("ADD lamps :one"), ExpressionAttributeValues: record.Item{":one": record.Int(1)},
	}}
}

func (s shop) wantLamps(t *testing.T, want int64) {
	t.Helper()
	for _, row := range s.db.Items(s.db.Name("shop")) {
		if f := record.Read(row); f.Text("pk") == "LAMPS" {
			want -= f.Int("lamps")
		}
	}
	if want != 0 {
		t.Errorf("%d lamps are missing", want)
	}
}

// A purchase spends once, whatever is lost, and too few points are an answer.
func TestAPurchase(t *testing.T) {
	s := open(t)
	troubles := []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest}
	if s.db.InProcess() {
		troubles = append(troubles, dynamotest.Conflict)
	}
	s.earn(t, ordered(t, 1), int64(4+2*len(troubles)), event.Created)
	buy := func(id string, purchase event.Event, n int64) string {
		t.Helper()
		res, err := ledger.DoTx(t.Context(), s.seen, ledger.Request{Key: id}, s.buy(purchase, n))
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
		return res.Value
	}
	for _, do := range troubles {
		s.db.Inject(dynamotest.Fault{Do: do, Op: "TransactWriteItems"})
		if got := buy(do.String(), ordered(t, 10+len(do.String())), 2); got != "bought" {
			t.Errorf("%v: %s", do, got)
		}
	}
	s.wantPoints(t, 4)
	first := ordered(t, 11)
	for _, step := range []struct{ id, want string }{
		{"a", "bought"}, {"a", "bought"}, {"the same event by another key", "bought"}, {"b", "too few points"},
	} {
		purchase := first
		if step.id == "b" {
			purchase = ordered(t, 12)
		}
		if got := buy(step.id, purchase, 3); got != step.want {
			t.Errorf("%s: %s, want %s", step.id, got, step.want)
		}
	}
	s.wantPoints(t, 1)
	s.wantLamps(t, int64(len(troubles))+1)
}

// A purchase that is delivered after the Retention gets the same answer each time, and so
// does one that has spent another amount before.
func TestAPurchaseThatCannotBe(t *testing.T) {
	s := open(t)
	s.earn(t, ordered(t, 1), 9, event.Created)
	old, other := ordered(t, int(points.Retention/time.Minute)+1), ordered(t, 2)
	if _, err := ledger.DoTx(t.Context(), s.seen, ledger.Request{Key: "first"}, s.buy(other, 2)); err != nil {
		t.Fatal(err)
	}
	for n := range 7 { // more than the ledger's MaxAttempts
		for key, purchase := range map[string]event.Event{"old": old, "other": other} {
			_, err := ledger.DoTx(t.Context(), s.seen, ledger.Request{Key: key}, s.buy(purchase, 1))
			if _, never := errors.AsType[*ledger.PermanentError](err); !never || errors.Is(err, ledger.ErrTooManyAttempts) {
				t.Errorf("%s: delivery %d: %v", key, n, err)
			}
		}
	}
	s.wantPoints(t, 7)
}

// Orders earn points, each once, until the customer is gone. The mark may come at any time.
func TestEarnIf(t *testing.T) {
	s := open(t)
	gone, err := ledger.New(s.db.Client(), s.db.Name("gone"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.db.Create(gone.Table())
	erasure := cookbook.Personal{Gone: gone}
	errGone := errors.New("gone")
	earn := func(id string, order event.Event, n int64) error {
		notGone, err := erasure.NotGone("ann")
		if err != nil {
			t.Fatal(err)
		}
		_, err = ledger.DoTx(t.Context(), s.seen, ledger.Request{Key: id}, s.points.EarnIf("ann", order, n, notGone, errGone))
		return err
	}
	order := ordered(t, 1)
	s.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems"})
	for _, id := range []string{"1", "1", "the ledger has forgotten it"} {
		if err := earn(id, order, 10); err != nil {
			t.Error(err)
		}
	}
	for id, n := range map[string]int64{"another amount": 11, "nothing": 0} {
		_, differs := errors.AsType[*record.AddError](earn(id, order, n))
		_, bad := errors.AsType[*event.InputError](earn(id, order, n))
		if differs == bad || bad != (n == 0) {
			t.Errorf("%s: %v, %v", id, differs, bad)
		}
	}
	s.wantPoints(t, 10)
	s.db.Inject(dynamotest.Fault{Op: "TransactWriteItems", Do: dynamotest.Before(func() {
		if _, err := gone.MarkSeen(t.Context(), "ann"); err != nil {
			t.Error(err)
		}
	})})
	if never, _ := errors.AsType[*ledger.PermanentError](earn("2", ordered(t, 2), 10)); never == nil || never.Error() != "gone" {
		t.Error(never)
	}
	s.wantPoints(t, 10)
}

// A client sends each purchase again until it is answered, with the same Idempotency-Key.
func TestAPurchaseOverHTTP(t *testing.T) {
	s := open(t)
	keys, err := httpkey.New(s.seen, func(*http.Request) string { return "ann" }, nil)
	if err != nil {
		t.Fatal(err)
	}
	handler := keys.Handler(points.Shop{Points: s.points, Customer: func(*http.Request) string { return "ann" }, Price: 3, Lamp: s.lamp})
	s.earn(t, ordered(t, 1), 7, event.Created)
	post := func(key string) int {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/lamps", http.NoBody)
		r.Header.Set("Idempotency-Key", key)
		handler.ServeHTTP(w, r)
		return w.Code
	}
	for do, want := range map[dynamotest.Effect]int{dynamotest.LoseReply: 201, dynamotest.LoseRequest: 503} {
		s.db.Inject(dynamotest.Fault{Do: do, Op: "TransactWriteItems", Times: -1})
		if got := post(do.String()); got != want {
			t.Errorf("%v: %d, want %d", do, got, want)
		}
		s.db.Heal()
	}
	for _, step := range []struct {
		key  string
		want int
	}{{dynamotest.LoseReply.String(), 201}, {dynamotest.LoseRequest.String(), 201}, {"c", 402}, {"c", 402}} {
		if got := post(step.key); got != step.want {
			t.Errorf("%s: %d, want %d", step.key, got, step.want)
		}
	}
	s.wantPoints(t, 1)
	s.wantLamps(t, 2)
}

// Purchases at once never spend more than the balance.
func TestPurchasesAtOnce(t *testing.T) {
	s := open(t)
	s.earn(t, ordered(t, 1), 10, event.Created)
	var all sync.WaitGroup
	var mu sync.Mutex
	told := map[string]int{}
	for i := range 8 {
		purchase := ordered(t, 10+i)
		all.Go(func() {
			res, err := ledger.DoTx(t.Context(), s.seen, ledger.Request{Key: fmt.Sprint(i)}, s.buy(purchase, 3))
			if err != nil {
				t.Errorf("purchase %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			told[res.Value]++
		})
	}
	all.Wait()
	if told["bought"] != 3 || told["too few points"] != 5 {
		t.Errorf("told %v", told)
	}
	s.wantPoints(t, 1)
	s.wantLamps(t, 3)
}

func TestBadInput(t *testing.T) {
	s := open(t)
	for _, n := range []int64{0, -1} {
		_, err1 := s.points.Earn(t.Context(), "ann", ordered(t, 1), n)
		_, err2 := s.points.SpendItem(t.Context(), "ann", ordered(t, 1), n)
		for _, err := range []error{err1, err2} {
			if bad, ok := errors.AsType[*event.InputError](err); !ok || bad.Field != "n" {
				t.Errorf("%d points: %v", n, err)
			}
		}
	}
}

// The calls cost what their Price says, and Actions grants exactly what they send: Add
// alone does not read.
func TestPrices(t *testing.T) {
	s := open(t)
	s.earn(t, ordered(t, 1), 10, event.Created)
	if _, err := s.points.Earn(t.Context(), "cy", ordered(t, 1), 10); err != nil {
		t.Fatal(err)
	}
	const adds = "it adds, which needs no read"
	pricetest.Run(t, s.db, []pricetest.Case{
		{
			Func: "Store.Earn", Call: func(ctx context.Context) error { _, err := s.points.Earn(ctx, "ann", ordered(t, 2), 10); return err },
			Local: &dynamotest.Price{Requests: 1, WCU: 2}, Why: "it reports one action of a transaction",
		},
		{Func: "Store.SpendItem", Actions: func() []types.TransactWriteItem {
			spend, err := s.points.SpendItem(t.Context(), "ann", ordered(t, 3), 1)
			if err != nil {
				t.Fatal(err)
			}
			return spend.Items
		}, Local: &dynamotest.Price{WCU: 2}, Why: "it reports one action of a transaction"},
		{Func: "Store.Of", Call: func(ctx context.Context) error { _, err := s.points.Of(ctx, "ann"); return err }},
		{Func: "Store.Erase", Call: func(ctx context.Context) error { _, err := s.points.Erase(ctx, "cy"); return err }},
		{Func: "Store.Earn", Never: "GetItem", Why: adds},
		{Func: "Store.Earn", Never: "UpdateItem", Why: "it is in a transaction"},
		{Func: "Store.SpendItem", Never: "GetItem", Why: adds},
		{Func: "Store.SpendItem", Never: "UpdateItem", Why: "it is in a transaction"},
		{Func: "Store.Erase", Never: "UpdateItem", Why: "it deletes"},
		{Func: "Store.Of", Never: "UpdateItem", Why: "it reads"},
	}, s.points)
}
