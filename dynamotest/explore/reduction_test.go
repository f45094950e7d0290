package explore_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

var programs = flag.Uint64("programs", 3, "`number` of random programs for TestReduction")

// randomStep is a request that depends on what the caller has read.
type randomStep struct{ kind, item, by int }

func (s randomStep) do(ctx context.Context, p *explore.Process, known int) int {
	at, table := key(fmt.Sprint("item", s.item)), aws.String("counts")
	values := map[string]types.AttributeValue{":n": n(known + s.by)}
	switch s.kind {
	case 0:
		out, err := p.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: at})
		if err != nil {
			return -1
		}
		return number(out.Item["n"])
	case 1:
		at["n"] = n(known + s.by)
		if _, err := p.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: at}); err != nil {
			return known - 7
		}
	case 2:
		in := &dynamodb.UpdateItemInput{
			TableName: table, Key: at, UpdateExpression: aws.String("SET n = :n"), ExpressionAttributeValues: values,
			ConditionExpression: aws.String("attribute_not_exists(n) OR n < :n"),
		}
		if _, err := p.Client().UpdateItem(ctx, in); err != nil {
			return known + 1
		}
	case 3:
		in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: table, Key: at, UpdateExpression: aws.String("ADD n :n"), ExpressionAttributeValues: values}},
		}}
		if _, err := p.Client().TransactWriteItems(ctx, in); err != nil {
			return known + 3
		}
	case 4:
		keys := []map[string]types.AttributeValue{key("item0"), key("item1")}
		out, err := p.Client().BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"counts": {Keys: keys}}})
		if err != nil {
			return -2
		}
		sum := 0
		for _, item := range out.Responses["counts"] {
			sum = 3*sum + number(item["n"])
		}
		return sum
	case 5:
		time.Sleep(time.Duration(s.by) * 20 * time.Second)
		return known + p.Now().Second()
	}
	return known
}

// The reduced search sees the same tables and the same ends as the full one, for small
// random programs with random budgets. A state that lacked something that a caller's
// future depends on would lose some of them.
func TestReduction(t *testing.T) {
	t.Parallel()
	reduced, full := 0, 0
	for seed := range *programs {
		rnd := rand.New(rand.NewPCG(seed, 7))
		callers := make([][]randomStep, 2+rnd.IntN(2))
		for i := range callers {
			for range 1 + rnd.IntN(4-len(callers)) {
				callers[i] = append(callers[i], randomStep{rnd.IntN(6), rnd.IntN(2), 1 + rnd.IntN(3)})
			}
		}
		cfg := explore.Config{Server: seeded(t), Within: 10 * time.Minute, Attempts: 1 + int(seed%2)}
		if len(callers) == 2 && seed%3 == 0 {
			cfg.Moves, cfg.Moments = 1, []time.Duration{7 * time.Second}
		}
		budgets := explore.Faults{Total: 1}
		for _, f := range []*int{&budgets.Late, &budgets.Twice, &budgets.Unheard, &budgets.Deaths, &budgets.Conflicts, &budgets.Failures, &budgets.OldReads, &budgets.Cuts} {
			*f = rnd.IntN(3) / 2
		}
		search := func(whole bool) (seen map[string]bool, schedules int) {
			var mu sync.Mutex
			seen = map[string]bool{}
			see := func(when string, v *explore.View) {
				mu.Lock()
				defer mu.Unlock()
				seen[when+tables(v)] = true
			}
			cfg.Full, cfg.Faults = whole, budgets
			r := explore.Run(t, cfg, func(s *explore.Schedule) {
				known := make([]int, len(callers))
				for i, steps := range callers {
					s.Caller(string(rune('a'+i)), func(ctx context.Context, p *explore.Process) {
						here := p.Now().Second()
						for _, step := range steps {
							here = step.do(ctx, p, here)
						}
						known[i] = here
					})
				}
				s.Always(func(v *explore.View) error { see("", v); return nil })
				s.End(func(v *explore.View) error { see(fmt.Sprint(known), v); return nil })
			})
			if r.Failure != nil || !r.Exhausted {
				t.Fatalf("seed %d: %v", seed, r)
			}
			return seen, r.Schedules
		}
		want, all := search(true)
		got, some := search(false)
		if !maps.Equal(got, want) {
			t.Fatalf("seed %d, %v with %+v: %d of %d states are seen", seed, callers, budgets, len(got), len(want))
		}
		reduced, full = reduced+some, full+all
	}
	t.Logf("%d schedules in place of %d", reduced, full)
	if reduced >= full {
		t.Errorf("%d schedules in place of %d", reduced, full)
	}
}

// tables is what a view shows, in words.
func tables(v *explore.View) string {
	var rows []string
	for _, item := range v.Items("counts") {
		rows = append(rows, fmt.Sprint(item["pk"].(*types.AttributeValueMemberS).Value, "=", number(item["n"])))
	}
	slices.Sort(rows)
	return fmt.Sprint(rows)
}
