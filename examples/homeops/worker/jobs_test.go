package worker_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

// at is a time in Stockholm, in the winter of the tests.
func at(day, hour int) time.Time {
	return time.Date(2026, time.February, day, hour, 0, 0, 0, tzclock.Stockholm.Location()).UTC()
}

func jobDelivery(j job.Job, receives int) queue.Message {
	return queue.Message{ID: "j-" + j.Name, Body: j.Body(), Receives: receives, MaxReceives: queue.MaxReceives, Receipt: "r"}
}

// do does a job at the hour at which it is due.
func (b *bench) do(j job.Job) worker.Report {
	b.t.Helper()
	if j.Due.After(b.now) {
		b.now = j.Due
	}
	return b.mustHandle(jobDelivery(j, 1))
}

// hour does all that is due at the hour, and returns what was sent.
func (b *bench) hour(due time.Time) (sent []string) {
	b.t.Helper()
	before := len(b.sender.Sent())
	b.do(job.Job{Name: job.Hourly, Due: due})
	for {
		batch, err := b.queue.Receive(b.t.Context(), 1, 0)
		if err != nil || len(batch) == 0 {
			if b.queue.Len() > 0 || len(b.queue.Dead()) > 0 || err != nil {
				b.t.Errorf("at %v %d failed, dead %v, %v", due, b.queue.Len(), b.queue.Dead(), err)
			}
			break
		}
		b.Worker.Work(b.t.Context(), batch)
	}
	for _, out := range b.sender.Sent()[before:] {
		sent = append(sent, out.Text)
	}
	return sent
}

// promised makes Anna promise, in the chat, to clean by the end of the 18th.
func (b *bench) promised() promise.Promise {
	b.t.Helper()
	b.say(anna, "Jag lovar att städa idag")
	all, err := b.Promises.Of(b.t.Context(), anna.Key(), b.now.Add(-time.Hour))
	if err != nil || len(all) != 1 {
		b.t.Fatalf("%v, %v", all, err)
	}
	return all[0]
}

