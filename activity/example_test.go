package activity_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// created returns a log whose table stands, on a server in this process.
func created(ctx context.Context) *activity.Store {
	db := dynamotest.NewServer(nil).Client()
	acts, err := activity.New(db, "homeops-activities", nil)
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, acts.Table()); err != nil {
		panic(err)
	}
	return acts
}

// did is what an actor reported in a message of the chat at some minute past
// eight.
func did(actor, name string, minute, message int) activity.Activity {
	at := time.Date(2026, 3, 23, 8, minute, 0, 0, time.UTC)
	ev, err := event.New(at, "telegram", "-100123", strconv.Itoa(message))
	if err != nil {
		panic(err)
	}
	return activity.Activity{Scope: "-100123", Actor: actor, Event: ev, Name: name, Kind: "chore"}
}

func morning(ctx context.Context) *activity.Store {
	acts := created(ctx)
	_, err := acts.RecordMany(ctx, []activity.Activity{
		did("42", "diskning", 0, 1), did("77", "tvätt", 5, 2), did("77", "diskning", 10, 3), did("42", "diskning", 15, 4),
	})
	if err != nil {
		panic(err)
	}
	return acts
}

func show(a activity.Activity) {
	fmt.Println(a.At.Format("15:04"), a.Actor, a.Name)
}

func ExampleNew() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client() // or dynamodb.NewFromConfig(cfg)

	acts, err := activity.New(db, "homeops-activities", nil)
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, acts.Table()); err != nil {
		panic(err)
	}
	for _, index := range acts.Table().Indexes {
		fmt.Println(index.Name)
	}
	// Output:
	// userId-timestamp-index
	// chatId-activity-index
	// chatUser-activity-index
}

