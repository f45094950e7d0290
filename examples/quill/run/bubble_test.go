package run

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/internal/serving"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
)

// bubbleService is a service without a listener, whose time is a bubble's.
type bubbleService struct {
	*service
	t *testing.T
}

func newBubbleService(t *testing.T, env map[string]string, p Program) bubbleService {
	t.Helper()
	cfg, err := config.Load(environment(env))
	if err != nil {
		t.Fatal(err)
	}
	p.Out = io.Discard
	to, err := p.openSink(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.newService(t.Context(), cfg, to, slog.New(slog.DiscardHandler))
	if err == nil {
		err = s.setUp(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return bubbleService{s, t}
}

// post posts a webhook of Aloware that must be answered 200.
func (s bubbleService) post(body string) {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "/aloware", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer t")
	w := httptest.NewRecorder()
	s.server.Handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		s.t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Facts that would be lost with the process are posted at its end, right after
// another post. The page shows the stored figures.
func TestTheRestIsPostedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := dataset()
		env["ALOWARE_TOKEN"] = "t"
		played := powerbitest.New(powerbitest.Config{})
		s := newBubbleService(t, env, Program{PowerBI: playedBy(played), Ending: Orderly})
		s.post(call(1, "completed"))
		if err := s.poster.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.post(call(2, "completed"))
		s.clock.end()
		began := time.Now()
		if err := s.empty(t.Context()); err != nil || time.Since(began) > time.Second {
			t.Errorf("%v, after %s", err, time.Since(began))
		}
		if keys := played.Keys("Communications"); len(keys) != 2 {
			t.Errorf("posted %v", keys)
		}
		s.poster.Tally = nil // what is shown is stored
		if err := s.probe.err(t.Context()); err != nil || !strings.Contains(s.figures(), "\nposted 2\nrecovered 0\nreposted 0\ndoubled 0\ndimension_rows ") {
			t.Errorf("%v\n%s", err, s.figures())
		}
	})
}

// Pending facts are counted once a minute, and expired rows are deleted if no
// other process does so.
func TestServeKeepsHouse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBubbleService(t, map[string]string{"ALOWARE_TOKEN": "t", "DYNAMO_TTL_DAYS": "30"}, Program{})
		ctx, cancel := context.WithCancel(t.Context())
		var house sync.WaitGroup
		counting, countNoMore := context.WithCancel(ctx)
		house.Go(func() { s.count(counting) })
		house.Go(func() { serving.Expire(ctx, s.db.Embedded) })
		synctest.Wait()
		if !strings.Contains(s.figures(), "\npending 0\n") {
			t.Errorf("at the start:\n%s", s.figures())
		}
		s.post(call(1, "completed"))
		s.post("{")
		_ = sleep.For(ctx, countEvery+time.Second)
		if !strings.Contains(s.figures(), "\npending 1\n") {
			t.Errorf("a minute later:\n%s", s.figures())
		}
		countNoMore() // in a month it would count 47,000 times
		for _, after := range []struct {
			time  time.Duration
			marks int32
		}{{29 * 24 * time.Hour, 1}, {4 * 24 * time.Hour, 0}} {
			_ = sleep.For(ctx, after.time)
			out, err := s.db.Client.Scan(ctx, &dynamodb.ScanInput{TableName: &s.cfg.LedgerTable})
			if err != nil || out.Count != after.marks {
				t.Errorf("%s later: %d marks, want %d, %v", after.time, out.Count, after.marks, err)
			}
		}
		cancel()
		house.Wait()
		s.clock.end()
		if h := s.server; h.ReadHeaderTimeout == 0 || h.ReadTimeout == 0 || h.WriteTimeout == 0 || h.IdleTimeout == 0 || h.MaxHeaderBytes == 0 {
			t.Error("a slow sender may hold a connection for ever")
		}
	})
}

// A count that found facts and was not finished is not one that failed.
func TestCountsThatFail(t *testing.T) {
	t.Parallel()
	for nth, want := range map[int]string{1: "unknown: the count failed", 2: "at least 1"} {
		synctest.Test(t, func(t *testing.T) {
			s := newBubbleService(t, map[string]string{"ALOWARE_TOKEN": "t"}, Program{})
			s.post(call(1, "completed"))
			s.db.Embedded.Tap().Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Hour), Op: "Query", Nth: nth, Times: -1})
			if got := s.counted(t.Context()); got != want {
				t.Errorf("query %d: %s, want %s", nth, got, want)
			}
			s.db.Embedded.Tap().Heal()
			s.clock.end()
		})
	}
}

// All waits of the poster end with the service.
func TestWaitsEndWithTheService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		began := c.Now()
		if err := c.Sleep(t.Context(), time.Hour); err != nil || c.Now().Sub(began) != time.Hour {
			t.Errorf("an hour: %v, %v", c.Now().Sub(began), err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Sleep(over, time.Hour); err == nil {
			t.Error("a context that has ended")
		}
		time.AfterFunc(time.Minute, c.end)
		began = c.Now()
		if err := c.Sleep(t.Context(), time.Hour); err == nil || c.Now().Sub(began) != time.Minute {
			t.Errorf("until the end: %v, %v", c.Now().Sub(began), err)
		}
		if err := c.Sleep(t.Context(), time.Hour); err == nil {
			t.Error("after the end")
		}
		for range 20 {
			if err := c.Sleep(t.Context(), 0); err == nil {
				t.Fatal("after the end, for 0")
			}
		}
		c.resume()
		if err := c.Sleep(t.Context(), time.Hour); err != nil {
			t.Errorf("once more: %v", err)
		}
	})
}
