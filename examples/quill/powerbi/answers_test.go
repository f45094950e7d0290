package powerbi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// transport answers for Power BI itself and leaves the login to powerbitest.
type transport struct {
	login  *powerbitest.Server
	answer func(*http.Request) (*http.Response, error)
	asked  atomic.Int64
}

func (tr *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == "login.microsoftonline.com" {
		return tr.login.RoundTrip(r)
	}
	tr.asked.Add(1)
	return tr.answer(r)
}

func answering(answer func(*http.Request) (*http.Response, error)) *transport {
	return &transport{login: powerbitest.New(powerbitest.Config{}), answer: answer}
}

func always(status int, header http.Header, body string) *transport {
	return answering(func(r *http.Request) (*http.Response, error) { return response(r, status, header, body), nil })
}

func response(r *http.Request, status int, header http.Header, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// kind names an error by how the poster handles it.
func kind(err error) string {
	var unknown *sink.UnknownError
	var wait *sink.WaitError
	var refused *powerbi.RefusedError
	var invalid *event.InputError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &unknown):
		return "unknown"
	case errors.As(err, &wait):
		return fmt.Sprint("wait ", wait.After)
	case errors.Is(err, sink.ErrCannotAsk):
		return "cannot ask"
	case errors.Is(err, powerbi.ErrCredentials):
		return "credentials"
	case errors.As(err, &refused):
		return fmt.Sprintf("refused %d %s", refused.Status, refused.Code)
	case errors.As(err, &invalid):
		return "invalid " + invalid.Field
	}
	return "other"
}