func (b *bench) status(p promise.Promise) promise.Status {
	b.t.Helper()
	p, _, err := b.Promises.Get(b.t.Context(), p.User, p.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return p.Status
}

func (b *bench) speaks(user telegram.User, lang string) {
	b.t.Helper()
	ev := recordtest.Event(b.t, b.now, "test", lang)
	if err := b.Profiles.Change(b.t.Context(), profile.Change{User: user.Key(), Event: ev, Language: lang}); err != nil {
		b.t.Fatal(err)
	}
}

// Each hour asks for the jobs that are due then, for each household and each
// overdue promise, in the chat where they are written to now. Asked twice, it asks
// for the same jobs.
func TestWhatIsDueAtAnHour(t *testing.T) {
	b := start(t)
	b.meet()
	p := b.promised()
	b.sayIn(telegram.Chat{ID: anna.ID, Type: "private"}, 1, anna, "Jag lovar att diska idag")
	ev := recordtest.Event(t, b.now, "test", "moved")
	if err := b.Profiles.Moved(t.Context(), chatKey, "-1009", ev); err != nil {
		t.Fatal(err)
	}
	for due, want := range map[time.Time][]string{
		at(18, 17): {"suggest"},
		at(18, 22): nil,
		at(19, 4):  {"day", "promise", "promise in private"},
		at(19, 12): {"suggest", "promise", "promise in private"},
		at(21, 18): {"suggest", "promise", "promise in private"},
		at(22, 18): {"week", "suggest", "promise", "promise in private"},
	} {
		for range 2 {
			b.do(job.Job{Name: job.Hourly, Due: due.Add(time.Minute)})
			var got []string
			for b.queue.Len() > 0 {
				batch, err := b.queue.Receive(t.Context(), 1, 0)
				if err != nil || len(batch) != 1 || b.queue.Delete(t.Context(), batch[0].Receipt) != nil {
					t.Fatalf("%v, %v", batch, err)
				}
				m := batch[0]
				j, ok, err := job.Parse(m.Body)
				name, chat := j.Name, "-1009"
				if j.Name == job.Promise && j.Promise != p.ID {
					name, chat = j.Name+" in private", anna.Key()
				}
				if !ok || err != nil || !j.Due.Equal(due) || j.Household != chatKey || j.Chat != chat || m.Attributes[queue.ChatID] != chat {
					t.Errorf("at %v: %s to %q, %v", due, m.Body, m.Attributes[queue.ChatID], err)
				}
				got = append(got, name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("at %v:\n%s", due, diff)
			}
		}
	}
}

// A job that can never be done is a dead letter at once, with its reason.
func TestJobsThatCanNeverBeDone(t *testing.T) {
	b := start(t)
	for body, why := range map[string]string{
		`{"job":"guessed","chat":"-5","due":"2026-02-18T11:00:00Z"}`: "job must be the name of a job in package job",
		`{"job":"hourly"}`: "must not be the zero time",
		`{"job":"week","chat":"-5","due":"2026-02-18T11:00:00Z"}`:                   "partition",
		`{"job":"promise","chat":"-5","due":"2026-02-18T11:00:00Z"}`:                "partition",
		`{"job":"hourly","due":"2026-02-18T13:00:00Z"}`:                             "due lies more than 1h0m0s ahead of the clock",
		`{"job":"hourly","due":"1926-02-18T13:00:00Z"}`:                             "1970",
		`{"job":"week","household":"-5","chat":"six","due":"2026-02-18T11:00:00Z"}`: "chat must be the number of a chat",
	} {
		before := len(b.queue.Dead())
		err := b.Worker.Handle(t.Context(), queue.Message{ID: "x", Body: body, Receives: 1, MaxReceives: 3})
		dead := b.queue.Dead()
		if err != nil || b.last.Kind != worker.KindPoison || len(dead) != before+1 || !strings.Contains(dead[before].Why(), why) {
			t.Errorf("%s: %+v, %v, %+v", body, b.last, err, dead)
		}
	}
	if r := b.do(job.Job{Name: job.Hourly, Due: noon.Add(time.Hour)}); r.Kind != worker.KindJob {
		t.Errorf("an hour ahead, as clocks may differ: %+v", r)
	}
}

func TestSundaysSummary(t *testing.T) {
	b := start(t)
	b.meet()
	b.speaks(anna, "en") // the household stays Swedish
	b.say(anna, "Jag har diskat")
	week := job.Job{Name: job.Week, Due: at(22, 18), Household: chatKey, Chat: chatKey}
	r := b.do(week)
	for _, part := range []string{"2026-W08\n", "\nAnna: sysslor 1, ", "diskning 1\n", "\nBo: sysslor 0, "} {
		if !strings.Contains(r.Sent, part) {
			t.Errorf("%q is not in %q", part, r.Sent)
		}
	}
	out := b.sender.Sent()
	if last := out[len(out)-1]; last.Chat != chat || last.ReplyTo != 0 {
		t.Errorf("said to %+v", last)
	}
	week.Chat = "-1009" // the same job, though the chat has moved meanwhile
	if r := b.do(week); r.Sent != "" || r.Silent != "said before" {
		t.Errorf("%+v", r)
	}
	balances, err := b.Weeks.Balances(t.Context(), chatKey)
	if err != nil || len(balances) != 1 || balances[0].Period != "2026-W08" || balances[0].Delta() != 1 {
		t.Errorf("%+v, %v", balances, err)
	}
	week.Due = at(22, 18).AddDate(0, 0, 7) // a week of nothing
	if r := b.do(week); r.Sent != "" || r.Silent != "" {
		t.Errorf("%+v", r)
	}
}

// A deed on Sunday after the summary is in the week's rows from Monday on.
func TestTheWeekEndsOnSunday(t *testing.T) {
	b := start(t)
	b.meet()
	b.do(job.Job{Name: job.Week, Due: at(22, 18), Household: chatKey, Chat: chatKey})
	b.now = at(22, 21)
	b.say(anna, "Jag har diskat")
	b.now = at(23, 3)
	b.say(anna, "Jag har städat") // on Monday
	b.do(job.Job{Name: job.Day, Due: at(23, 4), Household: chatKey, Chat: chatKey})
	if v, err := b.Planner.Read(t.Context(), chatKey, anna.Key()); err != nil || v.Summaries[0].Chores != 1 || v.Summaries[0].Net != 1 {
		t.Errorf("%+v, %v", v.Summaries, err)
	}
}

// A summary that is due in quiet hours, or is late and comes in them, is
// stored.
func TestASummaryInQuietHours(t *testing.T) {
	b := start(t)
	b.meet()
	b.say(anna, "Jag har diskat")
	week := job.Job{Name: job.Week, Due: at(22, 18), Household: chatKey, Chat: chatKey}
	b.now = at(22, 23)
	if r := b.do(week); r.Sent != "" || r.Silent != "quiet hours" {
		t.Errorf("%+v", r)
	}
	if v, err := b.Planner.Read(t.Context(), chatKey, anna.Key()); err != nil || len(v.Summaries) != 1 || v.Summaries[0].Chores != 1 {
		t.Errorf("%+v, %v", v.Summaries, err)
	}
}

// An overdue promise is reminded of once, with the first hour that is not quiet, and
// given up a day after its deadline.
func TestAnOverduePromise(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string]string{
		"sv": "Anna, du lovade «städa idag». Hur går det?",
		"en": "Anna, you promised «städa idag». How is it going?",
	} {
		b := newBench(t, 0)
		b.meet()
		b.speaks(anna, lang)
		p := b.promised()
		sent := map[string]string{}
		for due := at(18, 13); !due.After(at(20, 8)); due = due.Add(time.Hour) {
			for _, text := range append(b.hour(due), b.hour(due)...) {
				if !strings.Contains(text, "usually") && !strings.Contains(text, "brukar") {
					sent[due.In(tzclock.Stockholm.Location()).Format("02 15")] += text
				}
			}
			if got, active := b.status(p), due.Before(at(20, 0)); active != (got == promise.Active) || !active != (got == promise.Expired) {
				t.Errorf("at %v it is %s", due, got)
			}
		}
		if diff := cmp.Diff(map[string]string{"19 07": want}, sent); diff != "" {
			t.Errorf("%s:\n%s", lang, diff)
		}
		for day := 18; day < 20; day++ { // the promise was answered on the 18th, and the reminder is an answer of the 19th
			if got, err := b.Limits.Get(t.Context(), chatKey+"#answers", at(day, 12)); err != nil || got.Used != 1 {
				t.Errorf("%d answers on day %d, %v", got.Used, day, err)
			}
		}
	}
}

// The bot does not remind of a promise that was kept in time, though nobody noted
// that then. It does if the deed was done before the promise, or by another.
func TestAPromiseThatWasKept(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		does func(b *bench)
		want promise.Status
	}{
		"nothing":        {func(*bench) {}, promise.Active},
		"it":             {func(b *bench) { b.say(anna, "Jag har städat") }, promise.Fulfilled},
		"unnoticed":      {func(b *bench) { b.keepLost(anna, "Jag har städat") }, promise.Fulfilled},
		"another thing":  {func(b *bench) { b.say(anna, "Jag har diskat") }, promise.Active},
		"also unnoticed": {func(b *bench) { b.keepLost(bo, "Jag har städat") }, promise.Active},
		"somebody else":  {func(b *bench) { b.say(bo, "Jag har städat") }, promise.Active},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bench) {
				b.meet()
				b.say(anna, "Jag har städat") // before
				p := b.promised()
				tc.does(b)
				r := b.do(job.Job{Name: job.Promise, Due: at(19, 12), Household: chatKey, Chat: chatKey, User: p.User, Promise: p.ID})
				if got := b.status(p); got != tc.want || (r.Sent != "") != (got == promise.Active) {
					t.Errorf("%s, sent %q", got, r.Sent)
				}
			})
		})
	}
}

