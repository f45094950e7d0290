package dlq_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/dlq"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

const secret = "s3cret"

// wire is a connection to a handler that needs no socket, so that a bubble's
// clock runs on both sides.
type wire struct{ http.Handler }

func (to wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r.RemoteAddr = "192.0.2.1:1234"
	w := httptest.NewRecorder()
	to.ServeHTTP(w, r)
	return w.Result(), nil
}

func remote(q queue.Queue, log *slog.Logger) dlq.Remote {
	return dlq.Remote{At: "http://bot/", Secret: secret, HTTP: wire{dlq.Handler(q, secret, log)}}
}

var discard = slog.New(slog.DiscardHandler)

// Over HTTP a command writes the same as on the queue itself, except that an
// error has an address and a status.
func TestTheSameOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fill := func() *queue.Memory {
			q := queue.NewMemory(queue.Config{MaxBytes: 1000})
			fails(t, q, "one", "why")
			refused(t, q, "\x00", "no JSON")
			fails(t, q, "three", "why")
			return q
		}
		here, there := fill(), fill()
		service := remote(there, discard)
		for _, tc := range []struct {
			command dlq.Command
			err     string
		}{
			{dlq.Command{Name: dlq.List}, ""},
			{dlq.Command{Name: dlq.Show, IDs: []string{"m-1"}}, ""},
			{dlq.Command{Name: dlq.Redrive, IDs: []string{"m-1", "m-2"}}, "http://bot/ answers 409 Conflict: some letters were not sent"},
			{dlq.Command{Name: dlq.Show, IDs: []string{"a/b?c#%"}}, "http://bot/ answers 404 Not Found: some letters were not found"},
			{dlq.Command{Name: dlq.Redrive, All: true}, ""},
		} {
			var got, want strings.Builder
			onQueue := tc.command.Run(t.Context(), here, &want)
			err := service.Run(t.Context(), tc.command, &got)
			if (err == nil) != (tc.err == "") || (onQueue == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("%+v: %v, on the queue %v", tc.command, err, onQueue)
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" || got.Len() == 0 {
				t.Errorf("%+v: %s", tc.command, diff)
			}
		}
		if len(there.Dead()) != 1 || there.Len() != 2 {
			t.Errorf("%d dead, %d sent", len(there.Dead()), there.Len())
		}
	})
}

func TestOnlyWithTheSecret(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	fails(t, q, "private", "why")
	for configured, sent := range map[string]string{secret: "guessed", "": "", "x": ""} {
		var log strings.Builder
		service := dlq.Remote{At: "http://bot", Secret: sent, HTTP: wire{dlq.Handler(q, configured, slog.New(slog.NewTextHandler(&log, nil)))}}
		for _, c := range []dlq.Command{{Name: dlq.List}, {Name: dlq.Show, IDs: []string{"m-1"}}, {Name: dlq.Redrive, All: true}} {
			var out strings.Builder
			err := service.Run(t.Context(), c, &out)
			if err == nil || err.Error() != "http://bot answers 401 Unauthorized: wrong or missing X-Telegram-Bot-Api-Secret-Token" || out.Len() > 0 {
				t.Errorf("%s with %q: %q, %v", c.Name, sent, &out, err)
			}
			if !strings.Contains(log.String(), `level=WARN msg="dead letters" denied=`+c.Name+" from=192.0.2.1:1234\n") {
				t.Errorf("not logged: %s", &log)
			}
		}
	}
	if len(q.Dead()) != 1 || q.Dead()[0].Receives != 1 {
		t.Errorf("%+v", q.Dead())
	}
}

// A wrong request is refused before anything is received, from any client.
func TestWrongRequests(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	fails(t, q, "private", "why")
	handler := dlq.Handler(q, secret, discard)
	for target, want := range map[string]int{
		"POST /dlq/redrive":               http.StatusBadRequest,
		"POST /dlq/redrive?all=true&id=x": http.StatusBadRequest,
		"POST /dlq/redrive?all=yes":       http.StatusBadRequest,
		"POST /dlq/redrive?id=":           http.StatusBadRequest,
		"POST /dlq":                       http.StatusMethodNotAllowed,
		"DELETE /dlq/m-1":                 http.StatusMethodNotAllowed,
	} {
		method, path, _ := strings.Cut(target, " ")
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if len(q.Dead()) != 1 || q.Dead()[0].Receives != 1 {
		t.Errorf("%+v", q.Dead())
	}
}

// It works over a socket, too. The secret goes only to the address that was
// named.
func TestTheSecretFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	fails(t, q, "one", "why")
	elsewhere := httptest.NewServer(dlq.Handler(q, secret, discard))
	defer elsewhere.Close()
	show := dlq.Command{Name: dlq.Show, IDs: []string{"m-1"}}
	var out strings.Builder
	if err := (dlq.Remote{At: elsewhere.URL, Secret: secret}).Run(t.Context(), show, &out); err != nil || !strings.HasSuffix(out.String(), "\n\none\n") {
		t.Errorf("%q, %v", &out, err)
	}
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/dlq/m-1", http.StatusTemporaryRedirect))
	defer server.Close()
	if err := (dlq.Remote{At: server.URL, Secret: secret}).Run(t.Context(), show, &out); err == nil || !strings.Contains(err.Error(), "307") {
		t.Errorf("got %v", err)
	}
	server.Close()
	if err := (dlq.Remote{At: server.URL, Secret: secret}).Run(t.Context(), show, &out); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("nobody there: %v", err)
	}
}

// Trouble with the queue is reported as the service's.
func TestTroubleOverHTTP(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	fails(t, q, "one", "why")
	service := remote(troubled(q, "delete"), discard)
	var out strings.Builder
	err := service.Run(t.Context(), dlq.Command{Name: dlq.Redrive, IDs: []string{"m-1"}}, &out)
	if err == nil || !strings.Contains(err.Error(), "500 Internal Server Error: dlq: m-1 was sent again as m-2, but is still among the dead letters: trouble") || out.String() != "1 sent again, 0 not\n" {
		t.Errorf("%q, %v", &out, err)
	}
	broken := dlq.Remote{At: "http://bot", HTTP: brokenWire{}}
	if err := broken.Run(t.Context(), dlq.Command{Name: dlq.List}, &out); !errors.Is(err, errTrouble) {
		t.Errorf("got %v", err)
	}
}

type brokenWire struct{}

func (brokenWire) RoundTrip(*http.Request) (*http.Response, error) { return nil, errTrouble }
