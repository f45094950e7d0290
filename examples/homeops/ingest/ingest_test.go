package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

const secret = "s3cret_Token-1"

// post sends the body through the handler and returns the status and the
// handler's result.
func post(t *testing.T, q queue.Queue, method, token string, body io.Reader) (int, ingest.Result) {
	t.Helper()
	var result ingest.Result
	h := &ingest.Handler{
		Secret: secret, Queue: q, Log: slog.New(slog.DiscardHandler),
		Observe: func(r ingest.Result) { result = r },
	}
	r := httptest.NewRequest(method, "/telegram", body)
	r.Header.Set(ingest.SecretHeader, token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, result
}

const hello = `{"update_id":101,"message":{"message_id":21,"from":{"id":5},"chat":{"id":-100},"date":1795240821,"text":"\ud83d\udc4b"}}`

func TestEnqueuesTheOriginalBytes(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	status, result := post(t, q, "POST", secret, strings.NewReader(hello))
	if status != 200 || result.Disposition != ingest.Enqueued || result.UpdateID != 101 {
		t.Fatalf("%d %+v", status, result)
	}
	batch, err := q.Receive(t.Context(), 1, 0)
	if err != nil || len(batch) != 1 || batch[0].Body != hello ||
		batch[0].Attributes[queue.ChatID] != "-100" || batch[0].Attributes[queue.MessageID] != "21" {
		t.Errorf("queued %+v, %v", batch, err)
	}
}

func TestDeniesWhatIsNotTelegram(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method, token string
		status        int
	}{
		"no secret":      {"POST", "", 401},
		"another secret": {"POST", secret + "x", 401},
		"a GET":          {"GET", secret, 405},
	} {
		q := queue.NewMemory(queue.Config{})
		status, result := post(t, q, tc.method, tc.token, strings.NewReader(hello))
		if status != tc.status || result.Disposition != ingest.Denied || q.Len() != 0 || len(q.Dead()) != 0 {
			t.Errorf("%s: %d %+v", name, status, result)
		}
	}
	h := &ingest.Handler{Queue: queue.NewMemory(queue.Config{}), Log: slog.New(slog.DiscardHandler)}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/telegram", strings.NewReader(hello)))
	if w.Code != http.StatusUnauthorized {
		t.Errorf("a handler without a secret lets an empty one in: %d", w.Code)
	}
}

func TestIgnoresWithoutQueueing(t *testing.T) {
	t.Parallel()
	for body, kind := range map[string]telegram.Kind{
		`{"update_id":115,"future_kind":{"x":1}}`:                                                     telegram.KindOther,
		`{"update_id":110,"edited_message":{"message_id":7,"date":9,"chat":{"id":-100},"text":"+2"}}`: telegram.KindEdit,
		`{"update_id":114,"message_reaction":{"chat":{"id":-100},"message_id":7,"date":1795240800}}`:  telegram.KindOther,
	} {
		q := queue.NewMemory(queue.Config{})
		status, result := post(t, q, "POST", secret, strings.NewReader(body))
		if status != 200 || result.Disposition != ingest.Ignored || result.Kind != kind || q.Len() != 0 {
			t.Errorf("%s: %d %+v", body, status, result)
		}
	}
}

// A poison update must not stall its chat: it is kept with its reason, and
// answered 200.
func TestRefusesDurably(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no JSON":       "{\x00",
		"empty":         "",
		"no message id": `{"update_id":1,"message":{"date":3,"chat":{"id":-4}}}`,
		"endless":       strings.Repeat("x", 2<<20),
		"too large":     `{"update_id":1,"message":{"message_id":1,"date":3,"chat":{"id":-4},"text":"` + strings.Repeat("x", 300_000) + `"}}`,
	} {
		q := queue.NewMemory(queue.Config{})
		status, result := post(t, q, "POST", secret, strings.NewReader(body))
		dead := q.Dead()
		if status != 200 || result.Disposition != ingest.Refused || len(dead) != 1 || q.Len() != 0 {
			t.Errorf("%s: %d %+v, %d dead", name, status, result, len(dead))
			continue
		}
		if kept, whole := dead[0].Content(); !strings.HasPrefix(body, string(kept)) && body != "" || whole != (len(body) < 100_000) {
			t.Errorf("%s: %d bytes of %d kept, whole: %v", name, len(kept), len(body), whole)
		}
		if dead[0].Attributes[queue.Reason] == "" || queue.Check(dead[0].Body, dead[0].Attributes, queue.MaxBytes) != nil {
			t.Errorf("%s: SQS would not keep the dead letter, or it has no reason: %.100v", name, dead[0])
		}
	}
}

// picky is a queue that finds characters in the body that it does not take.
type picky struct {
	*queue.Memory
	why error
}

func (q picky) Send(context.Context, string, map[string]string) (string, error) {
	return "", fmt.Errorf("sqs: %w", q.why)
}

// An update that the queue will never take is refused like a poison update:
// Telegram would repeat it for a day, and hold the chat up.
func TestWhatTheQueueNeverTakesIsRefused(t *testing.T) {
	t.Parallel()
	for _, why := range []error{queue.ErrInvalidContents, &queue.TooLargeError{Size: 2, Limit: 1}} {
		q := picky{queue.NewMemory(queue.Config{}), why}
		status, result := post(t, q, "POST", secret, strings.NewReader(hello))
		dead := q.Dead()
		if status != 200 || result.Disposition != ingest.Refused || len(dead) != 1 {
			t.Errorf("%v: %d %+v, %d dead", why, status, result, len(dead))
			continue
		}
		if !strings.Contains(dead[0].Attributes[queue.Reason], why.Error()) || content(dead[0]) != hello || dead[0].Attributes[queue.ChatID] != "-100" {
			t.Errorf("%v: kept %+v", why, dead[0])
		}
	}
}

