package powerbi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ErrCredentials is wrapped by the errors of all methods if Microsoft's login does
// not accept the tenant, the application or its secret.
var ErrCredentials = errors.New("powerbi: the login refused the credentials")

const (
	scope = "https://analysis.windows.net/powerbi/api/.default"
	// early is how long before its expiry a token is no longer used. It is
	// longer than a request takes.
	early = 2 * time.Minute
)

type token struct {
	text  string
	until time.Time
}

// bearer returns a token that is valid for a while and is not the one that was
// refused. Other callers wait while a token is being fetched.
func (c *Client) bearer(ctx context.Context, refused string) (string, error) {
	c.once.Do(func() { c.turn = make(chan struct{}, 1) })
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return "", &unsentError{err: fmt.Errorf("powerbi: %w", ctx.Err())}
	}
	if c.token.text != "" && c.token.text != refused && c.now().Before(c.token.until) {
		return c.token.text, nil
	}
	fresh, err := c.fetch(ctx)
	if err != nil {
		return "", err
	}
	c.token = fresh
	return fresh.text, nil
}

// fetch logs in. All its errors are *unsentErrors: Power BI was not asked.
func (c *Client) fetch(ctx context.Context) (token, error) {
	form := url.Values{
		"grant_type":    {"client_credentials"},
		"client_id":     {c.ID},
		"client_secret": {c.Secret},
		"scope":         {scope},
	}
	base := strings.TrimSuffix(cmp.Or(c.LoginURL, "https://login.microsoftonline.com"), "/")
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	a, err := c.send(ctx, base+"/"+escape([]string{c.Tenant})+"/oauth2/v2.0/token", header, []byte(form.Encode()))
	if err != nil {
		return token{}, &unsentError{err: fmt.Errorf("powerbi: login: %w", err)}
	}
	a.hidden = c.Secret
	var reply struct {
		Token       string `json:"access_token"`
		Seconds     int64  `json:"expires_in"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	invalid := json.Unmarshal(a.body, &reply) != nil
	switch {
	case a.status == http.StatusOK && !invalid && reply.Token != "":
		life := time.Duration(reply.Seconds) * time.Second
		return token{reply.Token, c.now().Add(life - min(early, life/2))}, nil
	case a.status != http.StatusTooManyRequests && a.definite() && !invalid:
		return token{}, &unsentError{err: fmt.Errorf("%w: status %d, %s: %s",
			ErrCredentials, a.status, a.clean(reply.Error, 100), a.clean(reply.Description, 500))}
	}
	return token{}, &unsentError{
		after: a.retryAfter(c.now()),
		err:   fmt.Errorf("powerbi: login: status %d: no token", a.status),
	}
}
