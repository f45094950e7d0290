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

// The token of a PartiQL transaction is part of the state, as that of others is.
func TestTokenOfAStatement(t *testing.T) {
	t.Parallel()
	server := seeded(t)
	at := key("x")
	at["n"] = n(0)
	if _, err := server.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("counts"), Item: at}); err != nil {
		t.Fatal(err)
	}
	var all [2][]string
	for i, full := range []bool{false, true} {
		all[i] = ends(t, explore.Config{Server: server, Faults: explore.Faults{Failures: 1}, Attempts: 1, Full: full}, func(s *explore.Schedule, say func(string, ...any)) {
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
	wants(t, all[0], all[1]...)
}

// When no move is left, a pause of another may still make a life begin later.
func TestBeginsInAPause(t *testing.T) {
	t.Parallel()
	var all [2][]string
	for i, full := range []bool{false, true} {
		cfg := explore.Config{Moves: 1, Moments: []time.Duration{10 * time.Second}, Full: full}
		all[i] = ends(t, cfg, func(s *explore.Schedule, _ func(string, ...any)) {
			s.Caller("ann", func(ctx context.Context, p *explore.Process) {
				_ = put(ctx, p, "ann", p.Now().Second())
				time.Sleep(time.Second)
				_ = put(ctx, p, "x", 1)
			})
			s.Caller("bob", func(ctx context.Context, p *explore.Process) { _ = put(ctx, p, "bob", p.Now().Second()) })
		})
	}
	wants(t, all[0], all[1]...)
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
