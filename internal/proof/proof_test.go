package proof_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// Notes of a caller that may have made its call more than once.
const (
	reborn  = "is born again"
	unknown = "has no answer"
)

// start is when the schedules begin, unless a configuration says otherwise.
var start = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

type (
	row = map[string]types.AttributeValue

	// process is what a call has of its process.
	process struct {
		api  *dynamodb.Client
		now  func() time.Time
		rand io.Reader
		note func(format string, args ...any)
	}

	// call is one call of a package. Its answer is "" if the outcome is unknown.
	call struct {
		name string
		do   func(ctx context.Context, p process) string
	}

	// seed is a call that was made before the schedule begins.
	seed struct {
		call
		ago time.Duration
	}

	// suite is what the configurations of a package have in common.
	suite struct {
		table   schema.Table
		starts  []starting
		calls   [][]call // pairs, and triples; each with each start
		moments []time.Duration
		// differs lists the attributes that depend on the clock.
		differs []string
		// serial is false if the rows depend on who comes when.
		serial bool
		// step returns why a write must not be: rows are by their key.
		step func(before, after rows, now time.Time) error
		// told returns why a caller must not have been told the answer.
		told func(c call, answer string, now rows) error
		// noted judges the notes, and the answers when all have returned.
		noted func(from starting, notes []string, answers map[string]string) error
		// rings says that an event may also be too old because others came after it.
		rings bool
		// still says that the rows are those of a serial order only while no time passes,
		// and no clock is off.
		still bool
		// leaps says that time matters even to the cheapest schedules.
		leaps bool
	}

	starting struct {
		name  string
		seeds []seed
		at    time.Time // of the start
		state string    // that the row must have, if it is given
		rows  []row     // of other programs
		gone  string    // answer of who still sees the row when it has expired by the clock of another
	}

	rows map[string]row
)

// nobody is a process for what needs no requests.
var nobody = process{api: dynamotest.NewServer(nil).Client(), now: time.Now, rand: constant(0)}

func ago(d time.Duration, c call) seed { return seed{c, d} }
func before(calls ...call) (all []seed) {
	for i, c := range calls {
		all = append(all, seed{c, time.Duration(len(calls)-i) * time.Minute})
	}
	return all
}

// prove runs the configurations of a suite. Without -proof.long, it runs each group of
// calls from two rows: from the first one, and each from another one. Triples
// run from the first row only.
func (s *suite) prove(t *testing.T) {
	for i, from := range s.starts {
		for k, calls := range s.calls {
			var names []string
			for _, c := range calls {
				names = append(names, c.name)
			}
			name := from.name + "/" + strings.Join(names, "+")
			if len(calls) < 3 || i == 0 {
				pageRow(t.Name()+"/"+strings.ReplaceAll(name, " ", "_")).rows++
			}
			if !*long && *control == 0 && !replaying() && i > 0 && i != 1+k%max(1, len(s.starts)-1) || len(calls) > 2 && i > 0 {
				continue
			}
			t.Run(name, func(t *testing.T) { s.run(t, from, calls) })
		}
	}
}

func (s *suite) run(t *testing.T, from starting, calls []call) {
	if from.at.IsZero() {
		from.at = start
	}
	server := s.seeded(t, from)
	initial := s.rowsOf(t.Context(), server.Client())
	for _, r := range initial {
		if from.state != "" && str(r, "state") != from.state {
			t.Fatalf("the schedules begin with %v, want the state %s", r, from.state)
		}
	}
	if len(initial) == 0 && len(from.seeds)+len(from.rows) > 0 {
		t.Fatal("the schedules begin without a row")
	}
	ends, told := s.ends(t, server, from.at, calls)
	stays := !slices.ContainsFunc(calls, func(c call) bool { return removes.MatchString(c.name) })
	cfg := explore.Config{Server: server, Start: from.at, Moments: s.moments}
	stages(t, cfg, s.leaps && len(calls) < 3, len(calls) < 3, func(undisturbed bool) func(*explore.Schedule) {
		return func(sched *explore.Schedule) {
			r := &running{suite: s, from: from, calls: calls, ends: ends, stays: stays, last: initial, answers: map[string]string{}}
			if undisturbed && s.serial {
				r.tellings = told
			}
			for i, c := range calls {
				sched.Caller(string(rune('a'+i)), func(ctx context.Context, p *explore.Process) { r.call(ctx, p, c) })
			}
			sched.Always(r.check)
			sched.End(r.end)
		}
	})
}

