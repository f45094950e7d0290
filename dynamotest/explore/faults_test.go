package explore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// ends explores, and returns in words how its schedules ended, sorted.
func ends(t *testing.T, cfg explore.Config, program func(s *explore.Schedule, say func(format string, args ...any))) []string {
	t.Helper()
	if cfg.Server == nil {
		cfg.Server = seeded(t)
	}
	var mu sync.Mutex
	all := map[string]bool{}
	r := explore.Run(t, cfg, func(s *explore.Schedule) {
		var said []string
		program(s, func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
		s.End(func(v *explore.View) error {
			mu.Lock()
			defer mu.Unlock()
			all[strings.Join(append(said, tables(v)), " ")] = true
			return nil
		})
	})
	if r.Failure != nil || !r.Exhausted {
		t.Errorf("%v", r)
	}
	return slices.Sorted(maps.Keys(all))
}

func wants(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("it ended with\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// codeOf is what a caller heard.
func codeOf(err error) string {
	var failed smithy.APIError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &failed):
		return failed.ErrorCode()
	}
	return "lost"
}

// increase adds one, without being safe to repeat.
func increase(ctx context.Context, p *explore.Process) error {
	_, err := p.Client().UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("counts"), Key: key("x"), UpdateExpression: aws.String("ADD n :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": n(1)},
	})
	return err
}

// Each fault does what the network or DynamoDB does, and no more.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		faults   explore.Faults
		attempts int
		want     []string
	}{
		"none":            {explore.Faults{}, 1, []string{"ok [x=1]"}},
		"late":            {explore.Faults{Late: 1}, 1, []string{"ok [x=1]", "lost []", "lost [x=1]"}},
		"late and again":  {explore.Faults{Late: 1}, 2, []string{"ok [x=1]", "ok [x=2]"}},
		"twice":           {explore.Faults{Twice: 1}, 1, []string{"ok [x=1]", "ok [x=2]"}},
		"unheard":         {explore.Faults{Unheard: 1}, 1, []string{"ok [x=1]", "lost [x=1]"}},
		"unheard, again":  {explore.Faults{Unheard: 1}, 2, []string{"ok [x=1]", "ok [x=2]"}},
		"a death":         {explore.Faults{Deaths: 1}, 1, []string{"ok [x=1]", "ok [x=2]"}},
		"no conflict":     {explore.Faults{Conflicts: 1}, 1, []string{"ok [x=1]"}},
		"others conflict": {explore.Faults{Conflicts: 1, AnyConflict: true}, 1, []string{"ok [x=1]", "TransactionConflictException []"}},
		"a throttle":      {explore.Faults{Throttles: 1}, 1, []string{"ok [x=1]", "ProvisionedThroughputExceededException []"}},
		"500":             {explore.Faults{Failures: 1}, 1, []string{"ok [x=1]", "InternalServerError []", "InternalServerError [x=1]"}},
		"two, one in all": {explore.Faults{Unheard: 1, Throttles: 1, Total: 1}, 2, []string{"ok [x=1]", "ok [x=2]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wants(t, ends(t, explore.Config{Faults: tc.faults, Attempts: tc.attempts}, func(s *explore.Schedule, say func(string, ...any)) {
				s.Caller("ann", func(ctx context.Context, p *explore.Process) { say("%s", codeOf(increase(ctx, p))) })
			}), tc.want...)
		})
	}
}

// A transaction and a write conflict only while both are open.
func TestConflicts(t *testing.T) {
	t.Parallel()
	wants(t, ends(t, explore.Config{Attempts: 1, Faults: explore.Faults{Conflicts: 1}}, func(s *explore.Schedule, _ func(string, ...any)) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) { _ = increase(ctx, p) })
		s.Caller("bob", func(ctx context.Context, p *explore.Process) {
			_, _ = p.Client().TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: aws.String("counts"), Item: key("y")}},
				{Delete: &types.Delete{TableName: aws.String("counts"), Key: key("x")}},
			}})
		})
	}), "[x=1 y=0]", "[y=0]", "[x=1]")
}

