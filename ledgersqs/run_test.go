package ledgersqs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledgersqs"
)

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Whichever request to SQS is lost, or its reply, and however often an order was sent:
// each is shipped once.
func TestEachOrderOnce(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"ReceiveMessage", "DeleteMessage"} {
		for nth := 1; nth <= 4; nth++ {
			for _, request := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					s := newShop(t, ledger.Config{})
					s.pollers, s.cfg.Batch = 2, 3
					s.q.send("a-1", "b-1", "a-2", "a-1", "a-1", "c-1")
					s.q.fails = func(asked string, n int) (bool, bool) {
						lost := asked == op && n == nth
						return lost && request, lost
					}
					s.run(10 * time.Minute)
					slices.Sort(s.shipped)
					what := fmt.Sprintf("%s %d, request %v", op, nth, request)
					want(t, what, s.shipped, "a-1", "a-2", "b-1", "c-1")
					if s.q.left() > 0 || len(s.q.dead) > 0 || len(s.refused) > 0 || !slices.ContainsFunc(s.stayed, func(line string) bool {
						return strings.HasSuffix(line, "ledgersqs: "+op+": connection reset")
					}) {
						t.Errorf("%s: %d left, dead %v, refused %v, logged %v", what, s.q.left(), s.q.dead, s.refused, s.stayed)
					}
				})
			}
		}
	}
}

// A message that stays keeps its group in order; other groups go on.
func TestAGroupStaysInOrder(t *testing.T) {
	t.Parallel()
	for _, fifo := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newShop(t, ledger.Config{})
			s.cfg.Batch, s.q.fifo = 10, fifo
			s.work = func(_ context.Context, m ledgersqs.Message, c *ledger.Claim) error {
				if m.Body == "a-2" && m.Receives() < 3 {
					return errors.New("down")
				}
				return nil
			}
			s.q.send("a-1", "a-2", "b-1", "a-3", "b-2", "a-4")
			s.run(10 * time.Minute)
			if !fifo {
				want(t, "without order", s.shipped, "a-1", "b-1", "a-3", "b-2", "a-4", "a-2")
				return
			}
			want(t, "in order", s.shipped, "a-1", "b-1", "b-2", "a-2", "a-3", "a-4")
			behind := "ledgersqs: not begun: a message before it in its group stays"
			want(t, "what stayed", s.stayed[:3], "a-2: down", "a-3: "+behind, "a-4: "+behind)
		})
	}
}

// While a key is in progress elsewhere, its message waits, and in order what is behind it.
func TestWhatIsInProgressWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, ledger.Config{})
		s.q.visibility, s.q.fifo, s.cfg.Batch = time.Hour, true, 10
		if _, err := s.seen.Claim(t.Context(), ledger.Request{Key: "ORDER:a-1"}); err != nil { // and dies
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		s.q.send("a-1", "a-2")
		began := time.Now()
		s.run(2 * time.Hour)
		want(t, "shipped", s.shipped, "a-1", "a-2")
		if took := time.Since(began); took < 68*time.Second || took > 75*time.Second || !slices.Equal(s.q.delays, []int32{69, 69}) {
			t.Errorf("after %v, with delays of %v s", took, s.q.delays)
		}
	})
}

// Poison goes to Refused, whose nil deletes. Its error leaves the message to the
// dead-letter queue.
func TestPoison(t *testing.T) {
	t.Parallel()
	work := func(_ context.Context, m ledgersqs.Message, _ *ledger.Claim) error {
		switch m.Body[:1] {
		case "d":
			return errors.New("down")
		case "n":
			return ledger.Permanent(errors.New("no such article"))
		case "t":
			return fmt.Errorf("recording: %w", event.ErrTooOld)
		case "s":
			return event.ErrSuperseded // an answer
		}
		return nil
	}
	for _, keeps := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newShop(t, ledger.Config{MaxAttempts: 2})
			s.work, s.cfg.Batch = work, 10
			if !keeps {
				keep := s.cfg.Refused
				s.cfg.Refused = func(ctx context.Context, m ledgersqs.Message, why error) error {
					_ = keep(ctx, m, why)
					return errors.New("table full")
				}
			}
			s.q.send("d-1", "n-1", "t-1", "s-1", "a-1")
			s.run(time.Hour)
			slices.Sort(s.refused)
			refused := []string{
				"d-1: ledger: too many attempts; the last failure: down", "n-1: no such article", "t-1: recording: event: too old to judge",
			}
			if keeps {
				want(t, "refused", s.refused, refused...)
				want(t, "dead", s.q.dead)
			} else {
				want(t, "refused", slices.Compact(s.refused)[:3], append(refused[:2:2], "t-1: ledger: too many attempts; the last failure: recording: event: too old to judge")...)
				want(t, "dead", s.q.dead, "d-1", "n-1", "t-1")
				if !slices.Contains(s.stayed, "n-1: ledgersqs: refused, and not kept: no such article; table full") {
					t.Errorf("%v", s.stayed)
				}
			}
			want(t, "shipped", s.shipped, "a-1")
			if s.q.left() > 0 {
				t.Errorf("%d left", s.q.left())
			}
		})
	}
}

