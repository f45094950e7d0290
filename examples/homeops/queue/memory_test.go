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

func TestThreeReceivesThenDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewMemory(queue.Config{})
		send(t, q, "hej")
		for n := 1; n <= queue.MaxReceives; n++ {
			m := receive(t, q)
			if m.Receives != n || m.Last() != (n == queue.MaxReceives) || m.Attributes[queue.ChatID] != "-1" {
				t.Errorf("receive %d: %+v", n, m)
			}
			if again, _ := q.Receive(t.Context(), 1, queue.Visibility-time.Second); len(again) != 0 {
				t.Errorf("visible again before its time: %+v", again)
			}
			time.Sleep(time.Second) // in the bubble
		}
		if batch, _ := q.Receive(t.Context(), 1, 0); len(batch) != 0 {
			t.Errorf("received a fourth time: %+v", batch)
		}
		if dead := q.Dead(); len(dead) != 1 || dead[0].Body != "hej" || q.Len() != 0 {
			t.Errorf("dead letters: %+v", dead)
		}
	})
}

func TestDeleteAcknowledges(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	send(t, q, "hej")
	if err := q.Delete(t.Context(), receive(t, q).Receipt); err != nil || q.Len() != 0 {
		t.Errorf("Delete: %v, %d left", err, q.Len())
	}
}

func TestAStaleReceiptDoesNothing(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	send(t, q, "hej")
	stale := receive(t, q)
	if err := q.Release(t.Context(), stale.Receipt, 0); err != nil {
		t.Fatal(err)
	}
	fresh := receive(t, q)
	if err := q.Delete(t.Context(), stale.Receipt); err != nil || q.Len() != 1 {
		t.Errorf("the stale receipt deleted: %v, %d left", err, q.Len())
	}
	if err := q.Delete(t.Context(), fresh.Receipt); err != nil || q.Len() != 0 {
		t.Errorf("the fresh receipt: %v, %d left", err, q.Len())
	}
}

func TestReceiveWakesForASend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewMemory(queue.Config{})
		var wg sync.WaitGroup
		wg.Go(func() {
			batch, err := q.Receive(t.Context(), 10, 20*time.Second)
			if err != nil || len(batch) != 1 {
				t.Errorf("Receive = %v, %v", batch, err)
			}
		})
		synctest.Wait()
		send(t, q, "hej")
		wg.Wait()
	})
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := queue.NewMemory(queue.Config{}).Receive(ctx, 1, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSendRefusesWhatSQSWould(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{MaxBytes: 100})
	_, err := q.Send(t.Context(), strings.Repeat("x", 90), map[string]string{"chatId": "-1"})
	if large, ok := errors.AsType[*queue.TooLargeError](err); !ok || large.Size != 104 || large.Limit != 100 {
		t.Errorf("attributes are not counted: %v", err)
	}
	if _, err := q.Send(t.Context(), strings.Repeat("x", 86), map[string]string{"chatId": "-1"}); err != nil {
		t.Errorf("a message of just the limit: %v", err)
	}
	for _, body := range []string{"", "\x00", "\x0b", "\x1f", "hej \uFFFE", "\uFFFF", "\xff"} {
		if _, err := q.Send(t.Context(), body, nil); !errors.Is(err, queue.ErrInvalidContents) {
			t.Errorf("Send(%q) = %v", body, err)
		}
	}
	if _, err := q.Send(t.Context(), "a\tb\r\n👋", nil); err != nil {
		t.Error(err)
	}
}

func TestRefuseKeepsTheReason(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	if err := q.Refuse(t.Context(), []byte("{"), nil, "no JSON"); err != nil {
		t.Fatal(err)
	}
	if dead := q.Dead(); len(dead) != 1 || dead[0].Attributes[queue.Reason] != "no JSON" {
		t.Errorf("dead letters: %+v", dead)
	}
}

// What dies is logged, whichever way: who wrote it and why, not what.
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

// Whoever waits has the message when its time has come, not earlier or later.
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

// What the caller does to its map later is not in the queue.
func TestAttributesAreCopied(t *testing.T) {
	t.Parallel()
	q := queue.NewMemory(queue.Config{})
	mine := map[string]string{queue.ChatID: "-1"}
	if _, err := q.Send(t.Context(), "hej", mine); err != nil {
		t.Fatal(err)
	}
	if err := q.Refuse(t.Context(), []byte("hej"), mine, "why"); err != nil {
		t.Fatal(err)
	}
	if _, mixed := mine[queue.Reason]; mixed {
		t.Error("the reason is in the caller's map")
	}
	mine[queue.ChatID] = "-2"
	if sent, dead := receive(t, q), q.Dead()[0]; sent.Attributes[queue.ChatID] != "-1" || dead.Attributes[queue.ChatID] != "-1" {
		t.Errorf("changed to %v, %v", sent.Attributes, dead.Attributes)
	}
}

// With its context ended nothing is taken, so that nobody acknowledges it.
func TestAnEndedContextTakesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := queue.NewMemory(queue.Config{})
	if _, err := q.Send(ctx, "hej", nil); !errors.Is(err, context.Canceled) || q.Len() != 0 {
		t.Errorf("Send: %v, %d", err, q.Len())
	}
	if err := q.Refuse(ctx, []byte("hej"), nil, "why"); !errors.Is(err, context.Canceled) || len(q.Dead()) != 0 {
		t.Errorf("Refuse: %v, %d", err, len(q.Dead()))
	}
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
