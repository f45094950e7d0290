package explore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// Deliveries are messages of a queue, which delivers each at least once.
type Deliveries[M any] struct {
	// Messages are delivered in any order and at the same time, each to a worker of
	// its own. At most 6, because [Handler] tries each order of them.
	Messages []M

	// Visibility is how long after an error or a death the message is delivered again.
	// Let it be longer than the lease that a death leaves and the skew of clocks
	// together. Defaults to 30 s.
	Visibility time.Duration

	// Receives is how often a worker gets its message at most. If the last delivery returns
	// an error, or the worker dies in it, the schedule fails. But if that delivery gave up
	// a request at a deadline, the schedule is not judged. Defaults to 5.
	Receives int

	// Twice delivers each message to a second worker, too, as a queue does when the
	// visibility ends too early.
	Twice bool

	// Ignore names attributes that are not compared, such as the time of a write. A row that
	// has no others is not compared. Here and below a star at the end of a name stands for
	// any text. Of this library's rows these differ from run to run: claim, fence, attempts,
	// lease, seenAt and expiresAt of ledger; e_* of counter; t_*, l* and ttl of limit;
	// version, by and ttl of record; createdAt; updatedAt; retractedAt; and what is made of
	// Claim.Event, such as sk or event.
	Ignore []string

	// Once names the effects of Process.Do that must not happen more often than in an
	// undisturbed run: see [Handler]. Except for AtMostOnce, all others may be repeated, and
	// a missing effect fails. So does one that no undisturbed run has. So a name may hold
	// what must be the same in each run, such as the key for a provider, unless it follows
	// from the time.
	Once []string

	// AtMostOnce names effects that must not happen more often than in an undisturbed
	// run, either, but may happen less often: once less for each fault or move of time in
	// the schedule.
	AtMostOnce []string

	// End declares what else must hold when all messages are handled. May be nil.
	End func(*View) error
}

// outcome is what deliveries left.
type outcome struct {
	tables    string
	effects   map[string]int
	disturbed int // the number of faults and moves of time
}

// Handler explores deliveries to workers that die. It fails the test unless each schedule
// leaves the tables and the effects (see [Deliveries].Once) of an undisturbed run, in which
// one worker gets the messages one after the other. These runs try every order of the
// messages, each with the 8 plainest orders of the worker's goroutines. Each name without
// a star in Once and AtMostOnce must be an effect of one of them. The function start is
// called once in each life of a worker, and returns what handles a message. In drawings, a
// is the worker of the first message, a2 its second one, b that of the second message.
//
// cfg.Moves also bounds how often a message becomes visible while other workers are at
// work.
func Handler[M any](t *testing.T, cfg Config, d Deliveries[M], start func(*Process) func(context.Context, M) error) Report {
	t.Helper()
	return judge(t, Explore(t, cfg, d, start))
}

// Explore is like [Handler], but returns what it found without failing the test. A bad
// number of Messages, a bad Config, and a handler that returns an error each time although
// nothing disturbs it do fail the test.
func Explore[M any](t *testing.T, cfg Config, d Deliveries[M], start func(*Process) func(context.Context, M) error) Report {
	t.Helper()
	setDefault(&d.Visibility, 30*time.Second)
	setDefault(&d.Receives, 5)

	if n := len(d.Messages); n == 0 || n > 6 {
		t.Fatalf("explore: Deliveries.Messages has %d messages: give 1 to 6", n)
	}

	if cfg.Server == nil {
		t.Fatal("explore: Config.Server is nil: give it a seeded server")
	}

	seed := cfg.Server.Snapshot() // the orders must not see what a test writes meanwhile
	cfg.Server = dynamotest.NewServer(&dynamotest.Config{From: seed})

	expected := d.serially(t, cfg, start)
	for _, one := range slices.Concat(d.Once, d.AtMostOnce) {
		if !strings.HasSuffix(one, "*") && !slices.ContainsFunc(expected, func(o outcome) bool { return o.has(one) }) {
			return Report{Failure: &Failure{Err: fmt.Errorf("Deliveries.Once or AtMostOnce names the effect %q, which no undisturbed delivery has", one)}}
		}
	}

	return Run(t, cfg, func(s *Schedule) {
		for i, m := range d.Messages {
			worker := string(rune('a' + i))
			s.Caller(worker, func(ctx context.Context, p *Process) { d.work(ctx, p, m, start) })
			if d.Twice {
				s.Caller(worker+"2", func(ctx context.Context, p *Process) { d.work(ctx, p, m, start) })
			}
		}

		s.End(func(v *View) error {
			for _, note := range v.Notes() {
				switch {
				case strings.Contains(note, neverAnswered):
					return nil
				case strings.Contains(note, neverHandled):
					return errors.New(note)
				}
			}

			got := outcomeOf(v, d.Ignore)
			for _, n := range v.w.used {
				got.disturbed += n
			}

			if err := d.compare(got, expected); err != nil || d.End == nil {
				return err
			}
			return d.End(v)
		})
	})
}

const (
	neverHandled  = "the message is not handled"
	neverAnswered = "no request was answered in time"
)

// work receives a message until it is handled.
func (d *Deliveries[M]) work(ctx context.Context, p *Process, m M, start func(*Process) func(context.Context, M) error) {
	if p.Life > 1 {
		time.Sleep(d.Visibility)
	}

	handle := start(p)
	for err := error(nil); ; time.Sleep(d.Visibility) {
		received, gaveUp := p.receives(d.Receives)
		switch {
		case received:
		case gaveUp:
			p.Note(neverAnswered)
			return
		default:
			p.Note("%s after %d deliveries: %v", neverHandled, d.Receives, err)
			return
		}
		if err = handle(ctx, m); err == nil || ctx.Err() != nil {
			return
		}
	}
}

