package explore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// Programs in which a search once lost schedules, or failed without a reason.

// A request that is given up is something that happens, also if its caller sleeps then.
func TestGivesUpAndSleeps(t *testing.T) {
	t.Parallel()
	got := ends(t, explore.Config{}, func(s *explore.Schedule, say func(string, ...any)) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			soon, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := p.Client().GetItem(soon, &dynamodb.GetItemInput{TableName: aws.String("counts"), Key: key("x")})
			if err != nil {
				time.Sleep(5 * time.Second)
			}
			say("gave up %t", err != nil)
		})
		s.Caller("bob", func(context.Context, *explore.Process) { time.Sleep(time.Minute) })
	})
	wants(t, got, "gave up false []", "gave up true []")
}

// losesNothing checks that the program ends in as many ways as in the full search.
func losesNothing(t *testing.T, cfg explore.Config, program func(s *explore.Schedule, say func(string, ...any))) {
	t.Helper()
	reduced := ends(t, cfg, program)
	cfg.Full = true
	wants(t, reduced, ends(t, cfg, program)...)
}

// The token of a PartiQL transaction is part of the state, as that of others is.
func TestTokenOfAStatement(t *testing.T) {
	t.Parallel()
	cfg := explore.Config{Server: seeded(t, attrs("pk", "x", "n", 0)), Faults: explore.Faults{Failures: 1}, Attempts: 1}
	losesNothing(t, cfg, func(s *explore.Schedule, say func(string, ...any)) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			send := func() error {
				_, err := p.Client().ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{
					ClientRequestToken: aws.String("t"),
					TransactStatements: []types.ParameterizedStatement{{Statement: aws.String(`UPDATE counts SET n = 1 WHERE pk = 'x'`)}},
				})
				return err
			}
			say("%s", codeOf(send()))
			out, err := p.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("counts"), Key: key("b")})
			say("saw %v %s", err == nil && out.Item != nil, codeOf(send()))
		})
		s.Caller("bob", func(ctx context.Context, p *explore.Process) {
			_ = put(ctx, p, "x", 0)
			_ = put(ctx, p, "b", 1)
		})
	})
}

// When no move is left, a pause of another may still make a life begin later.
func TestBeginsInAPause(t *testing.T) {
	t.Parallel()
	cfg := explore.Config{Moves: 1, Moments: []time.Duration{10 * time.Second}}
	losesNothing(t, cfg, func(s *explore.Schedule, _ func(string, ...any)) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			_ = put(ctx, p, "ann", p.Now().Second())
			time.Sleep(time.Second)
			_ = put(ctx, p, "x", 1)
		})
		s.Caller("bob", func(ctx context.Context, p *explore.Process) { _ = put(ctx, p, "bob", p.Now().Second()) })
	})
}

// Lives begin at the start, also if their clocks were chosen before.
func TestBeginsWithAClock(t *testing.T) {
	t.Parallel()
	cfg := explore.Config{Faults: explore.Faults{Clocks: 1, ClockOff: 3 * time.Second}, Moves: 1, Moments: []time.Duration{10 * time.Second}}
	losesNothing(t, cfg, func(s *explore.Schedule, _ func(string, ...any)) {
		for _, name := range []string{"ann", "bob"} {
			s.Caller(name, func(ctx context.Context, p *explore.Process) { _ = put(ctx, p, name, p.Now().Second()) })
		}
	})
}

// Who cannot tell two requests apart would lose one of the orders.
func TestEqualRequests(t *testing.T) {
	t.Parallel()
	failsWith(t, "ann: two goroutines make the same write", explore.Config{}, func(s *explore.Schedule) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			done := make(chan error, 2)
			for range 2 {
				go func() { done <- put(ctx, p, "x", 1) }()
			}
			<-done
			<-done
		})
	})
}

// A caller that waits for its goroutines can be left at any step.
func TestWaitsForItsGoroutines(t *testing.T) {
	t.Parallel()
	got := ends(t, explore.Config{Faults: explore.Faults{Deaths: 1}}, func(s *explore.Schedule, _ func(string, ...any)) {
		for _, name := range []string{"ann", "bob"} {
			s.Caller(name, func(ctx context.Context, p *explore.Process) {
				done := make(chan error, 2)
				for i := range 2 {
					go func() { done <- put(ctx, p, fmt.Sprint(name, i), 1) }()
				}
				<-done
				<-done
			})
		}
	})
	wants(t, got, "[ann0=1 ann1=1 bob0=1 bob1=1]")
}

// Which of several sleepers wakes first is chance, and not an order of notes.
func TestNotesAfterASleep(t *testing.T) {
	t.Parallel()
	got := ends(t, explore.Config{}, func(s *explore.Schedule, _ func(string, ...any)) {
		for i := range 3 {
			name := string(rune('a' + i))
			s.Caller(name, func(ctx context.Context, p *explore.Process) {
				time.Sleep(time.Second)
				p.Note("awake")
				_ = put(ctx, p, name, 1)
			})
		}
	})
	if len(got) != 1 || !strings.Contains(got[0], "c=1") {
		t.Errorf("%v", got)
	}
}
