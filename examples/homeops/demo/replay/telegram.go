package replay

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
)

// How Telegram repeats what is not acknowledged.
const (
	firstDelay = 2 * time.Second
	longest    = 60 * time.Second
	givesUp    = 24 * time.Hour
)

// telegram delivers updates to a webhook as Telegram does: one at a time, and
// again until it is acknowledged with 2xx or a day has passed.
type telegram struct {
	webhook http.Handler
	secret  string
	clock   *clock
}

// deliver reports how often it posted the update, and whether it was
// acknowledged.
func (t telegram) deliver(ctx context.Context, body []byte) (posts int, acknowledged bool, _ error) {
	until, delay := t.clock.now().Add(givesUp), time.Duration(0)
	for {
		status, err := t.post(ctx, body)
		posts++
		if err != nil {
			return posts, false, err
		}
		if status/100 == 2 {
			return posts, true, nil
		}
		if t.clock.advance(delay); t.clock.now().After(until) {
			return posts, false, nil
		}
		delay = min(max(2*delay, firstDelay), longest)
	}
}

func (t telegram) post(ctx context.Context, body []byte) (status int, _ error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, ingest.Path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(ingest.SecretHeader, t.secret)
	answer := answer{header: http.Header{}}
	t.webhook.ServeHTTP(&answer, request)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return answer.status, nil
}

// answer is what a webhook answered.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return len(p), nil
}