// In private a promise is reminded of there, unless the bot is blocked.
func TestAPromiseInPrivate(t *testing.T) {
	t.Parallel()
	for _, blocked := range []bool{false, true} {
		b := newBench(t, 0)
		b.meet()
		private := telegram.Chat{ID: anna.ID, Type: "private"}
		b.sayIn(private, 1, anna, "Jag lovar att städa idag")
		if blocked {
			b.mustHandle(membership(9, private, "kicked", b.now))
		}
		before := len(b.sender.Sent())
		sent := b.hour(at(19, 12))
		if blocked != (len(sent) == 0) || !blocked && b.sender.Sent()[before].Chat != anna.ID {
			t.Errorf("blocked %v: %q", blocked, sent)
		}
	}
}

// In a promise of the older system the activity is not known. The bot reminds of it
// and gives it up all the same.
func TestAPromiseOfTheOlderSystem(t *testing.T) {
	b := start(t)
	b.meet()
	row := map[string]types.AttributeValue{}
	for name, value := range map[string]string{
		"pk": "USER#5001", "sk": "PROMISE#2026-02-17T10:30:00Z#prm_abc123", "gsi1pk": "PROMISE_STATUS#active", "gsi1sk": "PROMISE_DEADLINE#2026-02-18T00:00:00Z", "type": "PROMISE",
		"description": "städa", "deadline": "2026-02-18T00:00:00Z", "status": "active", "chatId": chatKey,
		"createdAt": "2026-02-17T10:30:00Z", "updatedAt": "2026-02-17T10:30:00Z",
	} {
		row[name] = &types.AttributeValueMemberS{Value: value}
	}
	row["sourceMessageId"] = &types.AttributeValueMemberN{Value: "7"}
	recordtest.Put(t, b.db.Client(), "homeops", row)
	p := promise.Promise{User: anna.Key(), ID: "2026-02-17T10:30:00Z#prm_abc123"}
	sent := b.hour(at(18, 13))
	if diff := cmp.Diff([]string{"Anna, du lovade «städa». Hur går det?"}, sent); diff != "" || b.status(p) != promise.Active {
		t.Errorf("%s: %s", b.status(p), diff)
	}
	if sent := b.hour(at(19, 1)); len(sent) > 0 || b.status(p) != promise.Expired {
		t.Errorf("%s, sent %q", b.status(p), sent)
	}
}