// An eventually consistent read shows one of the states since the start.
func TestOldReads(t *testing.T) {
	t.Parallel()
	for consistent, want := range map[bool][]string{
		true:  {"0 [x=2]", "1 [x=2]", "2 [x=2]"},
		false: {"0 [x=2]", "1 [x=2]", "2 [x=2]"},
	} {
		wants(t, ends(t, explore.Config{Faults: explore.Faults{OldReads: 1}}, func(s *explore.Schedule, say func(string, ...any)) {
			s.Caller("ann", func(ctx context.Context, p *explore.Process) { _, _ = increase(ctx, p), increase(ctx, p) })
			s.Caller("bob", func(ctx context.Context, p *explore.Process) { say("%d", read(ctx, p, consistent)) })
		}), want...)
		one := []string{"1 [x=1]"}
		if !consistent {
			one = []string{"0 [x=1]", "1 [x=1]"}
		}
		wants(t, ends(t, explore.Config{Faults: explore.Faults{OldReads: 1}}, func(s *explore.Schedule, say func(string, ...any)) {
			s.Caller("ann", func(ctx context.Context, p *explore.Process) {
				_ = increase(ctx, p)
				say("%d", read(ctx, p, consistent))
			})
		}), one...)
	}
}

func read(ctx context.Context, p *explore.Process, consistent bool) int {
	got, err := p.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("counts"), Key: key("x"), ConsistentRead: &consistent})
	if err != nil {
		return -1
	}
	return number(got.Item["n"])
}

// A batch, a Query and a Scan are not atomic: writes come between their items.
func TestCuts(t *testing.T) {
	t.Parallel()
	both := func(ctx context.Context, p *explore.Process) (int, int) {
		keys := []map[string]types.AttributeValue{key("a"), key("b")}
		out, err := p.Client().BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"counts": {Keys: keys}}})
		if err != nil {
			return -1, -1
		}
		found := map[string]int{}
		for _, item := range out.Responses["counts"] {
			found[item["pk"].(*types.AttributeValueMemberS).Value] = number(item["n"])
		}
		return found["a"], found["b"]
	}
	scan := func(ctx context.Context, p *explore.Process) (int, int) {
		out, err := p.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("counts")})
		if err != nil || int(out.Count) != len(out.Items) || out.LastEvaluatedKey != nil {
			return -1, -1
		}
		found := map[string]int{}
		for _, item := range out.Items {
			found[item["pk"].(*types.AttributeValueMemberS).Value] = number(item["n"])
		}
		return found["a"], found["b"]
	}
	for _, tc := range []struct {
		reads         func(context.Context, *explore.Process) (a, b int)
		first, then   string // the order in which they are written, which is that of the reading
		between, torn string
	}{
		{both, "a", "b", "read 1 0 [a=1 b=1]", "read 0 1 [a=1 b=1]"},
		{scan, "b", "a", "read 0 1 [a=1 b=1]", "read 1 0 [a=1 b=1]"},
	} {
		for _, cuts := range []int{0, 1} {
			server := seeded(t)
			for _, pk := range []string{"a", "b"} {
				item := key(pk)
				item["n"] = n(0)
				if _, err := server.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("counts"), Item: item}); err != nil {
					t.Fatal(err)
				}
			}
			want := []string{"read 0 0 [a=1 b=1]", tc.between, "read 1 1 [a=1 b=1]"}
			if cuts == 1 {
				want = append(want, tc.torn)
			}
			wants(t, ends(t, explore.Config{Server: server, Faults: explore.Faults{Cuts: cuts}}, func(s *explore.Schedule, say func(string, ...any)) {
				s.Caller("ann", func(ctx context.Context, p *explore.Process) { a, b := tc.reads(ctx, p); say("read %d %d", a, b) })
				s.Caller("bob", func(ctx context.Context, p *explore.Process) {
					_, _ = put(ctx, p, tc.first, 1), put(ctx, p, tc.then, 1)
				})
			}), want...)
		}
	}
	wants(t, ends(t, explore.Config{Faults: explore.Faults{Cuts: 1}}, func(s *explore.Schedule, say func(string, ...any)) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			_, err := p.Client().BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"counts": {
				{PutRequest: &types.PutRequest{Item: key("a")}}, {PutRequest: &types.PutRequest{Item: key("b")}},
			}}})
			say("%s", codeOf(err))
		})
		s.Caller("bob", func(ctx context.Context, p *explore.Process) {
			got, err := p.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("counts"), ConsistentRead: aws.Bool(true), Limit: aws.Int32(1)})
			say("%s %d", codeOf(err), len(got.Items))
		})
	}), "ok ok 1 [a=0 b=0]", "ok 0 ok [a=0 b=0]", "ok 1 ok [a=0 b=0]")
}

