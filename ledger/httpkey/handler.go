package httpkey

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

const (
	mostBody = 1 << 20
	waitUpTo = time.Second // for a request that is in progress

	// stopWithin is how long a handler has to answer after its context has ended.
	stopWithin = 5 * time.Second
	// settleWithin bounds how long the claim of a handler that did not answer, or
	// whose answer is not stored, takes to be given up.
	settleWithin = 5 * time.Second

	longestRetry = 2 * time.Second
)

// Handler returns a handler that calls next once for each Idempotency-Key, stores its
// answer and replays it. The package's doc has the table of answers.
//
// The handler works on when the client hangs up, because the client will ask again, until
// Config.Timeout ends the request's context. The context also ends when the lease is
// lost, as that of [ledger.Do]. Next gets the whole body. It cannot stream: Flush and
// Hijack of its http.ResponseController return http.ErrNotSupported. Headers that are not
// stored are sent with the first answer only.
//
// If next panics, the attempt counts, the key can be claimed at once, and Handler panics
// with the same value.
//
// Price: 2 requests, 2 WCU. That is the price of [ledger.Do]. A replay is 1 request and 1
// WCU for each KB of the stored row. A request that waits for 1 s in vain sends 6 requests.
// Price (Add): 2 requests, 5 WCU. That is the price of [ledger.DoTx] with one write.
// Price (ReadFirst): 1 request, 0.5 RCU. This is the price of a replay; the read is added
// to the price of the first request.
func (k *Keys) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
			next.ServeHTTP(w, r)
			return
		}
		req, body, refusal := k.request(w, r)
		if refusal != nil {
			refusal.send(w)
			return
		}
		ctx := context.WithoutCancel(r.Context()) // a client that hangs up will ask again
		var first http.Header
		res, err := ledger.DoTx(ctx, k.answers, req, func(ctx context.Context, c *ledger.Claim) (answer, []types.TransactWriteItem, error) {
			return k.work(ctx, c, next, r, body, &first)
		})
		unkept, sent := errors.AsType[*unkeptError](err)
		switch {
		case sent:
			unkept.answer.send(w)
		case err == nil, !res.Replayed && res.Value.Status != 0 && errors.Is(err, ledger.ErrResultNotStored):
			maps.Copy(w.Header(), first)
			if res.Replayed {
				w.Header().Set(replayed, "true")
			}
			res.Value.send(w)
		default:
			refuse(err).send(w)
		}
	})
}

// request is what the ledger is asked, and the body.
func (k *Keys) request(w http.ResponseWriter, r *http.Request) (req ledger.Request, body []byte, refusal *problem) {
	caller := k.caller(r)
	if caller == "" {
		return req, nil, &problem{Status: http.StatusUnauthorized, Detail: "The request has no authenticated caller."}
	}
	key, wrong := keyOf(r.Header)
	if wrong != "" {
		return req, nil, &problem{Status: http.StatusBadRequest, Detail: wrong}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return req, nil, &problem{Status: http.StatusRequestEntityTooLarge, Detail: "The body must have at most 1 MB."}
	}
	if err != nil {
		return req, nil, &problem{Status: http.StatusBadRequest, Detail: "The body cannot be read."}
	}
	if key, err = ledger.Key(caller, "HTTP", key); err != nil {
		return req, nil, refuse(err)
	}
	payload := fmt.Appendf(nil, "%s %s\n", r.Method, cmp.Or(r.RequestURI, r.URL.RequestURI()))
	return ledger.Request{Key: key, Payload: append(payload, body...), WaitUpTo: waitUpTo, ReadFirst: k.cfg.ReadFirst}, body, nil
}

// unkeptError is the error of work whose answer is sent and not stored.
type unkeptError struct{ answer }

// Error is stored with the attempt.
func (e *unkeptError) Error() string { return fmt.Sprintf("the handler answered %d", e.Status) }

