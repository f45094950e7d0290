package activity_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// shop records the orders of one small shop's customers. They are one Scope because
// they are listed together. In a large shop each customer is a Scope.
func shop(ctx context.Context) *activity.Store {
	db := dynamotest.NewServer(nil).Client()
	acts, err := activity.New(db, "shop-activities", &activity.Config{ActorType: types.ScalarAttributeTypeS})
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, acts.Table()); err != nil {
		panic(err)
	}
	at := time.Date(2026, 3, 23, 8, 0, 0, 0, time.UTC)
	for i, o := range []struct {
		customer, to string
		cents        int
	}{{"anna", "Lund", 1250}, {"bo", "Malmö", 300}, {"anna", "Malmö", 499}, {"cia", "Lund", 50_000}} {
		number := strconv.Itoa(1001 + i)
		ev, err := event.New(at.Add(time.Duration(i)*time.Minute), "shop", "orders", number)
		if err != nil {
			panic(err)
		}
		_, err = acts.Record(ctx, activity.Activity{
			Scope: "shop", Actor: o.customer, Event: ev, Name: "order", Kind: "sale",
			Data: map[string]any{"cents": o.cents, "destination": o.to, "number": number},
		})
		if err != nil {
			panic(err)
		}
	}
	return acts
}

// An order's Data has its cents and its destination. Package record reads them
// with their types.
func ExampleMatch() {
	ctx := context.Background()
	acts := shop(ctx)

	large := activity.Match{Kind: "sale", Data: []record.Compare{{Name: "cents", Op: ">=", Value: 500}}}
	for a, err := range acts.InScope(ctx, "shop", activity.Range{Match: large}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		order := record.ReadData(a.Data)
		fmt.Println(order.Text("number"), a.Actor, order.Int("cents"), "to", order.Text("destination"), order.Err())
	}
	n, err := acts.Count(ctx, activity.Filter{Scope: "shop", Match: activity.Match{Actor: "anna"}})
	fmt.Println(n, "of Anna's", err)
	// Output:
	// 1001 anna 1250 to Lund <nil>
	// 1004 cia 50000 to Lund <nil>
	// 2 of Anna's <nil>
}