// What Telegram did not take at once is said by the next delivery, once.
func TestAJobWaitsForTelegram(t *testing.T) {
	t.Parallel()
	for i, j := range everyJob(newBench(t, 0))[:5] {
		b := newBench(t, 0)
		j = everyJob(b)[i]
		b.now = j.Due
		before := len(b.sender.Sent())
		b.sender.first = []error{wait40}
		err := b.Worker.Handle(t.Context(), jobDelivery(j, 1))
		if _, later := errors.AsType[*queue.LaterError](err); later != (j.Name == job.Week || j.Name == job.Suggest || j.Name == job.Promise) {
			t.Errorf("%s: %v", j.Name, err)
		} else if !later {
			continue
		}
		b.now = b.now.Add(time.Minute)
		b.do(j)
		b.do(j)
		if n := len(b.sender.Sent()) - before; n != 1 {
			t.Errorf("%s is said %d times", j.Name, n)
		}
	}
}

// A day's messages to the bot are learned at its end, each day once.
func TestTheDayIsLearned(t *testing.T) {
	b := start(t)
	b.meet()
	b.say(anna, "Vem diskade senast?")
	for range 2 {
		b.do(job.Job{Name: job.Day, Due: at(19, 4), Household: chatKey, Chat: chatKey})
	}
	for user, want := range map[telegram.User]float64{anna: 1, bo: 0} {
		got, ok, err := b.Prefs.Get(t.Context(), user.Key(), worker.InteractionFrequency)
		if err != nil || !ok || got.Value != want || got.Samples != 1 {
			t.Errorf("%s: %+v, %v, %v", user.FirstName, got, ok, err)
		}
	}
}

// habit makes Anna do the dishes at six in the evening, on so many days before the
// 18th.
func (b *bench) habit(days int) {
	b.t.Helper()
	for day := 18 - days; day < 18; day++ {
		b.now = at(day, 18).Add(-2 * time.Minute)
		b.say(anna, "Jag har diskat")
	}
}