var (
	errHangs = errors.New("httpkey: the handler did not answer in time")
	errPanic = errors.New("httpkey: the handler panicked") // without the value, which may be personal data
)

// ending is how a handler ended: it returned or panicked, or neither by runtime.Goexit.
type ending struct {
	returned bool
	panicked any
}

// work calls the handler and leaves its headers in first. The handler has a goroutine
// of its own, so that it can be given up.
func (k *Keys) work(ctx context.Context, c *ledger.Claim, next http.Handler, r *http.Request, body []byte, first *http.Header) (answer, []types.TransactWriteItem, error) {
	rec := &recorder{claim: c, header: http.Header{}}
	working, cancel := context.WithTimeout(context.WithValue(ctx, place{}, rec), k.cfg.Timeout)
	defer cancel()
	r = r.Clone(working)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	ended := make(chan ending, 1)
	go func() {
		var end ending
		defer func() { end.panicked = recover(); ended <- end }()
		next.ServeHTTP(rec, r)
		end.returned = true
	}()
	late := time.NewTimer(k.cfg.Timeout + stopWithin)
	defer late.Stop()
	var end ending
	select {
	case end = <-ended:
	case <-late.C:
		rec.take()
		return answer{}, nil, errHangs
	}
	settling, stop := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
	defer stop()
	if !end.returned {
		_ = c.Fail(settling, errPanic) // otherwise the key is free when the lease is over
		panic(cmp.Or(end.panicked, any(http.ErrAbortHandler)))
	}
	rec.WriteHeader(http.StatusOK) // unless it wrote one
	got, items := rec.take()
	if k.cfg.Keep(got.Status) {
		*first = got.Header
		got.Header = k.kept(got.Header)
		return got, items, nil
	}
	if got.Status < 500 {
		_ = c.Release(settling) // otherwise the attempt counts
	}
	return answer{}, nil, &unkeptError{got}
}

// kept returns the headers that are stored.
func (k *Keys) kept(all http.Header) http.Header {
	kept := http.Header{}
	for _, name := range k.stored {
		if values, ok := all[name]; ok {
			kept[name] = values
		}
	}
	return kept
}

// problem is an answer of this package, by RFC 9457.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`

	retry time.Duration
}

func (p *problem) send(w http.ResponseWriter) {
	if p.retry > 0 {
		seconds := (min(p.retry, longestRetry) + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	p.Title = http.StatusText(p.Status)
	body, _ := json.Marshal(p) // of texts and a number
	answer{p.Status, http.Header{"Content-Type": {"application/problem+json"}}, body}.send(w)
}

// refuse is the answer to a request for which none is stored.
func refuse(err error) *problem {
	if busy, ok := errors.AsType[*ledger.InProgressError](err); ok {
		return &problem{Status: http.StatusConflict, Detail: "A request with this Idempotency-Key is in progress.", retry: max(busy.Wait, 1)}
	}
	_, bad := errors.AsType[*event.InputError](err)
	_, permanent := errors.AsType[*ledger.PermanentError](err)
	_, unreadable := errors.AsType[*ledger.ResultError](err)
	switch {
	case errors.Is(err, ledger.ErrFingerprintMismatch):
		return &problem{Status: http.StatusUnprocessableEntity, Detail: "This Idempotency-Key was used for another request."}
	case errors.Is(err, ledger.ErrResultNotStored):
		return &problem{Status: http.StatusInternalServerError, Detail: "The answer to this request is too large to be kept. The request is not done again."}
	case errors.Is(err, ledger.ErrTooManyAttempts):
		return &problem{Status: http.StatusInternalServerError, Detail: "The attempts of this Idempotency-Key are used up."}
	case bad, permanent, unreadable, errors.Is(err, ledger.ErrNoResult):
		return &problem{Status: http.StatusInternalServerError, Detail: "This request cannot be completed."}
	}
	return &problem{Status: http.StatusServiceUnavailable, Detail: "Send the request again, with the same Idempotency-Key.", retry: longestRetry}
}
