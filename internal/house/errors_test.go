package house

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// Each error of a request names package, method and table in the same form, for
// every method that takes a context. The SDK's error stays reachable.
func TestErrorsNameTheMethod(t *testing.T) {
	t.Parallel()
	all := map[string]any{"ledger, claim": claimOfNoTable(t)}
	for key, store := range storesOn(t, recordtest.Down(errDown)) {
		all[key] = store
	}
	for key, of := range all {
		pkg, _, _ := strings.Cut(key, ",")
		for _, method := range methods(of) {
			err := failureOf(call(t, of, method))
			if bad, ok := errors.AsType[*event.InputError](err); ok && bad.Field == "Kind.Count" {
				continue // rows without a count, or with one
			}
			if want := pkg + ": " + method.Name + " on table " + table + ": "; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s…", err, want)
			}
			if _, gone := of.(*ledger.Claim); !gone && !errors.Is(err, errDown) {
				t.Errorf("%s's %s: %v hides the API's error", pkg, method.Name, err)
			}
		}
	}
}

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

// Each request of a method names the method in its error, not only the first. So
// does the error of an unreadable row. An answer without a cause, such as
// ErrNotFound, is an error of its own.
func TestErrorsOfAnyRequestNameTheMethod(t *testing.T) {
	t.Parallel()
	writers := map[string]string{
		"activity": "Record", "alias": "Put", "counter": "Take", "ema": "Observe", "ledger": "Claim", "message": "Save", "pattern": "Observe",
	}
	named := 0
	for _, pkg := range recordPackages {
		for _, method := range methods(storesOn(t, recordtest.Down(errDown))[pkg]) {
			for tt := range 12 { // the request that fails, how, and whether the row exists
				d := newDisturbed(t)
				store := storesOn(t, d.client)[pkg]
				recordtest.Create(t, d.client, store.Table())
				if tt%2 == 1 && writers[pkg] != "" {
					if err := called(t, store, writers[pkg]); err != nil {
						t.Fatal(err)
					}
				}
				d.sent, d.from, d.unread = 0, 1+tt/4, tt/2%2 == 1
				err := failureOf(call(t, store, method))
				if _, many := err.(interface{ Unwrap() []error }); errors.Unwrap(err) == nil && !many {
					continue
				}
				named++
				if want := pkg + ": " + method.Name + " on table " + table + ": "; !strings.HasPrefix(err.Error(), want) {
					t.Errorf("request %d: got %v, want %s…", d.from, err, want)
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("%d errors", named)
	}
}
