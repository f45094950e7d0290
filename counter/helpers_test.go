package counter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

const chat = "-100123"

// noon is the clock of most tests; Stockholm is on its day of 23 hours.
var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// env is a store on a table of its own, without TTL: on an endpoint the clock
// of the tests is not that of the server.
type env struct {
	*counter.Store
	db    *dynamotest.DB
	table string
	now   time.Time
}

func open(t testing.TB, cfg counter.Config) *env {
	t.Helper()
	e := &env{db: dynamotest.Open(t), now: noon}
	e.table = e.db.Name("limits")
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return e.now }
	}
	var err error
	if e.Store, err = counter.New(impatient{e.db.Client()}, e.table, tzclock.Stockholm, &cfg); err != nil {
		t.Fatal(err)
	}
	table := e.Table()
	table.TTL = ""
	if err := schema.Create(t.Context(), e.db.Client(), table); err != nil {
		t.Fatal(err)
	}
	return e
}

// impatient tries again at once, and more often than the SDK does.
type impatient struct{ *dynamodb.Client }

func (c impatient) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return c.Client.UpdateItem(ctx, in, append([]func(*dynamodb.Options){atOnce}, options...)...)
}

func atOnce(o *dynamodb.Options) {
	o.Retryer = retry.NewStandard(func(so *retry.StandardOptions) {
		so.MaxAttempts = 10
		so.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
}

// message is the event of a chat's message.
func message(t testing.TB, at time.Time, id any) event.Event {
	t.Helper()
	ev, err := event.New(at, "telegram", chat, fmt.Sprint(id))
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func (e *env) take(t testing.TB, ev event.Event, most int64) counter.Grant {
	t.Helper()
	grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Cap: most})
	if err != nil {
		t.Fatal(err)
	}
	return grant
}

func (e *env) get(t testing.TB, day tzclock.Date) counter.Count {
	t.Helper()
	count, err := e.Get(t.Context(), chat, day)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// row reads the stored row as it is.
func (e *env) row(t testing.TB, day tzclock.Date) ddb.Item {
	t.Helper()
	out, err := e.db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(e.table), ConsistentRead: aws.Bool(true),
		Key: ddb.Item{"chatId": text(chat), "date": text(day.String())},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

func (e *env) put(t testing.TB, row ddb.Item) {
	t.Helper()
	_, err := e.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(e.table), Item: row})
	if err != nil {
		t.Fatal(err)
	}
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// sum reads a row without the package's own codec: the weights that are held,
// and how many events there are, refunded ones included.
func sum(t testing.TB, row ddb.Item) (held, events int64) {
	t.Helper()
	for name, value := range row {
		if !strings.HasPrefix(name, "e_") {
			continue
		}
		events++
		var weight int64
		if _, err := fmt.Sscanf(value.(*types.AttributeValueMemberS).Value, "%d~", &weight); err != nil {
			t.Fatal(err)
		}
		held += max(0, weight)
	}
	return held, events
}

func wantBad(t testing.TB, err error, field string) {
	t.Helper()
	var bad *event.InputError
	if !errors.As(err, &bad) || bad.Package != "counter" || bad.Field != field {
		t.Errorf("got %v, want an InputError of counter's %s", err, field)
	}
}

var (
	day     = tzclock.Stockholm.Date(noon)
	errSent = errors.New("no request should have been sent")
)

// silent fails the test when anything is sent.
type silent struct{ t testing.TB }

func (s silent) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	s.t.Helper()
	s.t.Error(errSent)
	return nil, errSent
}

func (s silent) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.t.Helper()
	s.t.Error(errSent)
	return nil, errSent
}

func nowIs(now time.Time) func() time.Time { return func() time.Time { return now } }