// A clock is off by the bound or right, and each caller's by itself.
func TestClocks(t *testing.T) {
	t.Parallel()
	wants(t, ends(t, explore.Config{Faults: explore.Faults{Clocks: 1, ClockOff: time.Minute}}, func(s *explore.Schedule, say func(string, ...any)) {
		for _, name := range []string{"ann", "bob"} {
			s.Caller(name, func(_ context.Context, p *explore.Process) { say("%s", p.Now().Format("15:04")) })
		}
	}), "12:00 12:00 []", "12:01 12:00 []", "11:59 12:00 []", "12:00 12:01 []", "12:00 11:59 []")
}

// Time passes for who sleeps, and around moments while requests are open.
func TestTime(t *testing.T) {
	t.Parallel()
	wants(t, ends(t, explore.Config{Moves: 1, Moments: []time.Duration{time.Minute}, Faults: explore.Faults{LateWithin: 2 * time.Minute}}, func(s *explore.Schedule, say func(string, ...any)) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			_ = increase(ctx, p)
			say("%s", p.Now().Format("15:04:05.000"))
			time.Sleep(time.Hour)
			say("%s", p.Now().Format("15:04"))
		})
	}), "12:00:00.000 13:00 [x=1]", "12:00:59.999 13:00 [x=1]", "12:01:01.000 13:01 [x=1]")
}

// The times in the TTL attribute are moments, and the sweep is a choice.
func TestTTL(t *testing.T) {
	t.Parallel()
	server := seeded(t)
	_, err := server.Client().UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String("counts"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("n"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	item := key("x")
	item["n"] = n(int(time.Date(2026, 3, 10, 18, 0, 0, 0, time.UTC).Unix()))
	if _, err := server.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("counts"), Item: item}); err != nil {
		t.Fatal(err)
	}
	got := ends(t, explore.Config{Server: server, Moves: 2}, func(s *explore.Schedule, say func(string, ...any)) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			found := read(ctx, p, true) > 0
			say("%s %v", p.Now().Format("15:04:05"), found)
		})
	})
	want := []string{"12:00:00 true", "17:59:59 true", "18:00:01 true", "18:00:01 false"}
	for i, end := range got {
		got[i], _, _ = strings.Cut(end, " [")
	}
	slices.Sort(got)
	wants(t, slices.Compact(got), want...)
}

// Effects outside DynamoDB happen at most once more for each death and lost reply.
func TestEffects(t *testing.T) {
	t.Parallel()
	wants(t, ends(t, explore.Config{Faults: explore.Faults{Deaths: 1, Unheard: 1}}, func(s *explore.Schedule, say func(string, ...any)) {
		sent := 0
		s.Caller("ann", func(_ context.Context, p *explore.Process) {
			heard := "heard"
			if p.Do("send", func() error { sent++; return nil }) != nil {
				heard = "not heard"
			}
			say("%s, life %d, %d sent", heard, p.Life, sent)
		})
	}), "heard, life 1, 1 sent []", "not heard, life 1, 1 sent []", "heard, life 2, 1 sent []", "heard, life 2, 2 sent []",
		"not heard, life 2, 1 sent []", "not heard, life 2, 2 sent []")
}

