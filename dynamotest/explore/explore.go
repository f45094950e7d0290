package explore

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// Config says what is explored. Only Server is needed.
type Config struct {
	// Server is the seeded server. Each schedule begins with a copy of its present
	// state. Its settings, faults and clock do not count.
	Server *dynamotest.Server

	// Start is the time at which each schedule begins, whatever the clock of the seeded
	// server shows: make seeded events, leases and TTLs of times near Start, and give the
	// stores that seed the server a Now that returns Start. Defaults to noon in UTC on 10
	// March 2026.
	Start time.Time

	// Faults are what may go wrong. By default, nothing does.
	Faults Faults

	// Moves is how often time may pass in a schedule while requests are open: to just
	// before or just after a moment, or until a timer wakes a caller. A deletion by TTL
	// counts, too. Time that passes while all callers sleep does not count, and two seconds
	// while some sleep do not count. The expiry of an item is a moment, too: a ledger then forgets the
	// key, and Claim.Event changes. Defaults to 0.
	Moves int

	// Moments are the spans of time after which something changes, such as a lease, or a
	// lease and the skew of clocks. They are counted from the start and from each time to
	// which clocks moved. The times in the TTL attribute of items are moments, too.
	Moments []time.Duration

	// Attempts is how often a client sends a request before its call fails. Defaults
	// to 2.
	Attempts int

	// Schedules is how many schedules the search runs at most, and Within is how long it
	// may take. Default to 100,000 and a minute. The environment variable GOGC=1000 makes
	// a long search nearly twice as fast.
	Schedules int
	Within    time.Duration

	// Samples is how many random schedules run if the search could not end. Defaults to
	// none. Seed is their seed. With a Seed, the search also chooses at random among the
	// schedules of equal cost of which not all can run. Otherwise it takes the first.
	Samples int
	Seed    uint64

	// Full leaves out the reduction: states that were seen are explored again. It is
	// for tests of the explorer.
	Full bool

	// Replay is the schedule that a failure named. Only it runs. The flag
	// -explore.replay does the same.
	Replay string
}

// Faults are budgets: how often each kind may happen in one schedule.
type Faults struct {
	// Late is for writes whose caller gets an error before they arrive. Each arrives
	// later, at most LateWithin after it was sent, or never. LateWithin defaults to a
	// minute.
	Late       int
	LateWithin time.Duration

	Twice       int           // a request that arrived arrives again
	Unheard     int           // a request takes effect, and its reply is lost
	Deaths      int           // a caller dies before its request arrives, or after, and starts anew
	Conflicts   int           // a conflict with an open or late request on the same item
	Throttles   int           // ProvisionedThroughputExceededException
	Failures    int           // status 500, before the effect or after it
	OldReads    int           // an eventually consistent read shows an earlier state
	Cuts        int           // a batch, Query or Scan is done in two: its first item, the rest
	Clocks      int           // callers whose clock is off
	ClockOff    time.Duration // how far it is ahead or behind
	AnyConflict bool          // a conflict may come at any time, as if another program wrote the item

	// Total bounds all kinds together. Defaults to no bound.
	Total int
}

// Schedule is one run of the callers. The function that gets it declares callers and
// checks, and returns. It declares their variables, too: none outside it.
type Schedule struct {
	callers []*caller
	always  func(*View) error
	end     func(*View) error
}

var (
	// name is what a caller may be called, because schedules are written with names.
	name = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	// reserved are names of what happens without a caller.
	reserved = regexp.MustCompile(`^(wait|end|pause|sweep|late[0-9]+)$`)
)

// Caller declares a caller: a process, which starts anew when it dies. Its name has
// lower-case letters and digits, a letter first. It must make its requests with p.Client,
// read the time from p.Now, and have effects outside DynamoDB by p.Do.
func (s *Schedule) Caller(called string, run func(ctx context.Context, p *Process)) {
	taken := slices.ContainsFunc(s.callers, func(c *caller) bool { return c.name == called })
	if !name.MatchString(called) || taken {
		panic(fmt.Sprintf("explore: Caller: the name %q is invalid or taken: give each caller a name of lower-case letters and digits, a letter first", called))
	}
	if reserved.MatchString(called) {
		panic(fmt.Sprintf("explore: Caller: the name %q is reserved for a step without a caller", called))
	}
	s.callers = append(s.callers, &caller{name: called, index: len(s.callers), run: run})
}

// Always declares what must hold after each request that changed a table, each effect of
// [Process.Do] and each deletion by TTL.
func (s *Schedule) Always(check func(*View) error) { s.always = check }

// End declares what must hold when all callers have returned.
func (s *Schedule) End(check func(*View) error) { s.end = check }

