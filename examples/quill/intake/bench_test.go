package intake_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/ledger"
)

const (
	token     = "aloware-token"
	secret    = "hubspot-secret"
	publicURL = "https://hooks.example.com"

	marks = "QuillIdempotencyLedger"
	facts = "QuillFacts"
)

// bench is a Handler on tables of its own, at a time that the test sets.
type bench struct {
	*intake.Handler
	t  *testing.T
	db *dynamotest.DB

	mu  sync.Mutex
	at  time.Time
	out bytes.Buffer // the log
}

// Write lets several goroutines write the log.
func (b *bench) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *bench) logged() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

func (b *bench) set(at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = at
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, at: time.Date(2026, 11, 21, 6, 5, 0, 0, time.UTC)}
	b.db = dynamotest.New(t, &dynamotest.Config{Now: b.clock, MaxBackoff: time.Millisecond})
	led, err := ledger.New(b.db.Client(), marks, &ledger.Config{Now: b.clock})
	if err != nil {
		t.Fatal(err)
	}
	out, err := outbox.New(b.db.Client(), facts, &outbox.Config{Now: b.clock, Unreadable: func(string, error) {}})
	if err != nil {
		t.Fatal(err)
	}
	b.db.Create(led.Table(), out.Table())
	b.Handler = &intake.Handler{
		Aloware: aloware.Auth{Token: token},
		HubSpot: hubspot.Verifier{Secret: secret, PublicURL: publicURL, Now: b.clock},
		DB:      b.db.Client(), Ledger: led, Outbox: out,
		Tally: &intake.Tally{}, Now: b.clock, Log: slog.New(slog.NewTextHandler(b, nil)),
	}
	return b
}

// twin returns another handler with the same fields.
func (b *bench) twin() *intake.Handler {
	h := b.Handler
	return &intake.Handler{
		Aloware: h.Aloware, AlowareReader: h.AlowareReader, HubSpot: h.HubSpot,
		DB: h.DB, Ledger: h.Ledger, Outbox: h.Outbox, Cutover: h.Cutover, Retention: h.Retention,
		Tally: h.Tally, Log: h.Log, Now: h.Now, SideBySide: h.SideBySide, Spool: h.Spool, Ending: h.Ending, Began: h.Began,
	}
}

