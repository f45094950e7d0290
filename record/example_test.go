package record_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// points is how many points a customer has.
func points(row record.Item) (int64, error) {
	f := record.Read(row)
	return f.Int("points"), f.Err()
}

// create makes the table of a kind of rows on a server of its own.
func create[T any](ctx context.Context, kind record.Kind[T]) *record.Rows[T] {
	return createOn(ctx, dynamotest.NewServer(nil).Client(), kind)
}

func createOn[T any](ctx context.Context, db *dynamodb.Client, kind record.Kind[T]) *record.Rows[T] {
	rows, err := record.New(db, "shop", kind, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := schema.Create(ctx, db, rows.Table()); err != nil {
		log.Fatal(err)
	}
	return rows
}

// ordered is the event of an order, one a minute.
func ordered(id int) event.Event {
	ev, err := event.New(time.Date(2025, 3, 30, 12, id, 0, 0, time.UTC), "shop", fmt.Sprint(id))
	if err != nil {
		log.Fatal(err)
	}
	return ev
}

func ExampleRows_Apply() {
	ctx := context.Background()
	rows := create(ctx, record.Kind[int64]{Package: "points", Type: "POINTS", Count: "orders", Decode: points})

	// Ten points an order, and never more than 25.
	next := func(row record.Item, _ event.Event) (record.Item, error) {
		stood, err := points(row)
		return record.Item{"points": record.Int(min(stood+10, 25))}, err
	}
	for _, id := range []int{1, 2, 2, 3} { // the second is delivered twice
		out, err := rows.Apply(ctx, record.Apply{
			Partition: record.Key("POINTS", "ann"), Sort: "points", Event: ordered(id), Next: next,
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out)
	}
	fmt.Println(rows.Get(ctx, record.Key("POINTS", "ann"), "points"))
	// Output:
	// created
	// created
	// duplicate
	// created
	// 25 true <nil>
}

// A Kind with a Retention is exact: an event counts once however late it comes. Ann
// spends no more than she has.
func ExampleRows_Apply_exact() {
	ctx := context.Background()
	rows := create(ctx, record.Kind[int64]{
		Package: "points", Type: "POINTS", Count: "events", Attributes: []string{"points"}, Retention: 20 * 365 * 24 * time.Hour, Decode: points,
	})
	apply := func(id int, n int64) {
		out, err := rows.Apply(ctx, record.Apply{
			Partition: record.Key("POINTS", "ann"), Sort: "points", Event: ordered(id),
			Add: map[string]int64{"points": n}, AtLeast: map[string]int64{"points": 0},
		})
		if floor, ok := errors.AsType[*record.FloorError](err); ok {
			fmt.Println(n, "of", floor.Stands)
			return
		}
		fmt.Println(n, out, err)
	}
	for id := 59; id >= 0; id -= 20 { // newest first
		apply(id, 10)
	}
	apply(59, 10)
	apply(58, -20)
	apply(57, -20)
	fmt.Println(rows.Get(ctx, record.Key("POINTS", "ann"), "points"))
	// Output:
	// 10 created <nil>
	// 10 created <nil>
	// 10 created <nil>
	// 10 duplicate <nil>
	// -20 created <nil>
	// -20 of 10
	// 10 true <nil>
}

// What a device says last. Its clock may be wrong, so the event has the time of receipt, and
// the device's own number decides. A device that starts again counts from 1, so its starts
// come before the number.
func ExampleRows_Apply_device() {
	ctx := context.Background()
	type report struct {
		Starts, Number int64
		Door           string
	}
	decode := func(row record.Item) (report, error) {
		f := record.Read(row)
		return report{f.Int("starts"), f.Int("number"), f.Text("door")}, f.Err()
	}
	rows := create(ctx, record.Kind[report]{Package: "locks", Type: "LOCK", Count: "reports", Retention: 30 * 24 * time.Hour, Decode: decode})
	say := func(received time.Time, r report) {
		ev, err := event.New(received, "lock-7", fmt.Sprint(r.Starts, "/", r.Number))
		if err != nil {
			log.Fatal(err)
		}
		out, err := rows.Apply(ctx, record.Apply{
			Partition: record.Key("house-1", "LOCK"), Sort: "lock-7", Event: ev,
			Next: func(row record.Item, _ event.Event) (record.Item, error) {
				stands, err := decode(row)
				if err != nil || cmp.Or(cmp.Compare(stands.Starts, r.Starts), cmp.Compare(stands.Number, r.Number)) >= 0 {
					return nil, err // not a later report: its event counts, and nothing changes
				}
				return record.Item{"starts": record.Int(r.Starts), "number": record.Int(r.Number), "door": record.Text(r.Door)}, nil
			},
		})
		fmt.Println(r.Door, out, err)
	}
	noon := time.Now().Truncate(time.Second)
	say(noon, report{1, 9, "open"})
	say(noon.Add(time.Second), report{1, 8, "shut"})   // sent before, and late
	say(noon.Add(time.Second), report{1, 8, "shut"})   // delivered again
	say(noon.Add(2*time.Second), report{2, 1, "shut"}) // after a start
	say(noon.Add(3*time.Second), report{1, 9, "open"}) // the lock has sent it again
	fmt.Println(rows.Get(ctx, record.Key("house-1", "LOCK"), "lock-7"))
	// Output:
	// open created <nil>
	// shut created <nil>
	// shut duplicate <nil>
	// shut created <nil>
	// open created <nil>
	// {2 1 shut} true <nil>
}

func ExampleRows_ApplyAll() {
	ctx := context.Background()
	rows := create(ctx, record.Kind[int64]{Package: "points", Type: "POINTS", Count: "orders", Decode: points})

	orders := []event.Event{ordered(3), ordered(1), ordered(2), ordered(1)}
	outcomes, err := rows.ApplyAll(ctx, record.ApplyAll{
		Partition: record.Key("POINTS", "ann"), Sort: "points", Events: orders,
		Next: func(row record.Item, _ event.Event) (record.Item, error) {
			return record.Item{"points": record.Int(record.Read(row).Int("points") + 10)}, nil
		},
	})
	fmt.Println(outcomes, err)
	fmt.Println(rows.Get(ctx, record.Key("POINTS", "ann"), "points"))
	// Output:
	// [created created created duplicate] <nil>
	// 30 true <nil>
}

// The provider's times are whole seconds. The reversal arrives before the settlement,
// which happened in the same second.
func ExampleRows_Set() {
	ctx := context.Background()
	rows := create(ctx, record.Kind[string]{
		Package: "status", Type: "CHARGE", Attributes: []string{"status"},
		Decode: func(row record.Item) (string, error) {
			f := record.Read(row)
			return f.Text("status"), f.Err()
		},
	})
	ranks := map[string]int{"pending": 0, "settled": 1, "reversed": 2}
	for _, status := range []string{"pending", "reversed", "settled"} {
		ev, err := event.New(time.Date(2025, 3, 30, 12, 0, 0, 0, time.UTC), "provider", "ch_1", status)
		if err != nil {
			log.Fatal(err)
		}
		out, err := rows.Set(ctx, record.Set{
			Partition: record.Key("CHARGE", "ch_1"), Sort: "status", Event: ev, Rank: ranks[status],
			Values: record.Item{"status": record.Text(status)},
		})
		fmt.Println(status, out, errors.Is(err, event.ErrSuperseded))
	}
	fmt.Println(rows.Get(ctx, record.Key("CHARGE", "ch_1"), "status"))
	// Output:
	// pending created false
	// reversed created false
	// settled no outcome true
	// reversed true <nil>
}

// A coupon and the points that it costs are written together, or not at all. A
// customer may owe 30 points.
func ExampleRows_ApplyItem() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	rows := createOn(ctx, db, record.Kind[int64]{
		Package: "points", Type: "POINTS", Count: "events", Attributes: []string{"points"}, Retention: 20 * 365 * 24 * time.Hour, Decode: points,
	})
	for _, id := range []int{1, 1, 2} { // the first is delivered twice
		spend, err := rows.ApplyItem(ctx, record.Apply{
			Partition: record.Key("POINTS", "ann"), Sort: "points", Event: ordered(id),
			Add: map[string]int64{"points": -20}, AtLeast: map[string]int64{"points": -30},
		})
		if err != nil {
			log.Fatal(err)
		}
		coupon := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("shop"), Item: record.Item{
			"pk": record.Text(record.Key("COUPON", "ann")), "sk": record.Text(fmt.Sprint(id)),
		}}}
		_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: append(spend.Items, coupon)})
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			fmt.Println(spend.Outcome(cancelled.CancellationReasons[:len(spend.Items)]))
			continue
		}
		fmt.Println(spend.Committed(), err)
	}
	// Output:
	// created <nil>
	// duplicate <nil>
	// no outcome points: ApplyItem on table shop: record: points is -20, and would become less than -30
}

