package worker_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/tzclock"
)

// asks compares the answers to what people say, each two minutes after the
// last.
func asks(t *testing.T, b *bench, dialogue [][2]string) {
	t.Helper()
	for _, line := range dialogue {
		name, text, _ := strings.Cut(line[0], ": ")
		if r := b.say(map[string]telegram.User{"Anna": anna, "Bo": bo}[name], text); r.Sent != line[1] || len(r.Skipped) > 0 {
			t.Errorf("%s: %s, sent %q (silent %q, skipped %v), want %q", line[0], r.Kind, r.Sent, r.Silent, r.Skipped, line[1])
		}
	}
}

// promisesOf lists all promises of somebody.
func promisesOf(t *testing.T, b *bench, of telegram.User) []promise.Promise {
	t.Helper()
	all, err := b.Promises.Of(t.Context(), of.Key(), noon.AddDate(-1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPromises(t *testing.T) {
	b := start(t)
	asks(t, b, [][2]string{
		{"Anna: jag bor här", "Noterat 🤝 jag bor här"},
		{"Bo: I live here", "Noted 🤝 I live here"},
		{"Anna: vad har vi lovat?", "Anna: inga löften just nu\nBo: inga löften just nu"},
		{"Anna: jag lovar att diska i kväll", "Noterat 🤝 Anna: diska i kväll (senast 2026-02-18)"},
		{"Bo: I promise to do the vacuuming by Friday", "Noted 🤝 Bo: do the vacuuming by Friday (by 2026-02-20)"},
		{"Bo: Jag lovar att ro", "Jag känner inte till sysslan «ro». Lova en som jag känner till, i dag, i morgon eller en veckodag."},
		{"Bo: Jag lovar att diska och städa", "Jag känner inte till sysslan «diska och städa». Lova en som jag känner till, i dag, i morgon eller en veckodag."},
		{"Bo: Vad har Anna lovat?", "Anna: diska i kväll (senast 2026-02-18)"},
		{"Bo: what have I promised?", "Bo: do the vacuuming by Friday (by 2026-02-20)"},
		{"Bo: what has Doris promised?", "Who? Say «my name is …», and I will know."},
		{"Anna: jag har diskat", "Tack Anna! diskning ✔"},
		{"Bo: jag har diskat", "Tack Bo! diskning ✔"},
		{"Anna: Vad har vi lovat?", "Anna: inga löften just nu\nBo: do the vacuuming by Friday (senast 2026-02-20)"},
		{"Anna: vad har jag lovat?", "Anna: inga löften just nu"},
		{"Anna: Jag lovar att inte diska", "Jag känner inte till sysslan «inte diska». Lova en som jag känner till, i dag, i morgon eller en veckodag."},
		{"Anna: Jag lovar att diska, om Bo lagar mat", "Jag känner inte till sysslan «diska om Bo lagar mat». Lova en som jag känner till, i dag, i morgon eller en veckodag."},
	})
	made := promisesOf(t, b, bo)
	if len(made) != 1 {
		t.Fatalf("%+v", made)
	}
	want := promise.Promise{
		User: bo.Key(), ID: made[0].ID, Description: "do the vacuuming by Friday", Activity: "dammsugning", Household: chatKey, Chat: chatKey,
		Source: 105, MadeAt: noon.Add(10 * time.Minute), Status: promise.Active,
		Deadline: time.Date(2026, 2, 20, 23, 0, 0, 0, time.UTC),
	}
	if diff := cmp.Diff(want, made[0]); diff != "" {
		t.Error(diff)
	}
	if kept := promisesOf(t, b, anna); len(kept) != 1 || kept[0].Status != promise.Fulfilled {
		t.Errorf("%+v", kept)
	}
}

// A person whom the bot lists is known by that name, though they never said it.
func TestWhoIsListedIsKnown(t *testing.T) {
	b := start(t)
	b.say(bo, "diskat")
	b.say(telegram.User{ID: 5004, Username: "maja_l"}, "dammsugit")
	asks(t, b, [][2]string{
		{"Anna: När diskade Bo senast?", "diskning: Bo, 2026-02-18 12:02"},
		{"Anna: När dammsög Bo senast?", "dammsugning: Bo aldrig, vad jag vet"},
		{"Anna: När dammsög maja_l senast?", "dammsugning: maja_l, 2026-02-18 12:04"},
		{"Anna: Vad har maja_l lovat?", "maja_l: inga löften just nu"},
		{"Anna: Hur ligger vi till?", "Belastning den här veckan\nmaja_l: 1,5, 0,5 mer än Bo\nBo: 1, 1 mer än Anna\nAnna: 0"},
	})
}

// A promise ends with its last day in its maker's time zone.
func TestAPromiseEndsInItsMakersZone(t *testing.T) {
	b := start(t)
	asks(t, b, [][2]string{
		{"Bo: my time zone is Nowhere/Land", "I know of no time zone Nowhere/Land; write Europe/Stockholm, say."},
		{"Bo: Min tidszon är Pacific/Auckland", "Noterat 🤝 Min tidszon är Pacific/Auckland"},
		{"Bo: jag lovar att diska", "Noterat 🤝 Bo: diska (senast 2026-02-19)"},
		{"Bo: write to me in English", "Noted 🤝 write to me in English"},
		{"Anna: my time zone is America/New_York", "Noted 🤝 my time zone is America/New_York"},
		{"Anna: jag lovar att städa", "Noterat 🤝 Anna: städa (senast 2026-02-18)"},
		{"Anna: vad har jag lovat?", "Anna: städa (senast 2026-02-18)"},
		{"Bo: vad har jag lovat?", "Bo: diska (senast 2026-02-19)"},
	})
	of, _, err := b.Profiles.Get(t.Context(), bo.Key())
	if made := promisesOf(t, b, bo); len(made) != 1 || !made[0].Deadline.Equal(time.Date(2026, 2, 19, 11, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", made)
	}
	if err != nil || of.Language != "en" || of.Zone.String() != "Pacific/Auckland" {
		t.Errorf("%+v, %v", of, err)
	}
}

func TestWeeks(t *testing.T) {
	b := start(t)
	asks(t, b, [][2]string{
		{"Anna: hur ligger vi till?", "Jag vet inte vilka som bor här. Skriv «jag bor här» i er grupp."},
		{"Anna: hur ligger vi till?", "Belastning den här veckan\nAnna: 0"}, // Anna alone
		{"Bo: how was the week?", "Week 2026-W08\nAnna: chores 0, recovery 0, load 0, fairness 100%"},
		{"Anna: vem har gjort mest?", "Belastning den här veckan\nAnna: 0, lika mycket som Bo\nBo: 0"},
		{"Bo: jag har diskat och dammsugit", "Tack Bo! diskning, dammsugning ✔"},
		{"Anna: jag har vattnat blommorna", "Tack Anna! blommor ✔"},
		{"Bo: jag har vilat", "Tack Bo! vila ✔ (Nu är jag tyst till i morgon.)"},
		{"Anna: Hur ligger vi till?", "Belastning den här veckan\nBo: 1,5, 1 mer än Anna\nAnna: 0,5"},
		{"Anna: who has done the most this week?", "Load this week\nBo: 1.5, 1 more than Anna\nAnna: 0.5"},
	})
	b.now = time.Date(2026, 2, 23, 8, 0, 0, 0, tzclock.Stockholm.Location()) // the next Monday
	asks(t, b, [][2]string{
		{"Anna: hur ligger vi till?", "Belastning den här veckan\nAnna: 0, lika mycket som Bo\nBo: 0"},
		{
			"Anna: sammanfatta förra veckan",
			"Vecka 2026-W08\nAnna: sysslor 1, återhämtning 0, belastning 0,5, rättvisa 33 %; mest blommor 1\n" +
				"Bo: sysslor 2, återhämtning 1, belastning 1,5, rättvisa 33 %; mest dammsugning 1, diskning 1, vila 1",
		},
		{"Bo: how was last week?", "Week 2026-W08\nAnna: chores 1, recovery 0, load 0.5, fairness 33%; mostly blommor 1\nBo: chores 2, recovery 1, load 1.5, fairness 33%; mostly dammsugning 1, diskning 1, vila 1"},
	})
	balances, err := b.Weeks.Balances(t.Context(), chatKey)
	if err != nil || len(balances) == 0 || balances[0].A != anna.Key() || balances[0].Delta() != -1 {
		t.Errorf("%+v, %v", balances, err)
	}
}

// In private the household is the one in which the sender lives.
func TestThePrivateHousehold(t *testing.T) {
	b := start(t)
	private := func(text string) worker.Report {
		b.now = b.now.Add(2 * time.Minute)
		m := b.message(anna, text)
		m.Chat = telegram.Chat{ID: anna.ID, Type: "private"}
		return b.handle(m)
	}
	wantSent(t, private("jag bor här"), "Jag vet inte vilka som bor här. Skriv «jag bor här» i er grupp.")
	wantSent(t, private("hur ligger vi till?"), "Jag vet inte vilka som bor här. Skriv «jag bor här» i er grupp.")
	b.say(anna, "jag bor här")
	wantSent(t, private("jag lovar att diska"), "Noterat 🤝 Anna: diska (senast 2026-02-18)")
	b.say(anna, "diskat")
	if kept := promisesOf(t, b, anna); len(kept) != 1 || kept[0].Status != promise.Fulfilled || kept[0].Chat != anna.Key() {
		t.Errorf("%+v", kept)
	}
	wantSent(t, private("sammanfatta veckan"), "Vecka 2026-W08\nAnna: sysslor 1, återhämtning 0, belastning 1, rättvisa 100 %; mest diskning 1")
}

// A person lives in one household: the one in which they said so last.
func TestMoving(t *testing.T) {
	b := start(t)
	other := telegram.Chat{ID: -77, Type: "group"}
	home := func(chat telegram.Chat) telegram.Message {
		b.now = b.now.Add(2 * time.Minute)
		m := b.message(anna, "jag bor här")
		m.Chat = chat
		return m
	}
	first, late, last := home(telegram.Chat{ID: chat, Type: "supergroup"}), home(telegram.Chat{ID: -88, Type: "group"}), home(other)
	for _, m := range []telegram.Message{first, last, late} {
		b.handle(m)
		for _, again := range []telegram.Message{first, last} {
			if again.Date <= m.Date || m.ID == late.ID {
				b.handle(again)
			}
		}
	}
	var living []string
	for _, scope := range []string{chatKey, "-88", "-77"} {
		members, err := b.Profiles.Members(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		for range members {
			living = append(living, scope)
		}
	}
	of, _, err := b.Profiles.Get(t.Context(), anna.Key())
	if diff := cmp.Diff([]string{"-77"}, living); diff != "" || err != nil || of.Household != "-77" {
		t.Errorf("lives in %v and %q, %v", living, of.Household, err)
	}
}

// aboutUs is a conversation about the household.
func aboutUs(b *bench) []telegram.Message {
	at := func(from telegram.User, text string) telegram.Message {
		b.now = b.now.Add(2 * time.Minute)
		return b.message(from, text)
	}
	return []telegram.Message{
		at(anna, "jag bor här"), at(bo, "I live here"), at(anna, "jag lovar att diska i kväll"), at(bo, "vad har vi lovat?"),
		at(anna, "Jag har diskat och dammsugit"), at(bo, "min tidszon är Europe/London"), at(anna, "Hur ligger vi till?"),
	}
}

// A deed keeps a promise even if it was handled before the promise was stored.
func TestAPromiseThatCameAfterItsDeed(t *testing.T) {
	b := start(t)
	b.meet()
	b.now = b.now.Add(2 * time.Minute)
	late := b.message(anna, "Jag lovar att städa idag")
	b.say(anna, "Jag har städat")
	b.handle(late)
	p := promisesOf(t, b, anna)[0]
	if sent := b.hour(at(19, 7)); len(sent) != 0 || b.status(p) != promise.Fulfilled {
		t.Errorf("%s, said %q", b.status(p), sent)
	}
}

// A deed that is told in private keeps a promise that was made there.
func TestADeedToldInPrivate(t *testing.T) {
	b := start(t)
	b.meet()
	private := telegram.Chat{ID: anna.ID, Type: "private"}
	b.sayIn(private, 1, anna, "Jag lovar att städa idag")
	b.now = b.now.Add(time.Minute)
	b.sayIn(private, 2, anna, "Jag har städat")
	if p := promisesOf(t, b, anna)[0]; p.Status != promise.Fulfilled {
		t.Errorf("%+v", p)
	}
}

// Two people with one name are told apart, and one without a name has a number.
func TestMembersOfOneName(t *testing.T) {
	b := start(t)
	b.say(anna, "Hej")
	b.say(telegram.User{ID: 5003, FirstName: "Anna"}, "Jag har diskat")
	b.say(telegram.User{ID: 5004}, "Hej")
	b.say(bo, "Hej")
	want := "Belastning den här veckan\nAnna 5003: 1, 1 mer än Anna 5001\nAnna 5001: 0, lika mycket som Bo\nBo: 0, lika mycket som 5004\n5004: 0"
	wantSent(t, b.say(bo, "Hur ligger vi till?"), want)
}

// One deed keeps one of two promises of the same thing; the person is reminded of
// the other.
func TestOneDeedKeepsOnePromise(t *testing.T) {
	b := start(t)
	b.meet()
	b.say(anna, "Jag lovar att städa idag")
	b.say(anna, "Jag lovar att städa idag")
	b.say(anna, "Jag har städat")
	all := promisesOf(t, b, anna)
	if sent := b.hour(at(19, 7)); len(sent) != 1 || b.status(all[0]) != promise.Fulfilled || b.status(all[1]) != promise.Active {
		t.Errorf("%+v, said %q", all, sent)
	}
}

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