// content is the body that was refused.
func content(m queue.Message) string {
	body, _ := m.Content()
	return string(body)
}

// A body with a NUL or the like anywhere is not JSON, and is kept byte by byte.
func TestControlCharactersAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"\x00", "\x0b", "\x1f"} {
		for _, body := range []string{strings.Replace(hello, `\ud83d`, bad+`\ud83d`, 1), hello + bad, bad + hello} {
			q := queue.NewMemory(queue.Config{})
			status, result := post(t, q, "POST", secret, strings.NewReader(body))
			dead := q.Dead()
			if status != 200 || result.Disposition != ingest.Refused || q.Len() != 0 || len(dead) != 1 {
				t.Errorf("%q: %d %+v", body, status, result)
				continue
			}
			if kept := content(dead[0]); kept != body {
				t.Errorf("kept %q, not %q", kept, body)
			}
		}
	}
}

// A refusal is logged with the chat and the address that it came from.
func TestRefusalsAreLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	h := &ingest.Handler{Secret: secret, Queue: queue.NewMemory(queue.Config{MaxBytes: 500}), Log: slog.New(slog.NewTextHandler(&log, nil))}
	large := strings.Replace(hello, `"text":"`, `"text":"`+strings.Repeat("x", 600), 1)
	for _, body := range []string{large, "{"} {
		r := httptest.NewRequest("POST", "/telegram", strings.NewReader(body))
		r.Header.Set(ingest.SecretHeader, secret)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, want := range []string{
		fmt.Sprintf("level=WARN msg=update disposition=refused kind=message update_id=101 chat_id=-100 message_id=21 reason=\"queue: a message of %d bytes is over the queue's limit of 500\" from=192.0.2.1:1234\n",
			len(large)+len("chatIdString-100telegramMessageIdNumber21")),
		"reason=\"telegram: not an update: ",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%s is not in\n%s", want, log.String())
		}
	}
}

func TestEscapesWhatSQSRefuses(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	body := strings.ReplaceAll(hello, `\ud83d\udc4b`, "\uFFFF \xff å")
	if status, result := post(t, q, "POST", secret, strings.NewReader(body)); status != 200 || result.Disposition != ingest.Enqueued {
		t.Fatalf("%d %+v", status, result)
	}
	batch, _ := q.Receive(t.Context(), 1, 0)
	u, err := telegram.Parse([]byte(batch[0].Body))
	if err != nil || u.Message.Text != "\uFFFF \uFFFD å" {
		t.Errorf("came out as %+v, %v", u.Message, err)
	}
}

// broken is a queue that cannot be reached.
type broken struct{ queue.Queue }

var errDown = errors.New("the queue is down")

func (broken) Send(context.Context, string, map[string]string) (string, error) { return "", errDown }
func (broken) Refuse(context.Context, []byte, map[string]string, string) error { return errDown }
func (broken) Receive(context.Context, int, time.Duration) ([]queue.Message, error) {
	return nil, errDown
}

func TestTroubleOfOurOwnIsForTelegramToRepeat(t *testing.T) {
	t.Parallel()
	for _, body := range []string{hello, "{"} {
		status, result := post(t, broken{}, "POST", secret, strings.NewReader(body))
		if status != 500 || result.Disposition != ingest.Failed {
			t.Errorf("%s: %d %+v", body, status, result)
		}
	}
}

// busy is a queue that takes nothing for a while.
type busy struct {
	queue.Queue
	after time.Duration
}

func (q busy) Send(context.Context, string, map[string]string) (string, error) {
	return "", fmt.Errorf("gate: %w", &queue.BusyError{Reason: "the database", After: q.after})
}

// Telegram keeps what the queue does not take now, and repeats it after the
// queue's time, rounded up to whole seconds.
func TestABusyQueueIsForTelegramToWaitFor(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]string{15 * time.Second: "15", 1200 * time.Millisecond: "2", time.Millisecond: "1", 0: ""} {
		var log strings.Builder
		h := &ingest.Handler{Secret: secret, Queue: busy{after: after}, Log: slog.New(slog.NewTextHandler(&log, nil))}
		r := httptest.NewRequest("POST", "/telegram", strings.NewReader(hello))
		r.Header.Set(ingest.SecretHeader, secret)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Retry-After"); w.Code != http.StatusServiceUnavailable || got != want {
			t.Errorf("busy for %v: %d, Retry-After %q, want %q", after, w.Code, got, want)
		}
		if !strings.Contains(log.String(), `level=WARN msg=update disposition=busy kind=message update_id=101`) || !strings.Contains(log.String(), "queue: busy: the database") {
			t.Errorf("logged %s", &log)
		}
	}
}

func TestASenderThatGoesAwayIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	cut := io.MultiReader(strings.NewReader(hello[:20]), brokenReader{})
	if status, result := post(t, q, "POST", secret, cut); status != 400 || result.Disposition != ingest.Failed || q.Len() != 0 {
		t.Errorf("%d %+v", status, result)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
