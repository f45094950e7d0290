package serving_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/serving"
)

func TestLog(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{"json": `"msg":"here"`, "text": "msg=here"} {
		var text strings.Builder
		log := serving.Log(&text, form, slog.LevelWarn)
		log.Info("not this")
		log.Warn("here")
		if got := text.String(); !strings.Contains(got, want) || strings.Contains(got, "not this") {
			t.Errorf("%s: %q", form, got)
		}
	}
}

// A request that is not answered in time does not keep a service from ending.
func TestCloseWaitsForAnswersAndNoLonger(t *testing.T) {
	t.Parallel()
	for _, within := range []time.Duration{time.Minute, 0} {
		began, answer := make(chan bool), make(chan bool)
		server := serving.Server(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			began <- true
			select {
			case <-answer:
			case <-r.Context().Done():
			}
		}), time.Minute, slog.New(slog.DiscardHandler))
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = server.Serve(listener) }()
		answered := make(chan error, 1)
		go func() {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil)
			if err == nil {
				var response *http.Response
				if response, err = new(http.Client).Do(request); err == nil {
					err = response.Body.Close()
				}
			}
			answered <- err
		}()
		<-began
		if within > 0 {
			close(answer)
		}
		err = serving.Close(t.Context(), server, within)
		if cut := errors.Is(err, context.DeadlineExceeded); cut != (within == 0) || (<-answered != nil) != cut {
			t.Errorf("within %s: %v", within, err)
		}
	}
}
