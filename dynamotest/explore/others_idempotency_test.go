package explore_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// Powertools for AWS Lambda (Python) 3.2.1a1 of 24 October 2024: its page "Idempotency"
// and its DynamoDB layer, without the cache in memory. That of TypeScript is the same.

const (
	invocationLasts = 30 * time.Second // Lambda's timeout
	recordLasts     = time.Hour
)

var (
	errInProgress  = errors.New("the execution is already in progress")
	errPersistence = errors.New("the persistence layer failed")
	errNoCharge    = errors.New("the function failed before it charged")
)

// invoke is an invocation of an idempotent function.
func invoke(ctx context.Context, p *explore.Process, function func() error) error {
	for range 3 {
		stands, err := saveInProgress(ctx, p)
		switch {
		case err == nil:
			return callFunction(ctx, p, function)
		case stands == nil:
			return fmt.Errorf("%w: %w", errPersistence, err)
		}
		now := p.Now()
		expires, _ := strconv.ParseInt(text(stands["expiration"]), 10, 64)
		lasts, _ := strconv.ParseInt(text(stands["in_progress_expiration"]), 10, 64)
		switch status := text(stands["status"]); {
		case expires < now.Unix() || status == "INPROGRESS" && lasts < now.UnixMilli(): // once more
		case status == "INPROGRESS":
			return errInProgress
		default:
			return nil // the response that was saved
		}
	}
	return errors.New("inconsistent state")
}

// saveInProgress locks the key, or returns the record in the way.
func saveInProgress(ctx context.Context, p *explore.Process) (row, error) {
	now := p.Now()
	return putIf(ctx, p, attrs("pk", "id", "status", "INPROGRESS",
		"expiration", now.Add(recordLasts).Unix(), "in_progress_expiration", now.Add(invocationLasts).UnixMilli()),
		"attribute_not_exists(pk) OR expiration < :now OR "+
			"(#status = :inprogress AND attribute_exists(in_progress_expiration) AND in_progress_expiration < :now_in_millis)",
		attrs(":now", now.Unix(), ":now_in_millis", now.UnixMilli(), ":inprogress", "INPROGRESS"))
}

// callFunction calls the function, and saves its response or deletes the record.
func callFunction(ctx context.Context, p *explore.Process, function func() error) error {
	if failed := function(); failed != nil {
		_, err := p.Client().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("counts"), Key: key("id")})
		if err != nil {
			return fmt.Errorf("%w: %w", errPersistence, err)
		}
		return failed
	}
	_, err := update(ctx, p, "id", "SET #data = :response_data, expiration = :expiry, #status = :status", "",
		attrs(":response_data", "charged", ":expiry", p.Now().Add(recordLasts).Unix(), ":status", "COMPLETED"))
	if err != nil {
		return fmt.Errorf("%w: %w", errPersistence, err)
	}
	return nil
}

// charges declares a client that invokes a function that charges, again when it fails.
// The first call of ann's function may fail before it charges.
func charges(s *explore.Schedule, name string, failsFirst bool) {
	s.Caller(name, func(ctx context.Context, p *explore.Process) {
		if p.Life > 1 {
			p.Note("excused: died")
		}
		for try := range 3 {
			err := invoke(ctx, p, func() error {
				if failsFirst && try == 0 {
					return errNoCharge
				}
				return p.Do("charge", func() error { return nil })
			})
			if err == nil {
				return
			}
			p.Note("told: %v", err)
			if errors.Is(err, errInProgress) {
				time.Sleep(invocationLasts + time.Second)
			} else if !errors.Is(err, errNoCharge) {
				p.Note("excused: %v", err)
			}
		}
	})
}

// chargedOnce allows what the page allows: the function may run again if it failed, if
// an invocation ran out of time, or if the persistence layer failed.
func chargedOnce(v *explore.View) error {
	if n, excused := v.Effects()["charge"], noted(v, "excused"); n > 1+excused {
		return fmt.Errorf("charged %d times, and the page has reasons for %d", n, 1+excused)
	}
	return nil
}

func TestOthersPowertools(t *testing.T) {
	t.Parallel()
	two := func(s *explore.Schedule) {
		charges(s, "ann", false)
		charges(s, "bob", false)
		s.End(chargedOnce)
	}
	judge(t, claim{
		says:    "runs again only after a failure or a timeout",
		cfg:     explore.Config{Faults: explore.Faults{Late: 1, Unheard: 1, Deaths: 1, Throttles: 1, Failures: 1, Total: 1}},
		long:    true,
		program: two,
	}, claim{
		says:    "runs again only after a failure or a timeout, also if two invocations die",
		cfg:     explore.Config{Faults: explore.Faults{Deaths: 2}},
		long:    true,
		program: two,
	}, claim{
		says: "an invocation after one that succeeded returns the saved response",
		cfg:  explore.Config{Faults: explore.Faults{Unheard: 1}},
		program: func(s *explore.Schedule) {
			charges(s, "ann", true)
			charges(s, "bob", false)
			s.End(chargedOnce)
		},
		but: "charged 2 times", after: "ann,ann:unheard,bob,bob,bob,ann,ann,ann,ann,end",
	}, claim{
		says: "already in progress means that another invocation has not completed",
		cfg:  explore.Config{Faults: explore.Faults{Unheard: 1}},
		program: func(s *explore.Schedule) {
			charges(s, "ann", false)
			s.End(func(v *explore.View) error {
				if noted(v, errInProgress.Error()) > 0 {
					return errors.New("ann is alone, and was told that an execution is in progress")
				}
				return nil
			})
		},
		but: "ann is alone", after: "ann:unheard,ann,wait,ann,ann,ann,end",
	})
}
