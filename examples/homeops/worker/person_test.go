package worker_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

// eventOf is the event of a message.
func eventOf(t *testing.T, m telegram.Message) event.Event {
	t.Helper()
	return recordtest.Event(t, m.Time(), "telegram", m.Chat.Key(), fmt.Sprint(m.ID))
}

func (b *bench) profileOf(u telegram.User) profile.Profile {
	b.t.Helper()
	p, _, err := b.Profiles.Get(b.t.Context(), u.Key())
	if err != nil {
		b.t.Error(err)
	}
	return p
}

func wantHousehold(t *testing.T, b *bench, scope string, members []string, want ...profile.Household) {
	t.Helper()
	all, err := b.Profiles.Members(t.Context(), scope)
	var got []string
	for _, p := range all {
		got = append(got, p.User)
	}
	if diff := cmp.Diff(members, got); err != nil || diff != "" {
		t.Errorf("members: %v\n%s", err, diff)
	}
	households, err := b.Profiles.Households(t.Context())
	if diff := cmp.Diff(want, households); err != nil || diff != "" {
		t.Errorf("households: %v\n%s", err, diff)
	}
}

// A person who writes for the first time is known by name from then on, and
// lives in the group where they write. A private chat is not a home.
func TestFirstContact(t *testing.T) {
	b := start(t)
	swede := telegram.User{ID: anna.ID, FirstName: "Anna", LanguageCode: "sv"}
	b.sayIn(private, 1, swede, "Hej")
	p := b.profileOf(anna)
	want := profile.Profile{User: anna.Key(), Name: "Anna", Language: "sv", CreatedAt: b.now}
	if diff := cmp.Diff(want, p, sameZone); diff != "" {
		t.Error(diff)
	}
	m := b.message(swede, "Jag har diskat")
	b.handle(m)
	want.Household, want.HouseholdEvent, want.Chats = chatKey, eventOf(t, m), []string{chatKey}
	if diff := cmp.Diff(want, b.profileOf(anna), sameZone); diff != "" {
		t.Error(diff)
	}
	wantSent(t, b.say(bo, "När diskade Anna senast?"), "diskning: Anna, 2026-02-18 12:02")
	if p := b.profileOf(bo); p.Language != "sv" || p.Household != chatKey {
		t.Errorf("%+v", p)
	}
	wantHousehold(t, b, chatKey, []string{anna.Key(), bo.Key()}, profile.Household{Scope: chatKey, Chat: chatKey})

	namesake := telegram.User{ID: 5009, FirstName: "Anna", LanguageCode: "sv"}
	b.say(namesake, "Hej")
	wantSent(t, b.say(bo, "När diskade Anna senast?"), "diskning: Anna, 2026-02-18 12:02")
	swede.FirstName, swede.LanguageCode = "Annika", "de"
	b.say(swede, "Hej")
	if p := b.profileOf(anna); p.Name != "Annika" || p.Language != "sv" || p.HouseholdEvent != eventOf(t, m) {
		t.Errorf("renamed: %+v", p)
	}
	wantSent(t, b.say(bo, "När diskade Annika senast?"), "diskning: Annika, 2026-02-18 12:02")
	elsewhere := telegram.Chat{ID: -7, Type: "group"}
	b.sayIn(elsewhere, 1, swede, "Hej")
	if p := b.profileOf(anna); p.Household != chatKey || !slices.Equal(p.Chats, []string{chatKey, "-7"}) {
		t.Errorf("moved by writing elsewhere: %+v", p)
	}
}

var sameZone = cmp.Comparer(func(a, b tzclock.Zone) bool { return a == b })

// A row of the older system names a household, but that system had no rows for
// members.
func TestFirstContactOfTheOlderSystem(t *testing.T) {
	b := start(t)
	s := func(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
	recordtest.Put(t, b.db.Client(), "homeops", map[string]types.AttributeValue{
		"pk": s("USER#5001"), "sk": s("PROFILE"), "type": s("USER"), "displayName": s("Anna"), "householdId": s("h1"), "createdAt": s("2026-01-17T09:00:00Z"),
	})
	m := b.message(anna, "Hej")
	b.handle(m)
	want := profile.Profile{
		User: anna.Key(), Name: "Anna", Household: chatKey, HouseholdEvent: eventOf(t, m), Language: "sv", Chats: []string{chatKey},
		CreatedAt: time.Date(2026, 1, 17, 9, 0, 0, 0, time.UTC),
	}
	if diff := cmp.Diff(want, b.profileOf(anna), sameZone); diff != "" {
		t.Error(diff)
	}
	wantHousehold(t, b, chatKey, []string{anna.Key()}, profile.Household{Scope: chatKey, Chat: chatKey})
}

// A person whose profile cannot be read is not a stranger: they do not move for
// that.
func TestAProfileThatCannotBeRead(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.meet()
		before := b.profileOf(anna)
		m := b.message(telegram.User{ID: anna.ID, FirstName: "Annika"}, "Hej")
		m.Chat = group
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "GetItem", Table: "homeops", Times: 3})
		r := b.handleNth(m, queue.MaxReceives)
		if diff := cmp.Diff([]string{"profile"}, r.Skipped); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(before, b.profileOf(anna), sameZone); diff != "" {
			t.Error(diff)
		}
	})
}

