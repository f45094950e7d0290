package worker_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

// A deed that arrives after its week's last job is in the week's rows, even if the
// process died after it had recorded.
func TestADeedAfterItsWeek(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, dies := range []bool{false, true} {
			b := newBench(t, 0)
			b.meet()
			late := b.message(anna, "Jag har diskat")
			b.do(job.Job{Name: job.Day, Due: at(23, 4), Household: chatKey, Chat: chatKey})
			b.now = at(23, 5)
			if dies {
				b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "GetItem", Table: "homeops", Nth: 3, Times: -1})
				if b.Worker.Handle(t.Context(), delivery(t, late, 1)) == nil {
					t.Error("acknowledged")
				}
				b.db.Tap().Heal()
			}
			b.handleNth(late, queue.MaxReceives)
			if one, ok, err := b.Weeks.Summary(t.Context(), anna.Key(), "2026-W08"); err != nil || !ok || one.Chores != 1 {
				t.Errorf("dies %v: %+v, %v, %v", dies, one, ok, err)
			}
		}
	})
}

// Who comes after a week changes nothing of it, and who leaves stays in it. Who came on
// its last evening is in it.
func TestMembersOfAWeekThatIsOver(t *testing.T) {
	b := start(t)
	cleo, doris := telegram.User{ID: 5003, FirstName: "Cleo"}, telegram.User{ID: 5004, FirstName: "Doris"}
	b.meet()
	b.say(anna, "Jag har diskat")
	b.do(job.Job{Name: job.Day, Due: at(20, 4), Household: chatKey, Chat: chatKey})
	b.now = at(22, 20)
	b.say(cleo, "Hej")
	b.do(job.Job{Name: job.Day, Due: at(23, 4), Household: chatKey, Chat: chatKey})
	const asks = "Sammanfatta förra veckan"
	before := b.say(bo, asks).Sent
	if strings.Count(before, "sysslor") != 3 || !strings.Contains(before, "Cleo") {
		t.Error(before)
	}
	b.say(doris, "Hej")
	b.sayIn(second, 1, anna, "Jag bor här")
	b.now = b.now.Add(time.Hour)
	after := strings.Split(b.say(bo, asks).Sent, "\n")
	for _, line := range strings.Split(before, "\n") {
		if len(after) != 4 || !strings.Contains(strings.Join(after, "\n"), line) {
			t.Errorf("%q is not in %q", line, after)
		}
	}
	now := b.say(bo, "Hur ligger vi till?").Sent
	if strings.Contains(now, "Anna") || !strings.Contains(now, "Doris") {
		t.Errorf("this week: %s", now)
	}
}

// Who moved out before the week ended is not a member of it, whichever household's job
// comes first.
func TestWhoLeftOnTheLastEvening(t *testing.T) {
	b := start(t)
	b.meet()
	b.say(anna, "Jag har diskat")
	b.do(job.Job{Name: job.Day, Due: at(20, 4), Household: chatKey, Chat: chatKey})
	b.now = at(22, 20) // Sunday
	b.sayIn(second, 1, anna, "Jag bor här")
	b.now = at(23, 4)
	b.do(job.Job{Name: job.Day, Due: at(23, 4), Household: chatKey, Chat: chatKey})
	b.now = b.now.Add(time.Hour)
	got := b.say(bo, "Sammanfatta förra veckan").Sent
	if strings.Contains(got, "Anna") {
		t.Errorf("Anna left on Sunday: %s", got)
	}
}
