package intake_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
)

// fixtures are what both sources send.
var fixtures = []struct {
	name, path, body string
	want             intake.Counts
	keys             []string // of facts
}{
	{
		"classic batch", intake.HubSpotPath,
		`[{"eventId":4108526299,"subscriptionId":25,"portalId":62515,"appId":54321,"occurredAt":1795240800123,"subscriptionType":"contact.propertyChange","attemptNumber":0,"objectId":123,"propertyName":"lifecyclestage","propertyValue":"customer","changeSource":"CRM_UI","sourceId":"userId:7","isSensitive":false},{"eventId":4108526300,"subscriptionId":22,"portalId":62515,"appId":54321,"occurredAt":1795240800100,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":124,"changeFlag":"CREATED","changeSource":"IMPORT","sourceId":"userId:7"}]`,
		intake.Counts{Received: 2, New: 2},
		[]string{
			"HUBSPOT:62515:25:contact.propertyChange:123:lifecyclestage:1795240800123:4108526299",
			"HUBSPOT:62515:22:contact.creation:124:-:1795240800100:4108526300",
		},
	},
	{
		"generic, third delivery", intake.HubSpotPath,
		`[{"eventId":2145459286,"subscriptionId":31,"portalId":62515,"appId":54321,"occurredAt":1795240801000,"subscriptionType":"object.deletion","attemptNumber":2,"objectId":180584432881,"objectTypeId":"0-3","changeFlag":"DELETED","changeSource":"CRM_UI_BULK_ACTION","sourceId":"userId:7"}]`,
		isNew,
		[]string{"HUBSPOT:62515:31:object.deletion:180584432881:-:1795240801000:2145459286:objectTypeId=0-3"},
	},
	{
		"merge", intake.HubSpotPath,
		`[{"eventId":9,"subscriptionId":40,"portalId":62515,"appId":54321,"occurredAt":1795240802000,"subscriptionType":"contact.merge","attemptNumber":0,"primaryObjectId":123,"mergedObjectIds":[124],"newObjectId":900,"numberOfPropertiesMoved":4,"changeSource":"CRM_UI"}]`,
		isNew,
		[]string{"HUBSPOT:62515:40:contact.merge:123-900:-:1795240802000:9:mergedObjectIds=124"},
	},
	{
		"association", intake.HubSpotPath,
		`[{"eventId":10,"subscriptionId":41,"portalId":62515,"appId":54321,"occurredAt":1795240803000,"subscriptionType":"contact.associationChange","attemptNumber":0,"associationType":"CONTACT_TO_COMPANY","fromObjectId":123,"toObjectId":55,"associationRemoved":false,"isPrimaryAssociation":true,"changeSource":"CRM_UI"}]`,
		isNew,
		[]string{"HUBSPOT:62515:41:contact.associationChange:123-55:-:1795240803000:10:associationType=CONTACT_TO_COMPANY&isPrimaryAssociation=true"},
	},
	{"sms", intake.AlowarePath, sms, isNew, []string{"ALOWARE:SMS:985097001"}},
	{"call ringing", intake.AlowarePath, call("ringing"), isWaiting, nil},
	{"same call completed", intake.AlowarePath, call("completed"), isNew, []string{callKey}},
}

// Each fixture comes twice, and every event is a fact once.
func TestFixtures(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	total := 0
	for _, f := range fixtures {
		b.send(f.path, f.body, 200, f.want)
		for _, key := range f.keys {
			b.get(key)
		}
		total += len(f.keys)
	}
	for _, f := range fixtures {
		b.send(f.path, f.body, 200, intake.Counts{Received: f.want.Received, Duplicate: f.want.Received})
	}
	b.wants(total)
	for _, row := range b.db.Items(marks) {
		source, _, _ := strings.Cut(text(row, "pk"), ":")
		if text(row, "notes") != "initial insert" || text(row, "source") != source || text(row, "seenAt") == "" {
			t.Errorf("the ledger has %v", row)
		}
	}
	// personal data stays out of the log: numbers, names, texts
	for _, personal := range []string{"5550100001", "5550100002", "Dee", "call me", "customer", token, secret, "@"} {
		if strings.Contains(b.logged(), personal) {
			t.Errorf("the log has %q:\n%s", personal, b.logged())
		}
	}
}

