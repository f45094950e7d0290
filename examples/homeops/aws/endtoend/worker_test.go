package endtoend

import (
	"bytes"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/function"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// send puts updates on the queue, as ingest would.
func (w *world) send(updates ...string) {
	w.t.Helper()
	for _, update := range updates {
		if _, err := w.main.Send(w.t.Context(), update, map[string]string{queue.ChatID: "-5"}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// deliver hands the worker a batch of at most so many messages and returns the
// ids of those that stay.
func (w *world) deliver(l *lambda, most int) (failed []string) {
	w.t.Helper()
	batch, event := w.receive(most)
	var out events.SQSEventResponse
	l.invoke(event, &out)
	return w.settle(batch, out)
}

const (
	question = "Vem diskade senast?"
	answer   = "[-5] diskning: aldrig, vad jag vet"
)

func TestWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := start(t, workerBinary, w.env)
	for range 2 { // the second delivery is a repetition by Telegram
		w.send(says(1, question))
		if failed := w.deliver(l, 1); len(failed) > 0 || w.main.Len() > 0 {
			t.Errorf("failed: %v", failed)
		}
	}
	if diff := cmp.Diff([]string{answer}, w.bot.all()); diff != "" {
		t.Error(diff)
	}
}

// Only the failed messages of a batch come again. After its last delivery such a
// message is a dead letter, with the reason.
func TestWorkerBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var broken atomic.Bool
	broken.Store(true)
	w.onRequest(func(_ *http.Request, body []byte) {
		if broken.Load() && bytes.Contains(body, []byte("-6")) {
			panic(refused{})
		}
	}, nil)
	l := start(t, workerBinary, w.env)
	w.send(says(1, question), strings.Replace(says(2, question), "-5", "-6", 1), says(3, question))
	for range queue.MaxReceives - 1 {
		if diff := cmp.Diff([]string{"m-2"}, w.deliver(l, 3)); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff([]string{answer, answer}, w.bot.all()); diff != "" {
		t.Error(diff)
	}
	if failed := w.deliver(l, 3); len(failed) > 0 || w.main.Len() > 0 || w.dead.Len() != 1 {
		t.Fatalf("the last delivery: %v stay, %d dead", failed, w.dead.Len())
	}
	letter := w.dead.Left()[0]
	if !strings.Contains(letter.Why(), "refused by the test") || letter.Attributes[queue.Delivery] != "m-2" {
		t.Errorf("dead: %v", letter.Attributes)
	}
}

// If Telegram asks to wait, the message is hidden for that long, and sent then.
func TestWorkerWaitsOnTheQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bot.set(nil, 600)
	l := start(t, workerBinary, w.env)
	w.send(says(1, question))
	if failed := w.deliver(l, 1); !cmp.Equal(failed, []string{"m-1"}) || !cmp.Equal(w.hidden(), []int{600}) {
		t.Errorf("%v stay, hidden for %v s", failed, w.hidden())
	}
	if failed := w.deliver(l, 1); len(failed) > 0 {
		t.Errorf("%v stay", failed)
	}
	if diff := cmp.Diff([]string{answer}, w.bot.all()); diff != "" {
		t.Error(diff)
	}
}

// A database that does not answer stops the worker until two seconds before its
// deadline. What is done by then is done, and all else comes again.
func TestWorkerAnswersInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	over := make(chan struct{})
	defer close(over)
	w.onRequest(func(r *http.Request, body []byte) {
		if bytes.Contains(body, []byte("-6")) {
			select {
			case <-r.Context().Done():
			case <-over:
			}
		}
	}, nil)
	l := start(t, workerBinary, w.env)
	w.send(says(1, question), strings.Replace(says(2, question), "-5", "-6", 1), says(3, question))
	l.warm()
	const limit = function.Margin + 10*time.Second // the first message needs less, even on a slow machine
	batch, event := w.receive(3)
	var out events.SQSEventResponse
	if took := l.take(l.begin(event, limit), &out); took < time.Second || took >= limit {
		t.Errorf("ends after %v", took)
	}
	if diff := cmp.Diff([]string{"m-2", "m-3"}, w.settle(batch, out)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{answer}, w.bot.all()); diff != "" {
		t.Error(diff)
	}
	l.waitLog("not begun")
}

// A process is killed at any point of a delivery: the next delivery, to a new
// process, completes what the first began.
func TestWorkerKilledAnywhere(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"a question": question, "an activity": "Jag har diskat"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			update := says(1, text)
			undisturbed := newWorld(t)
			var requests atomic.Int32
			undisturbed.onRequest(func(*http.Request, []byte) { requests.Add(1) }, nil)
			undisturbed.send(update)
			undisturbed.deliver(start(t, workerBinary, undisturbed.env), 1)
			want, most := undisturbed.tables(), len(undisturbed.bot.all())
			if requests.Load() < 3 {
				t.Fatalf("%d requests", requests.Load())
			}
			for kill := range 2 * requests.Load() {
				w := newWorld(t)
				w.send(update)
				w.killAt(place{request: kill/2 + 1, done: kill%2 == 1})
				w.deliver(start(t, workerBinary, w.env), 1)
				if diff := cmp.Diff(want, w.tables()); diff != "" {
					t.Errorf("killed at %d of %d:\n%s", kill, 2*requests.Load(), diff)
				}
				if sent := w.bot.all(); len(sent) > most {
					t.Errorf("killed at %d: sent %q", kill, sent)
				}
			}
		})
	}
}

