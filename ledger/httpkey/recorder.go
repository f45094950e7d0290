package httpkey

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

// answer is what is stored and sent.
type answer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`
}

// send sends the answer. A client that does not get it asks again.
func (a answer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
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

	mu     sync.Mutex // guards what follows, because a handler may go on after it was given up
	sent   http.Header
	status int
	body   bytes.Buffer
	items  []types.TransactWriteItem
	over   bool // the answer was taken
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter. Answers before the last are not sent.
func (r *recorder) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if status >= 200 && r.status == 0 {
		r.status, r.sent = status, r.header.Clone()
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
	case r.status == http.StatusNoContent || r.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	}
	return r.body.Write(p)
}

// take returns the answer and the writes that go with it, after which there are no
// more.
func (r *recorder) take() (answer, []types.TransactWriteItem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	return answer{Status: r.status, Header: r.sent, Body: slices.Clone(r.body.Bytes())}, r.items
}

// place is where a context carries the recorder.
type place struct{}

// FromContext returns the claim of the request's key, for [ledger.Claim.Event],
// the Fence, and the Reasons of writes that were refused (see [Add]); false if
// the request did not come through [Keys.Handler], as a GET does not. The handler must
// not complete the claim.
//
// Price: 0 requests.
func FromContext(ctx context.Context) (*ledger.Claim, bool) {
	r, ok := ctx.Value(place{}).(*recorder)
	if !ok {
		return nil, false
	}
	return r.claim, true
}

// Add joins writes to the transaction that stores the handler's answer: all take effect,
// or nothing does. They are not written if the answer is not stored (Config.Keep). If
// the condition of a write fails, the handler is called again, up to 15 times, with a new
// ResponseWriter and nothing added; [ledger.Claim.Reasons] has a reason for each write,
// in the order in which they were added. So what the handler does besides must be safe to
// repeat. An answer that is too large to be stored ends the key without the writes: see
// [ledger.DoTx].
//
// Add returns an [*event.InputError] if the context is not that of a handler's request
// at work.
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
