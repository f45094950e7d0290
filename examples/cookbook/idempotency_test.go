package cookbook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// desk sells lamps by HTTP, and counts those that it sold.
type desk struct {
	db      *dynamotest.DB
	handler cookbook.Idempotent
	before  func(context.Context) error
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{db: dynamotest.New(t, nil), before: func(context.Context) error { return nil }}
	d.db.Create(schema.Table{Name: "sold", Key: schema.Key{Partition: schema.String("pk")}})
	d.handler = cookbook.Idempotent{
		Answers:  newLedger(t, d.db, "answers"),
		Customer: func(r *http.Request) string { return r.Header.Get("Customer") },
		Work: func(ctx context.Context, c *ledger.Claim, body []byte) (cookbook.Answer, []types.TransactWriteItem, error) {
			if err := d.before(ctx); err != nil {
				return cookbook.Answer{}, nil, err
			}
			answer := cookbook.Answer{
				Status: http.StatusCreated, Header: http.Header{"Location": {fmt.Sprintf("/orders/%d", c.Fence)}},
				Body: append([]byte("\xff sold: "), body...),
			}
			return answer, []types.TransactWriteItem{{Update: &types.Update{
				TableName: aws.String("sold"), Key: record.Item{"pk": record.Text("lamps")},
				UpdateExpression:          aws.String("ADD pieces :one"),
				ExpressionAttributeValues: record.Item{":one": record.Int(1)},
			}}}, nil
		},
	}
	return d
}

// request is a POST of ann's under the key k-1, unless it is changed.
func request(t *testing.T, change ...func(*http.Request)) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders?priority=1", strings.NewReader("lamp"))
	r.Header.Set("Customer", "ann")
	r.Header.Set("Idempotency-Key", `"k-1"`)
	for _, f := range change {
		f(r)
	}
	return r
}

func (d *desk) serve(r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w.Result()
}

// want sends the request, and checks the status and what was sold since the beginning.
func (d *desk) want(t *testing.T, r *http.Request, status int, sold int64) *http.Response {
	t.Helper()
	got := d.serve(r)
	var pieces int64
	for _, row := range d.db.Items("sold") {
		pieces += record.Read(row).Int("pieces")
	}
	if got.StatusCode != status || pieces != sold {
		t.Errorf("answered %d, %d sold, want %d, %d", got.StatusCode, pieces, status, sold)
	}
	return got
}

// said is all that a client sees.
func said(t *testing.T, r *http.Response) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whatever is lost, and wherever the server crashes: sold once, and one answer.
func TestARequestIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	eachLoss(t, 2, func(t *testing.T, lose func(*dynamotest.DB), crash bool) {
		d := newDesk(t)
		lose(d.db)
		got := []*http.Response{d.serve(request(t))}
		if crash {
			if got[0].StatusCode != http.StatusServiceUnavailable {
				t.Errorf("answered %d", got[0].StatusCode)
			}
			got = nil
		}
		d.db.Heal()
		time.Sleep(afterTheLease)
		for range 2 {
			got = append(got, d.want(t, request(t), http.StatusCreated, 1))
		}
		first := said(t, got[0])
		if !strings.Contains(first, "Location: /orders/") || !strings.Contains(first, "\xff sold: lamp") {
			t.Error(first)
		}
		for _, other := range got[1:] {
			if diff := cmp.Diff(first, said(t, other)); diff != "" {
				t.Errorf("answers differ (-first +other):\n%s", diff)
			}
		}
	})
}

func TestARequestCostsWhatThePageSays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := request(t)
	d.db.Meter(func() { d.serve(first) }).Want(t, dynamotest.Price{Requests: 2, WCU: 5})
	again := request(t)
	d.db.Meter(func() { d.serve(again) }).Want(t, dynamotest.Price{Requests: 1, WCU: 1})
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.want(t, request(t, func(r *http.Request) { r.Header.Del("Idempotency-Key") }), http.StatusBadRequest, 0)
	d.want(t, request(t, func(r *http.Request) { r.Header.Set("Idempotency-Key", strings.Repeat("k", 3000)) }), http.StatusBadRequest, 0)
	d.want(t, request(t), http.StatusCreated, 1)
	for name, change := range map[string]func(*http.Request){
		"body":   func(r *http.Request) { r.Body = http.NoBody },
		"path":   func(r *http.Request) { r.URL.Path = "/refunds" },
		"query":  func(r *http.Request) { r.URL.RawQuery = "" },
		"method": func(r *http.Request) { r.Method = http.MethodPatch },
	} {
		t.Log("another", name)
		d.want(t, request(t, change), http.StatusUnprocessableEntity, 1)
	}
	d.want(t, request(t, func(r *http.Request) { r.Header.Set("Customer", "bo") }), http.StatusCreated, 2)
	d.want(t, request(t, func(r *http.Request) { r.Header.Set("Idempotency-Key", `"k-2"`) }), http.StatusCreated, 3)
}

// While a request is in progress, another is told to wait. The client of the first may
// hang up: the second has its answer.
func TestARequestInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ctx, hangUp := context.WithCancel(t.Context())
		d.before = func(ctx context.Context) error {
			began := time.Now()
			var busy *http.Response
			second := request(t)
			d.db.Meter(func() { busy = d.serve(second) }).Want(t, dynamotest.Price{Requests: 6, RCU: 2, WCU: 2})
			if busy.StatusCode != http.StatusConflict || busy.Header.Get("Retry-After") != "2" || time.Since(began) != time.Second {
				t.Errorf("answered %d after %v: %v", busy.StatusCode, time.Since(began), busy.Header)
			}
			hangUp()
			return ctx.Err()
		}
		d.want(t, request(t).WithContext(ctx), http.StatusCreated, 1)
		d.want(t, request(t), http.StatusCreated, 1)
	})
}

// An error is not stored: the next request tries again, until the attempts are used up.
func TestARequestWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.before = func(context.Context) error { return errors.New("no connection") }
	d.want(t, request(t), http.StatusServiceUnavailable, 0)
	d.before = func(context.Context) error { return nil }
	d.want(t, request(t), http.StatusCreated, 1)

	other := func(r *http.Request) { r.Header.Set("Idempotency-Key", "k-2") }
	d.before = func(context.Context) error { return errors.New("no connection") }
	for range 5 {
		d.want(t, request(t, other), http.StatusServiceUnavailable, 1)
	}
	d.want(t, request(t, other), http.StatusInternalServerError, 1)
	long := func(r *http.Request) {
		r.Header.Set("Idempotency-Key", "k-3")
		r.Body = http.NoBody
	}
	d.handler.Work = func(context.Context, *ledger.Claim, []byte) (cookbook.Answer, []types.TransactWriteItem, error) {
		return cookbook.Answer{Body: make([]byte, 13<<10)}, nil, nil // 17 KB as JSON
	}
	d.want(t, request(t, long), http.StatusInternalServerError, 1)
	d.want(t, request(t, long), http.StatusInternalServerError, 1)

	// Another program stored a result of another type under the key.
	foreign := ledger.Request{Key: "HTTP:ann:k-4", Payload: []byte("POST /orders?priority=1\nlamp")}
	if _, err := ledger.Do(t.Context(), d.handler.Answers, foreign, func(context.Context, *ledger.Claim) (string, error) {
		return "sold", nil
	}); err != nil {
		t.Fatal(err)
	}
	d.want(t, request(t, func(r *http.Request) { r.Header.Set("Idempotency-Key", "k-4") }), http.StatusInternalServerError, 1)
}
