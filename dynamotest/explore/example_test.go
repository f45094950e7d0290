package explore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// Two clerks sell the last lamp. [explore.Test] does the same, and fails the test with
// this drawing.
func ExampleRun() {
	t := new(testing.T) // that of the test
	lamp := row{"pk": key("lamp")["pk"], "n": n(1)}
	r := explore.Run(t, explore.Config{Server: seeded(t, lamp)}, func(s *explore.Schedule) {
		for _, clerk := range []string{"ann", "bob"} {
			s.Caller(clerk, func(ctx context.Context, p *explore.Process) {
				got, err := p.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("counts"), Key: key("lamp"), ConsistentRead: aws.Bool(true)})
				if err != nil || number(got.Item["n"]) == 0 {
					return
				}
				_, err = p.Client().UpdateItem(ctx, &dynamodb.UpdateItemInput{
					TableName: aws.String("counts"), Key: key("lamp"), UpdateExpression: aws.String("ADD n :less"),
					ExpressionAttributeValues: row{":less": n(-1)},
				})
				p.Note("sold: %t", err == nil)
			})
		}
		s.Always(func(v *explore.View) error {
			if left := number(v.Items("counts")[0]["n"]); left < 0 {
				return fmt.Errorf("%d lamps are left", left)
			}
			return nil
		})
		s.End(func(v *explore.View) error {
			if len(v.Notes()) == 0 {
				return errors.New("nobody sold the lamp")
			}
			return nil
		})
	})
	fmt.Printf("%v\n%sagain: %s\n", r.Failure, r.Failure.Drawing, r.Failure.Schedule)
	// Output:
	// -1 lamps are left
	//      ann                       bob                       tables
	//   1  ├─ GetItem lamp           │                         │
	//   2  │                         ├─ GetItem lamp           │
	//   3  │                         ├─ UpdateItem lamp        │ {n=0 pk=lamp}
	//   4  ├─ UpdateItem lamp        │                         │ {n=-1 pk=lamp}
	// again: ann,bob,bob,ann
}

// A worker that dies after the mail, and before it has stored that, sends it again.
// [explore.Handler] does the same, and fails the test with this drawing.
func ExampleExplore() {
	t := new(testing.T) // that of the test
	cfg := explore.Config{Server: seeded(t), Faults: explore.Faults{Deaths: 1}}
	orders := explore.Deliveries[string]{Messages: []string{"17"}, Once: []string{"mail 17"}}
	r := explore.Explore(t, cfg, orders, func(p *explore.Process) func(context.Context, string) error {
		return func(ctx context.Context, order string) error {
			if err := p.Do("mail "+order, nil); err != nil { // or what sends it
				return err
			}
			return put(ctx, p, order, 1)
		}
	})
	fmt.Printf("%v%s", r.Failure, r.Failure.Drawing)
	// Output:
	// no order of undisturbed deliveries leaves this; the nearest differs in:
	//   effect mail 17: 2 times, want 1
	//      a                         tables
	//   1  ├─ Do mail 17 × dies after │
	//   2  ── time passes
	//      ── it is 12:00:30.000
	//   3  ├─ Do mail 17             │
	//   4  ├─ PutItem 17             │ {n=1 pk=17}
	//   5  ── all have returned
}
