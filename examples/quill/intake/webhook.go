// Package intake receives webhooks. It verifies who sent a request, splits it into
// events, drops copies, and writes each event's mark and fact in one transaction.
//
//	webhook.go    the HTTP handler: who may send, and the answers
//	body.go       how large a body may be, and all bodies together
//	hold.go       how long each source waits, and the spool
//	batch.go      the events of one request: copies, and all others side by side
//	cutover.go    what the earlier pipeline has marked; useless when its marks have expired
//	ledger.go     one transaction for each event
//	undecided.go  what no reply has decided
//	send.go       repeats a request to DynamoDB until it is answered
//	tally.go      what became of them
//
// The answer is 200 only when every event is settled: stored, known already,
// waiting for another, kept as refused, or in the spool. It is 503 when an event of
// HubSpot could not be stored within 4 s: HubSpot sends all of them again, and the
// stored ones are duplicates then. Aloware never sends again, so its requests wait
// up to 90 s, and then go to the spool. A sender that hangs up does not stop the
// work on its request.
//
// IAM must grant what the ledger and the outbox need, and also BatchGetItem on the
// ledger's table as long as old marks are read.
package intake

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/spool"
	"github.com/homeops/ddbpatterns/ledger"
)

// These are the paths of the webhooks.
const (
	AlowarePath = "/aloware"
	HubSpotPath = "/hubspot"
)

// These are the defaults of a Handler.
const (
	SideBySide = 16
	Retention  = 14 * 24 * time.Hour
)

// retryAfter is the wait in seconds for a sender that must send again.
const retryAfter = "10"

// DB is what the package calls of *dynamodb.Client itself.
type DB interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Handler receives the webhooks of both sources. It is safe for concurrent use, and
// must not be changed while it serves.
//
// Price: 1 request, 5 WCU. For each new event: 2 WCU for its mark, 2 for its fact
// and 1 for the index. A duplicate is 1 request and 4 WCU, an event that waits 1
// request and 2 WCU, a later status 2 requests and 6 WCU, a refused event 1 request
// and 2 WCU. This is for items up to 1 KB: a larger item costs this for each KB. A
// copy in the same request and an ignored event cost nothing.
// Price (before the cutover): 2 requests, 1 RCU, 5 WCU. Until the old marks have
// expired, it is also the price of requests with events from before the cutover: 1
// request for each 100 old keys, 1 RCU for each key, and then the price above.
type Handler struct {
	// Aloware says who may send its webhooks. With the zero Auth its path is not
	// found.
	Aloware       aloware.Auth
	AlowareReader aloware.Reader
	// HubSpot checks its signatures. Without a secret its path is not found.
	HubSpot hubspot.Verifier

	DB     DB
	Ledger *ledger.Store
	Outbox *outbox.Store

	// Cutover is when quill took over from a pipeline that marked other keys in the
	// same table. For events dated before Cutover such a mark decides, until the
	// Retention of those marks has passed after it. It is zero without such a
	// pipeline.
	Cutover   time.Time
	Retention time.Duration // defaults to 14 days

	Tally *Tally           // may be nil
	Log   *slog.Logger     // defaults to none
	Now   func() time.Time // defaults to time.Now
	Rand  io.Reader        // of tokens and pauses, safe for concurrent use; defaults to crypto/rand

	SideBySide int // transactions of one request; defaults to 16
	// Bodies is the most bytes of bodies that the requests of a source may hold. Nobody
	// knows who sent one of HubSpot's before it is read. It defaults to 64 MB.
	Bodies int

	// Spool keeps what Aloware sent and could not be stored. Without it that is lost.
	Spool *spool.Spool
	// Ending is closed when the service ends: from then on no request waits longer
	// than HubSpot's.
	Ending <-chan struct{}

	// Began is when this process began. An event from before may have been marked by
	// an earlier version of quill, under its Earlier key.
	Began time.Time

	aloware, hubspot load
	undecided        undecided
}

// now is the handler's clock.
func (h *Handler) now() time.Time {
	if h.Now == nil {
		return time.Now()
	}
	return h.Now()
}

