// Package queuetest is one suite for every queue.Queue. It tests what the
// pipeline needs, of the queue in the process and of SQS alike.
//
//	queuetest.go  the suite, and what a backend may do otherwise, what a test is given
//	delivery.go   tests of the queue
//	letters.go    tests of its dead letters
package queuetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// Settings of a queue that a test asks for.
type Settings struct {
	Visibility  time.Duration // whole seconds
	MaxReceives int
	MaxBytes    int
}

// Backend is a kind of queue.
type Backend struct {
	// New returns a queue that is empty, and has no other user.
	New func(t *testing.T, s Settings) queue.Queue
	// Bubble runs each test in a testing/synctest bubble, for queues inside the
	// process: there waiting takes no time.
	Bubble bool
	// Differences are the tests that are known to fail, by name.
	Differences map[string]Difference
}

// Difference is a test that a backend fails, and the reason.
type Difference struct {
	// Says is a part of each of the test's failures: another failure of the
	// same test is not a known one.
	Says   string
	Reason string
	// Sometimes says that the test may also pass, if nothing comes in between.
	Sometimes bool
}

// Test is a test of the suite.
type Test struct {
	Name     string
	Settings Settings
	run      func(*T)
}

// Run runs the suite. A test that fails must be in the list of differences, and
// a test in the list must fail.
func Run(t *testing.T, b Backend) {
	t.Helper()
	for _, test := range append(deliveryTests(), letterTests()...) {
		s := &test.Settings
		s.Visibility = cmp.Or(s.Visibility, time.Minute) // nothing comes back by itself
		s.MaxReceives, s.MaxBytes = cmp.Or(s.MaxReceives, queue.MaxReceives), cmp.Or(s.MaxBytes, queue.MaxBytes)
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			if err := b.judge(t, test); err != nil {
				t.Error(err)
			}
		})
	}
}

// judge runs a test and returns nil if it passes, or fails in a known way. It
// returns other failures. It also returns an error for a difference that has
// vanished, unless it is one of Sometimes.
func (b Backend) judge(t *testing.T, test Test) error {
	t.Helper()
	failures := b.try(t, test)
	d, known := b.Differences[test.Name]
	switch {
	case !known:
		return errors.Join(failures...)
	case len(failures) == 0 && !d.Sometimes:
		return fmt.Errorf("the test passes, so remove its difference from the list: %s", d.Reason)
	}
	t.Logf("differs as is known: %s", d.Reason)
	return errors.Join(slices.DeleteFunc(failures, func(err error) bool { return strings.Contains(err.Error(), d.Says) })...)
}

// try runs a test and returns its failures.
func (b Backend) try(t *testing.T, test Test) (failures []error) {
	t.Helper()
	run := func(t *testing.T) {
		own := &T{ctx: t.Context(), Queue: b.New(t, test.Settings), Settings: test.Settings}
		own.letters = own.Queue.DeadLetters()
		ended := make(chan struct{})
		go func() { // which Fatalf ends
			defer close(ended)
			test.run(own)
		}()
		<-ended
		failures = own.failures
	}
	if b.Bubble {
		synctest.Test(t, run)
	} else {
		run(t)
	}
	return failures
}

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

// stays says so if a message is visible within twice the short visibility.
func (t *T) stays(when string) {
	for began := time.Now(); time.Since(began) < 2*short && t.none(when); t.wait(pause) {
	}
}

// letter returns the next dead letter, which must come.
func (t *T) letter(hidden time.Duration) queue.Message {
	return t.one("a dead letter", func() ([]queue.Message, error) { return t.letters.Receive(t.ctx, 1, hidden) })
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