// Report is what was explored.
type Report struct {
	Schedules int  // that ran
	States    int  // that were seen
	Exhausted bool // nothing within the budgets is left out
	Left      int  // schedules that were not begun
	Failure   *Failure

	replayed bool // one schedule, by Config.Replay
}

// Failure is what a check or the explorer found, such as a caller that panicked, and the
// schedule that led there.
type Failure struct {
	Err      error
	Schedule string // for Config.Replay
	Drawing  string // the schedule as a sequence diagram
}

func (f *Failure) Error() string { return f.Err.Error() }

func (r Report) String() string {
	s := fmt.Sprintf("%d schedules, %d states", r.Schedules, r.States)
	if r.Failure != nil {
		return s + ", and then: " + r.Failure.Error()
	}
	if r.replayed {
		return "the schedule that was replayed does not fail"
	}
	if !r.Exhausted {
		s += fmt.Sprintf(", not exhausted: %d schedules are left", r.Left)
	}
	return s
}

var replay = flag.String("explore.replay", "", "run only this `schedule` of each exploration")

// Test explores the program, and fails the test with the first schedule that breaks a
// check. Schedules with fewer faults, moves of time and changes of callers run first.
func Test(t *testing.T, cfg Config, program func(*Schedule)) Report {
	t.Helper()
	return judge(t, Run(t, cfg, program))
}

func judge(t *testing.T, r Report) Report {
	t.Helper()
	if f := r.Failure; f != nil {
		t.Errorf("explore: %v\n\n%s", f.Err, f.Drawing)
		if f.Schedule != "" && !errors.Is(f.Err, errUnfit) {
			run := "^" + strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^") + "$"
			t.Logf("again: go test -run '%s' -explore.replay '%s'", strings.ReplaceAll(run, "'", `'\''`), f.Schedule)
		}
		return r
	}
	t.Logf("explore: %v", r)
	return r
}

// Run explores the program and returns what it found. It fails the test only for an invalid
// Config, FailNow or a data race. Program is called for each schedule, also at the same
// time from several goroutines; a schedule that fails runs twice.
func Run(t *testing.T, cfg Config, program func(*Schedule)) Report {
	t.Helper()
	if *replay != "" {
		cfg.Replay = *replay
	}
	return run(t, cfg, program)
}

func run(t *testing.T, cfg Config, program func(*Schedule)) Report {
	t.Helper()
	if err := cfg.settle(); err != nil {
		t.Fatal(err)
	}
	s := newSearch(t, &cfg, program)
	if cfg.Replay != "" {
		return s.replay(cfg.Replay)
	}
	return s.run()
}

// settle sets what has a default, and refuses what cannot be.
func (c *Config) settle() error {
	if c.Server == nil {
		return fmt.Errorf("explore: Config.Server is nil: give it a seeded server")
	}

	if c.Start.IsZero() {
		c.Start = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	}

	if c.Start.Before(birth) {
		return fmt.Errorf("explore: Config.Start is %v: it must not be before 2000, when a bubble of testing/synctest begins", c.Start)
	}

	f := &c.Faults
	if (f.Clocks > 0) != (f.ClockOff > 0) {
		return fmt.Errorf("explore: Config.Faults.Clocks is %d and ClockOff is %v: both must be positive, or both zero", f.Clocks, f.ClockOff)
	}

	for field, n := range map[string]int{
		"Moves": c.Moves, "Attempts": c.Attempts, "Schedules": c.Schedules, "Samples": c.Samples, "Faults.Late": f.Late,
		"Faults.Twice": f.Twice, "Faults.Unheard": f.Unheard, "Faults.Deaths": f.Deaths, "Faults.Conflicts": f.Conflicts,
		"Faults.Throttles": f.Throttles, "Faults.Failures": f.Failures, "Faults.OldReads": f.OldReads, "Faults.Cuts": f.Cuts,
		"Faults.Clocks": f.Clocks, "Faults.Total": f.Total,
	} {
		if n < 0 {
			return fmt.Errorf("explore: Config.%s is %d: it must not be negative", field, n)
		}
	}

	for _, d := range c.Moments {
		if d <= 0 {
			return fmt.Errorf("explore: Config.Moments has %v: a moment must be later than the start", d)
		}
	}

	if f.Total == 0 {
		f.Total = f.Late + f.Twice + f.Unheard + f.Deaths + f.Conflicts + f.Throttles + f.Failures + f.OldReads + f.Cuts + f.Clocks
	}

	setDefault(&f.LateWithin, time.Minute)
	setDefault(&c.Attempts, 2)
	setDefault(&c.Schedules, 100_000)
	setDefault(&c.Within, time.Minute)

	return nil
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