// A process that gets no time to say what failed is killed at its deadline.
func TestWorkerKilledAtItsDeadline(t *testing.T) {
	t.Parallel()
	update := says(1, question)
	undisturbed := newWorld(t)
	undisturbed.send(update)
	undisturbed.deliver(start(t, workerBinary, undisturbed.env), 1)
	w := newWorld(t)
	w.send(update)
	w.killAt(place{request: 2, stopped: function.Margin + 2*time.Second})
	w.deliver(start(t, workerBinary, w.env), 1)
	if diff := cmp.Diff(undisturbed.tables(), w.tables()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{answer}, w.bot.all()); diff != "" {
		t.Error(diff)
	}
}

// place is where a process is killed: at its request of that number to DynamoDB,
// before or after the request takes effect. With stopped set, the process stands
// still there, and is killed when the invocation's time is over, which is
// stopped.
type place struct {
	request int32
	done    bool
	stopped time.Duration
}

// limit returns the time of the invocation.
func (p place) limit() time.Duration {
	if p.stopped > 0 {
		return p.stopped
	}
	return timeout
}

// killAt begins a delivery and kills the process in it.
func (w *world) killAt(p place) {
	w.t.Helper()
	var count atomic.Int32
	there, over := make(chan struct{}), make(chan struct{})
	reached := func() (kept bool) {
		n := count.Add(1)
		if n == p.request {
			close(there)
		}
		if n >= p.request {
			<-over // the process is dead
		}
		return n >= p.request
	}
	if p.done {
		w.onRequest(nil, func() { reached() })
	} else {
		w.onRequest(func(*http.Request, []byte) {
			if reached() {
				panic(refused{}) // it never got this far
			}
		}, nil)
	}
	l := start(w.t, workerBinary, w.env)
	batch, event := w.receive(1)
	l.warm()
	ended := l.begin(event, p.limit())
	deadline := time.After(p.stopped)
	select {
	case <-there:
	case <-time.After(patience):
		w.t.Fatalf("request %d never comes", p.request)
	}
	if p.stopped > 0 {
		l.signal(syscall.SIGSTOP)
	}
	<-deadline
	l.kill()
	close(over)
	if r := <-ended; r.fault == "" {
		w.t.Fatalf("answered %s", r.body)
	}
	w.onRequest(nil, nil)
	if err := w.main.Release(w.t.Context(), batch[0].Receipt, 0); err != nil { // its visibility is over
		w.t.Fatal(err)
	}
}

// A message that Telegram took is not sent again, though the process is killed
// before it hears of that.
func TestWorkerKilledWhileItSends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	over := make(chan struct{})
	defer close(over)
	w.bot.set(over, 0)
	w.send(says(1, question))
	l := start(t, workerBinary, w.env)
	batch, event := w.receive(1)
	ended := l.begin(event, timeout)
	for len(w.bot.all()) == 0 {
		select {
		case r := <-ended:
			t.Fatalf("ended: %s %s", r.body, r.fault)
		case <-time.After(time.Millisecond):
		}
	}
	l.kill()
	<-ended
	if err := w.main.Release(t.Context(), batch[0].Receipt, 0); err != nil {
		t.Fatal(err)
	}
	if failed := w.deliver(start(t, workerBinary, w.env), 1); len(failed) > 0 {
		t.Errorf("failed: %v", failed)
	}
	if diff := cmp.Diff([]string{answer}, w.bot.all()); diff != "" {
		t.Error(diff)
	}
}

// The schedule's message logs how deep the queue is. An unknown job becomes a dead
// letter at once.
func TestJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := start(t, workerBinary, w.env)
	if _, err := w.dead.Send(t.Context(), "poison", nil); err != nil {
		t.Fatal(err)
	}
	w.send(`{"job":"hourly","due":"2026-03-29T17:00:07Z"}`, says(1, question), says(2, question))
	if failed := w.deliver(l, 1); len(failed) > 0 {
		t.Errorf("failed: %v", failed)
	}
	l.waitLog(`"waiting":2,"in_flight":1,"dead":1`)
	w.deliver(l, 2)
	w.send(`{"job":"guessed","due":"2026-03-29T17:00:07Z","chat":"-5"}`)
	if failed := w.deliver(l, 1); len(failed) > 0 {
		t.Errorf("failed: %v", failed)
	}
	if dead := letters(w.dead.Left()); len(dead) != 2 || !strings.Contains(dead[1], `job must be the name of a job in package job`) {
		t.Errorf("dead letters: %q", dead)
	}
}