// errorBody is an error of Power BI's with a message.
func errorBody(code string) string {
	return `{"error":{"code":"` + code + `","message":"in words"}}`
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Each status has a meaning for a post, and for a question.
func TestStatuses(t *testing.T) {
	t.Parallel()
	after := func(value string) http.Header { return http.Header{"Retry-After": {value}} }
	for _, c := range []struct {
		status    int
		header    http.Header
		body      string
		post, ask string
	}{
		{status: 200, body: rowsBody(`{"[key]":"a"}`), post: "done", ask: "done"},
		{status: 202, post: "done", ask: "wait 0s"},
		{status: 204, post: "unknown", ask: "wait 0s"},
		{status: 307, header: http.Header{"Location": {"https://elsewhere.example/"}}, post: "unknown", ask: "wait 0s"},
		{status: 400, body: errorBody("InvalidRequest"), post: "refused 400 InvalidRequest", ask: "cannot ask"},
		{status: 400, body: errorBody("DatasetNotEnabled: not enabled"), post: "refused 400 DatasetNotEnabled: not enabled", ask: "cannot ask"},
		{status: 400, body: `{"error":{"code":"X","pbi.error":{"details":[{"code":"DetailsMessage","detail":{"value":"This API is disabled."}}]}}}`, post: "refused 400 X", ask: "cannot ask"},
		{status: 400, body: errorBody("PowerBINotAuthorizedException"), post: "refused 400 PowerBINotAuthorizedException", ask: "cannot ask"},
		{status: 401, body: errorBody("TokenExpired"), post: "wait 0s", ask: "cannot ask"},
		{status: 403, post: "wait 0s", ask: "cannot ask"},
		{status: 404, body: errorBody("PowerBIEntityNotFound"), post: "wait 0s", ask: "cannot ask"},
		{status: 404, body: "<html>", post: "wait 0s", ask: "cannot ask"},
		{status: 408, post: "unknown", ask: "wait 0s"},
		{status: 413, post: "refused 413 ", ask: "cannot ask"},
		{status: 429, post: "wait 0s", ask: "wait 0s"},
		{status: 429, header: after("17"), post: "wait 17s", ask: "wait 17s"},
		{status: 429, header: after("-3"), post: "wait 0s", ask: "wait 0s"},
		{status: 429, header: after("soon"), post: "wait 0s", ask: "wait 0s"},
		{status: 429, header: after("18446744074"), post: "wait 24h0m0s", ask: "wait 24h0m0s"}, // 2^64 nanoseconds and a little
		{status: 429, header: after("9999999999999"), post: "wait 24h0m0s", ask: "wait 24h0m0s"},
		{status: 429, header: after(now.Add(90 * time.Second).Format(http.TimeFormat)), post: "wait 1m30s", ask: "wait 1m30s"},
		{status: 429, header: after(now.Add(-time.Hour).Format(http.TimeFormat)), post: "wait 0s", ask: "wait 0s"},
		{status: 429, header: after(now.Add(240 * time.Hour).Format(http.TimeFormat)), post: "wait 24h0m0s", ask: "wait 24h0m0s"},
		{status: 500, post: "unknown", ask: "wait 0s"},
		{status: 503, header: after("9"), post: "unknown", ask: "wait 9s"},
	} {
		tr := always(c.status, c.header, c.body)
		client := clientOf(tr)
		client.Now = func() time.Time { return now }
		post := client.Post(t.Context(), fact.Communications, calls("1.1", 0, 1))
		_, ask := client.Posted(t.Context(), fact.Communications, "1.1")
		if kind(post) != c.post || kind(ask) != c.ask {
			t.Errorf("%d %v %q: posting %s, %v; asking %s, %v", c.status, c.header, c.body, kind(post), post, kind(ask), ask)
		}
		want := int64(2)
		if c.status == http.StatusUnauthorized { // the token is renewed once each time
			want = 4
		}
		if tr.asked.Load() != want {
			t.Errorf("%d: %d requests", c.status, tr.asked.Load())
		}
	}
}

// The error has the status and the code, shortened and without a token. It has no words,
// which may quote a row and would go to the log and to the open page.
func TestRefusedErrorQuotesNothing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 3_000)
	c := clientOf(always(400, nil, `{"error":{"code":"x token-1 `+long+`","message":"row 7 has Dee Doe's",`+
		`"pbi.error":{"details":[{"code":"DetailsMessage","detail":{"value":"Dee Doe"}}]}}}`))
	err := c.Post(t.Context(), fact.Communications, calls("1.1", 0, 1))
	var refused *powerbi.RefusedError
	if !errors.As(err, &refused) || strings.Contains(err.Error(), "Dee") || refused.Status != 400 {
		t.Fatalf("%v", err)
	}
	if got, want := refused.Code, "x <hidden> "+strings.Repeat("é", 44)+"…"; got != want {
		t.Errorf("the code is cut to %q", got)
	}
	if text := (&powerbi.RefusedError{Status: 400, Code: "A"}).Error(); text != "powerbi: refused: status 400, A" {
		t.Errorf("%q", text)
	}
}

func rowsBody(rows string) string { return `{"results":[{"tables":[{"rows":[` + rows + `]}]}]}` }

