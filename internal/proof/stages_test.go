package proof_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

var (
	long    = flag.Bool("proof.long", false, "run all stages of each configuration")
	within  = flag.Duration("proof.within", 5*time.Second, "with -proof.long, how long the last stage of a configuration may take, and half as much for its samples")
	control = flag.Int("proof.control", 0, "stop at the first failure, and print its schedule, because the library is broken on purpose: 1 runs 100 schedules of each configuration, 2 all stages but the last")
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

// exhausting is how long the stage of two faults may take, and brief each of the others
// that are to be exhausted.
const exhausting, brief = 2500 * time.Millisecond, 800 * time.Millisecond

// controlled is how long a search for what is broken goes on.
const controlled = 45 * time.Second

// clockOff is how far a clock may be off, by which no rule may be broken.
const clockOff = skew / 2

var others = explore.Faults{
	Conflicts: 1, AnyConflict: true, Throttles: 1, Failures: 1, OldReads: 1, Cuts: 1, Clocks: 1, ClockOff: clockOff, Total: 1,
}

// stages explores a program: in go test ./... its cheapest schedules only, with
// -proof.long one stage after the other, each until nothing is left, and the last as
// far as time allows.
func stages(t *testing.T, cfg explore.Config, leaps, moves bool, program func(undisturbed bool) func(*explore.Schedule)) {
	row := pageRow(t.Name())
	if *control > 0 && time.Since(begun) > controlled {
		return
	}
	short := !*long && *control < 2 && !replaying()
	if short {
		cfg.Schedules = 9
	}
	runStage(t, "orders", cfg, program(true))
	if short {
		cfg.Faults, cfg.Schedules = losses(1), 5
		if leaps || moves && *control > 0 {
			cfg.Moves = 1
		}
		if *control > 0 {
			cfg.Schedules = 100
		}
		runStage(t, "short", cfg, program(false))
		return
	}
	for i, of := range []stage{{"faults", losses(2), 0}, {"move", losses(1), 1}, {"others", others, 0}, {"both", losses(2), 1}} {
		if of.moves > 0 && !moves || *control > 0 && of.name == "both" {
			continue
		}
		cfg.Faults, cfg.Moves, cfg.Schedules, cfg.Within = of.faults, of.moves, 10_000_000, brief
		switch of.name {
		case "faults":
			cfg.Within = exhausting
		case "both":
			cfg.Within, cfg.Samples = *within, 30
		}
		row.cells[i].add(runStage(t, of.name, cfg, program(false)))
	}
	fmt.Println(strings.TrimPrefix(t.Name(), "Test"), "after", time.Since(begun).Round(time.Second))
}

// runStage explores.
func runStage(t *testing.T, name string, cfg explore.Config, program func(*explore.Schedule)) (r explore.Report) {
	t.Run(name, func(t *testing.T) {
		if *control == 0 {
			r = explore.Test(t, cfg, program)
			return
		}
		cfg.Within = 20 * time.Second
		if r := explore.Run(t, cfg, program); r.Failure != nil {
			if notJudged.MatchString(r.Failure.Error()) {
				t.Fatal(r.Failure)
			}
			fmt.Println(r.Failure)
			fmt.Printf("caught: %s, schedule %d: '%s'\n", t.Name(), r.Schedules, r.Failure.Schedule)
			os.Exit(1)
		}
	})
	return r
}

// notJudged are failures that no rule of the proof has found.
var notJudged = regexp.MustCompile("did not do the same|does not make the requests|cannot end|does not end|ended by FailNow|panicked|two goroutines")

// pageRow returns the row of the page for a configuration: calls, from all rows that
// they begin with.
func pageRow(configuration string) *tableRow {
	parts := strings.Split(strings.TrimPrefix(configuration, "Test"), "/")
	name := parts[0]
	if n := len(parts); n > 2 { // the last but one is the row
		name = strings.Join(append(parts[:n-2:n-2], parts[n-1]), " ")
	}
	i := slices.IndexFunc(page, func(r *tableRow) bool { return r.name == name })
	if i < 0 {
		i, page = len(page), append(page, &tableRow{name: name})
	}
	return page[i]
}

type (
	tableRow struct {
		name  string
		rows  int
		cells [4]cell
	}
	cell struct{ schedules, states, left int }
)

var (
	page  []*tableRow
	begun = time.Now()
)

func (c *cell) add(r explore.Report) {
	c.schedules, c.states = c.schedules+r.Schedules, c.states+r.States
	if !r.Exhausted {
		c.left++
	}
}

func (c cell) String() string {
	switch {
	case c.schedules == 0:
		return ""
	case c.left > 0:
		return fmt.Sprintf("%d (%d), %d *not exhausted*", c.schedules, c.states, c.left)
	}
	return fmt.Sprintf("%d (%d)", c.schedules, c.states)
}

func (r *tableRow) String() string {
	text := fmt.Sprintf("| %s | %d |", r.name, r.rows)
	for _, c := range r.cells {
		text += fmt.Sprintf(" %v |", c)
	}
	return text
}

// TestMain prints the table of docs/proof.md after a long run. After a short run of all
// tests it looks whether that table has a row for each.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000) // schedules leave much garbage
	code := m.Run()
	text, err := os.ReadFile("../../docs/proof.md")
	if err != nil {
		fmt.Println("FAIL:", err)
		code = 1
	}
	all := flag.Lookup("test.run").Value.String() == "" && !*long && *control == 0
	var missing []string
	for _, r := range page {
		if *long {
			fmt.Println(r)
		}
		if all && !strings.Contains(string(text), fmt.Sprintf("\n| %s | %d |", r.name, r.rows)) {
			missing = append(missing, r.name)
		}
	}
	if len(missing) > 0 {
		fmt.Printf("FAIL: docs/proof.md lacks or miscounts %d rows, such as %q: scripts/proof -page writes them\n", len(missing), missing[0])
		code = 1
	}
	os.Exit(code)
}