// removes are the names of calls after which a row may be gone.
var removes = regexp.MustCompile("^(Again)?(Erase|Delete|Forget|Anew|Disown)")

func replaying() bool { return flag.Lookup("explore.replay").Value.String() != "" }

// running is a schedule under way.
type running struct {
	*suite
	from    starting
	calls   []call
	ends    []string
	stays   bool // no call removes a row
	skewed  bool // a clock is off
	last    rows
	answers map[string]string
	failed  error

	// tellings are the answers in every serial order, if nothing disturbs the calls.
	tellings []string
}

// call makes a call until it has an answer.
func (r *running) call(ctx context.Context, p *explore.Process, c call) {
	if p.Life > 1 {
		p.Note(reborn)
	}
	tries := 0
	for r.answers[c.name] = ""; r.answers[c.name] == ""; tries++ {
		if tries == 20 {
			r.failed = fmt.Errorf("%s has no answer after %d tries", c.name, tries)
			return
		}
		if r.answers[c.name] = c.do(ctx, process{p.Client(), p.Now, p.Rand(), p.Note}); r.answers[c.name] == "" {
			p.Note(unknown)
		}
	}
	r.skewed = r.skewed || r.still && time.Until(p.Now()).Abs() >= time.Second
}

// check judges the rows, what the callers were told, and their notes.
func (r *running) check(v *explore.View) error {
	now := r.rowsOf(context.Background(), v.Client())
	if r.failed == nil && r.step != nil {
		r.failed = r.step(r.last, now, v.Now())
	}
	r.last = now
	for _, c := range r.calls {
		if answer := r.answers[c.name]; answer != "" && answer != r.from.gone && r.told != nil && r.failed == nil && !r.old(v) {
			r.failed = r.told(c, answer, now)
		}
		if taken(r.answers[c.name]) && r.stays && len(now) == 0 && r.failed == nil && !r.old(v) {
			r.failed = fmt.Errorf("%s was told %s, and there is no row", c.name, r.answers[c.name])
		}
	}
	if r.noted != nil && r.failed == nil {
		r.failed = r.noted(r.from, v.Notes(), nil)
	}
	return r.failed
}

// firsts judges who was told that it is the first to do something. It is one at most,
// and nobody if that was done before the schedule began. Faults may hide who it was.
func (r *running) firsts() error {
	first := map[string]int{}
	for _, s := range r.from.seeds {
		first[s.name]++
	}
	for _, c := range r.calls {
		if r.answers[c.name] == event.Created.String() {
			first[strings.TrimPrefix(c.name, "Again")]++
		}
	}
	for name, n := range first {
		if r.tellings != nil && r.stays && n > 1 {
			return fmt.Errorf("%d were told that they are the first to %s", n, name)
		}
	}
	return nil
}

// old reports whether rows have expired.
func (r *running) old(v *explore.View) bool { return v.Now().Sub(r.from.at) > time.Hour }

// end judges what remains when all have an answer.
func (r *running) end(v *explore.View) error {
	if err := r.check(v); err != nil || r.old(v) {
		return err
	}
	if r.noted != nil {
		if err := r.noted(r.from, v.Notes(), r.answers); err != nil {
			return err
		}
	}
	if told := tellingOf(r.calls, r.answers); r.tellings != nil && !slices.Contains(r.tellings, told) {
		return fmt.Errorf("the answers are those of no serial order: %s, want %s", told, strings.Join(r.tellings, " or "))
	}
	if err := r.firsts(); err != nil {
		return err
	}
	tooOld := slices.Contains(slices.Collect(maps.Values(r.answers)), event.ErrTooOld.Error())
	moved := r.still && (r.skewed || v.Now().Sub(r.from.at) > 30*time.Second)
	if end := r.text(r.last); r.serial && !moved && (r.rings || !tooOld) && !slices.Contains(r.ends, end) {
		return fmt.Errorf("the rows are not those of any serial order: %s, answers %v\nwant %s", end, r.answers, strings.Join(r.ends, "\n  or "))
	}
	return nil
}
