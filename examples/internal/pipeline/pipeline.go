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

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

var (
	long   = flag.Bool("proof.long", false, "run all schedules of each pipeline, with two faults")
	within = flag.Duration("proof.within", time.Minute, "with -proof.long, how long each pipeline may take")
)

// Test explores a delivery to two workers, or several deliveries to one worker each. One
// may die or hear no reply; if they have the same delivery, one may begin when the
// visibility has ended. The cheapest of so many schedules run first. The long run explores
// all of them, and those with two faults. It samples what it cannot end.
func Test[M any](t *testing.T, schedules int, cfg explore.Config, d explore.Deliveries[M], start func(*explore.Process) func(context.Context, M) error) {
	t.Helper()
	d.Twice = len(d.Messages) == 1
	cfg.Schedules, cfg.Within, cfg.Seed = schedules, *within, 1
	if d.Visibility > 0 {
		cfg.Moments = append(cfg.Moments, d.Visibility)
	}
	run := func(name string, d explore.Deliveries[M], faults int) {
		t.Run(name, func(t *testing.T) {
			cfg := cfg
			cfg.Faults = explore.Faults{Late: faults, Unheard: faults, Deaths: faults, Total: faults}
			r := explore.Handler(t, cfg, d, start)
			if *long {
				fmt.Printf("| %s | %d | %d | %v |\n", t.Name(), r.Schedules, r.States, r.Exhausted)
			}
		})
	}
	if !*long {
		run("one fault", d, 1)
		return
	}
	cfg.Schedules, cfg.Samples = 10_000_000, 1_000
	if d.Twice {
		cfg.Moves = 0
		alone := d
		alone.Twice = false
		run("one worker, two faults", alone, 2)
		cfg.Moves = 1
	}
	run("two workers, one fault", d, 1)
	cfg.Schedules = 1
	run("two workers, two faults", d, 2)
}
