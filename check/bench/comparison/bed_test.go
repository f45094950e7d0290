package comparison_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/guregu/dynamo/v2"

	"github.com/homeops/ddbpatterns/check/bench/comparison"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/tzclock"
)

// A form is one way to write the store.
type form struct {
	name  string
	file  string
	store func(t *testing.T, db *dynamodb.Client) comparison.Store
}

var forms = []form{
	{"raw SDK", "raw.go", func(t *testing.T, db *dynamodb.Client) comparison.Store {
		return raw(t, db)
	}},
	{"guregu/dynamo", "guregu.go", func(t *testing.T, db *dynamodb.Client) comparison.Store {
		tables := dynamo.NewFromIface(db)
		return comparison.Guregu{Seen: tables.Table("seen"), Limits: tables.Table("limits"), Zone: stockholm(t)}
	}},
	{"raw SDK, mended", "mended.go", func(t *testing.T, db *dynamodb.Client) comparison.Store {
		return comparison.NewMended(raw(t, db))
	}},
	{"this library", "library.go", func(t *testing.T, db *dynamodb.Client) comparison.Store {
		return library(t, db)
	}},
}

func raw(t *testing.T, db *dynamodb.Client) comparison.Raw {
	t.Helper()
	return comparison.Raw{DB: db, Seen: "seen", Limits: "limits", Zone: stockholm(t)}
}

func library(t *testing.T, db *dynamodb.Client) comparison.Library {
	t.Helper()
	l, err := comparison.NewLibrary(db, "seen", "limits", tzclock.Stockholm)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func stockholm(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// outcomes runs every disturbance on every form, each in a bubble of its own.
func outcomes(t *testing.T) [][]string {
	t.Helper()
	rows := make([][]string, len(disturbances))
	for i, d := range disturbances {
		rows[i] = make([]string, len(forms))
		for j, f := range forms {
			t.Run(d.name+"/"+f.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					rows[i][j] = d.seen(newBed(t, f))
				})
			})
		}
	}
	return rows
}

// A bed is a form on a server of its own, and the shop that delivers orders.
type bed struct {
	*dynamotest.DB
	t     *testing.T
	form  form
	store comparison.Store
	begun time.Time

	mu      sync.Mutex
	effects int
}

func newBed(t *testing.T, f form) *bed {
	db := dynamotest.New(t, nil)
	tables := library(t, db.Client())
	db.Create(tables.Seen.Table(), tables.Limits.Table()) // those of all forms
	return &bed{DB: db, t: t, form: f, store: f.store(t, db.Client()), begun: time.Now()}
}

// process returns the store of another process, which can be cut off.
func (b *bed) process() (comparison.Store, *dynamotest.Tap) {
	tap := dynamotest.NewTap()
	client := dynamotest.Connect("http://dynamodb.invalid", func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: b.Server().Transport()}
	}, tap.Attach)
	return b.form.store(b.t, client), tap
}

func (b *bed) order(id string) comparison.Order {
	return comparison.Order{ID: id, Customer: "ann", At: b.begun}
}

// issue is the effect outside of DynamoDB. Work whose context has ended stops
// before it.
func (b *bed) issue(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.effects++
	return nil
}

// deliver delivers the order once, and says how it ended.
func (b *bed) deliver(s comparison.Store, o comparison.Order, issue func(context.Context) error) string {
	answer, err := comparison.Placed(b.t.Context(), s, o, issue)
	if err != nil {
		return name(err)
	}
	if answer != "VOUCHER-"+o.ID {
		return fmt.Sprintf("answer %q", answer)
	}
	return answered
}

const answered = "answered"

// insist delivers the order until there is an answer.
func (b *bed) insist(o comparison.Order) string {
	return b.insistAfter(func() string { return b.deliver(b.store, o, b.issue) }, o)
}

// insistAfter delivers the order again every five seconds after the first delivery,
// until there is an answer, for twenty minutes at most, and says what the shop saw.
func (b *bed) insistAfter(first func() string, o comparison.Order) string {
	var seen []string
	begun := time.Now()
	next := begun
	for how := first(); how != answered; how = b.deliver(b.store, o, b.issue) {
		if len(seen) == 0 || seen[len(seen)-1] != how {
			seen = append(seen, how)
		}
		if time.Since(begun) > 20*time.Minute {
			b.t.Fatalf("no answer, only %q", seen)
		}
		for !next.After(time.Now()) {
			next = next.Add(5 * time.Second)
		}
		time.Sleep(time.Until(next))
	}
	if len(seen) == 0 {
		return b.done() + "; answered at once"
	}
	return fmt.Sprintf("%s; %s; answered after %d s", b.done(), strings.Join(seen, ", "), time.Since(begun)/time.Second)
}

// dies returns a delivery to a process that is cut off when it is at work, after
// the effect or before it, and not heard of again.
func (b *bed) dies(o comparison.Order, effect func(context.Context) error) func() string {
	store, tap := b.process()
	return func() string {
		b.deliver(store, o, func(ctx context.Context) error {
			cut(tap)
			return effect(ctx)
		})
		return "no answer"
	}
}

func (b *bed) done() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return plural(b.effects, "effect")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// counted says how much the rows of the limits count, and in how many days.
func (b *bed) counted() string {
	var sum int
	rows := b.Items("limits")
	for _, row := range rows {
		n, err := strconv.Atoi(row["used"].(*types.AttributeValueMemberN).Value)
		if err != nil {
			b.t.Fatal(err)
		}
		sum += n
	}
	return fmt.Sprintf("%d counted in %s", sum, plural(len(rows), "day"))
}

// name is a word for what kind of error it is.
func name(err error) string {
	var held *ledger.InProgressError
	var conflict *types.TransactionConflictException
	var refused *types.ConditionalCheckFailedException
	for _, kind := range []struct {
		is   bool
		name string
	}{
		{errors.As(err, &held) || errors.Is(err, comparison.ErrInProgress), "“in progress”"},
		{errors.As(err, &conflict), "“conflict”"},
		{errors.Is(err, ledger.ErrLeaseLost) || errors.Is(err, comparison.ErrLeaseLost) || errors.As(err, &refused), "“lease lost”"},
		{errors.Is(err, event.ErrTooOld) || errors.Is(err, comparison.ErrTooOld), "“too old”"},
		{errors.Is(err, ledger.ErrTooManyAttempts), "“too many attempts”"},
		{errors.Is(err, comparison.ErrNotTaken), "“nothing was taken”"},
		{errors.Is(err, errBroken), "the work's error"},
		{strings.Contains(err.Error(), "connection reset"), "“connection reset”"},
	} {
		if kind.is {
			return kind.name
		}
	}
	return err.Error()
}

var errBroken = errors.New("the work does not succeed")
