package explore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// failsWith checks that the exploration names what is wrong.
func failsWith(t *testing.T, want string, cfg explore.Config, program func(*explore.Schedule)) {
	t.Helper()
	cfg.Server = seeded(t)
	r := explore.Run(t, cfg, program)
	if r.Failure == nil || !strings.Contains(r.Failure.Error(), want) {
		t.Errorf("%v, want %q", r, want)
	}
}

// A program that the explorer does not control is a failure that names the caller.
func TestNotDeterministic(t *testing.T) {
	t.Parallel()
	failsWith(t, "bob did not do the same", explore.Config{}, func(s *explore.Schedule) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) { _ = put(ctx, p, "x", 1) })
		s.Caller("bob", func(ctx context.Context, p *explore.Process) { _ = put(ctx, p, "x", rand.Int()) })
	})
}

func TestPanics(t *testing.T) {
	t.Parallel()
	failsWith(t, "ann panicked: dropped", explore.Config{}, func(s *explore.Schedule) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			_ = put(ctx, p, "x", 1)
			panic("dropped")
		})
	})
}

// A check that panics fails the schedule, and not the whole test program.
func TestChecksThatPanic(t *testing.T) {
	t.Parallel()
	failsWith(t, "a check or an effect panicked: explore: Items of table nothing: ", explore.Config{}, func(s *explore.Schedule) {
		increment(s, "ann")
		s.End(func(v *explore.View) error { _ = v.Items("nothing"); return nil })
	})
}

// A check that ends its goroutine, as FailNow does, ends its schedule. The test then fails
// anyway, so it runs in a program of its own.
func TestChecksThatFailNow(t *testing.T) {
	t.Parallel()
	const child = "EXPLORE_FAILS_NOW"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChecksThatFailNow$")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if want := "explore: the schedule was ended by FailNow"; err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "-explore.replay 'ann,ann,end'") {
			t.Errorf("%v, want %q:\n%s", err, want, out)
		}
		return
	}
	explore.Test(t, explore.Config{Server: seeded(t)}, func(s *explore.Schedule) {
		increment(s, "ann")
		s.End(func(*explore.View) error { t.FailNow(); return nil })
	})
}

// A failure without a schedule names none to replay.
func TestAnEffectThatIsNever(t *testing.T) {
	t.Parallel()
	const child = "EXPLORE_NAMES_NO_EFFECT"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAnEffectThatIsNever$")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), `names the effect "mail"`) || strings.Contains(string(out), "-explore.replay") {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	orders := explore.Deliveries[string]{Messages: []string{"17"}, Once: []string{"mail"}}
	explore.Handler(t, explore.Config{Server: seeded(t)}, orders, func(*explore.Process) func(context.Context, string) error {
		return func(context.Context, string) error { return nil }
	})
}

// A caller that repeats a request for ever is named, too.
func TestRepeatsForEver(t *testing.T) {
	t.Parallel()
	failsWith(t, "does not end", explore.Config{}, func(s *explore.Schedule) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			for ctx.Err() == nil {
				_ = put(ctx, p, "x", 1)
			}
		})
	})
}

func TestWaitsForEver(t *testing.T) {
	t.Parallel()
	failsWith(t, "ann waits for something that never comes", explore.Config{}, func(s *explore.Schedule) {
		s.Caller("ann", func(ctx context.Context, _ *explore.Process) { <-ctx.Done() })
	})
	failsWith(t, "ann", explore.Config{}, func(s *explore.Schedule) {
		s.Caller("ann", func(context.Context, *explore.Process) { <-make(chan int) })
	})
}

// No deferred function of a process that died runs before the schedule is over.
func TestTheDeadDoNothing(t *testing.T) {
	t.Parallel()
	r := explore.Run(t, explore.Config{Server: seeded(t), Faults: explore.Faults{Deaths: 1}}, func(s *explore.Schedule) {
		over := false
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			first := p.Life == 1
			defer func() {
				if first && p.Life == 1 && over {
					return
				}
				p.Note("returned")
			}()
			_ = put(ctx, p, "x", 1)
		})
		s.End(func(v *explore.View) error {
			over = true
			if notes := v.Notes(); len(notes) != 1 {
				return fmt.Errorf("%v", notes)
			}
			return nil
		})
	})
	if r.Failure != nil || !r.Exhausted {
		t.Errorf("%v", r)
	}
}

// Goroutines of a caller are ordered, too.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	wants(t, ends(t, explore.Config{}, func(s *explore.Schedule, say func(string, ...any)) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			done := make(chan int)
			for i := range 2 {
				go func() {
					_ = put(ctx, p, "x", i)
					done <- 1
				}()
			}
			<-done
			<-done
		})
	}), "[x=0]", "[x=1]")
}

