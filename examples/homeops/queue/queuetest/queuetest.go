// Package queuetest is one suite for every queue.Queue. It tests what the
// pipeline needs, of the queue in the process and of SQS alike.
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
	// Bubble runs each test in a testing/synctest bubble, for queues inside the
	// process: there waiting takes no time.
	Bubble bool
	// Differences are the tests that are known to fail.
	Differences []Difference
}

// Difference is a test that a backend fails, and the reason.
type Difference struct {
	Test string
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

// Run runs the suite. A test that fails must be in the list of differences, and
// a test in the list must fail.
func Run(t *testing.T, b Backend) {
	t.Helper()
	if err := b.check(); err != nil {
		t.Fatal(err)
	}
	for _, test := range Tests() {
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			if err := b.judge(t, test); err != nil {
				t.Error(err)
			}
		})
	}
}

// check refuses differences that name no test of the suite, or give no reason.
func (b Backend) check() error {
	names := map[string]bool{}
	for _, test := range Tests() {
		names[test.Name] = true
	}
	for _, d := range b.Differences {
		if !names[d.Test] {
			return fmt.Errorf("a difference names the test %q, which is not in the suite or is named by another difference", d.Test)
		}
		if d.Says == "" || d.Reason == "" {
			return fmt.Errorf("the difference of the test %q must have Says and Reason", d.Test)
		}
		names[d.Test] = false
	}
	return nil
}

// judge runs a test and returns nil if it passes, or fails in a known way. It
// returns other failures. It also returns an error for a difference that has
// vanished, unless it is one of Sometimes.
func (b Backend) judge(t *testing.T, test Test) error {
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
			return fmt.Errorf("the test passes, so remove its difference from the list: %s", d.Reason)
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