// A key that cannot be made is poison; the longest wait is shorter than SQS's own.
func TestKeyThatCannotBeMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, ledger.Config{})
		handle := func(_ context.Context, m ledgersqs.Message) error {
			if m.Body == "a-1" {
				return &ledger.InProgressError{Wait: 20 * time.Hour}
			}
			_, err := ledger.Key("ORDER", "")
			return err
		}
		s.q.send("a-1", "b-1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := ledgersqs.Run(ctx, s.q, url, handle, &s.cfg); err != nil {
			t.Error(err)
		}
		want(t, "refused", s.refused, "b-1: ledger: parts[1] must not be empty: Key would be the same for all events in which it is empty")
		if !slices.Equal(s.q.delays, []int32{11 * 3600}) {
			t.Errorf("delays %v", s.q.delays)
		}
	})
}

// When its context ends, Run finishes what it has in hand. What fails then comes again
// at once.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{"done": nil, "failed": errors.New("down")} {
		synctest.Test(t, func(t *testing.T) {
			s := newShop(t, ledger.Config{})
			ctx, cancel := context.WithCancel(t.Context())
			s.work = func(ctx context.Context, _ ledgersqs.Message, _ *ledger.Claim) error {
				cancel()
				time.Sleep(5 * time.Second)
				return errors.Join(ctx.Err(), result)
			}
			s.q.send("a-1")
			began := time.Now()
			if err := ledgersqs.Run(ctx, s.q, url, s.handler(), &s.cfg); err != nil || time.Since(began) != 5*time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
			if (s.q.left() == 0) != (result == nil) || (result == nil) != (s.q.delays == nil) || result != nil && s.q.delays[0] != 0 {
				t.Errorf("%s: %d left, delays %v", name, s.q.left(), s.q.delays)
			}
		})
	}
}

// Work that does not end is stopped 2 s before its time is over.
func TestRunStopsSlowWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, ledger.Config{})
		s.cfg.Timeout, s.cfg.Batch = 10*time.Second, 2
		began := time.Now()
		s.work = func(ctx context.Context, m ledgersqs.Message, _ *ledger.Claim) error {
			if m.Receives() > 1 {
				return nil
			}
			<-ctx.Done()
			if took := time.Since(began); took != 8*time.Second {
				t.Errorf("stopped after %v", took)
			}
			return ctx.Err()
		}
		s.q.send("a-1", "b-1")
		s.run(time.Minute)
		want(t, "what stayed", s.stayed, "a-1: context deadline exceeded", "b-1: ledgersqs: not begun: the time is over")
		want(t, "shipped", s.shipped, "a-1", "b-1")
	})
}

// Poll receives once.
func TestPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, ledger.Config{})
		poll := func() error { return ledgersqs.Poll(t.Context(), s.q, url, s.handler(), &s.cfg) }
		s.q.send("a-1", "b-1")
		if err := poll(); err != nil || s.q.left() != 1 {
			t.Errorf("%v, %d left", err, s.q.left())
		}
		s.q.fails = func(string, int) (bool, bool) { return true, true }
		if err := poll(); !errors.Is(err, errLost) || !strings.HasPrefix(err.Error(), "ledgersqs: ReceiveMessage: ") {
			t.Errorf("%v", err)
		}
		want(t, "shipped", s.shipped, "a-1")
	})
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	keep := func(context.Context, ledgersqs.Message, error) error { return nil }
	handle := func(context.Context, ledgersqs.Message) error { return nil }
	for field, cfg := range map[string]*ledgersqs.Config{
		"Config.Refused": nil,
		"Config.Lease":   {Refused: keep, Lease: time.Second - 1},
		"Config.Timeout": {Refused: keep, Timeout: 3*time.Second - 1},
		"Config.Batch":   {Refused: keep, Batch: 11},
		"Config.URL":     {Refused: keep, Client: newFake()},
	} {
		wantBad(t, field, ledgersqs.Run(t.Context(), newFake(), url, handle, cfg))
		_, err := ledgersqs.Lambda(handle, cfg)
		wantBad(t, field, err)
	}
	good := &ledgersqs.Config{Refused: keep, Lease: time.Second, Timeout: 3 * time.Second, Batch: 10}
	wantBad(t, "handle", ledgersqs.Run(t.Context(), newFake(), url, nil, good))
	wantBad(t, "url", ledgersqs.Run(t.Context(), newFake(), "", handle, good))
	wantBad(t, "url", ledgersqs.Run(t.Context(), nil, url, handle, good))
	wantBad(t, "url", ledgersqs.Poll(t.Context(), nil, url, handle, good))
	if _, err := ledgersqs.Lambda(handle, good); err != nil {
		t.Error(err)
	}
}

func wantBad(t *testing.T, field string, err error) {
	t.Helper()
	var bad *event.InputError
	if !errors.As(err, &bad) || bad.Package != "ledgersqs" || bad.Field != field {
		t.Errorf("%v, want bad input in %s", err, field)
	}
}
