// Package recordtest has what the tests of the record packages share: events,
// stored rows, bad input, and clients that answer nothing.
package recordtest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/schema"
)

// Event returns the event of the time and the parts.
func Event(t testing.TB, when time.Time, parts ...string) event.Event {
	t.Helper()
	ev, err := event.New(when, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// At returns the event of a time in RFC 3339 and of the parts, if any are
// given.
func At(t testing.TB, text string, parts ...string) event.Event {
	t.Helper()
	when, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return Event(t, when, append(parts, "test")...)
}

// Nth returns the nth event that follows from the event.
func Nth(t testing.TB, ev event.Event, n int) event.Event {
	t.Helper()
	ev, err := ev.Nth(n)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// Clock returns a clock that stands still.
func Clock(now time.Time) func() time.Time { return func() time.Time { return now } }

// WantBad fails the test unless the error is bad input of the package's field. A
// test of several methods may give the field's name in a struct: a test in the root
// checks that a method with a parameter uses the parameter's name. What names the
// case of the test.
func WantBad(t testing.TB, err error, pkg, field string, what ...any) {
	t.Helper()
	var bad *event.InputError
	if !errors.As(err, &bad) || bad.Package != pkg || !strings.EqualFold(bad.Field, field) {
		t.Errorf("%v: got %v, want an InputError of %s's %s", what, err, pkg, field)
	}
}

// Create creates the table without TTL: the server's clock is not the test's
// clock, and an expired row must stay.
func Create(t testing.TB, db *dynamodb.Client, table schema.Table) {
	t.Helper()
	table.TTL = ""
	if err := schema.Create(t.Context(), db, table); err != nil {
		t.Fatal(err)
	}
}

// Put stores a row unchanged, as another writer would.
func Put(t testing.TB, db *dynamodb.Client, table string, row ddb.Item) {
	t.Helper()
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: row}); err != nil {
		t.Fatal(err)
	}
}

// Row reads a stored row. It is nil if the row does not exist.
func Row(t testing.TB, db *dynamodb.Client, table string, key ddb.Item) ddb.Item {
	t.Helper()
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(table), Key: key, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// Delete deletes a row, as TTL does.
func Delete(t testing.TB, db *dynamodb.Client, table string, key ddb.Item) {
	t.Helper()
	if _, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key}); err != nil {
		t.Fatal(err)
	}
}

// Impatient returns the client with other retries: it repeats a failed request
// immediately, and more often than the SDK does.
func Impatient(db *dynamodb.Client) *dynamodb.Client {
	return dynamodb.New(db.Options(), func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(so *retry.StandardOptions) {
			so.MaxAttempts = 10
			so.RateLimiter = ratelimit.None
			so.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
}

// Bound returns an event whose N is 0, which no store may take.
func Bound(ev event.Event) event.Event { ev[event.Size-1] = 0; return ev }