var suggest = job.Job{Name: job.Suggest, Due: at(18, 18), Household: chatKey, Chat: chatKey}

func TestASuggestion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		days   int
		before func(b *bench)
		j      func(*job.Job)
		want   string
		silent string
	}{
		"a habit":         {days: 7, want: "Anna brukar diska nu."},
		"in English":      {days: 7, before: func(b *bench) { b.speaks(anna, "en") }, want: "Anna usually does the dishes now."},
		"hardly one":      {days: 4},
		"at another hour": {days: 7, j: func(j *job.Job) { j.Due = at(18, 15) }},
		"done already":    {days: 7, before: func(b *bench) { b.now = at(18, 12); b.say(anna, "Jag har diskat") }},
		"an hour late":    {days: 7, before: func(b *bench) { b.now = at(18, 19) }, want: "Anna brukar diska nu."},
		"too late":        {days: 7, before: func(b *bench) { b.now = at(18, 19).Add(time.Second) }, silent: "too old to answer"},
		"late at night":   {days: 7, before: func(b *bench) { b.now = at(18, 22) }, silent: "too old to answer"},
		"in a fast conversation": {days: 7, before: func(b *bench) {
			b.now = at(18, 18).Add(-time.Minute)
			for range 3 {
				b.now = b.now.Add(10 * time.Second)
				b.handle(b.message(bo, "blabla"))
			}
		}, silent: "fast conversation"},
		"when enough is said": {days: 7, before: func(b *bench) {
			b.now = at(18, 12)
			for range 2 { // one reply is left, for who does something
				b.say(bo, "Jag har städat")
			}
		}, silent: "cap reached"},
		"when it may be said":                        {days: 7, before: func(b *bench) { b.now = at(18, 12); b.say(bo, "Jag har städat") }, want: "Anna brukar diska nu."},
		"a second one to somebody who ignores them":  {days: 7, before: func(b *bench) { b.ignoring(5, 1, 12) }},
		"to somebody who ignores them, after a week": {days: 7, before: func(b *bench) { b.ignoring(5, 1, 11) }, want: "Anna brukar diska nu."},
		"ignored four times":                         {days: 7, before: func(b *bench) { b.ignoring(4, 1, 17) }, want: "Anna brukar diska nu."},
		"ignored now and then":                       {days: 7, before: func(b *bench) { b.ignoring(5, 0.8, 17) }, want: "Anna brukar diska nu."},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			b.now = at(9, 12)
			b.meet()
			b.speaks(anna, "sv")
			b.habit(tc.days)
			b.Prefs.Erase(t.Context(), anna.Key())
			if tc.before != nil {
				tc.before(b)
			}
			j := suggest
			if tc.j != nil {
				tc.j(&j)
			}
			r := b.do(j)
			if r.Sent != tc.want || r.Silent != tc.silent {
				t.Errorf("sent %q, silent %q", r.Sent, r.Silent)
			}
			if again := b.do(j); again.Sent != "" {
				t.Errorf("said twice: %q", again.Sent)
			}
			ev, err := j.Event()
			noted := slices.Contains(b.profileOf(anna).Suggested, profile.Suggestion{Event: ev, Activity: "diskning"})
			if err != nil || noted != (tc.want != "") {
				t.Errorf("noted: %v, %v", noted, err)
			}
		})
	}
}

// A redelivery says what the first delivery noted, even if another idea is better by now.
func TestARedeliveredSuggestion(t *testing.T) {
	b := start(t)
	b.now = at(9, 12)
	b.meet()
	b.speaks(anna, "sv")
	b.habit(7)
	ev, err := suggest.Event()
	if err == nil {
		err = b.Profiles.Suggest(t.Context(), anna.Key(), profile.Suggestion{Event: ev, Activity: "tvätt"})
	}
	if err != nil {
		t.Fatal(err)
	}
	b.Prefs.Erase(t.Context(), anna.Key())
	wantSent(t, b.do(suggest), "Anna brukar tvätta nu.")
}

