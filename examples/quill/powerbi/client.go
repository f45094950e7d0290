// Package powerbi posts rows to a push dataset of Power BI, with the standard library
// alone.
//
// Microsoft says, on learn.microsoft.com:
//   - what a push dataset allows (see [Client.Limits]): "Push semantic model
//     limitations", power-bi/developer/embedded/push-datasets-limitations;
//   - the requests and their bodies: "Push Datasets - Datasets PostRowsInGroup" and
//     "PostDatasetInGroup", "Datasets - Execute Queries In Group", rest/api/power-bi;
//   - that a 429 carries Retry-After in seconds: the same limitations, an older edition,
//     msdn.microsoft.com/library/dn950053;
//   - the token: "OAuth 2.0 client credentials flow", entra/identity-platform.
//
// Microsoft does not say whether a 5xx means that nothing was added, or how soon a
// question sees a post. After a 5xx the rows may have been added.
//
// Public reports agree that Power BI ignores case when it compares text, and keeps
// one spelling of texts that differ only in case. Keys and batches must differ in
// more than case.
package powerbi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// Client posts to a dataset of a workspace. A service principal has no workspace of
// its own, so Workspace must be set. Profiles of a service principal cannot post.
type Client struct {
	Tenant string // id or domain
	ID     string // of the application that is registered with the tenant
	Secret string // of the application, its value

	Workspace string // id
	Dataset   string // id; Create does not need it

	BaseURL  string           // defaults to https://api.powerbi.com
	LoginURL string           // defaults to https://login.microsoftonline.com
	HTTP     *http.Client     // defaults to http.DefaultClient; its redirects are not followed
	Timeout  time.Duration    // of a request, defaults to 30 s
	Now      func() time.Time // defaults to time.Now

	once  sync.Once
	turn  chan struct{} // held while reading or fetching the token
	token token
}

var _ sink.Sink = (*Client)(nil)

// Limits returns what Microsoft allows for a dataset without a retention policy.
// Microsoft also allows five posts under way at once, but the poster makes one at a
// time.
func (c *Client) Limits() sink.Limits {
	return sink.Limits{
		RowsAPost:    10_000,
		RowsAnHour:   1_000_000,
		PostsAMinute: 120,
		LargeTable:   250_000,
		PostsAnHour:  120,
		RowsATable:   5_000_000,
		TextUnits:    4_000,
	}
}

// RefusedError says that Power BI definitely refused: nothing was added. It has no words
// of Power BI's, because they may quote a row, and errors go to the log.
type RefusedError struct {
	Status int    // of HTTP
	Code   string // Microsoft's, such as PowerBIEntityNotFound; "" without one
}

// Error gives the status and the code.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("powerbi: refused: status %d", e.Status)
	if e.Code != "" {
		text += ", " + e.Code
	}
	return text
}

// wholeDataset are the statuses that refuse the dataset, whatever the rows: a right is
// missing, or the dataset does not exist.
var wholeDataset = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}

// Post adds the rows with one request. A *RefusedError says that Power BI does not
// accept them. If it refuses the whole dataset, the *RefusedError is in a
// *sink.WaitError, because the rows are not at fault. So is ErrCredentials: then Power
// BI was not even asked.
func (c *Client) Post(ctx context.Context, table string, rows []fact.Row) error {
	if err := c.check(field{"Client.Dataset", c.Dataset}, field{"table", table}); err != nil {
		return err
	}
	if most := c.Limits().RowsAPost; len(rows) > most {
		return event.BadInput("powerbi", "rows", fmt.Sprintf("must have at most %d elements, has %d", most, len(rows)))
	}
	if len(rows) == 0 {
		return nil
	}
	body, err := json.Marshal(map[string]any{"rows": rows})
	if err != nil {
		return fmt.Errorf("powerbi: %w", err)
	}
	a, err := c.call(ctx, c.dataset("tables", table, "rows"), body)
	switch {
	case err != nil:
		return unclear(ctx, err)
	case a.status == http.StatusOK, a.status == http.StatusAccepted:
		return nil
	case a.status == http.StatusTooManyRequests, slices.Contains(wholeDataset, a.status):
		return &sink.WaitError{After: a.retryAfter(c.now()), Err: a.refusal()}
	case a.definite():
		return a.refusal()
	}
	return &sink.UnknownError{Err: a.refusal()} // a 5xx, a redirect, or the answer of another server
}