// What cannot be exhausted says so, and is sampled; a seed gives the same schedules.
func TestBounds(t *testing.T) {
	t.Parallel()
	found := func(seed uint64) explore.Report {
		return explore.Run(t, explore.Config{Server: seeded(t), Schedules: 1, Samples: 200, Seed: seed}, func(s *explore.Schedule) {
			increment(s, "ann", "bob")
			s.End(countIs(2))
		})
	}
	first, again := found(3), found(3)
	if first.Failure == nil || again.Failure == nil || first.Failure.Schedule != again.Failure.Schedule || first.Schedules != again.Schedules {
		t.Errorf("%v\n%v", first, again)
	}
	var ran atomic.Int64
	r := explore.Run(t, explore.Config{Server: seeded(t), Schedules: 10, Samples: 5}, func(s *explore.Schedule) {
		ran.Add(1)
		increment(s, "ann", "bob", "cat")
	})
	if r.Exhausted || r.Left == 0 || r.Schedules != 15 || ran.Load() != 15 || !strings.Contains(r.String(), "not exhausted") {
		t.Errorf("%v after %d schedules", r, ran.Load())
	}
}

// The same search is the same on every machine.
func TestSearchIsDeterministic(t *testing.T) {
	t.Parallel()
	search := func() explore.Report {
		return explore.Run(t, explore.Config{Server: seeded(t), Faults: explore.Faults{Unheard: 1, Deaths: 1, Late: 1, Total: 1}}, func(s *explore.Schedule) {
			increment(s, "ann", "bob")
		})
	}
	if a, b := search(), search(); a != b || !a.Exhausted {
		t.Errorf("%v\n%v", a, b)
	}
}

// A second row of an order is seen although its random key is ignored.
func TestRowsThatAreEqualButForWhatIsIgnored(t *testing.T) {
	t.Parallel()
	r := explore.Explore(t, explore.Config{Server: seeded(t), Faults: explore.Faults{Unheard: 1, Deaths: 1}},
		explore.Deliveries[string]{Messages: []string{"7"}, Ignore: []string{"pk"}},
		func(p *explore.Process) func(context.Context, string) error {
			return func(ctx context.Context, _ string) error {
				var b [8]byte
				_, _ = p.Rand().Read(b[:])
				return put(ctx, p, fmt.Sprintf("%x", b), 1)
			}
		})
	if r.Failure == nil {
		t.Error(r)
	}
}

// A replay without a failure says so.
func TestReplayThatDoesNotFail(t *testing.T) {
	t.Parallel()
	r := explore.Run(t, explore.Config{Server: seeded(t), Replay: "ann,end"}, func(s *explore.Schedule) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) { _ = put(ctx, p, "x", 1) })
	})
	if r.Failure != nil || r.String() != "the schedule that was replayed does not fail" {
		t.Error(r)
	}
}

// A schedule that no longer fits says what may happen instead.
func TestReplayThatDoesNotFit(t *testing.T) {
	t.Parallel()
	failsWith(t, `step 2 is "cat", but what may happen is ann, bob`, explore.Config{Replay: "ann,cat"}, func(s *explore.Schedule) {
		increment(s, "ann", "bob")
	})
}

// A shop's worker: it sends a receipt for each order, once if it remembers.
func TestHandler(t *testing.T) {
	t.Parallel()
	remembers := func(p *explore.Process) func(context.Context, string) error {
		return func(ctx context.Context, order string) error {
			made, err := putIfAbsent(ctx, p, order, true)
			if err != nil || !made {
				return err
			}
			return p.Do("receipt", func() error { return nil })
		}
	}
	d := explore.Deliveries[string]{Messages: []string{"1", "2"}, Visibility: time.Minute}
	explore.Handler(t, explore.Config{Server: seeded(t), Faults: explore.Faults{Deaths: 1, Unheard: 1, Total: 1}}, d, remembers)
}

// What cannot be exhausted is looked at from all sides if there is a seed.
func TestSeedMixes(t *testing.T) {
	t.Parallel()
	search := func(seed uint64) explore.Report {
		cfg := explore.Config{Server: seeded(t), Schedules: 20, Seed: seed, Faults: explore.Faults{Deaths: 1}}
		return explore.Run(t, cfg, func(s *explore.Schedule) {
			made := 0
			s.Caller("ann", func(ctx context.Context, p *explore.Process) {
				for ; p.Life == 1 && made < 40; made++ {
					_ = put(ctx, p, "x", made)
				}
			})
			s.End(func(*explore.View) error {
				if made > 20 && made < 40 {
					return errors.New("it died late")
				}
				return nil
			})
		})
	}
	if first, mixed, again := search(0), search(1), search(1); first.Failure != nil || mixed.Failure == nil || again.Failure.Schedule != mixed.Failure.Schedule {
		t.Errorf("%v\n%v\n%v", first, mixed, again)
	}
}

// A message is delivered as often as the queue allows, and no more.
func TestReceives(t *testing.T) {
	t.Parallel()
	r := explore.Explore(t, explore.Config{Server: seeded(t), Attempts: 1, Faults: explore.Faults{Deaths: 1, Throttles: 1}},
		explore.Deliveries[string]{Messages: []string{"1"}, Receives: 2}, func(p *explore.Process) func(context.Context, string) error {
			return func(ctx context.Context, order string) error {
				_, err := putIfAbsent(ctx, p, order, true)
				return err
			}
		})
	if r.Failure == nil || !strings.Contains(r.Failure.Error(), "message is not handled after 2 deliveries") {
		t.Errorf("%v", r)
	}
}

