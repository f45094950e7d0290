package queuetest

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

const (
	// patience is how long a test waits for something that must come.
	patience = 30 * time.Second
	// soon is a time before the end of a long poll, or of the visibility.
	soon = 10 * time.Second
	// pause is between two looks at the same thing.
	pause = 50 * time.Millisecond
)

// T is what a test gets. It keeps failures, because they may be known ones.
type T struct {
	ctx      context.Context
	Queue    queue.Queue
	Settings Settings
	letters  queue.DeadLetters

	mu       sync.Mutex
	failures []error
}

// errorf says what is wrong and goes on.
func (t *T) errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, fmt.Errorf(format, args...))
}

// fatalf says what is wrong and ends the test. Only its own goroutine calls it.
func (t *T) fatalf(format string, args ...any) {
	t.errorf(format, args...)
	runtime.Goexit()
}

// must ends the test if something that has to work fails.
func (t *T) must(what string, err error) {
	if err != nil {
		t.fatalf("%s: %v", what, err)
	}
}

// wait lets time pass, in a bubble or outside.
func (t *T) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
		t.fatalf("the test is over: %v", context.Cause(t.ctx))
	}
}

// until waits for a condition, and ends the test if it never holds.
func (t *T) until(what string, so func() bool) {
	for began := time.Now(); !so(); t.wait(pause) {
		if time.Since(began) > patience {
			t.fatalf("never: %s", what)
		}
	}
}

func (t *T) send(body string, attributes map[string]string) (id string) {
	id, err := t.Queue.Send(t.ctx, body, attributes)
	t.must("Send", err)
	return id
}

// receive returns the next message, which must come.
func (t *T) receive() queue.Message {
	return t.one("a message", func() ([]queue.Message, error) { return t.Queue.Receive(t.ctx, 1, time.Second) })
}

// one asks for one message until it comes.
func (t *T) one(what string, receive func() ([]queue.Message, error)) (m queue.Message) {
	t.until(what+" is received", func() bool {
		batch, err := receive()
		t.must("receiving "+what, err)
		if len(batch) > 1 {
			t.fatalf("received %d of %s, asked for one", len(batch), what)
		}
		if len(batch) == 1 {
			m = batch[0]
		}
		return len(batch) == 1
	})
	return m
}

// none reports whether no message is visible, and says so if one is.
func (t *T) none(when string) bool {
	batch, err := t.Queue.Receive(t.ctx, 10, 0)
	t.must("Receive", err)
	if len(batch) > 0 {
		t.errorf("%s: received %q", when, batch[0].Body)
	}
	return len(batch) == 0
}

// letter returns the next dead letter, which must come.
func (t *T) letter(hidden time.Duration) queue.Message {
	return t.one("a dead letter", func() ([]queue.Message, error) { return t.letters.Receive(t.ctx, 1, hidden) })
}

// noLetter says so if a dead letter is visible.
func (t *T) noLetter(when string) {
	batch, err := t.letters.Receive(t.ctx, 10, time.Second)
	t.must("DeadLetters.Receive", err)
	if len(batch) > 0 {
		t.errorf("%s: received the dead letter %q", when, batch[0].Body)
	}
}

// depth waits until the queue counts what it should.
func (t *T) depth(want queue.Depth) {
	var got queue.Depth
	for began := time.Now(); ; t.wait(pause) {
		var err error
		got, err = t.Queue.Depth(t.ctx)
		t.must("Depth", err)
		if got == want {
			return
		}
		if time.Since(began) > soon {
			t.errorf("the depth is %+v, want %+v", got, want)
			return
		}
	}
}

func (t *T) attributes(of string, got, want map[string]string) {
	if !maps.Equal(got, want) {
		t.errorf("%s has the attributes %v, want %v", of, got, want)
	}
}
