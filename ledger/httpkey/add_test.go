package httpkey_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// piece adds one piece to what was sold, up to most.
func piece(what string, most int64) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String("sold"), Key: record.Item{"pk": record.Text(what)},
		UpdateExpression:          aws.String("ADD pieces :one"),
		ConditionExpression:       aws.String("attribute_not_exists(pieces) OR pieces < :most"),
		ExpressionAttributeValues: record.Item{":one": record.Int(1), ":most": record.Int(most)},
	}}
}

// selling is a shop whose handler adds a lamp, and a shade until none is left.
func selling(t *testing.T, answer func(http.ResponseWriter)) *shop {
	t.Helper()
	s := open(t, nil, func(w http.ResponseWriter, r *http.Request) {
		c, ok := httpkey.FromContext(r.Context())
		items := []types.TransactWriteItem{piece("lamp", 100), piece("shade", 1)}
		if reasons := c.Reasons(); !ok || reasons != nil {
			if len(reasons) != 2 || aws.ToString(reasons[0].Code) != "None" || aws.ToString(reasons[1].Code) != "ConditionalCheckFailed" {
				t.Errorf("%v, %+v", ok, reasons)
			}
			items = items[:1]
		}
		for _, item := range items {
			if err := httpkey.Add(r.Context(), item); err != nil {
				t.Error(err)
			}
		}
		answer(w)
	})
	s.db.Create(schema.Table{Name: "sold", Key: schema.Key{Partition: schema.String("pk")}})
	return s
}

func (s *shop) sold(t *testing.T, lamps, shades int64) {
	t.Helper()
	sold := map[string]int64{}
	for _, row := range s.db.Items("sold") {
		sold[record.Read(row).Text("pk")] = record.Read(row).Int("pieces")
	}
	if sold["lamp"] != lamps || sold["shade"] != shades {
		t.Errorf("sold %v, want %d and %d", sold, lamps, shades)
	}
}

// Writes take effect with the answer, once, whatever is lost. If one is refused, the
// handler decides again.
func TestAdd(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 2; nth++ {
		for _, do := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.LoseReply} {
			synctest.Test(t, func(t *testing.T) {
				s := selling(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusCreated) })
				s.db.Inject(dynamotest.Fault{Do: do, Nth: nth})
				for range 3 {
					s.want(t, http.StatusCreated, 1)
				}
				s.sold(t, 1, 1)
				s.want(t, http.StatusCreated, 3, key("k-2"))
				s.sold(t, 2, 1)
			})
		}
	}
}

// No answer, no writes.
func TestAddWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, answer := range []func(http.ResponseWriter){
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
		func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 13<<10)) }, // too large
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := selling(t, answer)
			if a, err := s.try(t); err == nil && a.Status < 400 {
				t.Errorf("answered %d", a.Status)
			}
			s.sold(t, 0, 0)
		})
	}
}

func TestAddOutsideARequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var kept context.Context
		s := open(t, nil, func(_ http.ResponseWriter, r *http.Request) {
			kept = r.Context()
			if _, ok := httpkey.FromContext(kept); ok != (r.Method == http.MethodPost) {
				t.Errorf("%s: %v", r.Method, ok)
			}
		})
		s.want(t, http.StatusOK, 1)
		recordtest.WantBad(t, httpkey.Add(kept, piece("lamp", 1)), "httpkey", "ctx", "after the answer")
		s.want(t, http.StatusOK, 2, func(r *http.Request) { r.Method = http.MethodGet })
		recordtest.WantBad(t, httpkey.Add(kept, piece("lamp", 1)), "httpkey", "ctx", "without a key")
	})
}

func TestPrices(t *testing.T) {
	t.Parallel()
	s := selling(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusCreated) })
	post := func(keyed http.Handler, key string) func(context.Context) error {
		return func(ctx context.Context) error {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/orders", nil)
			r.Header.Set("Idempotency-Key", key)
			w := httptest.NewRecorder()
			if keyed.ServeHTTP(w, r); w.Code != http.StatusOK {
				return errors.New(w.Body.String())
			}
			return nil
		}
	}
	keyed := func(readFirst bool, h http.HandlerFunc) http.Handler {
		keys, err := httpkey.New(s.answers, func(*http.Request) string { return "ann" }, &httpkey.Config{ReadFirst: readFirst})
		if err != nil {
			t.Fatal(err)
		}
		return keys.Handler(h)
	}
	plain := func(http.ResponseWriter, *http.Request) {}
	pricetest.Run(t, s.db, []pricetest.Case{
		{Func: "Keys.Handler", Call: post(keyed(false, plain), "k-1")},
		{Func: "Keys.Handler", In: "ReadFirst", Call: post(keyed(true, plain), "k-1")},
		{Func: "Keys.Handler", In: "Add", Call: post(keyed(false, func(_ http.ResponseWriter, r *http.Request) {
			if err := httpkey.Add(r.Context(), piece("lamp", 1)); err != nil {
				t.Error(err)
			}
		}), "k-2")},
		{Func: "Add", Call: func(ctx context.Context) error {
			recordtest.WantBad(t, httpkey.Add(ctx), "httpkey", "ctx")
			return nil
		}},
		{Func: "FromContext", Call: func(ctx context.Context) error {
			_, _ = httpkey.FromContext(ctx)
			return nil
		}},
	})
}
