package house

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// disturbed is the table of one store. From some request on, its requests fail:
// they are not sent, or their answers are unreadable.
type disturbed struct {
	client *dynamodb.Client // the store's
	from   int              // the first request that fails
	sent   int
	unread bool // replies cannot be read
}

func newDisturbed(t *testing.T) *disturbed {
	t.Helper()
	db := dynamotest.New(t, &dynamotest.Config{Now: recordtest.Clock(noon)}).Client()
	d := &disturbed{from: 1000}
	d.client = dynamodb.New(db.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(slices.Clone(o.APIOptions), func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Disturb", d.send), middleware.Before)
		})
	})
	return d
}

func (d *disturbed) send(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	out middleware.InitializeOutput, metadata middleware.Metadata, err error,
) {
	d.sent++
	if fails := d.sent >= d.from; fails && !d.unread {
		return out, metadata, errDown
	} else if out, metadata, err = next.HandleInitialize(ctx, in); fails {
		garble(out.Result, err)
	}
	return out, metadata, err
}

// garble makes the answer to a request unreadable: every attribute becomes a
// BOOL.
func garble(result any, err error) {
	rows := []ddb.Item{}
	switch r := result.(type) {
	case *dynamodb.GetItemOutput:
		rows = append(rows, r.Item)
	case *dynamodb.QueryOutput:
		rows = append(r.Items, r.LastEvaluatedKey)
	case *dynamodb.UpdateItemOutput:
		rows = append(rows, r.Attributes)
	}
	if old, refused := ddb.Refused(err); refused {
		rows = append(rows, old)
	}
	for _, row := range rows {
		for name := range row {
			row[name] = &types.AttributeValueMemberBOOL{}
		}
	}
}

// disturbedCalls creates the table of a package and returns its calls.
func disturbedCalls(t *testing.T, pkg string, ev event.Event) (methods, *disturbed) {
	t.Helper()
	d, clock := newDisturbed(t), recordtest.Clock(noon)
	var calls methods
	var store interface{ Table() schema.Table }
	var err error
	switch pkg {
	case "activity", "memory":
		var s *activity.Store
		s, err = activity.New(d.client, table, &activity.Config{Now: clock})
		store, calls = s, activityCalls(s, ev)
		if pkg == "memory" {
			var m *memory.Memory
			if m, err = memory.New(s, tzclock.UTC); err != nil {
				t.Fatal(err)
			}
			calls = memoryCalls(m)
		}
	case "alias":
		var s *alias.Store
		s, err = alias.New(d.client, table, &alias.Config{Now: clock})
		store, calls = s, aliasCalls(s, ev)
	case "counter":
		var s *counter.Store
		s, err = counter.New(d.client, table, tzclock.UTC, &counter.Config{Now: clock})
		store, calls = s, counterCalls(s, ev)
	case "ema":
		var s *ema.Store
		s, err = ema.New(d.client, table, &ema.Config{Now: clock})
		store, calls = s, emaCalls(s, ev)
	case "ledger":
		var s *ledger.Store
		s, err = ledger.New(d.client, table, &ledger.Config{Now: clock})
		store, calls = s, ledgerCalls(operators(t, s, d.client), claimOfNoTable(t).Token())
	case "message":
		var s *message.Store
		s, err = message.New(d.client, table, &message.Config{Now: clock})
		store, calls = s, messageCalls(s)
	case "pattern":
		var s *pattern.Store
		s, err = pattern.New(d.client, table, tzclock.UTC, &pattern.Config{Now: clock})
		store, calls = s, patternCalls(s, ev)
	}
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, d.client, store.Table())
	return calls, d
}

// Each request of a method names the method in its error, not only the first. So
// does the error of an unreadable row. An answer without a cause, such as
// ErrNotFound, is an error of its own.
func TestErrorsOfAnyRequestNameTheMethod(t *testing.T) {
	t.Parallel()
	writers := map[string]string{
		"activity": "Record", "alias": "Put", "counter": "Take", "ema": "Observe", "ledger": "Claim", "message": "Save", "pattern": "Observe",
	}
	ev, named := recordtest.Event(t, noon, "errors"), 0
	for _, pkg := range recordPackages {
		all, _ := disturbedCalls(t, pkg, ev)
		for _, method := range slices.Sorted(maps.Keys(all)) {
			for tt := range 12 { // the request that fails, how, and whether the row exists
				calls, d := disturbedCalls(t, pkg, ev)
				if write := calls[writers[pkg]]; tt%2 == 1 && write != nil {
					if err := write(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				d.sent, d.from, d.unread = 0, 1+tt/4, tt/2%2 == 1
				err := calls[method](t.Context())
				if _, many := err.(interface{ Unwrap() []error }); errors.Unwrap(err) == nil && !many {
					continue
				}
				named++
				if want := pkg + ": " + method + " on table " + table + ": "; !strings.HasPrefix(err.Error(), want) {
					t.Errorf("request %d: got %v, want %s…", d.from, err, want)
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("%d errors", named)
	}
}
