package queuetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// short is a visibility that a test waits for.
const short = 2 * time.Second

func deliveryTests() []Test {
	return []Test{
		{"Delivery", Settings{MaxReceives: 5}, delivery},
		{"Text", Settings{}, text},
		{"Attributes", Settings{}, attributes},
		{"Hidden", Settings{Visibility: short}, hidden},
		{"ReleaseLater", Settings{}, releaseLater},
		{"ReleaseFarAhead", Settings{Visibility: short}, releaseFarAhead},
		{"Delete", Settings{Visibility: short}, deleted},
		{"StaleDelete", Settings{}, staleDelete},
		{"Batch", Settings{}, batches},
		{"EmptyQueue", Settings{}, emptyQueue},
		{"WakesForASend", Settings{}, wakesForASend},
		{"EndsWhileWaiting", Settings{}, endsWhileWaiting},
		{"EndedContext", Settings{}, endedContext},
		{"BadCharacters", Settings{}, badCharacters},
		{"TooLarge", Settings{MaxBytes: 2000}, tooLarge},
		{"ConcurrentReceivers", Settings{}, concurrentReceivers},
		{"Depth", Settings{}, depth},
	}
}

// from is the attributes of a message: who wrote it.
func from() map[string]string {
	return map[string]string{queue.ChatID: "-100123", queue.MessageID: "7"}
}

// A delivery has everything that the pipeline reads.
func delivery(t *T) {
	began := time.Now()
	id := t.send("hej", from())
	m := t.receive()
	if m.ID != id || m.Body != "hej" || m.Receipt == "" {
		t.errorf("sent as %q, received %+v", id, m)
	}
	t.attributes("the message", m.Attributes, from())
	if m.Receives != 1 || m.MaxReceives != t.Settings.MaxReceives {
		t.errorf("received %d times of %d, want once of %d", m.Receives, m.MaxReceives, t.Settings.MaxReceives)
	}
	if off := m.SentAt.Sub(began); off < -time.Minute || off > time.Minute {
		t.errorf("sent %v after it was", off)
	}
}

// What people write arrives to the byte.
func text(t *T) {
	for _, body := range []string{
		"x", " ", "\n", " två rader\r\n\tmed åäö, 👋🏽 och \u200d ", `{"text":"<b>&amp;</b> \"%20+\" \\u0000"}`,
		"\u007f\u0085\u2028\ufdd0\ufffd", "Cafe\u0301, Caf\u00e9",
	} {
		t.send(body, map[string]string{"name": body})
		m := t.receive()
		if m.Body != body || m.Attributes["name"] != body {
			t.errorf("sent %q, received %q with %q", body, m.Body, m.Attributes["name"])
		}
		t.must("Delete", t.Queue.Delete(t.ctx, m.Receipt))
	}
}

// SQS refuses empty attributes: they are left out. The caller's map stays theirs.
func attributes(t *T) {
	mine := map[string]string{queue.ChatID: "-5", queue.MessageID: ""}
	t.send("hej", mine)
	t.must("Refuse", t.Queue.Refuse(t.ctx, []byte("hej"), mine, "why"))
	t.attributes("the caller's map", mine, map[string]string{queue.ChatID: "-5", queue.MessageID: ""})
	mine[queue.ChatID] = "-2"
	t.attributes("the message", t.receive().Attributes, map[string]string{queue.ChatID: "-5"})
	if _, empty := t.letter(time.Minute).Attributes[queue.MessageID]; empty {
		t.errorf("the letter has an empty attribute")
	}
}

// A message that is received is hidden for its visibility, then comes again.
func hidden(t *T) {
	t.send("hej", nil)
	began := time.Now()
	first := t.receive()
	second := t.receive()
	if passed := time.Since(began); passed < short {
		t.errorf("visible again after %v, its visibility is %v", passed, short)
	}
	if second.ID != first.ID || second.Receives != 2 || second.Receipt == first.Receipt {
		t.errorf("received %+v, then %+v", first, second)
	}
}

func releaseLater(t *T) {
	t.send("hej", nil)
	m := t.receive()
	began := time.Now()
	t.must("Release", t.Queue.Release(t.ctx, m.Receipt, short))
	again := t.receive()
	if passed := time.Since(began); again.ID != m.ID || passed < short || passed > soon {
		t.errorf("released for %v, back after %v: %+v", short, passed, again)
	}
}

