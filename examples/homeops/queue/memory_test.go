package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/queue/queuetest"
)

func receive(t *testing.T, q queue.Queue) queue.Message {
	t.Helper()
	batch, err := q.Receive(t.Context(), 1, 0)
	if err != nil || len(batch) != 1 {
		t.Fatalf("Receive = %v, %v", batch, err)
	}
	return batch[0]
}

func send(t *testing.T, q queue.Queue, body string) {
	t.Helper()
	if _, err := q.Send(t.Context(), body, map[string]string{queue.ChatID: "-1"}); err != nil {
		t.Fatal(err)
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, queuetest.Backend{Bubble: true, New: func(_ *testing.T, s queuetest.Settings) queue.Queue {
		return queue.NewMemory(queue.Config{Visibility: s.Visibility, MaxReceives: s.MaxReceives, MaxBytes: s.MaxBytes})
	}})
}

// A message that dies in any way is logged: who wrote it and why it died, but
// not its text.
func TestDeadLettersAreLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		q := queue.NewMemory(queue.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err := q.Refuse(t.Context(), []byte("{private"), map[string]string{queue.ChatID: "-5", queue.MessageID: "7"}, "no JSON"); err != nil {
			t.Fatal(err)
		}
		send(t, q, "private")
		for range queue.MaxReceives {
			receive(t, q)
			time.Sleep(queue.Visibility) // in the bubble
		}
		if _, err := q.Receive(t.Context(), 1, 0); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(log.String(), "\n")
		if len(lines) != 3 || len(q.Dead()) != 2 {
			t.Fatalf("%d dead, logged %q", len(q.Dead()), lines)
		}
		for i, want := range []string{
			`msg="dead letter" delivery=m-1 chat_id=-5 message_id=7 receives=0 bytes=8 reason="no JSON"`,
			`msg="dead letter" delivery=m-2 chat_id=-1 message_id="" receives=3 bytes=7 reason="no reason, 3 receives"`,
		} {
			if !strings.Contains(lines[i], want) || strings.Contains(lines[i], "private") {
				t.Errorf("logged %s, want %s", lines[i], want)
			}
		}
	})
}

// A batch holds at most what was asked for, in the order of sending.
func TestReceiveTakesABatch(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	for _, body := range []string{"1", "2", "3"} {
		send(t, q, body)
	}
	for _, want := range []string{"12", "3", ""} {
		batch, err := q.Receive(t.Context(), 2, 0)
		var got string
		for _, m := range batch {
			got += m.Body
		}
		if err != nil || got != want {
			t.Errorf("received %q, %v, want %q", got, err, want)
		}
	}
	var left string
	for _, m := range q.Left() {
		left += m.Body
	}
	if left != "123" || q.Len() != 3 {
		t.Errorf("what nobody deleted is not left: %q, %d", left, q.Len())
	}
}

// A waiting receiver gets the message when its time has come, not earlier or
// later.
func TestReceiveWaitsForARelease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewMemory(queue.Config{})
		send(t, q, "hej")
		if err := q.Release(t.Context(), receive(t, q).Receipt, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		batch, err := q.Receive(t.Context(), 1, 20*time.Second)
		if err != nil || len(batch) != 1 || time.Since(began) != 5*time.Second {
			t.Errorf("%d after %v, %v", len(batch), time.Since(began), err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { // somebody else gives it back meanwhile
			if again, err := q.Receive(t.Context(), 1, 20*time.Second); err != nil || len(again) != 1 || again[0].Receives != 3 {
				t.Errorf("%+v, %v", again, err)
			}
		})
		synctest.Wait()
		if err := q.Release(t.Context(), batch[0].Receipt, 0); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if time.Since(began) != 5*time.Second {
			t.Errorf("woke after %v", time.Since(began))
		}
	})
}

func TestProcessNamesOnlyTheFailed(t *testing.T) {
	t.Parallel()
	batch := []queue.Message{{ID: "1", Body: "good"}, {ID: "2", Body: "bad"}, {ID: "3", Body: "good"}}
	trouble := errors.New("trouble")
	failed := queue.Process(t.Context(), batch, func(_ context.Context, m queue.Message) error {
		if m.Body == "bad" {
			return trouble
		}
		return nil
	})
	if len(failed) != 1 || !errors.Is(failed["2"], trouble) {
		t.Errorf("failed: %v", failed)
	}
}
