package intake_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// All replies to a batch are lost until its time is over. When it comes again, each
// fact is counted as new, even if DynamoDB no longer knows the transaction's token.
// Another process cannot tell, and counts duplicates.
func TestNewInSpiteOfLostReplies(t *testing.T) {
	t.Parallel()
	for _, forgotten := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			other := b.twin()
			b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems", Times: -1})
			body, began := batch(change(1), change(2), change(3)), time.Now()
			b.send(intake.HubSpotPath, body, 503, intake.Counts{Received: 3, Waiting: 3, Unstored: 3})
			if took := time.Since(began); took >= 5*time.Second { // so long HubSpot waits
				t.Errorf("answered after %s", took)
			}
			b.wants(3)
			b.db.Heal()
			if forgotten {
				b.DB = recordtest.Between(b.db.Client(), func(in any, send recordtest.Send) (any, error) {
					again := *in.(*dynamodb.TransactWriteItemsInput)
					again.ClientRequestToken = nil
					return send(&again)
				})
			}
			if got := other.Settle(t.Context(), hubspot.Events([]byte(batch(change(3))))); got != isDuplicate {
				t.Errorf("the other process: %+v", got)
			}
			b.send(intake.HubSpotPath, body, 200, intake.Counts{Received: 3, New: 3})
			b.send(intake.HubSpotPath, body, 200, intake.Counts{Received: 3, Duplicate: 3})
			b.wants(3)
		})
	}
}

// Copies come at once, and one of them is new, whichever hears first that the
// transaction took effect.
func TestCopiesAtOnceAreNewOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems", Times: 5})
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() { b.serve(b.request(t.Context(), intake.HubSpotPath, batch(change(1)))) })
		}
		wait.Wait()
		if got, want := b.Tally.Snapshot(), (intake.Counts{Received: 8, New: 1, Duplicate: 7}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		b.wants(1)
	})
}

// Undecided transactions are bounded in number and in size. The oldest one is
// forgotten, and so is that of a large event: they are duplicates when they come again.
func TestUndecidedIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		lose := dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems", Times: -1}
		settle := func(within time.Duration, want intake.Counts, events ...string) {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			if got := b.Settle(ctx, hubspot.Events([]byte(batch(events...)))); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
		large := strings.Replace(change(2000), "customer", strings.Repeat("x", 16<<10), 1)
		b.db.Inject(lose)
		settle(time.Millisecond, isUnstored, large)
		b.db.Heal()
		settle(time.Minute, isDuplicate, large)
		b.db.Inject(lose)
		settle(time.Millisecond, isUnstored, change(0))
		settle(time.Millisecond, isUnstored, change(1))
		b.Undecided(1022)
		settle(time.Millisecond, isUnstored, change(2))
		b.db.Heal()
		settle(time.Minute, intake.Counts{Received: 2, New: 2}, change(1), change(2))
		settle(time.Minute, isDuplicate, change(0))
	})
}
