package cookbook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/examples/points"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/tzclock"
)

// office is a service with customers. Its clocks are those of the bubble; its indexes lag
// for an hour.
type office struct {
	cookbook.Personal
	db     *dynamotest.DB
	days   *counter.Store
	log    *activity.Store
	points points.Store
	asked  map[string]ledger.State // about which keys the provider was asked
}

func newOffice(t *testing.T) office {
	t.Helper()
	db := dynamotest.New(t, &dynamotest.Config{IndexLag: time.Hour})
	seen := newLedger(t, db, "requests")
	gone := newLedger(t, db, "gone")
	requests, err1 := seen.Operators(db.Client())
	days, err2 := counter.New(db.Client(), "days", tzclock.UTC, nil)
	log, err3 := activity.New(db.Client(), "log", &activity.Config{ActorType: types.ScalarAttributeTypeS})
	own, err4 := points.New(db.Client(), "points")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	db.Create(days.Table(), log.Table(), own.Table())
	o := office{db: db, days: days, log: log, points: own, asked: map[string]ledger.State{}}
	o.Personal = cookbook.Personal{
		Requests: requests, Gone: gone, Wait: afterTheLease,
		Stores: []func(context.Context, string) (int, error){days.Erase, log.Erase, own.Erase},
	}
	o.Ask = func(_ context.Context, r ledger.Record) error {
		o.asked[r.Key] = r.State
		return nil
	}
	return o
}

const (
	name  = "Ann Other"
	email = "ann@example.com"
)

var errRefused = fmt.Errorf("no credit for "+name+": %w", ledger.ErrNotFound) // not the request's row

// request charges the customer, and is refused, fails or dies, if the text says so.
func (o office) request(t *testing.T, customer, chosen, text string) error {
	t.Helper()
	key, err := cookbook.RequestKey(customer, chosen)
	if err != nil {
		t.Fatal(err)
	}
	req := ledger.Request{Key: key, Payload: []byte(text)}
	if text == "dies" {
		_, err = o.Requests.Claim(t.Context(), req)
		return err
	}
	_, err = ledger.Do(t.Context(), o.Requests.Store, req, func(ctx context.Context, c *ledger.Claim) (string, error) {
		ev, err1 := c.Event()
		_, err2 := o.days.Take(ctx, counter.Take{Key: customer, Event: ev, Weight: 1, Cap: 100})
		_, err3 := o.log.Record(ctx, activity.Activity{Scope: customer, Actor: customer, ActorName: name, Event: ev, Name: "charge", Data: map[string]any{"to": email}})
		_, err4 := o.points.Earn(ctx, customer, ev, 5)
		if text == "refuse" {
			err1 = ledger.Permanent(errRefused)
		}
		if text == "fails" {
			err1 = errors.New("no answer for " + name)
		}
		return "a receipt for " + name, errors.Join(err1, err2, err3, err4)
	})
	return err
}

// of are the rows of all tables in which the text stands, as JSON.
func (o office) of(t *testing.T, text string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for _, table := range []string{"requests", "days", "log", "points"} {
		for _, row := range o.db.Items(table) {
			read := map[string]any{}
			for attribute, value := range row {
				read[attribute] = value
			}
			if whole, err := json.Marshal(read); err != nil || strings.Contains(string(whole), text) {
				found = append(found, read)
			}
		}
	}
	return found
}

// Erased at once: what is left are keys with the opaque id, and times. After the
// retention nothing is. The customer whose id begins with the other's loses nothing.
func TestErasure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		const customer, other = "c:17", "c:170"
		for _, who := range []string{customer, other} {
			for chosen, text := range map[string]string{email: "charge " + name, "2": "refuse", "3": "dies", "4": "fails"} {
				if err := o.request(t, who, chosen, text); (err != nil) != (text == "refuse" || text == "fails") {
					t.Fatal(err)
				}
			}
		}
		const rows = 4 + 1 + 3 // requests, one day, activities
		if got := len(o.of(t, name)); got != 2*(3+3) {
			t.Errorf("the name stands in %d rows", got)
		}
		// The index by actor lags: nothing is found, and nothing is said.
		if n, err := o.log.EraseActor(t.Context(), customer); n != 0 || err != nil {
			t.Errorf("EraseActor: %d, %v", n, err)
		}
		if err := o.Erase(t.Context(), customer); !errors.Is(err, cookbook.ErrUnderWay) {
			t.Errorf("at once: %v", err)
		}
		time.Sleep(2 * afterTheLease)
		o.db.Inject(dynamotest.Fault{Do: dynamotest.Unavailable, Op: "BatchWriteItem", Times: -1})
		if err := o.Erase(t.Context(), customer); err == nil {
			t.Error("no error of the tables that cannot be written")
		}
		o.db.Heal()
		for _, who := range []string{customer, other} {
			if err := o.Refuse(t.Context(), who); errors.Is(err, cookbook.ErrGone) != (who == customer) {
				t.Errorf("%s: %v", who, err)
			}
			check, err := o.NotGone(who)
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.db.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{check}})
			if refused, _ := errors.AsType[*types.TransactionCanceledException](err); (refused != nil) != (who == customer) {
				t.Errorf("%s: %v", who, err)
			}
		}
		for range 2 {
			if err := o.Erase(t.Context(), customer); err != nil {
				t.Fatal(err)
			}
		}
		if states := slices.Sorted(maps.Values(o.asked)); !slices.Equal(states, []ledger.State{ledger.Claimed, ledger.Failed}) {
			t.Errorf("the provider was asked about %v", o.asked)
		}
		left := o.of(t, `"c:17"`)
		if others := o.of(t, `"c:170"`); len(left) != 4 || len(o.of(t, "c%3A17:")) != 4 || len(others) != rows {
			t.Errorf("%d rows are left, and %d of the other's", len(left), len(others))
		}
		if mine, others := o.of(t, `"c:17#POINTS`), o.of(t, `"c:170#POINTS`); len(mine) != 0 || len(others) != 1+3 { // points, and their events
			t.Errorf("%d rows of points are left, and %d of the other's", len(mine), len(others))
		}
		allowed := []string{"attempts", "claim", "expiresAt", "fence", "pk", "seenAt", "source", "state"}
		for _, row := range left {
			for _, attribute := range slices.Sorted(maps.Keys(row)) {
				if text := fmt.Sprint(row[attribute]); !slices.Contains(allowed, attribute) {
					t.Errorf("%s is left: %s", attribute, text)
				}
			}
		}
		if got := len(o.of(t, name)); got != 3+3 || len(o.of(t, email)) != 3 {
			t.Errorf("the name stands in %d rows", got)
		}
		// A request that comes again is not done again.
		if err := o.request(t, customer, email, "charge "+name); !errors.Is(err, ledger.ErrNoResult) {
			t.Errorf("again: %v", err)
		}
		time.Sleep(14*24*time.Hour + time.Hour + time.Minute) // retention and grace
		o.db.Server().ExpireTTL()
		if left := append(o.of(t, `"c:17"`), o.of(t, "c%3A17:")...); len(left) != 0 || len(o.of(t, other)) != 3+4 { // the other's log and points
			t.Errorf("%d rows stay for ever: %v", len(left), left)
		}
	})
}