// The answer and the log, word for word.
func TestAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := httptest.NewRecorder()
	b.ServeHTTP(w, b.request(t.Context(), intake.HubSpotPath, batch(change(1), change(1), "7")))
	if got := w.Body.String(); w.Code != 200 || got != `{"received":3,"new":1,"duplicate":1,"refused":1,"waiting":0}`+"\n" {
		t.Errorf("%d %s", w.Code, got)
	}
	if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Retry-After") != "" {
		t.Errorf("%v", w.Header())
	}
	for _, want := range []string{
		`level=INFO msg=webhook source=HUBSPOT events.received=3 events.new=1 events.duplicate=1 events.refused=1 ms=0`,
		`level=WARN msg="event refused" source=HUBSPOT reason="hubspot: [2]`,
	} {
		if !strings.Contains(b.logged(), want) {
			t.Errorf("%s is not in\n%s", want, b.logged())
		}
	}
	if lines := strings.Count(b.logged(), "\n"); lines != 2 {
		t.Errorf("%d lines:\n%s", lines, b.logged())
	}
}

// An empty batch is settled.
func TestNoEvents(t *testing.T) {
	t.Parallel()
	newBench(t).send(intake.HubSpotPath, "[]", 200, intake.Counts{})
}

// A request from somebody else causes no request to the tables.
func TestRequestsThatAreNotRead(t *testing.T) {
	t.Parallel()
	with := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	body := func(text string) func(*http.Request) {
		return func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(text)) }
	}
	for name, tc := range map[string]struct {
		path   string
		change func(*http.Request)
		status int
		answer string
	}{
		"another path":       {"/hooks", func(*http.Request) {}, 404, "not found"},
		"below the path":     {intake.AlowarePath + "/", func(*http.Request) {}, 404, "not found"},
		"GET":                {intake.AlowarePath, func(r *http.Request) { r.Method = "GET" }, 405, "only POST is allowed"},
		"PUT":                {intake.HubSpotPath, func(r *http.Request) { r.Method = "PUT" }, 405, "only POST is allowed"},
		"no token":           {intake.AlowarePath, func(r *http.Request) { r.Header.Del("Authorization") }, 401, "not authenticated"},
		"another token":      {intake.AlowarePath, with("Authorization", "Bearer "+token+"x"), 401, "not authenticated"},
		"no signature":       {intake.HubSpotPath, func(r *http.Request) { r.Header.Del("X-HubSpot-Signature-v3") }, 401, "not authenticated"},
		"another signature":  {intake.HubSpotPath, with("X-HubSpot-Signature-v3", "c2VjcmV0"), 401, "not authenticated"},
		"another time":       {intake.HubSpotPath, with("X-HubSpot-Request-Timestamp", "1795240801000"), 401, "not authenticated"},
		"another body":       {intake.HubSpotPath, body(batch(change(2))), 401, "not authenticated"},
		"Aloware, too large": {intake.AlowarePath, body(strings.Repeat(" ", intake.AlowareBody+1)), 413, "the body is too large"},
		"HubSpot, too large": {intake.HubSpotPath, body(strings.Repeat(" ", intake.HubSpotBody+1)), 413, "the body is too large"},
		"too large, and forged": {intake.AlowarePath, func(r *http.Request) {
			body(strings.Repeat(" ", intake.AlowareBody+1))(r)
			r.Header.Del("Authorization")
		}, 401, "not authenticated"},
		"half a body": {intake.AlowarePath, func(r *http.Request) { r.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), broken{})) }, 400, "the body ended early"},
	} {
		b := newBench(t)
		r := b.request(t.Context(), tc.path, batch(change(1)))
		if tc.path == intake.AlowarePath {
			r = b.request(t.Context(), tc.path, sms)
		}
		tc.change(r)
		w := httptest.NewRecorder()
		cost := b.db.Meter(func() { b.ServeHTTP(w, r) })
		if got := w.Body.String(); w.Code != tc.status || got != `{"error":"`+tc.answer+`"}`+"\n" {
			t.Errorf("%s: %d %s", name, w.Code, got)
		}
		if allow := w.Header().Get("Allow"); (allow == "POST") != (tc.status == 405) {
			t.Errorf("%s: Allow %q", name, allow)
		}
		want := intake.Counts{}
		switch tc.status {
		case 401:
			want.Forged = 1
		case 400, 413:
			want.Unread = 1
		}
		if got := b.Tally.Snapshot(); got != want || cost.Requests != 0 {
			t.Errorf("%s: tally %+v, %v", name, got, cost)
		}
	}
}

