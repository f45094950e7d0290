package cookbook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/tzclock"
)

// office is a service with customers. Its clocks are those of the bubble; its indexes lag
// for an hour.
type office struct {
	cookbook.Personal
	db *dynamotest.DB
}

func newOffice(t *testing.T) office {
	t.Helper()
	db := dynamotest.New(t, &dynamotest.Config{IndexLag: time.Hour})
	seen := newLedger(t, db, "requests")
	gone := newLedger(t, db, "gone")
	requests, err1 := seen.Operators(db.Client())
	days, err2 := counter.New(db.Client(), "days", tzclock.UTC, nil)
	log, err3 := activity.New(db.Client(), "log", &activity.Config{ActorType: types.ScalarAttributeTypeS})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	db.Create(days.Table())
	db.Create(log.Table())
	return office{cookbook.Personal{Requests: requests, Days: days, Log: log, Gone: gone}, db}
}

const (
	name  = "Ann Other"
	email = "ann@example.com"
)

var errRefused = errors.New("no credit for " + name)

// request charges the customer, and is refused, or dies, if the text says so.
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
		_, err2 := o.Days.Take(ctx, counter.Take{Key: customer, Event: ev, Weight: 1, Cap: 100})
		_, err3 := o.Log.Record(ctx, activity.Activity{Scope: customer, Actor: customer, ActorName: name, Event: ev, Name: "charge", Data: map[string]any{"to": email}})
		if text == "refuse" {
			err1 = ledger.Permanent(errRefused)
		}
		return "a receipt for " + name, errors.Join(err1, err2, err3)
	})
	return err
}

// of are the rows of all tables in which the text stands, as JSON.
func (o office) of(t *testing.T, text string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for _, table := range []string{"requests", "days", "log"} {
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
			for chosen, text := range map[string]string{email: "charge " + name, "2": "refuse", "3": "dies"} {
				if err := o.request(t, who, chosen, text); (err != nil) != (text == "refuse") {
					t.Fatal(err)
				}
			}
		}
		const rows = 3 + 1 + 2 // requests, one day, activities
		if got := len(o.of(t, name)); got != 2*(2+2) {
			t.Errorf("the name stands in %d rows", got)
		}
		// The index by actor lags: nothing is found, and nothing is said.
		if n, err := o.Log.EraseActor(t.Context(), customer); n != 0 || err != nil {
			t.Errorf("EraseActor: %d, %v", n, err)
		}
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
			time.Sleep(afterTheLease)
		}
		left := o.of(t, `"c:17"`)
		if others := o.of(t, `"c:170"`); len(left) != 3 || len(o.of(t, "c%3A17:")) != 3 || len(others) != rows {
			t.Errorf("%d rows are left, and %d of the other's", len(left), len(others))
		}
		allowed := []string{"attempts", "claim", "expiresAt", "fence", "pk", "seenAt", "source", "state"}
		for _, row := range left {
			for _, attribute := range slices.Sorted(maps.Keys(row)) {
				if text := fmt.Sprint(row[attribute]); !slices.Contains(allowed, attribute) {
					t.Errorf("%s is left: %s", attribute, text)
				}
			}
		}
		if got := len(o.of(t, name)); got != 2+2 || len(o.of(t, email)) != 2 {
			t.Errorf("the name stands in %d rows", got)
		}
		// A request that comes again is not done again.
		if err := o.request(t, customer, email, "charge "+name); !errors.Is(err, ledger.ErrNoResult) {
			t.Errorf("again: %v", err)
		}
		time.Sleep(14*24*time.Hour + time.Hour + time.Minute) // retention and grace
		o.db.Server().ExpireTTL()
		if left := o.of(t, "17"); len(left) != 2 || len(o.of(t, other)) != 2 { // the other's log has no retention
			t.Errorf("%d rows stay for ever: %v", len(left), left)
		}
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
