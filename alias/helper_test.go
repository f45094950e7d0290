package alias_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	rows "github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

const chat = "-100123"

// monday is the clock of most tests, and when their events happen: 18:30 in
// Stockholm.
var monday = time.Date(2026, 3, 2, 17, 30, 0, 0, time.UTC)

// eventAt is an event some minutes before the clock of most tests.
func eventAt(t testing.TB, minutesAgo int) event.Event {
	t.Helper()
	return recordtest.Event(t, monday.Add(-time.Duration(minutesAgo)*time.Minute), "telegram", chat, "7")
}

// fixture is a database with one table and one store on it.
type fixture struct {
	*alias.Store
	db    *dynamotest.DB
	table string
}

func open(t testing.TB) fixture {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond), pricetest.Watch)
	f := fixture{db: db, table: db.Name("homeops")}
	f.Store = f.another(t, nil)
	recordtest.Create(t, db.Client(), f.Table())
	return f
}

// bubble runs a test that waits, on a table in this process, without real
// waiting.
func bubble(t *testing.T, test func(t *testing.T, w writer)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		f := fixture{db: db, table: db.Name("homeops")}
		f.Store = f.another(t, nil)
		recordtest.Create(t, db.Client(), f.Table())
		test(t, writer{t, f})
	})
}

// another returns a store of another process: on the same table, with a cache
// of its own.
func (f fixture) another(t testing.TB, change func(*alias.Config)) *alias.Store {
	t.Helper()
	return f.through(t, f.db.Client(), change)
}

// beside returns the fixture of another process on the same table.
func (f fixture) beside(t testing.TB) fixture {
	t.Helper()
	return fixture{f.another(t, nil), f.db, f.table}
}

func (f fixture) through(t testing.TB, api alias.API, change func(*alias.Config)) *alias.Store {
	t.Helper()
	cfg := alias.Config{Now: recordtest.Clock(monday)}
	if change != nil {
		change(&cfg)
	}
	s, err := alias.New(api, f.table, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// denied refuses a request.
var denied = dynamotest.Answer(400, `{"__type": "AccessDeniedException"}`)

func isDenied(err error) bool {
	refusal, ok := errors.AsType[smithy.APIError](err)
	return ok && refusal.ErrorCode() == "AccessDeniedException"
}

// once returns the client without retries.
func once(db *dynamodb.Client) *dynamodb.Client {
	return dynamodb.New(db.Options(), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
}

// stored returns an item of the table in DynamoDB's JSON.
func (f fixture) stored(t testing.TB, pk, sk string) map[string]any {
	t.Helper()
	return plain(t, recordtest.Row(t, f.db.Client(), f.table, ddb.Item{"pk": item.S(pk), "sk": item.S(sk)}))
}

// golden reads an item of testdata.
func golden(t testing.TB, name string) map[string]any {
	t.Helper()
	return plain(t, rows.Item(t, "testdata/"+name+".json"))
}

func plain(t testing.TB, row ddb.Item) (it map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(rows.Format(row)), &it); err != nil {
		t.Fatal(err)
	}
	return it
}

// with returns the item with some attributes changed; nil takes one away.
func with(it map[string]any, changes map[string]any) map[string]any {
	it = maps.Clone(it)
	for name, value := range changes {
		if value == nil {
			delete(it, name)
			continue
		}
		it[name] = value
	}
	return it
}

func s(text string) map[string]any   { return map[string]any{"S": text} }
func n(digits string) map[string]any { return map[string]any{"N": digits} }

// set is a set of binaries, sorted because DynamoDB keeps no order.
func set(members ...[]byte) map[string]any {
	texts := make([]any, len(members))
	for i, member := range slices.SortedFunc(slices.Values(members), bytes.Compare) {
		texts[i] = base64.StdEncoding.EncodeToString(member)
	}
	return map[string]any{"BS": texts}
}

// events is a set of events.
func events(all ...event.Event) map[string]any {
	members := make([][]byte, len(all))
	for i, ev := range all {
		members[i] = ev[:]
	}
	return set(members...)
}

// write puts an item as another system would.
func (f fixture) write(t testing.TB, plain map[string]any) {
	t.Helper()
	text, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	it, err := rows.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Put(t, f.db.Client(), f.table, it)
}

// do fails the test unless the write had the outcome.
func do(t testing.TB, want event.Outcome) func(event.Outcome, error) {
	t.Helper()
	return func(got event.Outcome, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Fatalf("got %v, %v; want %v", got, err, want)
		}
	}
}
