package replay

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
)

// telegram delivers updates to a webhook, one at a time.
type telegram struct {
	webhook http.Handler
	secret  string
}

// deliver posts an update. One that is not acknowledged ends the replay: only a
// queue that is down refuses it.
func (t telegram) deliver(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, ingest.Path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(ingest.SecretHeader, t.secret)
	answer := answer{header: http.Header{}}
	t.webhook.ServeHTTP(&answer, request)
	if err := ctx.Err(); err != nil {
		return err
	}
	if answer.status/100 != 2 {
		return fmt.Errorf("the webhook answers %d", answer.status)
	}
	return nil
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
