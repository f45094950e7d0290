package explore_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// ddb-token-bucket 1.0.0 (TypeScript), its source with @aws-sdk 3.946 of December 2025: a
// limiter that reads and then writes.

const (
	capacity   = 2
	refillRate = 0.1 // tokens a second
)

// shouldThrottle reports whether a request is one too many.
func shouldThrottle(ctx context.Context, p *explore.Process) (bool, error) {
	now := p.Now()
	bucket, err := get(ctx, p, "bucket", false)
	if err != nil {
		return false, err
	}
	rest := attrs("lastRefillTimestamp", now.UnixMilli(), "ttlTimestamp", now.Unix()+100)
	if bucket == nil {
		rest["pk"], rest["tokens"], rest["version"] = attrs("pk", "bucket")["pk"], n(capacity-1), n(0)
		_, _ = putIf(ctx, p, rest, "attribute_not_exists(pk)", nil) // an error is logged and ignored
		return false, nil
	}
	tokens, _ := strconv.ParseFloat(text(bucket["tokens"]), 64)
	last, _ := strconv.ParseInt(text(bucket["lastRefillTimestamp"]), 10, 64)
	tokens = min(capacity, tokens+float64(now.UnixMilli()-last)/1000*refillRate)
	if tokens < 1 {
		return true, nil
	}
	_, _ = update(ctx, p, "bucket", "SET tokens = :tokens, lastRefillTimestamp = :now, ttlTimestamp = :ttl, version = :next", "version = :version",
		row{":tokens": attrs("n", tokens-1)["n"], ":now": rest["lastRefillTimestamp"], ":ttl": rest["ttlTimestamp"], ":version": bucket["version"], ":next": n(number(bucket["version"]) + 1)})
	return false, nil // also if the update failed
}

// requests declares a client that makes so many requests at once.
func requests(s *explore.Schedule, name string, count int) {
	s.Caller(name, func(ctx context.Context, p *explore.Process) {
		for range count {
			if throttled, err := shouldThrottle(ctx, p); err == nil && !throttled {
				p.Note("let through")
			}
		}
	})
}

func TestOthersTokenBucket(t *testing.T) {
	t.Parallel()
	atMost := func(v *explore.View) error {
		if n := noted(v, "let through"); n > capacity {
			return fmt.Errorf("%d requests at once were let through, and the capacity is %d", n, capacity)
		}
		return nil
	}
	judge(t, claim{
		says: "of requests one after another, as many as the capacity succeed at once",
		cfg:  explore.Config{Faults: explore.Faults{Late: 1, Unheard: 1, Deaths: 1, Throttles: 1, Total: 1}},
		program: func(s *explore.Schedule) {
			requests(s, "ann", capacity+1)
			s.End(atMost)
		},
	}, claim{
		says: "of requests that come at once, as many as the capacity succeed",
		program: func(s *explore.Schedule) {
			requests(s, "ann", 1)
			requests(s, "bob", capacity)
			s.End(atMost)
		},
		but: "3 requests at once", after: "ann,bob,bob,bob,bob,ann,end",
	})
}

// The original system's limit of answers: its document "DynamoDB Patterns: Activity Logging & Rate
// Limiting" of 17 February 2026, section 2.

const answersADay = 3

// checkThenIncrement is option A of the document.
func checkThenIncrement(ctx context.Context, p *explore.Process) error {
	row, err := get(ctx, p, "chat", true)
	if err != nil || number(row["count"]) >= answersADay {
		return err
	}
	if err := p.Do("answer", func() error { return nil }); err != nil {
		return err
	}
	_, err = addOne(ctx, p)
	return err
}

// incrementThenCheck is option B.
func incrementThenCheck(ctx context.Context, p *explore.Process) error {
	count, err := addOne(ctx, p)
	if err != nil || count > answersADay {
		return err
	}
	return p.Do("answer", func() error { return nil })
}

func addOne(ctx context.Context, p *explore.Process) (int, error) {
	now := p.Now()
	row, err := update(ctx, p, "chat", "ADD #count :inc SET updatedAt = :now, #ttl = if_not_exists(#ttl, :ttl)", "",
		attrs(":inc", 1, ":now", now.Format(time.RFC3339), ":ttl", now.Add(7*24*time.Hour).Unix()))
	return number(row["count"]), err
}

// answers declares a handler for each message.
func answers(s *explore.Schedule, handle func(context.Context, *explore.Process) error, names ...string) {
	for _, name := range names {
		s.Caller(name, func(ctx context.Context, p *explore.Process) { _ = handle(ctx, p) })
	}
}

// sent judges the number of answers, with those of earlier in the day.
func sent(already, most int) func(*explore.View) error {
	return func(v *explore.View) error {
		if n := already + v.Effects()["answer"]; n > most {
			return fmt.Errorf("%d answers, and the limit is %d", n, most)
		}
		return nil
	}
}

// counted judges the count, which may be too small if lost is true: a handler may have
// failed before it counted.
func counted(lost bool) func(*explore.View) error {
	return func(v *explore.View) error {
		count := 0
		for _, item := range v.Items("counts") {
			count = number(item["count"])
		}
		if n := v.Effects()["answer"]; count > n || count < n && !lost {
			return fmt.Errorf("%d answers were sent, and the count is %d", n, count)
		}
		return nil
	}
}

func TestOthersCheckThenIncrement(t *testing.T) {
	t.Parallel()
	two := attrs("pk", "chat", "count", 2)
	judge(t, claim{
		says:    "increments at the same time are never lost",
		long:    true,
		program: func(s *explore.Schedule) { answers(s, checkThenIncrement, "ann", "bob", "cat"); s.End(counted(false)) },
	}, claim{
		says:    "a retry counts twice, which the document says itself",
		cfg:     explore.Config{Faults: explore.Faults{Unheard: 1}},
		program: func(s *explore.Schedule) { answers(s, checkThenIncrement, "ann"); s.End(counted(true)) },
		but:     "1 answers were sent, and the count is 2", after: "ann,ann,ann:unheard,ann,end",
	}, claim{
		says:    "at most 3 answers a day",
		rows:    []row{two},
		program: func(s *explore.Schedule) { answers(s, checkThenIncrement, "ann", "bob"); s.End(sent(2, answersADay)) },
		but:     "4 answers", after: "ann,bob,bob,bob,ann,ann,end",
	}, claim{
		says: "slightly more than 3 answers: as many as there are messages at once",
		rows: []row{two},
		program: func(s *explore.Schedule) {
			answers(s, checkThenIncrement, "ann", "bob", "cat")
			s.End(sent(2, answersADay+2))
		},
	}, claim{
		says: "at most 3 answers with increment-then-check",
		long: true,
		rows: []row{two},
		cfg:  explore.Config{Faults: explore.Faults{Late: 1, Unheard: 1, Throttles: 1, Total: 1}},
		program: func(s *explore.Schedule) {
			answers(s, incrementThenCheck, "ann", "bob", "cat")
			s.End(sent(2, answersADay))
		},
	})
}
