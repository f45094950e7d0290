package httpkey

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

const (
	mostBody = 1 << 20
	waitUpTo = time.Second // for a request that is in progress

	// grace is how long a handler has to answer after its context has ended, and how
	// long the claim of one whose answer is not stored may take to be given up.
	grace = 5 * time.Second

	longestRetry = 2 * time.Second
)

// Handler returns a handler that calls next for the first request of each
// Idempotency-Key, stores its answer and replays it. The package's doc has the table of
// answers, says what passes by, and when next is called again.
//
// Next works on when the client hangs up, because the client will ask again. Its request's
// context ends after Config.Timeout, or when the lease is lost, as that of [ledger.Do].
// Next gets the whole body. It cannot stream: Flush and Hijack of its
// http.ResponseController return http.ErrNotSupported. Headers that are not stored are
// sent with the first answer only. The Content-Length is that of the body that next wrote.
//
// If next panics, the attempt counts, the key can be claimed at once if DynamoDB answers,
// writes of [Add] are not written, and Handler panics with the same value. A status that
// net/http refuses panics, too.
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

		req, body, err := k.request(w, r)
		if err != nil {
			refuse(err).send(w)
			return
		}

		ctx, withdraw := context.WithCancelCause(context.WithoutCancel(r.Context())) // a client that hangs up will ask again
		defer withdraw(nil)
		res, err := ledger.DoTx(ctx, k.answers, req, func(ctx context.Context, c *ledger.Claim) (answer, []types.TransactWriteItem, error) {
			return k.work(ctx, c, next, r, body, withdraw)
		})
		switch {
		case err != nil && (res.Value.Status == 0 || !errors.Is(err, ledger.ErrResultNotStored)): // else it is too large, but there
			res.Value = refuse(err)
		case res.Replayed:
			w.Header().Set(replayed, "true")
		}

		res.Value.send(w)
	})
}

// request is what the ledger is asked, and the body.
func (k *Keys) request(w http.ResponseWriter, r *http.Request) (req ledger.Request, body []byte, err error) {
	caller := k.caller(r)
	key, wrong := keyOf(r.Header)
	switch {
	case caller == "":
		return req, nil, &unkeptError{problem(http.StatusUnauthorized, "The request has no authenticated caller.", 0)}
	case wrong != "":
		return req, nil, &unkeptError{problem(http.StatusBadRequest, wrong, 0)}
	}

	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	_, large := errors.AsType[*http.MaxBytesError](err)
	switch {
	case large:
		return req, nil, &unkeptError{problem(http.StatusRequestEntityTooLarge, "The body must have at most 1 MB.", 0)}
	case err != nil:
		return req, nil, &unkeptError{problem(http.StatusBadRequest, "The body cannot be read.", 0)}
	}

	key, err = ledger.Key(caller, "HTTP", fmt.Sprintf("%x", sha256.Sum256([]byte(key))))
	payload := fmt.Appendf(nil, "%s %s\n", r.Method, cmp.Or(r.RequestURI, r.URL.RequestURI()))
	return ledger.Request{Key: key, Payload: append(payload, body...), WaitUpTo: waitUpTo, ReadFirst: k.cfg.ReadFirst}, body, err
}

// unkeptError is an answer that is sent and not stored.
type unkeptError struct{ answer }

// Error is stored with the attempt.
func (e *unkeptError) Error() string { return fmt.Sprint("httpkey: answered ", e.Status) }

// work calls the handler. It has a goroutine of its own, so that it can be given up.
func (k *Keys) work(ctx context.Context, c *ledger.Claim, next http.Handler, r *http.Request, body []byte, withdraw context.CancelCauseFunc) (answer, []types.TransactWriteItem, error) {
	rec := &recorder{claim: c, header: http.Header{}}
	defer rec.take() // however it ends, nothing can be added later
	working, cancel := context.WithTimeout(context.WithValue(ctx, place{}, rec), k.cfg.Timeout)
	defer cancel()
	r = r.Clone(working)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))

	ended := make(chan any, 1) // the value with which it panicked
	go func() {
		var panicked any = http.ErrAbortHandler // runtime.Goexit has no value
		defer func() { ended <- cmp.Or(recover(), panicked) }()
		next.ServeHTTP(rec, r)
		panicked = nil
	}()

	var panicked any
	select {
	case panicked = <-ended:
	case <-time.After(k.cfg.Timeout + grace):
		return answer{}, nil, errors.New("httpkey: the handler did not answer in time")
	}

	settling, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	if panicked != nil {
		// Without the value, which may be personal data. Without Fail, the key would be free when the lease is over.
		_ = c.Fail(settling, errors.New("httpkey: the handler panicked"))
		panic(panicked)
	}

	rec.WriteHeader(http.StatusOK) // unless it wrote one
	got, items := rec.take()
	if !k.cfg.Keep(got.Status) {
		unkept := &unkeptError{got}
		if got.Status < 500 && c.Release(settling) != nil {
			withdraw(unkept) // DoTx does not count an attempt that its caller cancelled
		}
		return answer{}, nil, unkept
	}

	got.first, got.Header = got.Header, http.Header{}
	for name, values := range got.first {
		if slices.Contains(k.cfg.Headers, http.CanonicalHeaderKey(name)) {
			got.Header[name] = slices.Clone(values)
			for i, v := range values { // as JSON can keep it, also in the first answer
				got.Header[name][i] = strings.ToValidUTF8(v, "\ufffd")
			}
		}
	}
	return got, items, nil
}

