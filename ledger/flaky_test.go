package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

// flaky loses requests and replies at random, and keeps what was lost, to
// arrive later, or again. When busy it has no capacity for some of the
// transactions, a few in a row.
type flaky struct {
	ledger.API
	rnd    *rand.Rand
	steady bool
	late   []func()

	busy      bool // transactions may be throttled
	throttled int  // so many from now on
}

func (f *flaky) lose(send func()) bool {
	if f.steady {
		return false
	}
	roll := f.rnd.IntN(5)
	if roll == 0 {
		send()
	}
	if roll < 2 {
		f.late = append(f.late, send)
	}
	return roll < 2
}

func (f *flaky) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if f.lose(func() { _, _ = f.API.UpdateItem(context.WithoutCancel(ctx), in) }) {
		return nil, errCut
	}
	return f.API.UpdateItem(ctx, in, opts...)
}

func (f *flaky) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if f.busy && !f.steady && f.throttled == 0 && f.rnd.IntN(5) == 0 {
		f.throttled = 1 + f.rnd.IntN(9) // six end a DoTx
	}
	if f.throttled > 0 {
		f.throttled--
		codes := slices.Repeat([]string{"None"}, len(in.TransactItems))
		codes[f.rnd.IntN(len(codes))] = "ThrottlingError"
		return nil, cancelledBy(codes...)
	}
	// The token is another each time, as if the last was forgotten.
	forgotten := *in
	forgotten.ClientRequestToken = aws.String(fmt.Sprint(f.rnd.Uint64()))
	if f.lose(func() { _, _ = f.API.TransactWriteItems(context.WithoutCancel(ctx), &forgotten) }) {
		return nil, errCut
	}
	return f.API.TransactWriteItems(ctx, &forgotten, opts...)
}

// arrive lets something arrive that was lost.
func (f *flaky) arrive() {
	if len(f.late) > 0 {
		f.late[f.rnd.IntN(len(f.late))]()
	}
}

// Whatever is lost, arrives late or arrives again, and however often the event
// is delivered: the effect happens once, and every answer is the same.
func TestDoTxOverAFlakyNetwork(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		doTxOverAFlakyNetwork(t, newBench(t), seed, false)
		synctest.Test(t, func(t *testing.T) { doTxOverAFlakyNetwork(t, newOwnBench(t), seed, true) })
	}
}

func doTxOverAFlakyNetwork(t *testing.T, b *bench, seed uint64, busy bool) {
	t.Helper()
	net := &flaky{API: b.client, rnd: rand.New(rand.NewPCG(seed, 0)), busy: busy}
	store, err := ledger.New(net, b.table, &ledger.Config{Now: b.clock.Now, Lease: time.Minute, MaxSkew: time.Second, MaxAttempts: 1000})
	must(t, err)
	answer := ""
	for delivery := range 8 {
		if net.steady = delivery > 5; net.steady {
			net.throttled = 0
		}
		calls := 0
		res, err := ledger.DoTx(t.Context(), store, order, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
			calls++
			if calls > 1 {
				net.arrive() // the first may come now, when its gate is open
			}
			items := []types.TransactWriteItem{b.add("effect")}
			if calls < 3 {
				items = append(items, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
					TableName: aws.String(b.table), Key: ddb.Item{"pk": item.S("gate")}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
				}})
			}
			if net.rnd.IntN(2) == 0 {
				b.put(t, ddb.Item{"pk": item.S("gate")})
			} else {
				b.remove(t, "gate")
			}
			return fmt.Sprintf("delivery %d, call %d", delivery, calls), items, nil
		})
		switch {
		case err == nil && answer == "":
			answer = res.Value
		case err == nil && (res.Value != answer || !res.Replayed):
			t.Errorf("seed %d: answered %q and then %+v", seed, answer, res)
		case err != nil && net.steady:
			t.Errorf("seed %d: %v", seed, err)
		case errors.Is(err, ledger.ErrResultDiffers):
			t.Errorf("seed %d: %v", seed, err)
		}
		net.arrive()
		b.clock.Add(61 * time.Second)
		net.arrive()
	}
	b.wantTimes(t, 1)
}

// A transaction with a mark, sent until its outcome is known: the effect
// happens once, and one delivery is told that it did.
func TestMarkItemOverAFlakyNetwork(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		b := newBench(t)
		net := &flaky{API: b.client, rnd: rand.New(rand.NewPCG(seed, 0))}
		store := b.store(t, ledger.Config{})
		created := 0
		for range 5 {
			mark, err := store.MarkItem("k")
			must(t, err)
			for out := event.Outcome(0); out == 0; {
				_, err := net.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
					TransactItems: []types.TransactWriteItem{b.add("effect"), mark.Item},
				})
				reasons, cancelled := ddb.Cancelled(err)
				switch {
				case err == nil:
					out = event.Created
				case cancelled:
					out, err = mark.Outcome(reasons[1])
					must(t, err)
				}
				if out == event.Created {
					created++
				}
				if out == 0 && net.rnd.IntN(4) == 0 {
					break // the worker dies
				}
			}
			net.arrive()
		}
		if created > 1 {
			t.Errorf("seed %d: %d deliveries were told that theirs took effect", seed, created)
		}
		b.wantTimes(t, 1)
	}
}
