package explore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// The four flaws of the package's page, each found, and each gone when it is mended.

func number(v types.AttributeValue) int {
	n := 0
	if v, ok := v.(*types.AttributeValueMemberN); ok {
		fmt.Sscan(v.Value, &n)
	}
	return n
}

func n(v int) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(v)} }

func countIs(want int) func(*explore.View) error {
	return func(v *explore.View) error {
		items := v.Items("counts")
		if len(items) != 1 || number(items[0]["n"]) != want {
			return fmt.Errorf("%d rows, the count is %d, want %d", len(items), number(items[0]["n"]), want)
		}
		return nil
	}
}

// findsAndMends checks that the flaw is found, that its schedule fails again, and that
// the mended program has none.
func findsAndMends(t *testing.T, cfg explore.Config, flawed, mended func(*explore.Schedule)) {
	t.Helper()
	cfg.Server = seeded(t)
	r := explore.Run(t, cfg, flawed)
	if r.Failure == nil {
		t.Fatalf("not found: %v", r)
	}
	t.Logf("%v: %v\n%s", r, r.Failure, r.Failure.Drawing)
	again := cfg
	again.Replay = r.Failure.Schedule
	if replayed := explore.Run(t, again, flawed); replayed.Failure == nil || replayed.Failure.Error() != r.Failure.Error() || replayed.Failure.Drawing != r.Failure.Drawing {
		t.Errorf("%s once more: %v", r.Failure.Schedule, replayed)
	}
	if r := explore.Run(t, cfg, mended); r.Failure != nil || !r.Exhausted {
		t.Errorf("mended: %v", r)
	} else {
		t.Logf("mended: %v", r)
	}
}

// Who reads and then writes loses a write of another.
func TestPageIncrement(t *testing.T) {
	t.Parallel()
	findsAndMends(t, explore.Config{}, func(s *explore.Schedule) {
		increment(s, "ann", "bob")
		s.End(countIs(2))
	}, func(s *explore.Schedule) {
		for _, name := range []string{"ann", "bob"} {
			s.Caller(name, func(ctx context.Context, p *explore.Process) {
				_, err := p.Client().UpdateItem(ctx, &dynamodb.UpdateItemInput{
					TableName: aws.String("counts"), Key: key("count"), UpdateExpression: aws.String("ADD n :one"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":one": n(1)},
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		s.End(countIs(2))
	})
}

// putIfAbsent reports whether this call made the row.
func putIfAbsent(ctx context.Context, p *explore.Process, owner string, ownCounts bool) (bool, error) {
	item := key("row")
	item["owner"] = &types.AttributeValueMemberS{Value: owner}
	_, err := p.Client().PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("counts"), Item: item, ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		stands, _ := refused.Item["owner"].(*types.AttributeValueMemberS)
		return ownCounts && stands.Value == owner, nil
	}
	return err == nil, err
}

// "Put if absent" is refused by its own write, if the reply to that was lost.
func TestPagePutIfAbsent(t *testing.T) {
	t.Parallel()
	program := func(ownCounts bool) func(*explore.Schedule) {
		return func(s *explore.Schedule) {
			won, failed := 0, false
			s.Caller("ann", func(ctx context.Context, p *explore.Process) {
				made, err := putIfAbsent(ctx, p, "ann", ownCounts)
				if failed = err != nil; made {
					won++
				}
			})
			s.End(func(v *explore.View) error {
				if won == 0 && !failed && len(v.Items("counts")) == 1 {
					return errors.New("ann made the row, and was told that somebody else had")
				}
				return nil
			})
		}
	}
	findsAndMends(t, explore.Config{Faults: explore.Faults{Unheard: 1}}, program(false), program(true))
}

// lease takes a lock for ten seconds, works, and writes what it worked.
func lease(ctx context.Context, p *explore.Process, owner string, fenced bool) {
	now := int(p.Now().Unix())
	locked, err := p.Client().UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("counts"), Key: key("lock"), UpdateExpression: aws.String("SET ends = :until ADD fence :one"),
		ConditionExpression:       aws.String("attribute_not_exists(ends) OR ends < :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":until": n(now + 10), ":now": n(now), ":one": n(1)},
		ReturnValues:              types.ReturnValueUpdatedNew,
	})
	if err != nil {
		return
	}
	p.Note("%d", number(locked.Attributes["fence"]))
	in := &dynamodb.UpdateItemInput{
		TableName: aws.String("counts"), Key: key("work"), UpdateExpression: aws.String("SET fence = :fence"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":fence": locked.Attributes["fence"]},
	}
	if fenced {
		in.ConditionExpression = aws.String("attribute_not_exists(fence) OR fence <= :fence")
	}
	_, _ = p.Client().UpdateItem(ctx, in)
}

// A holder that does not know that its lease is over writes over the next one's work.
func TestPageLock(t *testing.T) {
	t.Parallel()
	program := func(fenced bool) func(*explore.Schedule) {
		return func(s *explore.Schedule) {
			for _, name := range []string{"ann", "bob"} {
				s.Caller(name, func(ctx context.Context, p *explore.Process) { lease(ctx, p, name, fenced) })
			}
			stood := 0
			s.Always(func(v *explore.View) error {
				for _, item := range v.Items("counts") {
					if item["pk"].(*types.AttributeValueMemberS).Value == "work" {
						if fence := number(item["fence"]); fence < stood {
							return fmt.Errorf("the work of fence %d went over that of fence %d", fence, stood)
						} else {
							stood = fence
						}
					}
				}
				return nil
			})
		}
	}
	findsAndMends(t, explore.Config{Moves: 1, Moments: []time.Duration{10 * time.Second}}, program(false), program(true))
}

// A transaction that is sent again without its token counts twice.
func TestPageTransaction(t *testing.T) {
	t.Parallel()
	program := func(token *string) func(*explore.Schedule) {
		return func(s *explore.Schedule) {
			s.Caller("ann", func(ctx context.Context, p *explore.Process) {
				for range 3 {
					_, err := p.Client().TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
						ClientRequestToken: token,
						TransactItems: []types.TransactWriteItem{{Update: &types.Update{
							TableName: aws.String("counts"), Key: key("count"), UpdateExpression: aws.String("ADD n :one"),
							ExpressionAttributeValues: map[string]types.AttributeValue{":one": n(1)},
						}}},
					})
					if err == nil {
						return
					}
				}
			})
			s.End(countIs(1))
		}
	}
	findsAndMends(t, explore.Config{Attempts: 1, Faults: explore.Faults{Unheard: 1, Throttles: 1, Failures: 1}},
		program(nil), program(aws.String("the-transaction")))
}

// A failure is drawn.
func TestDrawing(t *testing.T) {
	t.Parallel()
	r := explore.Run(t, explore.Config{Server: seeded(t)}, func(s *explore.Schedule) {
		increment(s, "ann", "bob")
		s.End(countIs(2))
	})
	want := `
     ann                       bob                       tables
  1  ├─ GetItem count          │                         │
  2  │                         ├─ GetItem count          │
  3  │                         ├─ PutItem count          │ {n=1 pk=count}
  4  ├─ PutItem count          │                         │
  5  ── all have returned
`
	if got := "\n" + r.Failure.Drawing; got != want || r.Failure.Schedule != "ann,bob,bob,ann,end" || r.Schedules > 6 {
		t.Errorf("%v, %s\n%s", r, r.Failure.Schedule, strings.TrimSpace(got))
	}
}