// unclear is the error of a post without an answer.
func unclear(ctx context.Context, err error) error {
	var unsent *unsentError
	if !errors.As(err, &unsent) {
		return &sink.UnknownError{Err: err}
	}
	return later(ctx, err)
}

// later is the error of a request that changed nothing and got no answer.
func later(ctx context.Context, err error) error {
	var invalid *event.InputError
	if ctx.Err() != nil || errors.As(err, &invalid) {
		return err
	}
	wait := &sink.WaitError{Err: err}
	var unsent *unsentError
	if errors.As(err, &unsent) {
		wait.After = unsent.after
	}
	return wait
}

// field is a field that must not be empty.
type field struct{ name, value string }

// check names the first field that is missing, before any request.
func (c *Client) check(more ...field) error {
	fields := []field{
		{"Client.Tenant", c.Tenant},
		{"Client.ID", c.ID},
		{"Client.Secret", c.Secret},
		{"Client.Workspace", c.Workspace},
	}
	for _, f := range append(fields, more...) {
		if f.value == "" {
			return event.BadInput("powerbi", f.name, "must not be empty")
		}
	}
	return nil
}

// dataset is a path below that of the dataset.
func (c *Client) dataset(parts ...string) string {
	return c.datasets() + "/" + escape(append([]string{c.Dataset}, parts...))
}

func (c *Client) datasets() string {
	return "/v1.0/myorg/groups/" + escape([]string{c.Workspace}) + "/datasets"
}

func escape(parts []string) string {
	escaped := make([]string, len(parts))
	for i, part := range parts {
		escaped[i] = url.PathEscape(part)
	}
	return strings.Join(escaped, "/")
}

// unsentError says that no byte of the request was sent, so no answer can be lost.
type unsentError struct {
	after time.Duration // how long the login's server asks to wait
	err   error
}

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// call posts to Power BI, and once more with another token if Power BI refuses the
// first: a 401 changed nothing. An *unsentError says that Power BI was never
// reached. After any other error the request may have had its effect.
func (c *Client) call(ctx context.Context, path string, body []byte) (answer, error) {
	base := cmp.Or(c.BaseURL, "https://api.powerbi.com")
	refused := ""
	for {
		bearer, err := c.bearer(ctx, refused)
		if err != nil {
			return answer{}, err
		}
		header := http.Header{"Authorization": {"Bearer " + bearer}, "Content-Type": {"application/json"}}
		a, err := c.send(ctx, strings.TrimSuffix(base, "/")+path, header, body)
		if err != nil {
			return answer{}, fmt.Errorf("powerbi: %w", err)
		}
		a.hidden = bearer
		if a.status != http.StatusUnauthorized || refused != "" {
			return a, nil
		}
		refused = bearer
	}
}

// send makes one request and reads the answer.
func (c *Client) send(ctx context.Context, to string, header http.Header, body []byte) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, &unsentError{err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, 30*time.Second))
	defer cancel()
	var reached connection
	ctx = httptrace.WithClientTrace(ctx, reached.trace())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return answer{}, &unsentError{err: event.BadInput("powerbi", "Client.BaseURL or LoginURL", "must be a valid URL: "+err.Error())}
	}
	request.Header = header
	response, err := c.http().Do(request)
	if err != nil {
		if reached.never() {
			err = &unsentError{err: err}
		}
		return answer{}, err
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, header: response.Header}
	// The status alone answers a post, even if reading the body fails.
	a.body, a.torn = io.ReadAll(io.LimitReader(response.Body, longestAnswer+1))
	if len(a.body) > longestAnswer {
		a.torn = errors.New("the answer is too long")
	}
	return a, nil
}

// longestAnswer bounds the body that is read: Microsoft cuts the answer to a
// question at 15 MB.
const longestAnswer = 16 << 20

// http follows no redirects, because they would send the rows and the token
// elsewhere.
func (c *Client) http() *http.Client {
	client := *cmp.Or(c.HTTP, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

func (c *Client) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// connection notes whether a request got a connection. A transport other than
// net/http's may not report that. Then the server counts as reached.
type connection struct{ asked, got atomic.Bool }

func (n *connection) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { n.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { n.got.Store(true) },
	}
}

// never reports whether the request asked for a connection and got none: the name
// was not found, the connection was refused, the handshake failed, or the time was
// over.
func (n *connection) never() bool { return n.asked.Load() && !n.got.Load() }
