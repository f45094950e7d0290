package powerbi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// A token is used until shortly before its expiry, not as long as Power BI would
// accept it.
func TestTokenIsKeptAWhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ life, kept time.Duration }{
		{time.Hour, 58 * time.Minute},
		{3 * time.Minute, 90 * time.Second}, // half of a short one
	} {
		clock := now
		s := powerbitest.New(powerbitest.Config{TokenLife: c.life, Now: func() time.Time { return clock }})
		client := clientOf(s)
		client.Now = func() time.Time { return clock }
		for i, step := range []struct {
			at     time.Duration
			logins int
		}{{0, 1}, {c.kept - time.Millisecond, 1}, {c.kept, 2}, {2*c.kept - time.Millisecond, 2}} {
			clock = now.Add(step.at)
			if err := client.Post(t.Context(), fact.Communications, calls("1.1", i, i+1)); err != nil {
				t.Fatal(err)
			}
			if got := s.Counts().Logins; got != step.logins {
				t.Errorf("a life of %v, after %v: %d logins", c.life, step.at, got)
			}
		}
		none(t, s)
	}
}

// Power BI may refuse a token before its expiry. One login renews it, however
// many requests were refused. A second refusal is final.
func TestTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	s := powerbitest.New(powerbitest.Config{})
	c := clientOf(s)
	for refusals, want := range map[int]string{0: "done", 1: "done", 2: "wait 0s"} {
		s.Unauthorized(refusals)
		if err := c.Post(t.Context(), fact.Communications, calls("1.1", 0, 1)); kind(err) != want || err != nil && strings.Contains(err.Error(), "token-") {
			t.Errorf("%d refusals: %v", refusals, err)
		}
	}
	none(t, s)
}

func TestTokenRenewalsMeet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := atomic.Int64{}
		s := powerbitest.New(powerbitest.Config{Now: func() time.Time { return now.Add(time.Duration(clock.Load())) }})
		slow := &slowLogin{to: s}
		c := clientOf(slow)
		c.Now = func() time.Time { return now } // its clock stands still: it does not notice that tokens expire
		ask := func() {
			var all sync.WaitGroup
			for range 40 {
				all.Go(func() {
					if _, err := c.Posted(t.Context(), fact.Communications, "1.1"); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		ask()
		if n := s.Counts(); n.Logins != 1 || n.Asks != 40 {
			t.Errorf("%+v", n)
		}
		clock.Store(int64(time.Hour))
		ask()
		if n := s.Counts(); n.Logins != 2 || n.Asks != 80 {
			t.Errorf("%+v", n)
		}
		if slow.most.Load() != 1 {
			t.Errorf("%d logins at once", slow.most.Load())
		}
		none(t, s)
	})
}

// slowLogin takes a second for each login, and counts how many run at once.
type slowLogin struct {
	to        *powerbitest.Server
	now, most atomic.Int64
}

func (l *slowLogin) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/token") {
		l.most.Store(max(l.most.Load(), l.now.Add(1)))
		defer l.now.Add(-1)
		time.Sleep(time.Second)
	}
	return l.to.RoundTrip(r)
}

// A caller that waits for another's login can stop waiting.
func TestWaitingForALoginEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(&slowLogin{to: powerbitest.New(powerbitest.Config{})})
		var all sync.WaitGroup
		defer all.Wait()
		all.Go(func() {
			if err := c.Post(t.Context(), fact.Communications, calls("1.1", 0, 1)); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		defer func(start time.Time) {
			if took := time.Since(start); took != time.Millisecond {
				t.Errorf("it took %v", took)
			}
		}(time.Now())
		if err := c.Post(ctx, fact.Communications, calls("1.1", 0, 1)); kind(err) != "other" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// The login's refusal has an error of its own, which never has the secret, although
// the server sends it.
func TestCredentials(t *testing.T) {
	t.Parallel()
	const wrong = "wrong ~secret&"
	for code, change := range map[string]func(*powerbi.Client){
		"invalid_client":      func(c *powerbi.Client) { c.Secret = wrong },
		"unauthorized_client": func(c *powerbi.Client) { c.ID, c.Secret = "x", wrong },
		"invalid_request":     func(c *powerbi.Client) { c.Tenant, c.Secret = "a/b", wrong },
	} {
		s := powerbitest.New(powerbitest.Config{})
		c := clientOf(s)
		change(c)
		post := c.Post(t.Context(), fact.Communications, calls("1.1", 0, 1))
		_, ask := c.Posted(t.Context(), fact.Communications, "1.1")
		_, create := c.Create(t.Context(), "quill")
		if kind(post) != "wait 0s" || kind(ask) != "wait 0s" || kind(create) != "credentials" { // the rows are not at fault
			t.Errorf("%s: posting %v, asking %v, creating %v", code, post, ask, create)
		}
		for _, err := range []error{post, ask, create} {
			if !errors.Is(err, powerbi.ErrCredentials) || !strings.Contains(err.Error(), code) || strings.Contains(err.Error(), "secret&") {
				t.Errorf("%s: %v", code, err)
			}
		}
		if n := s.Counts(); n != (powerbitest.Counts{Logins: 3}) {
			t.Errorf("%+v", n)
		}
	}
}

// A busy login, or the page of another server, says nothing about the credentials.
func TestLoginsThatFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		header http.Header
		body   string
		after  time.Duration
	}{
		{status: 429, header: http.Header{"Retry-After": {"7"}}, body: `{"error":"busy"}`, after: 7 * time.Second},
		{status: 408, body: `{"error":"slow"}`},
		{status: 500},
		{status: 503, header: http.Header{"Retry-After": {"8"}}, after: 8 * time.Second},
		{status: 404, body: "<html>"},
		{status: 302, header: http.Header{"Location": {"https://elsewhere.example/"}}},
		{status: 200, body: "<html>"},
		{status: 200, body: `{"access_token":""}`},
	} {
		client := clientOf(roundTripper(func(r *http.Request) (*http.Response, error) {
			return response(r, c.status, c.header, c.body), nil
		}))
		post := client.Post(t.Context(), fact.Communications, calls("1.1", 0, 1))
		_, ask := client.Posted(t.Context(), fact.Communications, "1.1")
		for _, err := range []error{post, ask} {
			var wait *sink.WaitError
			if !errors.As(err, &wait) || wait.After != c.after || strings.Contains(err.Error(), powerbitest.Secret) {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