// broken is a body whose sender went away.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// The path of a source that is not configured is not found, whatever is sent.
func TestSourcesThatAreNotConfigured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Aloware = aloware.Auth{}
	if status, _ := b.serve(b.request(t.Context(), intake.AlowarePath, sms)); status != 404 {
		t.Errorf("Aloware: %d", status)
	}
	b.send(intake.HubSpotPath, batch(change(1)), 200, isNew)

	b = newBench(t)
	b.HubSpot = hubspot.Verifier{PublicURL: publicURL}
	if status, _ := b.serve(b.request(t.Context(), intake.HubSpotPath, batch(change(1)))); status != 404 {
		t.Errorf("HubSpot: %d", status)
	}
	for name, auth := range map[string]aloware.Auth{"user": {User: "u"}, "password": {Password: "p"}, "both": {User: "u", Password: "p"}} {
		b.Aloware = auth
		r := b.request(t.Context(), intake.AlowarePath, sms)
		r.SetBasicAuth(auth.User, auth.Password)
		if status, _ := b.serve(r); status != 200 {
			t.Errorf("Aloware, %s: %d", name, status)
		}
	}
}

// A body as large as its source may send is read, and one byte more is not. HubSpot's
// largest batch, 100 events with the longest values, is not larger.
func TestTheLargestBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // a busy machine takes no time in it
		b := newBench(t)
		large := sms + strings.Repeat(" ", 1<<20-len(sms))
		b.send(intake.AlowarePath, large, 200, isNew)
		if status, _ := b.serve(b.request(t.Context(), intake.AlowarePath, large+" ")); status != 413 {
			t.Errorf("one byte more: %d", status)
		}
		var events []string
		for n := range 100 {
			events = append(events, change(n))
		}
		events[99] = strings.Replace(change(99), "customer", strings.Repeat("x", 65_536), 1)
		if most := 100 * (len(events[99]) + len(",")); most > intake.HubSpotBody {
			t.Errorf("the largest batch has %d bytes", most)
		}
		batch := batch(events...)
		batch += strings.Repeat(" ", 8<<20-len(batch))
		b.send(intake.HubSpotPath, batch, 200, intake.Counts{Received: 100, New: 100})
		if status, _ := b.serve(b.request(t.Context(), intake.HubSpotPath, batch+" ")); status != 413 {
			t.Errorf("one byte more: %d", status)
		}
		b.wants(101)
	})
}

// A sender that hangs up does not stop the work on its request.
func TestASenderThatHangsUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, hangUp := context.WithCancel(t.Context())
	r := b.request(ctx, intake.HubSpotPath, batch(change(1), change(2)))
	hangUp()
	if status, counts := b.serve(r); status != 200 || counts.New != 2 {
		t.Errorf("%d %+v", status, counts)
	}
	b.wants(2)
}

// HubSpot waits 5 s, so storing stops after 4 s, even if no reply comes at all.
func TestStoringEndsInTime(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]dynamotest.Fault{
		"no reply":         {Do: dynamotest.Delay(time.Hour), Op: "TransactWriteItems", Times: -1},
		"throttled":        {Do: dynamotest.Throttle, Op: "TransactWriteItems", Times: -1},
		"refusals as well": {Do: dynamotest.Unavailable, Times: -1},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.db.Inject(fault)
			body := batch(change(1), change(2), change(3))
			want := intake.Counts{Received: 3, Waiting: 3, Unstored: 3}
			if name == "refusals as well" {
				body = batch(change(1), "7", change(3))
			}
			began := time.Now()
			b.send(intake.HubSpotPath, body, 503, want)
			if took := time.Since(began); took < 3*time.Second || took > intake.HubSpotWithin {
				t.Errorf("%s: it took %v", name, took)
			}
			if !strings.Contains(b.logged(), "level=ERROR msg=\"events not stored\" events=3 first=") {
				t.Errorf("%s:\n%s", name, b.logged())
			}
			b.db.Heal()
			synctest.Wait()
		})
	}
}

// The answer tells a sender when to send again.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.db.Inject(dynamotest.Fault{Do: dynamotest.Answer(http.StatusBadRequest, `{"__type": "AccessDeniedException"}`), Op: "TransactWriteItems"})
	w := httptest.NewRecorder()
	b.ServeHTTP(w, b.request(t.Context(), intake.AlowarePath, sms))
	if w.Code != 503 || w.Header().Get("Retry-After") != "10" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	b.send(intake.AlowarePath, sms, 200, isNew)
}

// A Handler needs no clock, log or tally.
func TestDefaults(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := &intake.Handler{Aloware: b.Aloware, DB: b.DB, Ledger: b.Ledger, Outbox: b.Outbox}
	for status, name := range map[int]string{200: token, 401: "another"} {
		r := b.request(t.Context(), intake.AlowarePath, sms)
		r.Header.Set("Authorization", "Bearer "+name)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if b.get("ALOWARE:SMS:985097001").Table != fact.Communications {
		t.Error("the fact is of another table")
	}
}
