// Package queuetest is one suite for every queue.Queue: what the pipeline stands
// on, asked of the queue in the process and of SQS alike.
//
//	queuetest.go  the suite, and what a backend may do otherwise
//	t.go          what a test is given
//	delivery.go   tests of the queue
//	letters.go    tests of its dead letters
package queuetest

import (
	"errors"
	"fmt"
	"strings"
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
	// Bubble lets each test run in a testing/synctest bubble, for queues inside
	// the process: where others wait, these take no time.
	Bubble bool
	// Differences are the tests that are known to fail.
	Differences []Difference
}

// Difference is a test that a backend fails, and why that is so.
type Difference struct {
	Test string
	// Says is part of everything that the test says of it: another failure
	// of the same test is not known.
	Says   string
	Reason string
	// Sometimes says that it passes, too, when nothing comes in between.
	Sometimes bool
}

// Test is a test of the suite.
type Test struct {
	Name     string
	Settings Settings
	run      func(*T)
}

// Tests returns the suite.
func Tests() []Test {
	all := append(deliveryTests(), letterTests()...)
	for i := range all {
		s := &all[i].Settings
		if s.Visibility == 0 {
			s.Visibility = time.Minute // nothing comes back by itself
		}
		if s.MaxReceives == 0 {
			s.MaxReceives = queue.MaxReceives
		}
		if s.MaxBytes == 0 {
			s.MaxBytes = queue.MaxBytes
		}
	}
	return all
}

// Run runs the suite. What fails must be in the list of differences, and what
// is in the list must fail.
func Run(t *testing.T, b Backend) {
	t.Helper()
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	for _, test := range Tests() {
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			if err := b.Judge(t, test); err != nil {
				t.Error(err)
			}
		})
	}
}

// Check refuses differences that name no test of the suite, or give no reason.
func (b Backend) Check() error {
	names := map[string]bool{}
	for _, test := range Tests() {
		names[test.Name] = true
	}
	for _, d := range b.Differences {
		if !names[d.Test] {
			return fmt.Errorf("a difference is listed for the test %q, which is not in the suite or has one already", d.Test)
		}
		if d.Says == "" || d.Reason == "" {
			return fmt.Errorf("the difference of the test %q lacks what the test says, or the reason", d.Test)
		}
		names[d.Test] = false
	}
	return nil
}

// Judge runs a test and returns nil if it passes, or fails as is known. Other
// failures are returned, and so is a difference that has vanished, but for one of
// sometimes.
func (b Backend) Judge(t *testing.T, test Test) error {
	t.Helper()
	failures := b.try(t, test)
	for _, d := range b.Differences {
		if d.Test != test.Name {
			continue
		}
		if len(failures) == 0 && d.Sometimes {
			return nil
		}
		if len(failures) == 0 {
			return fmt.Errorf("the difference has vanished, take it from the list: %s", d.Reason)
		}
		t.Logf("differs as is known: %s", d.Reason)
		var others []error
		for _, failure := range failures {
			if !strings.Contains(failure.Error(), d.Says) {
				others = append(others, failure)
			}
		}
		return errors.Join(others...)
	}
	return errors.Join(failures...)
}

// try runs a test and returns what it says.
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