// A household is written to where it is now.
func TestAMovedHousehold(t *testing.T) {
	t.Parallel()
	for _, told := range [][]int{{0}, {1}, {1, 0, 1}} {
		b := newBench(t, 0)
		b.sayIn(group, 101, anna, "Hej")
		late := b.message(bo, "Hej")
		late.Chat, late.ID = group, 102
		b.now = b.now.Add(time.Minute)
		old, young := b.moves()
		for _, side := range told {
			b.handle([]telegram.Message{old, young}[side])
		}
		b.handle(late)
		wantHousehold(t, b, groupKey, []string{anna.Key(), bo.Key()}, profile.Household{Scope: groupKey, Chat: chatKey})
	}
}

// personal is a conversation that tells of the people in it.
func personal(b *bench) []telegram.Message {
	at := func(after time.Duration, from telegram.User, text string) telegram.Message {
		b.now = b.now.Add(after)
		return b.message(from, text)
	}
	first := at(0, anna, "Jag har diskat")
	reply := at(20*time.Minute, anna, "varsågod")
	reply.ReplyTo = &telegram.Message{ID: 9, Date: first.Date, Chat: reply.Chat, From: &bot, Text: "Tack Anna! diskning ✔"}
	asks := at(10*time.Minute, anna, "Vem diskade senast?")
	renamed := at(61*time.Minute, telegram.User{ID: anna.ID, FirstName: "Annika"}, "Jag har tvättat")
	alone := at(2*time.Hour, bo, "Hej")
	alone.Chat = telegram.Chat{ID: bo.ID, Type: "private"}
	return []telegram.Message{first, reply, asks, renamed, alone, at(time.Minute, bo, "diksat nu")}
}

// A process may end after any request: the next delivery leaves the same
// tables.
func TestWhatIsLearnedOfPeopleConverges(t *testing.T) {
	t.Parallel()
	b := newBench(t, 0)
	b.convergesAfter(personal)
	wantUsed(t, b, anna, 2)
	wantUsed(t, b, bo, 1)
}

// wantUsed compares today's count of messages to the bot.
func wantUsed(t *testing.T, b *bench, u telegram.User, want int64) {
	t.Helper()
	b.wantTaken("USER#"+u.Key()+"#toBot", want)
}

// The number of messages to the bot on a local day is learned once, even if it
// is 0.
func TestInteractionFrequency(t *testing.T) {
	b := start(t)
	b.say(anna, "Hej")
	b.say(bo, "Vem diskade senast?")
	b.handle(b.reply(bo, "tack"))
	m := b.message(bo, "Jag heter Bosse")
	b.handle(m)
	b.handleNth(m, 2)
	b.say(bo, "Jag har diskat")
	wantUsed(t, b, anna, 0)
	wantUsed(t, b, bo, 3)
	b.now = time.Date(2026, 2, 19, 4, 0, 0, 0, tzclock.Stockholm.Location())
	for range 2 {
		b.do(job.Job{Name: job.Day, Due: b.now, Household: chatKey, Chat: chatKey})
		for u, want := range map[telegram.User]float64{anna: 0, bo: 3} {
			average, ok, err := b.Prefs.Get(t.Context(), u.Key(), worker.InteractionFrequency)
			if err != nil || !ok || average.Samples != 1 || average.Value != want {
				t.Errorf("%s: %+v, %v, want %v", u.FirstName, average, err, want)
			}
		}
	}
	for i := range 40 { // so late that nobody knows whether it was counted
		b.do(job.Job{Name: job.Day, Due: b.now.AddDate(0, 0, -i), Household: chatKey, Chat: chatKey})
	}
}

// If a person is met in a supergroup before its former group is known, they
// live in that group's household all the same.
func TestFirstContactOvertakesTheMove(t *testing.T) {
	b := start(t)
	super := telegram.Chat{ID: -10055, Type: "supergroup"}
	b.sayIn(telegram.Chat{ID: -55, Type: "group"}, 1, anna, "Hej")
	b.now = b.now.Add(time.Minute)
	move := telegram.Message{ID: 2, Date: b.now.Unix(), Chat: super, MigrateFrom: -55}
	b.now = b.now.Add(time.Minute)
	b.sayIn(super, 3, bo, "Hej")
	b.handle(move)
	b.now = b.now.Add(10 * time.Minute)
	b.sayIn(super, 4, bo, "Hej")
	members, err := b.Profiles.Members(t.Context(), "-55")
	if err != nil || len(members) != 2 || members[1].User != bo.Key() {
		t.Errorf("%+v, %v", members, err)
	}
}

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
