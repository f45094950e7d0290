package proof_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

var (
	long    = flag.Bool("proof.long", false, "run all stages of each configuration")
	within  = flag.Duration("proof.within", 5*time.Second, "with -proof.long, how long the last stage of a configuration may take, and half as much for its samples")
	control = flag.Bool("proof.control", false, "stop at the first failure, and print its schedule: the library is broken on purpose")
)

// stage is an exploration of a configuration.
type stage struct {
	name   string
	faults explore.Faults
	moves  int
}

// losses are requests that arrive late or never, replies that are lost, and deaths.
func losses(most int) explore.Faults {
	return explore.Faults{Late: most, Unheard: most, Deaths: most, Total: most}
}

// clockOff is how far a clock may be off, by which no rule may be broken.
const clockOff = skew / 2

var others = explore.Faults{
	Conflicts: 1, AnyConflict: true, Throttles: 1, Failures: 1, OldReads: 1, Cuts: 1, Clocks: 1, ClockOff: clockOff, Total: 1,
}

// stages explores a program: in go test ./... its cheapest schedules only, with
// -proof.long one stage after the other, each until nothing is left, and the last as
// far as time allows.
func stages(t *testing.T, cfg explore.Config, leaps, moves bool, program func(*explore.Schedule)) {
	if !*long {
		cfg.Faults, cfg.Schedules = losses(1), 8
		if leaps {
			cfg.Moves = 1
		}
		runStage(t, "short", cfg, program)
		return
	}
	all := []stage{{"faults", losses(2), 0}, {"move", losses(1), 1}, {"others", others, 0}, {"both", losses(2), 1}}
	cells := []string{strings.TrimPrefix(t.Name(), "Test")}
	for i, of := range all {
		if of.moves > 0 && !moves || *control && of.name == "both" {
			cells = append(cells, "")
			continue
		}
		cfg.Faults, cfg.Moves, cfg.Schedules, cfg.Within = of.faults, of.moves, 10_000_000, time.Minute
		if i == len(all)-1 {
			cfg.Within, cfg.Samples = *within, 500
		}
		cells = append(cells, runStage(t, of.name, cfg, program))
	}
	if !*control {
		fmt.Printf("| %s |\n", strings.Join(cells, " | "))
	}
}

// runStage explores, and returns how many schedules ran. A + says that some did not.
func runStage(t *testing.T, name string, cfg explore.Config, program func(*explore.Schedule)) (cell string) {
	t.Run(name, func(t *testing.T) {
		if !*control {
			r := explore.Test(t, cfg, program)
			if cell = fmt.Sprint(r.Schedules); !r.Exhausted {
				cell += "+"
			}
			return
		}
		cfg.Schedules, cfg.Within = 20_000, 20*time.Second
		if r := explore.Run(t, cfg, program); r.Failure != nil {
			fmt.Printf("caught: %s, schedule %d: '%s'\n", t.Name(), r.Schedules, r.Failure.Schedule)
			os.Exit(1)
		}
	})
	return cell
}