// SQS hides for 12 hours at most, counted from the receive.
func releaseFarAhead(t *T) {
	t.send("hej", nil)
	t.must("Release", t.Queue.Release(t.ctx, t.receive().Receipt, 24*time.Hour))
	t.stays("released for a day")
}

// What is deleted does not come again. Its receipt does nothing, and is not an error.
func deleted(t *T) {
	t.send("hej", nil)
	m := t.receive()
	t.must("Delete", t.Queue.Delete(t.ctx, m.Receipt))
	t.must("Delete again", t.Queue.Delete(t.ctx, m.Receipt))
	t.must("Release", t.Queue.Release(t.ctx, m.Receipt, 0))
	t.stays("deleted")
	t.depth(queue.Depth{})
}

// The last receiver of a message is responsible for it.
func staleDelete(t *T) {
	t.send("hej", nil)
	stale := t.receive()
	t.must("Release", t.Queue.Release(t.ctx, stale.Receipt, 0))
	fresh := t.receive()
	t.must("Delete", t.Queue.Delete(t.ctx, stale.Receipt))
	t.must("Release", t.Queue.Release(t.ctx, fresh.Receipt, 0))
	again, err := t.Queue.Receive(t.ctx, 1, short)
	t.must("Receive", err)
	if len(again) == 0 {
		t.fatalf("the stale receipt deleted the message")
	}
	t.must("Delete", t.Queue.Delete(t.ctx, again[0].Receipt))
	t.depth(queue.Depth{})
}

// A batch holds at most what was asked for, and all come.
func batches(t *T) {
	const messages, most = 25, 12
	var want, got []string
	for i := range messages {
		want = append(want, fmt.Sprintf("%02d", i))
		t.send(want[i], nil)
	}
	t.until("all are received", func() bool {
		batch, err := t.Queue.Receive(t.ctx, most, time.Second)
		t.must("Receive", err)
		if len(batch) > most {
			t.errorf("a batch of %d, asked for %d", len(batch), most)
		}
		for _, m := range batch {
			got = append(got, m.Body)
		}
		return len(got) >= messages
	})
	slices.Sort(got) // they may come in any order
	if !slices.Equal(got, want) {
		t.errorf("received %q", got)
	}
	if none, err := t.Queue.Receive(t.ctx, 0, 0); err != nil || len(none) > 0 {
		t.errorf("asked for none: %d, %v", len(none), err)
	}
}

// Without a message a receive waits as long as it was told, and returns none.
func emptyQueue(t *T) {
	began := time.Now()
	t.none("empty")
	if passed := time.Since(began); passed > soon {
		t.errorf("did not wait, and took %v", passed)
	}
	began = time.Now()
	batch, err := t.Queue.Receive(t.ctx, 1, short)
	if passed := time.Since(began); err != nil || len(batch) > 0 || passed < short-pause || passed > soon {
		t.errorf("waited for %v, and %v passed: %d, %v", short, passed, len(batch), err)
	}
}

func wakesForASend(t *T) {
	began := time.Now()
	sent := make(chan error, 1)
	time.AfterFunc(10*pause, func() {
		_, err := t.Queue.Send(t.ctx, "hej", nil)
		sent <- err
	})
	batch, err := t.Queue.Receive(t.ctx, 1, 2*soon)
	if passed := time.Since(began); err != nil || len(batch) != 1 || passed > soon {
		t.errorf("received %d after %v, %v", len(batch), passed, err)
	}
	t.must("Send", <-sent)
}

func endsWhileWaiting(t *T) {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	began := time.Now()
	time.AfterFunc(10*pause, cancel)
	_, err := t.Queue.Receive(ctx, 1, 2*soon)
	if passed := time.Since(began); !errors.Is(err, context.Canceled) || passed > soon {
		t.errorf("ended after %v with %v", passed, err)
	}
}

