package cookbook_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/ledger"
)

// step makes the attempts of a step as the SDK's source has them: a dead one is made again
// at once, by the next invocation; one that returned an error after the strategy's delay.
func step(attempt func() (string, error)) (value string, attempts int, err error) {
	for attempts < 8 {
		died := true
		func() {
			defer func() { _ = recover() }()
			value, err = attempt()
			died = false
		}()
		attempts++
		if again, delay := cookbook.Again(err); !died && !again {
			break
		} else if !died {
			time.Sleep(delay)
		}
	}
	return value, attempts, err
}

// The function dies in the step, after its effect: the next attempt is refused, the one
// after the lease does the work under a later fence, and the effect is one.
func TestStepThatDies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		steps := newLedger(t, db, "steps")
		charged := map[string]int64{} // by idempotency key, the fence
		once := func() (string, error) {
			return cookbook.Once(t.Context(), steps, "arn:aws:lambda:eu-north-1:1:function:shop:1/e-1", "charge", func(_ context.Context, c *ledger.Claim) (string, error) {
				if c.Fence <= charged[c.Key] {
					t.Errorf("fence %d after %d", c.Fence, charged[c.Key])
				}
				if charged[c.Key] = c.Fence; c.Attempt == 1 {
					panic("killed")
				}
				return "receipt", nil
			})
		}
		began := time.Now()
		value, attempts, err := step(once)
		if value != "receipt" || attempts != 3 || err != nil || len(charged) != 1 || time.Since(began) != 70*time.Second {
			t.Errorf("%q after %d attempts and %v, %v; %v", value, attempts, time.Since(began), err, charged)
		}
		db.Meter(func() { value, attempts, err = step(once) }).Want(t, dynamotest.Price{Requests: 1, WCU: 1}) // its checkpoint was lost
		if value != "receipt" || attempts != 1 || err != nil {
			t.Errorf("then %q, %v", value, err)
		}
		if again, _ := cookbook.Again(ledger.Permanent(errors.New("declined"))); again {
			t.Error("declined, and again")
		}
	})
}