// request returns a genuine request.
func (b *bench) request(ctx context.Context, path, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	if path == intake.AlowarePath {
		r.Header.Set("Authorization", "Bearer "+token)
		return r
	}
	stamp := strconv.FormatInt(b.clock().UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(http.MethodPost + publicURL + path + body + stamp))
	r.Header.Set("X-HubSpot-Signature-v3", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	r.Header.Set("X-HubSpot-Request-Timestamp", stamp)
	return r
}

// serve answers the request and returns the status and the counts of the answer.
func (b *bench) serve(r *http.Request) (int, intake.Counts) {
	b.t.Helper()
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	var counts intake.Counts
	if err := json.Unmarshal(w.Body.Bytes(), &counts); err != nil {
		b.t.Errorf("answered %q: %v", w.Body, err)
	}
	if got := counts.New + counts.Duplicate + counts.Refused + counts.Waiting + counts.Ignored; got != counts.Received {
		b.t.Errorf("received %d, and accounted for %d: %+v", counts.Received, got, counts)
	}
	return w.Code, counts
}

// send sends a genuine request, and checks its status and what the tally adds.
func (b *bench) send(path, body string, status int, want intake.Counts) {
	b.t.Helper()
	before := b.Tally.Snapshot()
	got, answered := b.serve(b.request(b.t.Context(), path, body))
	added := minus(b.Tally.Snapshot(), before)
	if got != status || added != want {
		b.t.Errorf("%.100s: %d %+v, want %d %+v\n%s", body, got, added, status, want, b.logged())
	}
	if want.Old, want.Later, want.Unstored, want.Spooled, want.Incomplete = 0, 0, 0, 0, 0; answered != want {
		b.t.Errorf("%.100s: answered %+v, want %+v", body, answered, want)
	}
}

func minus(a, b intake.Counts) intake.Counts {
	return intake.Counts{
		Received: a.Received - b.Received, New: a.New - b.New, Duplicate: a.Duplicate - b.Duplicate,
		Refused: a.Refused - b.Refused, Waiting: a.Waiting - b.Waiting, Ignored: a.Ignored - b.Ignored, Incomplete: a.Incomplete - b.Incomplete,
		Old: a.Old - b.Old, Later: a.Later - b.Later, Unstored: a.Unstored - b.Unstored, Spooled: a.Spooled - b.Spooled, Forged: a.Forged - b.Forged,
	}
}

// These are the outcomes of one event.
var (
	isNew       = intake.Counts{Received: 1, New: 1}
	isDuplicate = intake.Counts{Received: 1, Duplicate: 1}
	isOld       = intake.Counts{Received: 1, Duplicate: 1, Old: 1}
	isLater     = intake.Counts{Received: 1, Duplicate: 1, Later: 1}
	isRefused   = intake.Counts{Received: 1, Refused: 1}
	isWaiting   = intake.Counts{Received: 1, Waiting: 1}
	isIgnored   = intake.Counts{Received: 1, Ignored: 1}
	isUnstored  = intake.Counts{Received: 1, Waiting: 1, Unstored: 1}
)

// stored returns the keys of all facts, and the number of refusals.
func (b *bench) stored() (keys []string, refusals int) {
	b.t.Helper()
	for _, row := range b.db.Items(facts) {
		switch text(row, "type") {
		case "FACT":
			keys = append(keys, text(row, "pk"))
		case "REFUSED":
			refusals++
		}
	}
	return keys, refusals
}

// wants compares the number of facts.
func (b *bench) wants(want int) {
	b.t.Helper()
	if keys, _ := b.stored(); len(keys) != want {
		b.t.Errorf("%d facts, want %d: %v", len(keys), want, keys)
	}
}

// get returns a fact that must exist.
func (b *bench) get(key string) outbox.Stored {
	b.t.Helper()
	stored, ok, err := b.Outbox.Get(b.t.Context(), key)
	if err != nil || !ok {
		b.t.Fatalf("fact %s: %v %v", key, ok, err)
	}
	return stored
}

func text(row map[string]types.AttributeValue, name string) string {
	s, _ := row[name].(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

const callKey = fact.Aloware + ":CALL:985097163"

// call returns a call's webhook, that of the fixtures if it rings or is
// completed.
func call(status string) string {
	disposition := status
	if status == "ringing" {
		disposition = "in-progress"
	}
	return fmt.Sprintf(`{"event":"OutboundPhoneCall-DispositionCompleted","body":{"id":985097163,"type":1,"direction":2,"created_at":"2026-11-21 06:01:00","contact_id":44500,"campaign_id":65345,"lead_number":"+15550100001","incoming_number":"+15550100002","current_status":%q,"disposition_status":%q,"duration":33,"talk_time":8}}`, status, disposition)
}

const sms = `{"event":"InboundSMS-DispositionCompleted","body":{"id":985097001,"type":2,"direction":1,"body":"Yes, call me","created_at":"2026-11-21 06:00:00","contact_id":44500,"campaign_id":65345,"lead_number":"+15550100001","incoming_number":"+15550100002","current_status":"completed","disposition_status":"completed","user_id":null,"contact":{"id":44500,"first_name":"Dee","last_name":null,"phone_number":"+15550100001","uuid_v4":null}}}`

// change returns the n-th event of HubSpot.
func change(n int) string {
	return fmt.Sprintf(`{"eventId":%d,"subscriptionId":25,"portalId":62515,"appId":54321,"occurredAt":1795240800123,"subscriptionType":"contact.propertyChange","attemptNumber":0,"objectId":%d,"propertyName":"lifecyclestage","propertyValue":"customer","changeSource":"CRM_UI"}`, 4108526299+int64(n), 123+n)
}

// batch returns the body of a request of HubSpot.
func batch(events ...string) string { return "[" + strings.Join(events, ",") + "]" }
