package worker_test

import (
	"testing"
	"testing/synctest"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

var second = telegram.Chat{ID: -7, Type: "group"}

// credits reports whether the bot credits Bo with what Anna says of somebody of this name
// in the second group.
func (b *bench) credits(id int64, name string) bool {
	b.t.Helper()
	r := b.sayIn(second, id, anna, name+" har handlat")
	return len(r.Recorded) == 1 && r.Recorded[0].Actor == bo.Key() && r.Recorded[0].Name == "handling"
}

// A name is learned in each group in which the person writes, and a new one in all
// of them, wherever they first wrote under it.
func TestANameInASecondGroup(t *testing.T) {
	b := start(t)
	b.meet()
	if b.credits(1, "Bo") {
		t.Error("known before he wrote there")
	}
	b.sayIn(second, 2, bo, "Hej")
	if !b.credits(3, "Bo") {
		t.Error("Bo is not known in the second group")
	}
	b.sayIn(private, 5, telegram.User{ID: bo.ID, FirstName: "Bosse"}, "Hej")
	if !b.credits(6, "Bosse") {
		t.Error("Bosse is not known in the second group")
	}
}

// A new name is learned under the id that the group had when its household began.
func TestANewNameWhereTheGroupHasMoved(t *testing.T) {
	b := start(t)
	b.sayIn(group, 101, anna, "Hej")
	old, young := b.moves()
	b.handle(old)
	b.handle(young)
	b.say(bo, "Hej")
	b.sayIn(private, 5, telegram.User{ID: bo.ID, FirstName: "Bosse"}, "Hej")
	if r := b.say(anna, "Bosse har handlat"); len(r.Recorded) != 1 || r.Recorded[0].Actor != bo.Key() {
		t.Errorf("%+v", r.Recorded)
	}
}

// Whatever request is lost, the name is known after the next delivery, or after the next
// message if it was lost in the last delivery.
func TestANameIsLearnedAfterALoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		base := newBench(t, 0)
		base.meet()
		for nth := 1; nth <= 2; nth++ { // the name; that he wrote there
			for _, receives := range []int{1, queue.MaxReceives} {
				b := base.fork()
				b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Nth: nth, Times: 3})
				m := b.message(bo, "Hej")
				m.Chat = second
				if err := b.Worker.Handle(t.Context(), delivery(t, m, receives)); err != nil {
					b.handleNth(m, receives+1)
				} else {
					b.sayIn(second, 2, bo, "Hej")
				}
				if !b.credits(3, "Bo") {
					t.Errorf("request %d was lost in delivery %d: Bo is not known", nth, receives)
				}
			}
		}
	})
}