// A request that is under way is not erased, and neither is one about which the provider
// cannot be asked.
func TestErasureOfWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.Ask = func(context.Context, ledger.Record) error { return errRefused }
		key, err := cookbook.RequestKey("c:17", "1")
		if err != nil {
			t.Fatal(err)
		}
		claim, err := o.Requests.Claim(t.Context(), ledger.Request{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		want := func(want error, state ledger.State) {
			t.Helper()
			err := o.Erase(t.Context(), "c:17")
			r, _, _ := o.Requests.Get(t.Context(), key)
			if !errors.Is(err, want) || r.State != state {
				t.Errorf("%v, want %v, and the request is %v", err, want, r.State)
			}
		}
		for range 10 {
			want(cookbook.ErrUnderWay, ledger.Claimed)
			time.Sleep(afterTheLease / 4)
			if err := claim.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := claim.Fail(t.Context(), errRefused); err != nil {
			t.Fatal(err)
		}
		want(errRefused, ledger.Failed)
		o.Ask = func(context.Context, ledger.Record) error { return nil }
		want(nil, ledger.Done)
	})
}

// While the provider takes its time over requests that failed, others are at work: they are
// not asked about, and keep their keys. What the question needs stays until it is answered.
func TestErasureWithASlowProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		ctx, stop := context.WithCancel(t.Context())
		lives, tries := map[string]bool{}, map[string]int{}
		for i := range 6 { // whatever the order of the listing is, one comes after a failed one
			if err := o.request(t, "ann", fmt.Sprint("failed ", i), "fails"); err == nil {
				t.Fatal("no error")
			}
			key, err := cookbook.RequestKey("ann", fmt.Sprint("lives ", i))
			if err != nil {
				t.Fatal(err)
			}
			lives[key] = true
			go func() {
				_, err := ledger.Do(ctx, o.Requests.Store, ledger.Request{Key: key}, func(ctx context.Context, _ *ledger.Claim) (string, error) {
					<-ctx.Done()
					return "", context.Cause(ctx)
				})
				if errors.Is(err, ledger.ErrLeaseLost) {
					t.Errorf("a request at work: %v", err)
				}
			}()
		}
		o.Ask = func(ctx context.Context, r ledger.Record) error {
			if n, err := o.points.Of(ctx, "ann"); lives[r.Key] || n != 30 || err != nil {
				t.Errorf("asked about %v, which lives: %v; %d points, %v", r.Key, lives[r.Key], n, err)
			}
			time.Sleep(time.Minute)
			if tries[r.Key]++; tries[r.Key] == 1 {
				return errRefused
			}
			return nil
		}
		for range 4 {
			if err := o.Erase(t.Context(), "ann"); !errors.Is(err, cookbook.ErrUnderWay) {
				t.Error(err)
			}
			time.Sleep(2 * afterTheLease)
		}
		stop()
	})
}

// Who was erased gets 410, and nothing is asked of those who are served behind the Guard.
func TestGuard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		if err := o.Erase(t.Context(), "ann"); !errors.Is(err, cookbook.ErrUnderWay) {
			t.Fatal(err)
		}
		who := func(r *http.Request) string { return r.Header.Get("Customer") }
		guarded := o.Guard(who, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }))
		ask := func(customer string, want int) {
			t.Helper()
			r, w := httptest.NewRequest(http.MethodPost, "/", http.NoBody), httptest.NewRecorder()
			r.Header.Set("Customer", customer)
			if guarded.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%s: %d, want %d", customer, w.Code, want)
			}
		}
		ask("ann", http.StatusGone)
		ask("anna", http.StatusCreated)
		ask("", http.StatusBadRequest)
		o.db.Inject(dynamotest.Fault{Do: dynamotest.Unavailable, Op: "GetItem", Times: -1})
		ask("anna", http.StatusServiceUnavailable)
	})
}

// A key without an owner is bad input before any request.
func TestErasureOfNobody(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.db.Meter(func() {
		if err := o.Erase(t.Context(), ""); !isBad(err) {
			t.Errorf("got %v", err)
		}
	}).Want(t, dynamotest.Price{})
}

func isBad(err error) bool {
	_, bad := errors.AsType[*event.InputError](err)
	return bad
}
