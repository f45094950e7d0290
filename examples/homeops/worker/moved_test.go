package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// group is what the bench's chat was before it became a supergroup.
var group = telegram.Chat{ID: -4123456789, Type: "group"}

const groupKey = "-4123456789"

// sayIn is say in another chat, a minute later, with a message id of that chat.
func (b *bench) sayIn(in telegram.Chat, id int64, from telegram.User, text string) worker.Report {
	b.t.Helper()
	b.now = b.now.Add(2 * time.Minute)
	m := b.message(from, text)
	m.Chat, m.ID = in, id
	return b.handle(m)
}

// moves are the two messages that tell of the move.
func (b *bench) moves() (old, young telegram.Message) {
	old, young = b.message(anna, ""), b.message(bot, "")
	old.Chat, old.MigrateTo = group, chat
	young.ID, young.MigrateFrom, young.Sender = 1, group.ID, &young.Chat
	return old, young
}

// What a household has taught and done stays when its group becomes a
// supergroup, whichever side tells of it, and in every process.
func TestAMovedGroupKeepsItsHistory(t *testing.T) {
	t.Parallel()
	for name, told := range map[string][]int{"old": {0}, "new": {1}, "both": {0, 1}, "both, twice": {1, 0, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			b.sayIn(group, 101, anna, "hunden betyder ”hundvakt”")
			b.sayIn(group, 102, anna, "Jag heter Anna")
			b.sayIn(group, 103, anna, "hunden är ute")
			b.sayIn(group, 104, anna, "diskat")
			old, young := b.moves()
			for _, side := range told {
				if r := b.handle([]telegram.Message{old, young}[side]); r.Kind != worker.KindMoved {
					t.Errorf("%+v", r)
				}
			}
			for restarted := range 2 {
				wantSent(t, b.say(bo, "När tog Anna hunden senast?"), "hundvakt: Anna, 2026-02-18 12:06")
				if restarted == 0 {
					b.restart()
				}
			}
			b.restart()
			super := telegram.Chat{ID: chat, Type: "supergroup"}
			if r := b.sayIn(super, 103, anna, "hunden är ute"); len(r.Recorded) != 1 || r.Recorded[0].Name != "hundvakt" || r.Recorded[0].Scope != groupKey {
				t.Errorf("of the same message id: %+v", r)
			}
			habit, ok, err := b.Habits.Get(t.Context(), groupKey, anna.Key(), "hundvakt")
			if err != nil || !ok || habit.Total != 2 {
				t.Errorf("habit %+v, %v, %v", habit, ok, err)
			}
			if r := b.say(bo, "diskat"); r.Silent != "cap reached" { // two in the group, one since
				t.Errorf("%+v", r)
			}
			if _, ok, err := b.Messages.Get(t.Context(), chatKey, 103); err != nil || !ok {
				t.Errorf("the message is not the supergroup's: %v", err)
			}
			for _, out := range b.sender.Sent()[len(b.sender.Sent())-3:] {
				if out.Chat != chat {
					t.Errorf("sent to %d", out.Chat)
				}
			}
		})
	}
}

// A message that overtook the move is recorded in the supergroup's own name; it
// stays there, once.
func TestAMessageThatOvertookTheMove(t *testing.T) {
	b := start(t)
	b.sender.first = []error{wait40}
	m := b.message(anna, "diskat")
	if err := b.Worker.Handle(t.Context(), delivery(t, m, 1)); err == nil {
		t.Error("it was not held back")
	}
	_, young := b.moves()
	b.handle(young)
	for n := range 2 {
		r := b.handleNth(m, n+2)
		if len(r.Recorded) != 1 || r.Recorded[0].Scope != chatKey || (r.Sent != "") != (n == 0) {
			t.Errorf("%+v", r)
		}
	}
	for _, err := range b.Activities.InScope(t.Context(), groupKey, activity.Range{}) {
		t.Error("recorded twice", err)
	}
	if r := b.say(anna, "tvättat"); len(r.Recorded) != 1 || r.Recorded[0].Scope != groupKey {
		t.Errorf("the next: %+v", r)
	}
	wantHousehold(t, b, groupKey, []string{anna.Key()}, profile.Household{Scope: groupKey, Chat: chatKey})
}