// A request that waits while time passes does not arrive later than a late one may.
func TestNothingArrivesTooLate(t *testing.T) {
	t.Parallel()
	cfg := explore.Config{
		Server: seeded(t), Moves: 1, Moments: []time.Duration{30 * time.Second, time.Hour},
		Faults: explore.Faults{Late: 1, LateWithin: time.Minute},
	}
	var within atomic.Int64
	explore.Test(t, cfg, func(s *explore.Schedule) {
		var sent time.Time
		s.Caller("a", func(ctx context.Context, p *explore.Process) {
			sent = p.Now()
			_ = put(ctx, p, "x", 1)
		})
		s.Always(func(v *explore.View) error {
			after := v.Now().Sub(sent)
			if after > time.Minute {
				return fmt.Errorf("the request arrived after %v", after)
			}
			if after > 0 {
				within.Add(1)
			}
			return nil
		})
	})
	if within.Load() == 0 {
		t.Error("no request arrived after a move of time")
	}
}

// Who sleeps equally long wakes together, and the order of what follows is explored.
func TestSleepersWakeTogether(t *testing.T) {
	t.Parallel()
	wants(t, ends(t, explore.Config{}, func(s *explore.Schedule, say func(string, ...any)) {
		for i, name := range []string{"ann", "bob"} {
			s.Caller(name, func(ctx context.Context, p *explore.Process) {
				time.Sleep(30 * time.Second)
				_ = put(ctx, p, "x", read(ctx, p, true)+i+1)
			})
		}
	}), "[x=1]", "[x=2]", "[x=3]")
}

// A pause of a random length does not make a schedule another one, not even if its
// caller reads the clock then.
func TestPausesOfRandomLength(t *testing.T) {
	t.Parallel()
	got := ends(t, explore.Config{Faults: explore.Faults{Throttles: 1}, Moves: 1}, func(s *explore.Schedule, _ func(string, ...any)) {
		for _, name := range []string{"ann", "bob"} {
			s.Caller(name, func(ctx context.Context, p *explore.Process) {
				time.Sleep(rand.N(time.Second))
				_ = put(ctx, p, name, p.Now().Second())
			})
		}
	})
	wants(t, got, "[ann=2 bob=2]", "[ann=2 bob=4]", "[ann=4 bob=2]")
}

// Nor does a deadline that begins after such a pause: who wakes at it reads a whole second.
func TestADeadlineAfterAPause(t *testing.T) {
	t.Parallel()
	got := ends(t, explore.Config{Faults: explore.Faults{Throttles: 1}, Moves: 1}, func(s *explore.Schedule, _ func(string, ...any)) {
		for _, name := range []string{"ann", "bob"} {
			s.Caller(name, func(ctx context.Context, p *explore.Process) {
				time.Sleep(1 + rand.N(time.Second-1))
				late, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				<-late.Done()
				_ = put(ctx, p, name, p.Now().Second())
			})
		}
	})
	wants(t, got, "[ann=6 bob=6]", "[ann=6 bob=12]", "[ann=12 bob=6]")
}

// A prompt answer is explored beside a deadline that passes.
func TestADeadline(t *testing.T) {
	t.Parallel()
	wants(t, ends(t, explore.Config{}, func(s *explore.Schedule, say func(string, ...any)) {
		s.Caller("ann", func(ctx context.Context, p *explore.Process) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			say("ann %d", read(ctx, p, true))
		})
		s.Caller("bob", func(context.Context, *explore.Process) { time.Sleep(time.Minute) })
	}), "ann -1 []", "ann 0 []")
}