// problem is an answer of this package, by RFC 9457.
func problem(status int, detail string, retry time.Duration) answer {
	head := http.Header{"Content-Type": {"application/problem+json"}}
	if retry > 0 {
		head.Set("Retry-After", fmt.Sprint(math.Ceil(min(retry, longestRetry).Seconds())))
	}
	body, _ := json.Marshal(map[string]any{"title": http.StatusText(status), "status": status, "detail": detail}) // of texts and a number
	return answer{Status: status, Header: head, Body: body}
}

// refuse is the answer to a request for which none is stored.
func refuse(err error) answer {
	unkept, sent := errors.AsType[*unkeptError](err)
	busy, waits := errors.AsType[*ledger.InProgressError](err)
	_, bad := errors.AsType[*event.InputError](err)
	_, permanent := errors.AsType[*ledger.PermanentError](err)
	_, unreadable := errors.AsType[*ledger.ResultError](err)
	switch {
	case sent:
		return unkept.answer
	case waits:
		return problem(http.StatusConflict, "A request with this Idempotency-Key is in progress.", max(busy.Wait, 1))
	case errors.Is(err, ledger.ErrFingerprintMismatch):
		return problem(http.StatusUnprocessableEntity, "This Idempotency-Key was used for another request.", 0)
	case errors.Is(err, ledger.ErrResultNotStored):
		return problem(http.StatusInternalServerError, "The answer to this request is too large to be kept. The request is not done again.", 0)
	case errors.Is(err, ledger.ErrTooManyAttempts):
		return problem(http.StatusInternalServerError, "The attempts of this Idempotency-Key are used up.", 0)
	case errors.Is(err, ledger.ErrNoResult):
		return problem(http.StatusGone, "The answer to this request was erased. The request is not done again.", 0)
	case bad, permanent, unreadable:
		return problem(http.StatusInternalServerError, "This request cannot be completed.", 0)
	}

	return problem(http.StatusServiceUnavailable, "Send the request again, with the same Idempotency-Key.", longestRetry)
}

// answer is what is stored and sent.
type answer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`

	first http.Header // what the handler itself sent, with the headers that are not stored
}

// send sends the answer. A client that does not get it asks again.
func (a answer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.first)
	maps.Copy(w.Header(), a.Header)
	w.Header().Del("Content-Length") // the handler may have said another
	if len(a.Body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}

// recorder is the ResponseWriter of a handler, and what its context carries. It has
// neither Flush nor Hijack, because what was sent cannot be stored.
type recorder struct {
	claim  *ledger.Claim
	header http.Header

	mu    sync.Mutex // guards what follows, because a handler may go on after it was given up
	sent  answer
	items []types.TransactWriteItem
	over  bool // the answer was taken
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter. Answers before the last are not sent. It
// panics where net/http does, or each replay would.
func (r *recorder) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("httpkey: invalid status %d", status))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if status >= 200 && r.sent.Status == 0 {
		r.sent.Status, r.sent.Header = status, r.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over:
		return 0, http.ErrHandlerTimeout
	case r.sent.Status == http.StatusNoContent || r.sent.Status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	}
	r.sent.Body = append(r.sent.Body, p...)
	return len(p), nil
}

// take returns the answer and the writes that go with it, after which there are no
// more.
func (r *recorder) take() (answer, []types.TransactWriteItem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	return r.sent, r.items
}

// place is where a context carries the recorder.
type place struct{}

// FromContext returns the claim of the request's key, for [ledger.Claim.Event], the
// Fence, and the Reasons of writes that were refused (see [Add]). It returns false for a
// request that did not come through [Keys.Handler] or passed by, as a GET does. The
// handler must not complete the claim.
//
// Price: 0 requests.
func FromContext(ctx context.Context) (*ledger.Claim, bool) {
	if r, ok := ctx.Value(place{}).(*recorder); ok {
		return r.claim, true
	}
	return nil, false
}

// Add joins writes to the transaction that stores the handler's answer: all take effect,
// or nothing does. They are not written if the answer is not stored (Config.Keep). An
// answer that is too large to be stored ends the key without the writes: see
// [ledger.DoTx].
//
// If the condition of a write fails, or a write stays throttled, the handler is called
// again, up to 15 times, with a new ResponseWriter and nothing added. So what else it
// does must be safe to repeat. After a failed condition, [ledger.Claim.Reasons] has a
// reason for each write, in the order in which they were added: give each to the Outcome
// of an item that is made anew, of the same input.
//
// Add returns an [*event.InputError] if the context is not that of a request on which a
// handler is at work.
//
// Price: 0 requests. The transaction costs what [Keys.Handler] says.
func Add(ctx context.Context, items ...types.TransactWriteItem) error {
	r, ok := ctx.Value(place{}).(*recorder)
	if !ok {
		return event.BadInput(pkg, "ctx", "must be the context of a request with an Idempotency-Key")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return event.BadInput(pkg, "ctx", "must be the context of a request that has no answer yet: this one was given up, or its answer was taken")
	}
	r.items = append(r.items, items...)
	return nil
}
