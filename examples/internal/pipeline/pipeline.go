// Package pipeline explores the examples' pipelines: a worker that dies before or after
// each of its requests, two workers on one delivery, and a visibility that ends in the
// middle. It is for tests.
//
//	go test ./examples/bot -run Pipeline -proof.long
package pipeline

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

var (
	long   = flag.Bool("proof.long", false, "run all schedules of each pipeline, with two faults")
	within = flag.Duration("proof.within", time.Minute, "with -proof.long, how long each pipeline may take")
)

// Bounds are those of a run without -proof.long.
type Bounds struct {
	Schedules int // of each test
	Start     time.Time
	Moments   []time.Duration
}

// Test explores the deliveries to workers that die or hear no reply, and then the first
// of them to two workers at once. The cheapest schedules run first.
func Test[M any](t *testing.T, server *dynamotest.Server, b Bounds, d explore.Deliveries[M], start func(*explore.Process) func(context.Context, M) error) {
	t.Helper()
	one := explore.Faults{Late: 1, Unheard: 1, Deaths: 1, Total: 1}
	two := explore.Faults{Late: 2, Unheard: 2, Deaths: 2, Total: 2}
	run := func(name string, cfg explore.Config, d explore.Deliveries[M]) {
		t.Run(name, func(t *testing.T) {
			cfg.Server, cfg.Start, cfg.Moments, cfg.Within = server, b.Start, b.Moments, *within
			r := explore.Handler(t, cfg, d, start)
			if *long {
				fmt.Printf("| %s | %d | %d | %v |\n", t.Name(), r.Schedules, r.States, r.Exhausted)
			}
		})
	}
	first := d
	first.Messages = d.Messages[:1]
	twice := first
	twice.Twice = true
	if !*long {
		run("one fault", explore.Config{Faults: one, Schedules: b.Schedules}, d)
		run("two workers", explore.Config{Faults: one, Moves: 1, Schedules: b.Schedules}, twice)
		return
	}
	const all, samples = 10_000_000, 2_000
	run("one fault", explore.Config{Faults: one, Schedules: all, Samples: samples}, d)
	run("two faults", explore.Config{Faults: two, Schedules: all, Samples: samples}, first)
	run("two workers", explore.Config{Faults: one, Moves: 1, Schedules: all, Samples: samples}, twice)
	run("two workers, two faults", explore.Config{Faults: two, Moves: 1, Schedules: 1, Samples: samples}, twice)
}