// ignoring makes Anna ignore suggestions, of which the last was on a day.
func (b *bench) ignoring(times int, value float64, last int) {
	b.t.Helper()
	ev, err := event.New(at(last, 18), "test", "suggested")
	if err == nil {
		err = b.Profiles.Suggest(b.t.Context(), anna.Key(), profile.Suggestion{Event: ev, Activity: "tvätt"})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range times {
		ev := recordtest.Event(b.t, at(1+i, 12), "test", "ignored")
		if _, err := b.Prefs.Observe(b.t.Context(), ema.Observe{Subject: anna.Key(), Metric: worker.IgnoresSuggestions, Event: ev, Value: value}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// An activity that the chat has taught has no verb.
func TestASuggestionOfWhatTheChatTaught(t *testing.T) {
	b := start(t)
	b.now = at(9, 12)
	b.meet()
	b.speaks(anna, "sv")
	b.say(anna, "hunden betyder ”hundvakt”")
	for day := 11; day < 18; day++ {
		b.now = at(day, 18).Add(-2 * time.Minute)
		b.say(anna, "hunden är ute")
	}
	b.Prefs.Erase(t.Context(), anna.Key())
	wantSent(t, b.do(suggest), "Anna brukar göra det här nu: hundvakt.")
}

// everyJob prepares a bench on which each of the jobs has something to do, on a
// Sunday evening.
func everyJob(b *bench) (jobs []job.Job) {
	b.t.Helper()
	b.now = at(9, 12)
	b.meet()
	for day := 15; day < 22; day++ {
		b.now = at(day, 18).Add(-2 * time.Minute)
		b.say(anna, "Jag har diskat")
	}
	b.now = at(21, 12)
	b.say(anna, "Jag lovar att städa idag")
	b.say(bo, "Jag lovar att tvätta idag")
	b.keepLost(bo, "Jag har tvättat")
	b.Prefs.Erase(b.t.Context(), anna.Key())
	due := at(22, 18)
	for _, name := range []string{job.Hourly, job.Week, job.Suggest, job.Day} {
		jobs = append(jobs, job.Job{Name: name, Due: due, Household: chatKey, Chat: chatKey})
	}
	overdue, err := b.Promises.Overdue(b.t.Context(), due)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, p := range overdue {
		jobs = append(jobs, job.Job{Name: job.Promise, Due: due, Household: chatKey, Chat: chatKey, User: p.User, Promise: p.ID})
	}
	for _, expired := range jobs[4:] {
		expired.Due = at(23, 18)
		jobs = append(jobs, expired)
	}
	return jobs
}

// keepLost makes somebody do something while the note that it keeps a promise is
// lost.
func (b *bench) keepLost(who telegram.User, text string) {
	b.t.Helper()
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "Query", Table: "homeops", Times: -1})
	b.now = b.now.Add(time.Hour)
	b.handleNth(b.message(who, text), queue.MaxReceives)
	b.db.Heal()
}

// Redelivered after a crash at any request, or twice at once, a job leaves the same
// tables, and has said the same at most once.
func TestJobsConverge(t *testing.T) {
	t.Parallel()
	b := newBench(t, 0)
	for _, j := range everyJob(b) {
		f := b.fork()
		f.now = j.Due
		f.converges(jobDelivery(j, 1))
	}
}

// A group that is too large for a balance between every two members still gets its
// week, and does not make a dead letter each day.
func TestALargeHousehold(t *testing.T) {
	b := start(t)
	for i := range 17 {
		b.say(telegram.User{ID: int64(5001 + i), FirstName: "P" + string(rune('A'+i))}, "Jag har diskat")
	}
	for _, j := range []job.Job{
		{Name: job.Day, Due: at(19, 4), Household: chatKey, Chat: chatKey},
		{Name: job.Week, Due: at(22, 18), Household: chatKey, Chat: chatKey},
	} {
		if r := b.do(j); r.Refused != "" || r.Err != nil {
			t.Errorf("%s: %q, %v", j.Name, r.Refused, r.Err)
		}
	}
	if r := b.say(anna, "Hur var veckan?"); r.Sent == "" || len(r.Skipped) > 0 {
		t.Errorf("%+v", r)
	}
}