// An incomplete answer does not count as one with fewer rows.
func TestAnswersToQuestions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body, want string
		keys       []string
	}{
		{body: rowsBody(""), want: "done", keys: []string{}},
		{body: rowsBody(`{"[key]":"b"},{"[key]":"a"},{"[key]":"b"}`), want: "done", keys: []string{"a", "b"}},
		{body: "\ufeff" + rowsBody(`{"[key]":"a"}`), want: "done", keys: []string{"a"}},
		{body: rowsBody(`{"[key]":null}`), want: "wait 0s"},
		{body: rowsBody(`{"key":"a"}`), want: "wait 0s"},
		{body: "", want: "wait 0s"},
		{body: "<html>", want: "wait 0s"},
		{body: `{}`, want: "wait 0s"},
		{body: `{"results":[]}`, want: "wait 0s"},
		{body: `{"results":[{"tables":[]}]}`, want: "wait 0s"},
		{body: `{"results":[{"tables":[{"rows":[]},{"rows":[]}]}]}`, want: "wait 0s"},
		{body: errorBody("DAX query failure"), want: "cannot ask"},
		{body: `{"results":[` + errorBody("Inner") + `]}`, want: "cannot ask"},
		{body: `{"results":[{"tables":[{"rows":[{"[key]":"a"}],"error":{"code":"More than 100000 rows"}}]}]}`, want: "cannot ask"},
		{body: errorBody("PowerBINotAuthorizedException"), want: "cannot ask"},
	} {
		keys, err := clientOf(always(200, nil, c.body)).Posted(t.Context(), fact.Communications, "1.1")
		if diff := cmp.Diff(c.keys, keys); kind(err) != c.want || diff != "" {
			t.Errorf("%q: %s, %v %s", c.body, kind(err), err, diff)
		}
	}
	for name, body := range map[string]io.Reader{
		"torn":    io.MultiReader(strings.NewReader(rowsBody("")), failing{}),
		"endless": io.MultiReader(strings.NewReader(rowsBody("")), spaces{}),
	} {
		c := clientOf(answering(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(body), Request: r}, nil
		}))
		if keys, err := c.Posted(t.Context(), fact.Communications, "1.1"); kind(err) != "wait 0s" {
			t.Errorf("%s: %q, %v", name, keys, err)
		}
	}
}

type (
	failing struct{}
	spaces  struct{}
)

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// The status of a post is the whole answer. The rest may be lost.
func TestPostWhoseBodyIsTorn(t *testing.T) {
	t.Parallel()
	c := clientOf(answering(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(failing{}), Request: r}, nil
	}))
	if err := c.Post(t.Context(), fact.Communications, calls("1.1", 0, 1)); err != nil {
		t.Error(err)
	}
}

// Without a connection no reply can be lost. A broken connection may have lost
// one.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + free.Addr().String()
	free.Close()
	s := powerbitest.New(powerbitest.Config{})
	login, stop, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	mute := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(mute.Close)
	for _, c := range []struct{ base, login, post, ask string }{
		{nobody, login, "wait 0s", "wait 0s"},
		{"http://no-such-host.invalid", login, "wait 0s", "wait 0s"},
		{strings.Replace(login, "http", "https", 1), login, "wait 0s", "wait 0s"}, // no handshake
		{mute.URL, login, "unknown", "wait 0s"},
		{login, nobody, "wait 0s", "wait 0s"},
		{login, mute.URL, "wait 0s", "wait 0s"},
		{"http://a b", login, "invalid Client.BaseURL or LoginURL", "invalid Client.BaseURL or LoginURL"},
	} {
		client := clientOf(nil)
		client.HTTP, client.BaseURL, client.LoginURL = nil, c.base, c.login
		post := client.Post(t.Context(), fact.Communications, calls("1.1", 0, 1))
		_, ask := client.Posted(t.Context(), fact.Communications, "1.1")
		if kind(post) != c.post || kind(ask) != c.ask {
			t.Errorf("%+v: posting %s, %v; asking %s, %v", c, kind(post), post, kind(ask), ask)
		}
	}
	none(t, s)
}

