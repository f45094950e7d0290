package replay

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// calm is how long no further request comes before a wave goes.
const calm = 2 * time.Millisecond

// waves hold requests while their depth is measured. Depth tells requests that
// were sent side by side from a chain by their overlap in time, and where an
// answer takes no time there would be none. So what is sent at about the same
// time goes together, once nothing more comes; what waits for an answer is
// always in a later wave.
type waves struct {
	off atomic.Bool

	mu    sync.Mutex // guards what follows
	next  chan struct{}
	timer *time.Timer
}

// wait returns when the request's wave goes, or with the context.
func (w *waves) wait(ctx context.Context) {
	if w.off.Load() {
		return
	}
	select {
	case <-w.join():
	case <-ctx.Done():
	}
}

func (w *waves) join() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next == nil {
		w.next = make(chan struct{})
		w.timer = time.AfterFunc(calm, w.release)
	} else {
		w.timer.Reset(calm)
	}
	return w.next
}

func (w *waves) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next != nil {
		close(w.next)
		w.next = nil
	}
}

// distant is the client of a database that requests reach in waves.
type distant struct {
	dynamodb.HTTPClient
	waves *waves
}

func (d distant) Do(r *http.Request) (*http.Response, error) {
	d.waves.wait(r.Context())
	return d.HTTPClient.Do(r)
}
