package cookbook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ledger"
)

// Answer is the answer to a request, as it is stored and sent.
type Answer struct {
	Status int
	Header http.Header // such as Content-Type and Location
	Body   []byte
}

// Idempotent is an HTTP handler that gives a request that is sent again, with the same
// Idempotency-Key, the answer of the first.
type Idempotent struct {
	Answers *ledger.Store
	// Customer is who the request was authenticated for. The same key of two
	// customers is two keys.
	Customer func(*http.Request) string
	// Work answers a request, and the actions that it returns are written in one
	// transaction with the answer. An error means that there is no answer yet.
	Work func(ctx context.Context, c *ledger.Claim, body []byte) (Answer, []types.TransactWriteItem, error)
}

// ServeHTTP implements http.Handler.
func (h Idempotent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	key, err := ledger.Key("HTTP", h.Customer(r), r.Header.Get("Idempotency-Key"))
	if err != nil {
		http.Error(w, "an Idempotency-Key is required", http.StatusBadRequest)
		return
	}
	req := ledger.Request{
		Key: key, Payload: fmt.Appendf(nil, "%s %s\n%s", r.Method, r.URL.RequestURI(), body),
		WaitUpTo: time.Second, // for a request that is in progress
	}
	ctx := context.WithoutCancel(r.Context()) // a client that hangs up will ask again
	res, err := ledger.DoTx(ctx, h.Answers, req, func(ctx context.Context, c *ledger.Claim) (Answer, []types.TransactWriteItem, error) {
		return h.Work(ctx, c, body)
	})
	if err != nil {
		refuse(w, err)
		return
	}
	maps.Copy(w.Header(), res.Value.Header)
	w.WriteHeader(cmp.Or(res.Value.Status, http.StatusOK))
	_, _ = w.Write(res.Value.Body) // a client that does not get it asks again
}

// refuse answers a request for which no answer is stored.
func refuse(w http.ResponseWriter, err error) {
	var busy *ledger.InProgressError
	var permanent *ledger.PermanentError
	var unreadable *ledger.ResultError
	switch {
	case errors.As(err, &busy):
		w.Header().Set("Retry-After", "2")
		http.Error(w, "a request with this Idempotency-Key is in progress", http.StatusConflict)
	case errors.Is(err, ledger.ErrFingerprintMismatch):
		http.Error(w, "this Idempotency-Key was used for another request", http.StatusUnprocessableEntity)
	case errors.As(err, &permanent), errors.As(err, &unreadable), errors.Is(err, ledger.ErrTooManyAttempts), errors.Is(err, ledger.ErrNoResult):
		http.Error(w, "this request cannot be completed", http.StatusInternalServerError)
	default:
		w.Header().Set("Retry-After", "2")
		http.Error(w, "send it again with the same Idempotency-Key", http.StatusServiceUnavailable)
	}
}
