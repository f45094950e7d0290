package queue_test

import (
	"context"
	"errors"
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
	for _, body := range []string{"", "\x00", "\uFFFE", "\uFFFF", "\xff"} {
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
	if err := q.Refuse(t.Context(), "{", nil, "no JSON"); err != nil {
		t.Fatal(err)
	}
	if dead := q.Dead(); len(dead) != 1 || dead[0].Attributes[queue.Reason] != "no JSON" {
		t.Errorf("dead letters: %+v", dead)
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