// random fills b. It does not fail.
func (h *Handler) random(b []byte) {
	source := h.Rand
	if source == nil {
		source = rand.Reader
	}
	_, _ = io.ReadFull(source, b)
}

// log is the handler's log.
func (h *Handler) log() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.Log
}

// or returns the value, or the default if the value is not set.
func or[T int | time.Duration](value, otherwise T) T {
	if value <= 0 {
		return otherwise
	}
	return value
}

// ServeHTTP answers when every event of the request is settled, or the source's time
// is over.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := h.now()
	source := h.source(r.URL.Path)
	if source == "" {
		refuse(w, http.StatusNotFound, "not found")
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "only POST is allowed")
		return
	}
	defer h.limit(w, r, source)()
	text, no := h.read(r, source)
	if no != nil {
		h.Tally.add(no.counts())
		level := slog.LevelWarn
		if no.status == http.StatusServiceUnavailable {
			level = slog.LevelError
			w.Header().Set("Retry-After", retryAfter)
		}
		h.log().LogAttrs(r.Context(), level, "webhook refused",
			slog.String("source", source), slog.Int("status", no.status), slog.String("reason", no.reason))
		refuse(w, no.status, no.answer)
		return
	}
	counts := h.take(r.Context(), source, began, text)
	h.Tally.add(counts)
	h.log().LogAttrs(r.Context(), levelOf(counts), "webhook", slog.String("source", source),
		slog.Any("events", counts), slog.Int64("ms", h.now().Sub(began).Milliseconds()))
	status := http.StatusOK
	if counts.Unstored > 0 {
		w.Header().Set("Retry-After", retryAfter)
		status = http.StatusServiceUnavailable
	}
	answer(w, status, counts)
}

// source is the source whose webhook is at the path, "" if it is not
// configured.
func (h *Handler) source(path string) string {
	switch {
	case path == AlowarePath && h.Aloware != (aloware.Auth{}):
		return fact.Aloware
	case path == HubSpotPath && h.HubSpot.Secret != "":
		return fact.HubSpot
	}
	return ""
}

// refusal says why a request is not read.
type refusal struct {
	status int
	answer string // for the sender
	reason string // for the log
}

func (r refusal) counts() Counts {
	if r.status == http.StatusUnauthorized {
		return Counts{Forged: 1}
	}
	return Counts{Unread: 1}
}

// read returns the body of a request that the source has sent. What the headers
// decide is decided before the body is read.
func (h *Handler) read(r *http.Request, source string) ([]byte, *refusal) {
	forged := func(why string) *refusal { return &refusal{http.StatusUnauthorized, "not authenticated", why} }
	if source == fact.Aloware && !h.Aloware.Check(r) {
		return nil, forged("other credentials than those that are configured")
	}
	if source == fact.HubSpot {
		if err := h.HubSpot.VerifyHeaders(r); err != nil {
			return nil, forged(err.Error())
		}
	}
	text, err := io.ReadAll(r.Body)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, &refusal{http.StatusRequestEntityTooLarge, "the body is too large", err.Error()}
	}
	if errors.Is(err, errBodies) {
		return nil, &refusal{http.StatusServiceUnavailable, "too many bodies at once", err.Error()}
	}
	if err != nil { // the sender went away, or is too slow; the error may name its address
		return nil, &refusal{http.StatusBadRequest, "the body ended early", "the body ended early"}
	}
	if source == fact.HubSpot {
		if err := h.HubSpot.Verify(r, text); err != nil {
			return nil, forged(err.Error())
		}
	}
	return text, nil
}

// events reads the body of a source.
func (h *Handler) events(source string, text []byte) []fact.Event {
	if source == fact.HubSpot {
		return hubspot.Events(text)
	}
	return h.AlowareReader.Events(text)
}

func levelOf(c Counts) slog.Level {
	if c.Unstored > 0 {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// refuse answers a request that is not read.
func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, struct {
		Error string `json:"error"`
	}{why})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the sender may have gone
}