// inTwoShops are Ann's points, a row for each shop.
func inTwoShops(ctx context.Context) *record.Rows[int64] {
	rows := create(ctx, record.Kind[int64]{Package: "points", Type: "POINTS", Attributes: []string{"points"}, Decode: points})
	for i, shop := range []string{"Lund", "Malmö"} {
		set := record.Set{Partition: record.Key("POINTS", "ann"), Sort: shop, Event: ordered(i), Values: record.Item{"points": record.Int(10)}}
		if _, err := rows.Set(ctx, set); err != nil {
			log.Fatal(err)
		}
	}
	return rows
}

func ExampleRows_All() {
	ctx := context.Background()
	fmt.Println(inTwoShops(ctx).All(ctx, record.Key("POINTS", "ann")))
	// Output: [10 10] <nil>
}

func ExampleRows_Erase() {
	ctx := context.Background()
	fmt.Println(inTwoShops(ctx).Erase(ctx, record.Key("POINTS", "ann"))) // until it returns 0
	// Output: 2 <nil>
}

func ExampleKey() {
	fmt.Println(record.Key("RATING", "42"), record.Key("RATING", "4#2", "50%"))
	// Output: RATING#42 RATING#4%232#50%25
}

// The Data of an activity or a message. Fields of a row are read in the same way.
func ExampleReadData() {
	f := record.ReadData(map[string]any{"to": "Lund", "cents": 1250, "kilos": 0.4, "gift": true})
	fmt.Println(f.Text("to"), f.Int("cents"), f.Float("kilos"), f.Bool("gift"), f.Err())
	fmt.Printf("%q %t\n", f.Text("note"), f.Has("note"))
	fmt.Println(f.Int("to"), f.Err())
	// Output:
	// Lund 1250 0.4 true <nil>
	// "" false
	// 0 attribute to is not a number
}
