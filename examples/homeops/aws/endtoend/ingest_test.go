package endtoend

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/function"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// post returns an update as a function URL hands it over.
func post(update string) events.APIGatewayV2HTTPRequest {
	in := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "$default", RawPath: "/telegram", Body: update,
		Headers: map[string]string{
			"host": "abc.lambda-url.eu-north-1.on.aws", "content-type": "application/json",
			"x-telegram-bot-api-secret-token": secretToken,
		},
	}
	in.RequestContext.DomainName = "abc.lambda-url.eu-north-1.on.aws"
	in.RequestContext.HTTP = events.APIGatewayV2HTTPRequestContextHTTPDescription{
		Method: http.MethodPost, Path: "/telegram", Protocol: "HTTP/1.1", SourceIP: "149.154.167.220",
	}
	return in
}

// says returns an update: Eva wrote to the group a minute ago.
func says(id int64, text string) string { return saysAt(time.Now().Add(-time.Minute), id, text) }

func saysAt(at time.Time, id int64, text string) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%[1]d,"date":%d,"from":{"id":7,"is_bot":false,"first_name":"Eva"},`+
		`"chat":{"id":-5,"type":"group"},"text":%q}}`, id, at.Unix(), text)
}

func (w *world) ingest(l *lambda, in events.APIGatewayV2HTTPRequest) int {
	w.t.Helper()
	var out events.APIGatewayV2HTTPResponse
	l.invoke(in, &out)
	return out.StatusCode
}

func TestIngest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := start(t, ingestBinary, w.env)
	update := says(1, "Jag har diskat 🍽")
	cases := []struct {
		name   string
		change func(*events.APIGatewayV2HTTPRequest)
		status int
		main   int // messages in the queue afterwards
		dead   int
	}{
		{"an update", func(*events.APIGatewayV2HTTPRequest) {}, 200, 1, 0},
		{"in base64", func(in *events.APIGatewayV2HTTPRequest) {
			in.Body, in.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(in.Body)), true
		}, 200, 2, 0},
		{"not in base64", func(in *events.APIGatewayV2HTTPRequest) { in.IsBase64Encoded = true }, 400, 2, 0},
		{"a guessed secret", func(in *events.APIGatewayV2HTTPRequest) {
			in.Headers["x-telegram-bot-api-secret-token"] = "guessed"
		}, 401, 2, 0},
		{"no secret", func(in *events.APIGatewayV2HTTPRequest) {
			delete(in.Headers, "x-telegram-bot-api-secret-token")
		}, 401, 2, 0},
		{"another method", func(in *events.APIGatewayV2HTTPRequest) { in.RequestContext.HTTP.Method = http.MethodGet }, 405, 2, 0},
		{"another path", func(in *events.APIGatewayV2HTTPRequest) { in.RawPath = "/" }, 404, 2, 0},
		{"below it", func(in *events.APIGatewayV2HTTPRequest) { in.RawPath = "/telegram/x" }, 404, 2, 0},
		{"poison", func(in *events.APIGatewayV2HTTPRequest) { in.Body = "{poison" }, 200, 2, 1},
		{"an edit", func(in *events.APIGatewayV2HTTPRequest) {
			in.Body = strings.Replace(in.Body, `"message"`, `"edited_message"`, 1)
		}, 200, 2, 1},
	}
	for _, tc := range cases {
		in := post(update)
		tc.change(&in)
		if got := w.ingest(l, in); got != tc.status || w.main.Len() != tc.main || w.dead.Len() != tc.dead {
			t.Errorf("%s: %d, %d in the queue, %d dead", tc.name, got, w.main.Len(), w.dead.Len())
		}
	}
	want := map[string]string{queue.ChatID: "-5", queue.MessageID: "1"}
	for _, m := range w.main.Left() {
		if diff := cmp.Diff(want, m.Attributes); m.Body != update || diff != "" {
			t.Errorf("sent %q\n%s", m.Body, diff)
		}
	}
	for _, m := range w.dead.Left() {
		if body, whole := m.Content(); string(body) != "{poison" || !whole || m.Why() == "" {
			t.Errorf("dead: %q, %s", body, m.Why())
		}
	}
	for _, want := range []string{`"requestId":"request-4"`, `"message":"update"`, `"disposition":"denied"`, `"from":"149.154.167.220:0"`} {
		l.waitLog(want)
	}
}

// When the queue does not answer, Telegram is asked to repeat while there is time.
func TestIngestAnswersInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["AWS_MAX_ATTEMPTS"] = "1"
	l := start(t, ingestBinary, w.env)
	l.warm()
	silent := make(chan struct{})
	defer close(silent)
	w.mu.Lock()
	w.sqsHold = silent
	w.mu.Unlock()
	const limit = function.Margin + time.Second
	var out events.APIGatewayV2HTTPResponse
	if took := l.take(l.begin(post(says(1, "hej")), limit), &out); took >= limit || out.StatusCode != http.StatusInternalServerError {
		t.Errorf("%d after %v", out.StatusCode, took)
	}
}

// Lambda ends a process that it no longer needs.
func TestSIGTERM(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, binary := range []string{ingestBinary, workerBinary} {
		l := start(t, binary, w.env)
		l.waitIdle()
		select {
		case <-l.extension: // otherwise Lambda kills without a signal
		case <-time.After(patience):
			t.Fatal("asks for no signal")
		}
		l.signal(syscall.SIGTERM)
		if exit := l.waitEnd(); exit != 0 || !strings.Contains(l.log.String(), `"message":"ended","cause":"SIGTERM"`) {
			t.Errorf("exit %d: %s", exit, l.log)
		}
	}
}

// A function that cannot have its secret does not start, and says why.
func TestNoSecret(t *testing.T) {
	t.Parallel()
	for name, break_ := range map[string]func(*world){
		"ParameterNotFound": func(w *world) { clear(w.parameters) },
		"must be":           func(w *world) { w.parameters["/homeops/secret"], w.parameters["/homeops/token"] = "with space", "x" },
		"_PARAMETER: must be set": func(w *world) {
			w.env["TELEGRAM_SECRET_TOKEN_PARAMETER"], w.env["TELEGRAM_BOT_TOKEN_PARAMETER"] = "", ""
		},
		"MESSAGES_QUEUE_URL: must be set": func(w *world) { delete(w.env, "MESSAGES_QUEUE_URL") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mu.Lock()
			break_(w)
			w.mu.Unlock()
			for _, binary := range []string{ingestBinary, workerBinary} {
				l := start(t, binary, w.env)
				if exit := l.waitEnd(); exit != 1 || !strings.Contains(l.log.String(), name) {
					t.Errorf("exit %d: %s", exit, l.log)
				}
			}
		})
	}
}