func ExampleNew_otherDomain() {
	orders, err := activity.New(dynamotest.NewServer(nil).Client(), "order-events", &activity.Config{
		ActorType: activity.String,
		ScopeAttr: "tenant", ActorAttr: "customer", ActorNameAttr: "customerName", SeqAttr: "orderNo",
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(orders.Table().Key)
	// Output: (tenant S, activityId S)
}

func ExampleStore_Record() {
	ctx := context.Background()
	acts := created(ctx)
	sentAt := time.Date(2026, 3, 23, 8, 0, 0, 0, time.UTC)
	ev, err := event.New(sentAt, "telegram", "-100123", "7")
	if err != nil {
		panic(err)
	}
	dish := activity.Activity{Scope: "-100123", Actor: "42", Event: ev, Name: "diskning", Kind: "chore", Effort: 0.6}

	for range 2 { // the queue delivers twice
		out, err := acts.Record(ctx, dish)
		fmt.Println(out, err)
	}
	// Output:
	// created <nil>
	// duplicate <nil>
}

func ExampleStore_RecordAll() {
	ctx := context.Background()
	acts := created(ctx)
	dish := did("42", "diskning", 0, 7) // "I did the dishes"

	out, err := acts.RecordAll(ctx, []activity.Activity{dish})
	fmt.Println(out, err)

	// The vocabulary has changed before the redelivery, which now finds a
	// second activity in the same message. What was first stands.
	second, err := dish.Event.Nth(2)
	if err != nil {
		panic(err)
	}
	wash := dish
	wash.Event, wash.Name = second, "tvätt"
	_, err = acts.RecordAll(ctx, []activity.Activity{dish, wash})
	var conflict *activity.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println("stands:", len(conflict.Stored), conflict.Stored[0].Name)
	}
	// Output:
	// created <nil>
	// stands: 1 diskning
}

func ExampleStore_RecordMany() {
	ctx := context.Background()
	acts := created(ctx)
	nameless := did("42", "", 10, 3)

	outcomes, err := acts.RecordMany(ctx, []activity.Activity{did("42", "diskning", 0, 1), did("77", "tvätt", 5, 2), nameless})
	fmt.Println(outcomes)
	var left *activity.LeftoverError
	if errors.As(err, &left) {
		for _, l := range left.Left {
			fmt.Println(l.Index, l.Err)
		}
	}
	// Output:
	// [created created no outcome]
	// 2 activity: Name must not be empty
}

func ExampleStore_OfEvent() {
	ctx := context.Background()
	acts := morning(ctx)
	message := did("42", "", 0, 1).Event

	stored, err := acts.OfEvent(ctx, "-100123", message)
	if err != nil {
		panic(err)
	}
	for _, a := range stored {
		show(a)
	}
	// Output: 08:00 42 diskning
}

func ExampleStore_InScope() {
	ctx := context.Background()
	acts := morning(ctx)
	since := time.Date(2026, 3, 23, 8, 5, 0, 0, time.UTC)
	for a, err := range acts.InScope(ctx, "-100123", activity.Range{From: since, NewestFirst: true}) {
		if err != nil {
			panic(err)
		}
		show(a)
	}
	// Output:
	// 08:15 42 diskning
	// 08:10 77 diskning
	// 08:05 77 tvätt
}

func ExampleStore_InScopePage() {
	ctx := context.Background()
	acts := morning(ctx)
	r := activity.Range{Limit: 3}
	for {
		page, err := acts.InScopePage(ctx, "-100123", r)
		if err != nil {
			panic(err)
		}
		fmt.Println(len(page.Activities), "activities, more:", page.Cursor != "")
		if page.Cursor == "" {
			break
		}
		r.Cursor = page.Cursor // as it comes back from a client, say
	}
	// Output:
	// 3 activities, more: true
	// 1 activities, more: false
}

func ExampleStore_ByActor() {
	ctx := context.Background()
	acts := morning(ctx)
	for a, err := range acts.ByActor(ctx, "77", activity.Range{}) {
		if err != nil {
			panic(err)
		}
		show(a)
	}
	// Output:
	// 08:05 77 tvätt
	// 08:10 77 diskning
}

func ExampleStore_ByActorPage() {
	ctx := context.Background()
	acts := morning(ctx)
	page, err := acts.ByActorPage(ctx, "42", activity.Range{Limit: 1, NewestFirst: true})
	if err != nil {
		panic(err)
	}
	show(page.Activities[0])
	// Output: 08:15 42 diskning
}

func ExampleStore_ByName() {
	ctx := context.Background()
	acts := morning(ctx)
	for a, err := range acts.ByName(ctx, "-100123", "diskning", activity.Range{NewestFirst: true}) {
		if err != nil {
			panic(err)
		}
		show(a)
		break // who did it last: one small page was read
	}
	// Output: 08:15 42 diskning
}

func ExampleStore_ByNamePage() {
	ctx := context.Background()
	acts := morning(ctx)
	page, err := acts.ByNamePage(ctx, "-100123", "tvätt", activity.Range{})
	if err != nil {
		panic(err)
	}
	show(page.Activities[0])
	// Output: 08:05 77 tvätt
}

func ExampleStore_ByActorAndName() {
	ctx := context.Background()
	acts := morning(ctx)
	for a, err := range acts.ByActorAndName(ctx, "-100123", "42", "diskning", activity.Range{}) {
		if err != nil {
			panic(err)
		}
		show(a)
	}
	// Output:
	// 08:00 42 diskning
	// 08:15 42 diskning
}

func ExampleStore_ByActorAndNamePage() {
	ctx := context.Background()
	acts := morning(ctx)
	page, err := acts.ByActorAndNamePage(ctx, "-100123", "42", "diskning", activity.Range{Limit: 1})
	if err != nil {
		panic(err)
	}
	show(page.Activities[0])
	// Output: 08:00 42 diskning
}

func ExampleStore_Count() {
	ctx := context.Background()
	acts := morning(ctx)
	for _, which := range []activity.Which{
		{Scope: "-100123"},
		{Actor: "77"},
		{Scope: "-100123", Name: "diskning"},
		{Scope: "-100123", Actor: "42", Name: "diskning", From: time.Date(2026, 3, 23, 8, 10, 0, 0, time.UTC)},
	} {
		n, err := acts.Count(ctx, which)
		fmt.Println(n, err)
	}
	// Output:
	// 4 <nil>
	// 2 <nil>
	// 3 <nil>
	// 1 <nil>
}

func ExampleStore_Delete() {
	ctx := context.Background()
	acts := morning(ctx)
	message := did("77", "", 5, 2).Event
	for range 2 {
		err := acts.Delete(ctx, "-100123", message)
		fmt.Println(err, errors.Is(err, activity.ErrNotFound))
	}
	// Output:
	// <nil> false
	// activity: not found true
}