// Under a context that has ended nothing is done, so that nobody acknowledges
// it.
func endedContext(t *T) {
	t.send("stays", from())
	m := t.receive()
	t.send("waits", nil)
	ctx, cancel := context.WithCancel(t.ctx)
	cancel()
	_, sent := t.Queue.Send(ctx, "hej", nil)
	_, received := t.Queue.Receive(ctx, 1, time.Second)
	_, read := t.letters.Receive(ctx, 1, time.Second)
	for operation, err := range map[string]error{
		"Send": sent, "Receive": received, "DeadLetters.Receive": read,
		"Refuse": t.Queue.Refuse(ctx, []byte("hej"), nil, "why"),
		"Bury":   t.Queue.Bury(ctx, m, "why"),
	} {
		if !errors.Is(err, context.Canceled) {
			t.errorf("%s returns %v", operation, err)
		}
	}
	t.depth(queue.Depth{Waiting: 1, InFlight: 1})
}

// What SQS refuses is refused before it is sent.
func badCharacters(t *T) {
	for _, bad := range []string{"\x00", "\x0b", "\x1f", "hej \uFFFE", "\uFFFF", "\xff", "\xed\xa0\x80"} {
		if _, err := t.Queue.Send(t.ctx, bad, nil); !errors.Is(err, queue.ErrInvalidContents) {
			t.errorf("the body %q: %v", bad, err)
		}
		if _, err := t.Queue.Send(t.ctx, "hej", map[string]string{queue.ChatID: bad}); !errors.Is(err, queue.ErrInvalidContents) {
			t.errorf("the attribute %q: %v", bad, err)
		}
	}
	if _, err := t.Queue.Send(t.ctx, "", nil); !errors.Is(err, queue.ErrInvalidContents) {
		t.errorf("an empty body: %v", err)
	}
	t.none("all were refused")
	t.depth(queue.Depth{})
}

// The limit holds for body and attributes together.
func tooLarge(t *T) {
	room := t.Settings.MaxBytes - len(queue.ChatID+"String"+"-5")
	chat := map[string]string{queue.ChatID: "-5"}
	_, err := t.Queue.Send(t.ctx, strings.Repeat("x", room+1), chat)
	if large, ok := errors.AsType[*queue.TooLargeError](err); !ok || large.Size != t.Settings.MaxBytes+1 || large.Limit != t.Settings.MaxBytes {
		t.errorf("a byte too many: %v", err)
	}
	t.none("it was refused")
	t.send(strings.Repeat("x", room), chat)
	if m := t.receive(); len(m.Body) != room {
		t.errorf("of %d bytes %d came", room, len(m.Body))
	}
}

// No two receivers hold a message at once.
func concurrentReceivers(t *T) {
	const messages, receivers = 30, 4
	for i := range messages {
		t.send(fmt.Sprint(i), nil)
	}
	var mu sync.Mutex
	held := map[string]int{}
	var working sync.WaitGroup
	for range receivers {
		working.Go(func() {
			for idle := 0; idle < 2; {
				batch, err := t.Queue.Receive(t.ctx, 3, time.Second)
				if err != nil {
					t.errorf("Receive: %v", err)
					return
				}
				if len(batch) == 0 {
					idle++
				}
				mu.Lock()
				for _, m := range batch {
					held[m.Body]++
				}
				mu.Unlock()
			}
		})
	}
	working.Wait()
	for body, times := range held {
		if times != 1 {
			t.errorf("%d receivers hold message %s", times, body)
		}
	}
	if len(held) != messages {
		t.errorf("%d messages of %d came", len(held), messages)
	}
}

func depth(t *T) {
	t.depth(queue.Depth{})
	for range 3 {
		t.send("hej", nil)
	}
	t.depth(queue.Depth{Waiting: 3})
	m := t.receive()
	t.depth(queue.Depth{Waiting: 2, InFlight: 1})
	t.must("Release", t.Queue.Release(t.ctx, m.Receipt, 0))
	t.depth(queue.Depth{Waiting: 3})
	m = t.receive()
	t.must("Refuse", t.Queue.Refuse(t.ctx, []byte("{"), nil, "no JSON"))
	t.must("Bury", t.Queue.Bury(t.ctx, m, "why"))
	t.depth(queue.Depth{Waiting: 2, Dead: 2})
	t.letter(time.Minute) // hidden, and still dead
	t.depth(queue.Depth{Waiting: 2, Dead: 2})
}