// After the end of the context nothing is sent.
func TestCancelledBefore(t *testing.T) {
	t.Parallel()
	s := powerbitest.New(powerbitest.Config{})
	c := clientOf(s)
	for i := range 20 { // with and without a token, whichever way a select goes
		over, cancel := context.WithCancel(t.Context())
		cancel()
		post := c.Post(over, fact.Communications, calls("1.1", 0, 1))
		_, ask := c.Posted(over, fact.Communications, "1.1")
		for _, err := range []error{post, ask} {
			if kind(err) != "other" || !errors.Is(err, context.Canceled) {
				t.Fatalf("%d: %v", i, err)
			}
		}
		if i == 10 {
			if err := c.Post(t.Context(), fact.Communications, calls("1.1", 0, 1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := s.Counts(); n != (powerbitest.Counts{Logins: 1, Posts: 1, Rows: 1}) {
		t.Errorf("%+v", n)
	}
}

// The client's timeout ends a request, and so does the context. Both times a post
// was under way.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		for _, c := range []struct {
			timeout, deadline, want time.Duration
			ask                     string
		}{
			{want: 30 * time.Second, deadline: time.Hour, ask: "wait 0s"},
			{timeout: time.Second, want: time.Second, deadline: time.Hour, ask: "wait 0s"},
			{want: 5 * time.Second, deadline: 5 * time.Second, ask: "other"},
		} {
			client := clientOf(answering(hang))
			client.Timeout = c.timeout
			for _, ask := range []bool{false, true} {
				ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
				start := time.Now()
				want, err := "unknown", error(nil)
				if ask {
					want = c.ask
					_, err = client.Posted(ctx, fact.Communications, "1.1")
				} else {
					err = client.Post(ctx, fact.Communications, calls("1.1", 0, 1))
				}
				cancel()
				if took := time.Since(start); kind(err) != want || !errors.Is(err, context.DeadlineExceeded) || took != c.want {
					t.Errorf("%+v, asking %v: %v after %v", c, ask, err, took)
				}
			}
		}
	})
}

// The error names the missing field, and nothing is sent.
func TestInvalid(t *testing.T) {
	t.Parallel()
	post := func(table string, rows int) func(*powerbi.Client) error {
		return func(c *powerbi.Client) error {
			return c.Post(t.Context(), table, calls("1.1", 0, rows))
		}
	}
	ask := func(table, batch string) func(*powerbi.Client) error {
		return func(c *powerbi.Client) error {
			_, err := c.Posted(t.Context(), table, batch)
			return err
		}
	}
	create := func(name string) func(*powerbi.Client) error {
		return func(c *powerbi.Client) error {
			_, err := c.Create(t.Context(), name)
			return err
		}
	}
	refuses := func(field string, change func(*powerbi.Client), calls ...func(*powerbi.Client) error) {
		s := powerbitest.New(powerbitest.Config{})
		for i, call := range calls {
			c := clientOf(s)
			change(c)
			if err := call(c); kind(err) != "invalid "+field {
				t.Errorf("%s, call %d: %v", field, i, err)
			}
		}
		if s.Counts() != (powerbitest.Counts{}) {
			t.Errorf("%s: %+v", field, s.Counts())
		}
	}
	goodPost, goodAsk, goodCreate := post("Changes", 1), ask("Changes", "1.1"), create("quill")
	refuses("Client.Tenant", func(c *powerbi.Client) { c.Tenant = "" }, goodPost, goodAsk, goodCreate)
	refuses("Client.ID", func(c *powerbi.Client) { c.ID = "" }, goodPost, goodAsk, goodCreate)
	refuses("Client.Secret", func(c *powerbi.Client) { c.Secret = "" }, goodPost, goodAsk, goodCreate)
	refuses("Client.Workspace", func(c *powerbi.Client) { c.Workspace = "" }, goodPost, goodAsk, goodCreate)
	refuses("Client.Dataset", func(c *powerbi.Client) { c.Dataset = "" }, goodPost, goodAsk)
	as := func(*powerbi.Client) {}
	refuses("table", as, post("", 1), ask("", "1.1"))
	refuses("batch", as, ask("Changes", ""))
	refuses("rows", as, post("Changes", 10_001))
	refuses("name", as, create(""))

	s := powerbitest.New(powerbitest.Config{})
	if err := clientOf(s).Post(t.Context(), fact.Communications, nil); err != nil || s.Counts() != (powerbitest.Counts{}) {
		t.Errorf("no rows: %v, %+v", err, s.Counts())
	}
	if err := clientOf(s).Post(t.Context(), fact.Communications, []fact.Row{{"key": func() {}}}); kind(err) != "other" {
		t.Errorf("a row that is not JSON: %v", err)
	}
}