// If a group moved while an answer was on its way, the refusal says so.
func TestARefusalTellsOfTheMove(t *testing.T) {
	b := start(t)
	b.sender.first = []error{&telegram.RefusedError{Code: 400, MovedTo: chat}}
	b.sayIn(group, 101, anna, "diskat")
	wantSent(t, b.say(bo, "Vem diskade senast?"), "diskning: Anna, 2026-02-18 12:02")
	b.wantTaken(groupKey, 0) // what was refused is given back
}

// Nothing may be written if the household is not known, not even at the last
// delivery: rows under a wrong id would stay there.
func TestTheHouseholdMustBeKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "GetItem", Table: "homeops", Times: 6}) // and the profile
		m := b.message(anna, "diskat")
		b.mustHandle(delivery(t, m, queue.MaxReceives))
		if dead := b.queue.Dead(); len(dead) != 1 || !strings.Contains(dead[0].Why(), "worker: scope") || len(b.last.Recorded) != 0 {
			t.Errorf("dead %+v, %+v", dead, b.last)
		}
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Table: "homeops", Times: 3})
		_, young := b.moves()
		b.mustHandle(delivery(t, young, queue.MaxReceives))
		if dead := b.queue.Dead(); len(dead) != 2 || !strings.Contains(dead[1].Why(), "worker: move") {
			t.Errorf("dead %+v", dead)
		}
	})
}

// Seeds reach a household under either id.
func TestSeedsOfAMovedGroup(t *testing.T) {
	b := start(t)
	_, young := b.moves()
	b.handle(young)
	if err := b.Seed(t.Context(), map[string]map[string]string{chatKey: {"fixat": "städning"}, groupKey: {"röjt": "städning"}}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"fixat", "röjt"} {
		if r := b.say(anna, text); len(r.Recorded) != 1 || r.Recorded[0].Name != "städning" {
			t.Errorf("%q: %+v", text, r.Recorded)
		}
	}
}

var (
	private = telegram.Chat{ID: anna.ID, Type: "private"}
	blocked = &telegram.RefusedError{Code: 403, Description: "Forbidden: bot was blocked by the user"}
)

// The bot does not write to a person who has blocked it until they start it
// again.
func TestABlockStopsThePrivateChat(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"diskat", "Vem diskade senast?", "diksat nu"} {
		b := newBench(t, 0)
		b.sender.first = []error{blocked}
		if r := b.sayIn(private, 1, anna, text); !strings.Contains(r.Silent, "Forbidden") || len(r.Skipped) > 0 {
			t.Errorf("%q: %+v", text, r)
		}
		wantDM(t, b, dmstatus.Stopped)
		if r := b.sayIn(private, 2, anna, text); r.Silent != "blocked" || r.Sent != "" {
			t.Errorf("%q: %+v", text, r)
		}
		b.wantTaken(anna.Key(), 0)
		b.wantTaken(anna.Key()+"#answers", 0)
		b.sayIn(private, 3, anna, "/start")
		wantDM(t, b, dmstatus.Started)
		if r := b.sayIn(private, 4, anna, text); r.Sent == "" {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

// The refusal counts as of the message's time: a later start wins.
func TestALateRefusalDoesNotStop(t *testing.T) {
	b := start(t)
	late := b.message(anna, "diskat")
	late.Chat = private
	b.sayIn(private, 200, anna, "/start")
	b.sender.first = []error{blocked}
	b.handle(late)
	wantDM(t, b, dmstatus.Started)
}

// Only the refusal for a block, and only in private, counts as a block.
func TestWhatIsNoBlock(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in  telegram.Chat
		err error
	}{{group, blocked}, {private, &telegram.RefusedError{Code: 400}}, {private, errLost}} {
		b := newBench(t, 0)
		b.sender.err = tc.err
		b.sayIn(tc.in, 1, anna, "diskat")
		if status, ok, err := b.DM.Get(t.Context(), anna.Key()); ok || err != nil {
			t.Errorf("%v in %v: %s, %v", tc.err, tc.in, status, err)
		}
	}
}

// A failed note after a refusal holds nothing else up.
func TestTroubleAfterARefusal(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.sender.first = []error{blocked}
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Table: "homeops", Times: 3})
		r := b.sayIn(private, 1, anna, "Vem diskade senast?")
		if diff := cmp.Diff([]string{"dm status"}, r.Skipped); diff != "" {
			t.Error(diff)
		}
		b.wantTaken(anna.Key()+"#answers", 0)
	})
}
