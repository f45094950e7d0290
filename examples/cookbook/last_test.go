package cookbook_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Orders come late and twice, and each reply to a first try is lost. The last is the
// one that was placed last, by everybody and by one customer, at the price of one read.
func TestWhoOrderedLast(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})
	acts, err := activity.New(db.Client(), "orders", &activity.Config{ActorType: types.ScalarAttributeTypeS})
	if err != nil {
		t.Fatal(err)
	}
	db.Create(acts.Table())
	mem, err := memory.New(acts, tzclock.Stockholm)
	if err != nil {
		t.Fatal(err)
	}
	for _, hour := range []int{3, 1, 2, 2, 3, 0} { // as they are delivered
		customer := []string{"ann", "bo", "ann", "bo"}[hour]
		ev := recordtest.Event(t, placed.Add(time.Duration(hour)*time.Hour), "shop", "orders", strconv.Itoa(hour))
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"})
		if _, err := acts.Record(t.Context(), activity.Activity{
			Scope: "shop-7", Actor: customer, Event: ev, Name: "order", Data: map[string]any{"hour": hour},
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(hour int, ask func() (activity.Activity, bool, error)) {
		t.Helper()
		db.Meter(func() {
			if last, ok, err := ask(); !ok || err != nil || !last.At.Equal(placed.Add(time.Duration(hour)*time.Hour)) {
				t.Errorf("got %v, %v, %v", last, ok, err)
			}
		}).Want(t, dynamotest.Price{Requests: 1, RCU: 0.5})
	}
	want(3, func() (activity.Activity, bool, error) { return mem.LastOf(t.Context(), "shop-7", "order") })
	want(2, func() (activity.Activity, bool, error) { return mem.LastBy(t.Context(), "shop-7", "ann", "order") })
	afternoon := activity.Match{Data: []record.Compare{{Name: "hour", Op: ">=", Value: 2}}}
	if n, err := acts.Count(t.Context(), activity.Filter{Scope: "shop-7", Match: afternoon}); n != 2 || err != nil {
		t.Errorf("%d orders at 2 or later, want 2; %v", n, err)
	}
}