// receives counts a delivery, unless there were so many already: then it reports whether
// the last one gave a request up.
func (p *Process) receives(most int) (received, gaveUp bool) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.caller.received == most {
		return false, p.caller.gaveUp
	}
	p.caller.received++
	p.caller.gaveUp = false
	return true, false
}

// undisturbed is how many orders of a worker's goroutines are tried for each order of
// the deliveries.
const undisturbed = 8

// serially returns the outcome of every order of undisturbed deliveries.
func (d *Deliveries[M]) serially(t *testing.T, cfg Config, start func(*Process) func(context.Context, M) error) []outcome {
	t.Helper()
	var mu sync.Mutex
	var outcomes []outcome

	for order := range orders(len(d.Messages)) {
		r := run(t, Config{Server: cfg.Server, Start: cfg.Start, Schedules: undisturbed}, func(s *Schedule) {
			var failed error
			s.Caller("serial", func(ctx context.Context, p *Process) {
				handle := start(p)
				for _, i := range order {
					err := handle(ctx, d.Messages[i])
					for n := 1; err != nil && n < d.Receives; n++ {
						time.Sleep(d.Visibility)
						err = handle(ctx, d.Messages[i])
					}
					failed = cmp.Or(failed, err)
				}
			})

			s.End(func(v *View) error {
				mu.Lock()
				defer mu.Unlock()
				outcomes = append(outcomes, outcomeOf(v, d.Ignore))
				return failed
			})
		})
		if r.Failure != nil {
			t.Fatalf("explore: Handler: undisturbed deliveries in the order %v: %v", order, r)
		}
	}
	return outcomes
}

// orders yields the orders of n things.
func orders(n int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		var extend func(order []int) bool
		extend = func(order []int) bool {
			if len(order) == n {
				return yield(order)
			}
			for i := range n {
				if !slices.Contains(order, i) && !extend(append(slices.Clone(order), i)) {
					return false
				}
			}
			return true
		}

		extend(nil)
	}
}

// outcomeOf reads the tables, without the attributes that are not compared.
func outcomeOf(v *View, ignore []string) outcome {
	var b strings.Builder
	for line := range bytes.Lines(v.w.dump) {
		var entry struct {
			Table struct{ TableName string }
			Item  map[string]json.RawMessage
		}
		if json.Unmarshal(line, &entry) != nil {
			continue
		}

		if entry.Item == nil {
			fmt.Fprintf(&b, "table %s\n", entry.Table.TableName)
			continue
		}

		maps.DeleteFunc(entry.Item, func(name string, _ json.RawMessage) bool { return matches(ignore, name) })
		if len(entry.Item) == 0 {
			continue
		}

		for _, name := range slices.Sorted(maps.Keys(entry.Item)) {
			fmt.Fprintf(&b, " %s=%s", name, entry.Item[name])
		}

		b.WriteString("\n")
	}

	return outcome{tables: b.String(), effects: v.Effects()}
}

// has reports whether an effect has this name.
func (o outcome) has(one string) bool {
	for effect := range o.effects {
		if matches([]string{one}, effect) {
			return true
		}
	}
	return false
}

// matches reports whether one of the names is this one, or its beginning and a star.
func matches(names []string, name string) bool {
	return slices.ContainsFunc(names, func(one string) bool {
		beginning, star := strings.CutSuffix(one, "*")
		return one == name || star && strings.HasPrefix(name, beginning)
	})
}

// compare says how an outcome differs from the nearest that is expected, or nil.
func (d *Deliveries[M]) compare(got outcome, expected []outcome) error {
	best := ""
	for _, want := range expected {
		difference := d.difference(got, want)
		if difference == "" {
			return nil
		}
		if best == "" || len(difference) < len(best) {
			best = difference
		}
	}
	return fmt.Errorf("no order of undisturbed deliveries leaves this; the nearest differs in:\n%s", best)
}

func (d *Deliveries[M]) difference(got, want outcome) string {
	var b strings.Builder
	stood, stands := strings.Split(want.tables, "\n"), strings.Split(got.tables, "\n")
	for _, line := range beyond(stood, stands) {
		fmt.Fprintf(&b, "  want:%s\n", line)
	}

	for _, line := range beyond(stands, stood) {
		fmt.Fprintf(&b, "  got: %s\n", line)
	}

	for _, name := range slices.Sorted(maps.Keys(want.effects)) {
		least := want.effects[name]
		if matches(d.AtMostOnce, name) {
			least -= got.disturbed
		}
		if got.effects[name] < least {
			fmt.Fprintf(&b, "  effect %s: %d times, want %d\n", name, got.effects[name], want.effects[name])
		}
	}

	for _, name := range slices.Sorted(maps.Keys(got.effects)) {
		if most := want.effects[name]; got.effects[name] > most && (most == 0 || matches(d.Once, name) || matches(d.AtMostOnce, name)) {
			fmt.Fprintf(&b, "  effect %s: %d times, want %d\n", name, got.effects[name], most)
		}
	}
	return b.String()
}

// beyond returns the lines that others lacks, or has less often: without what is ignored,
// two rows may be equal.
func beyond(lines, others []string) []string {
	others = slices.Clone(others)
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		i := slices.Index(others, line)
		if i >= 0 {
			others = slices.Delete(others, i, i+1)
		}
		return i >= 0
	})
}
