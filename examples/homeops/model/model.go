// Package model classifies messages with a language model, behind any API that
// has OpenAI's chat completions. README.md says what is sent, what is believed
// and what it costs.
//
//	model.go   asks, tries once more, gives up for a while, falls back
//	tokens.go  how many tokens a day may use
//	prompt.go  what the model is given, with instructions.txt and format.json
//	answer.go  what of its answer is believed
package model

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
)

// How a model is asked. Two requests and the wait between them take less than half of
// a delivery's time.
const (
	timeout   = 6 * time.Second // of one request
	tries     = 2
	firstWait = "0.5" // s
	mostWait  = 2 * time.Second
	mostReply = 64 << 10
	failures  = 5 // in a row, before nothing is sent
	rest      = 30 * time.Second
)

// Config of a Classifier. All but Key and Transport is needed.
type Config struct {
	URL     string // such as https://api.openai.com/v1
	Key     string // "" for a server that asks for none
	Model   string
	Phrases func(ctx context.Context, scope string) ([]alias.Alias, error) // of a chat
	Log     *slog.Logger

	Limits     *counter.Store // counts the tokens of each local day under [TokensKey]
	TokensADay int64          // the vocabulary classifies the messages of the rest of the day

	Transport http.RoundTripper // http.DefaultTransport if it is nil
}

// Classifier is a [classify.Classifier] that asks a model. It is safe for concurrent
// use.
type Classifier struct {
	Config
	client  *http.Client
	breaker *gobreaker.CircuitBreaker[string]
}

var _ classify.Classifier = (*Classifier)(nil)

// New returns a Classifier.
func New(cfg Config) (*Classifier, error) {
	if cfg.URL == "" || cfg.Model == "" || cfg.Phrases == nil || cfg.Log == nil || cfg.Limits == nil || cfg.TokensADay < 1 {
		return nil, event.BadInput("model", "Config", "must have URL, Model, Phrases, Log, Limits and TokensADay")
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the text is for nobody else
	return &Classifier{cfg, &http.Client{Transport: cfg.Transport, CheckRedirect: stay}, gobreaker.NewCircuitBreaker[string](gobreaker.Settings{
		Timeout:      rest,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= failures },
		IsSuccessful: func(err error) bool { return err == nil || errors.Is(err, errAnswer) },
		IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) }, // by the caller
	})}, nil
}

// errAnswer means that the API works, but its answer cannot be used.
var errAnswer = errors.New("no usable answer")

// passingError is an error that another try may avoid.
type passingError struct {
	error
	wait time.Duration // before the next try
}

func (e *passingError) Unwrap() error { return e.error }

// Classify asks the model, and the vocabulary if the model has no answer or the day no
// tokens. Its errors are those of Config.Phrases and of Config.Limits, and the
// context's if it has ended. Then what the question may have used stays taken.
//
// Price: 2 requests, 2 WCU. The counter's row has 25 messages of a day in each KB, and
// costs 1 WCU more a request for each further KB. A refusal is 1 request. It asks the API
// at most twice, and costs what Config.Phrases does.
func (c *Classifier) Classify(ctx context.Context, m classify.Message) (classify.Result, error) {
	q, err := c.question(ctx, m)
	if err != nil || len(q.words) == 0 {
		return classify.Result{}, err
	}
	body, err := q.request(c.Model)
	if err != nil {
		return c.fallBack(ctx, m, bill{}, err)
	}
	held, err := c.hold(ctx, m.Event, tries*mostOf(body))
	if errors.Is(err, errSpent) {
		return c.fallBack(ctx, m, bill{}, err)
	}
	if err != nil {
		return classify.Result{}, err
	}
	b := bill{most: mostOf(body)}
	deeds, err := c.ask(ctx, body, &b)
	if err != nil && ctx.Err() != nil {
		return classify.Result{}, ctx.Err()
	}
	c.settle(ctx, held, b.used())
	if err != nil {
		return c.fallBack(ctx, m, b, err)
	}
	result := q.believe(deeds)
	result.Usage = b.Usage
	result.Usage.Model = c.Model
	return result, nil
}

// fallBack is the vocabulary's result.
func (c *Classifier) fallBack(ctx context.Context, m classify.Message, b bill, why error) (classify.Result, error) {
	c.Log.WarnContext(ctx, "the model gave no answer: the vocabulary classifies", "model", c.Model, "error", why)
	result, err := classify.Words{}.Classify(ctx, m)
	result.Usage = b.Usage
	result.Usage.Model, result.Usage.FellBack = c.Model, true
	return result, err
}

// ask asks, and once more if that may help.
func (c *Classifier) ask(ctx context.Context, body []byte, b *bill) ([]deed, error) {
	for try := 1; ; try++ {
		content, err := c.breaker.Execute(func() (string, error) { return c.post(ctx, body, b) })
		if err == nil {
			return deedsOf(content)
		}
		passing, ok := errors.AsType[*passingError](err)
		if !ok || try == tries || passing.wait > mostWait {
			return nil, err
		}
		if err := sleep.For(ctx, passing.wait); err != nil {
			return nil, err
		}
	}
}

// post sends one request and returns what the model wrote.
func (c *Classifier) post(ctx context.Context, body []byte, b *bill) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	b.Requests++
	b.unknown++
	response, err := c.client.Do(request)
	if err != nil {
		if network, ok := errors.AsType[*net.OpError](err); ok && network.Op == "dial" {
			b.unknown-- // nothing was sent
		}
		return "", &passingError{discreet(err), retryAfter("")}
	}
	defer response.Body.Close()
	if code := response.StatusCode; code != http.StatusOK {
		if code != http.StatusBadGateway && code != http.StatusGatewayTimeout {
			b.unknown-- // a refusal is not paid, unlike an answer that a gateway lost
		}
		err := fmt.Errorf("the API answered %d", code)
		if code == http.StatusTooManyRequests || code >= http.StatusInternalServerError {
			err = &passingError{err, retryAfter(response.Header.Get("Retry-After"))}
		}
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, mostReply+1))
	if err != nil {
		return "", &passingError{discreet(err), retryAfter("")}
	}
	return contentOf(text, b)
}

// discreet returns an error that may be logged. The errors of net/http quote what
// the server wrote in place of HTTP, and the server knows the text and the key.
func discreet(err error) error {
	_, network := errors.AsType[*net.OpError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	if network || certificate || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.New("the API's reply is not HTTP, or is cut off")
}

// retryAfter reads a number of seconds. A date depends on the server's clock, and
// counts as too long.
func retryAfter(header string) time.Duration {
	wait, err := time.ParseDuration(cmp.Or(header, firstWait) + "s")
	if err != nil || wait < 0 {
		return mostWait + 1
	}
	return wait
}