// A handler is not to blame if it gives up because no request is answered in time.
func TestReceivesWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	explore.Handler(t, explore.Config{Server: seeded(t), Faults: explore.Faults{Deaths: 1}},
		explore.Deliveries[string]{Messages: []string{"1"}, Twice: true, Receives: 2}, func(p *explore.Process) func(context.Context, string) error {
			return func(ctx context.Context, order string) error {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				return put(ctx, p, order, 1)
			}
		})
}

// A name of Once that no effect has would guard nothing, and callers that make no
// request are told so.
func TestNothingToJudge(t *testing.T) {
	t.Parallel()
	failsWith(t, "no caller made a request", explore.Config{}, func(s *explore.Schedule) {
		s.Caller("ann", func(context.Context, *explore.Process) {})
		s.End(func(*explore.View) error { return errors.New("no item") })
	})
	mails := func(p *explore.Process) func(context.Context, string) error {
		return func(context.Context, string) error { return p.Do("mail 1", nil) }
	}
	for names, want := range map[string]bool{"mail*": false, "mail": true, "mail 1": false} {
		r := explore.Explore(t, explore.Config{Server: seeded(t)}, explore.Deliveries[string]{Messages: []string{"1"}, Once: []string{names}}, mails)
		if (r.Failure != nil) != want {
			t.Errorf("%s: %v", names, r)
		}
	}
}

// What can only be done later is delivered again, also when nothing disturbs it.
func TestRedelivered(t *testing.T) {
	t.Parallel()
	open := time.Date(2026, 3, 10, 12, 0, 50, 0, time.UTC)
	explore.Handler(t, explore.Config{Server: seeded(t), Faults: explore.Faults{Deaths: 1}}, explore.Deliveries[string]{Messages: []string{"1"}},
		func(p *explore.Process) func(context.Context, string) error {
			return func(ctx context.Context, order string) error {
				made, err := putIfAbsent(ctx, p, order, true)
				if early := p.Now().Before(open); err != nil || !made || early {
					return cmp.Or(err, fmt.Errorf("early %t", early))
				}
				return nil
			}
		})
}

// Nobody remembers the receipt of an order whose worker died: the second delivery
// does not know whether it was sent. That may be, but not without a fault, and an effect
// that happens at most once does not happen twice.
func TestHandlerThatLosesAnEffect(t *testing.T) {
	t.Parallel()
	receipt := func(p *explore.Process) error { return p.Do("receipt 1", func() error { return nil }) }
	putThen := func(ctx context.Context, p *explore.Process) error {
		if made, err := putIfAbsent(ctx, p, "1", false); err != nil || !made {
			return err
		}
		return receipt(p)
	}
	for name, tc := range map[string]struct {
		atMostOnce []string
		twice      bool
		handle     func(context.Context, *explore.Process) error
		want       string
		schedule   string
	}{
		"lost":               {nil, false, putThen, "effect receipt 1: 0 times, want 1", "a:done-dies,wait,a,end"},
		"lost as it may be":  {[]string{"receipt*"}, false, putThen, "", ""},
		"lost with no fault": {[]string{"receipt*"}, true, onlyOne(receipt), "effect receipt 1: 0 times, want 1", "a,a2,a2,a,end"},
		"twice": {[]string{"receipt*"}, false, func(ctx context.Context, p *explore.Process) error {
			return cmp.Or(receipt(p), putThen(ctx, p))
		}, "effect receipt 1: 3 times, want 2", "a:done-dies,wait,a,a,a,end"},
	} {
		r := explore.Explore(t, explore.Config{Server: seeded(t), Faults: explore.Faults{Deaths: 1}},
			explore.Deliveries[string]{Messages: []string{"1"}, Ignore: []string{"n*"}, AtMostOnce: tc.atMostOnce, Twice: tc.twice},
			func(p *explore.Process) func(context.Context, string) error {
				return func(ctx context.Context, _ string) error { return tc.handle(ctx, p) }
			})
		if f := r.Failure; (f != nil) != (tc.want != "") || f != nil && (!strings.Contains(f.Error(), tc.want) || f.Schedule != tc.schedule) {
			t.Errorf("%s: %v, %+v", name, r, f)
		}
	}
}

// onlyOne counts the delivery, and does it if there was no other.
func onlyOne(do func(*explore.Process) error) func(context.Context, *explore.Process) error {
	return func(ctx context.Context, p *explore.Process) error {
		if err := increase(ctx, p); err != nil || read(ctx, p, true) != 1 {
			return err
		}
		return do(p)
	}
}

// A name that cannot be in a schedule is refused.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{"Ann"}, {"ann", "ann"}, {""}, {"wait"}, {"end"}, {"pause"}, {"sweep"}, {"late1"}} {
		func() {
			defer func() {
				if cause := fmt.Sprint(recover()); !strings.Contains(cause, "is invalid or taken") && !strings.Contains(cause, "is reserved") {
					t.Errorf("%q: %s", names, cause)
				}
			}()
			var s explore.Schedule
			for _, name := range names {
				s.Caller(name, nil)
			}
		}()
	}
}
