package worker

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/planner"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/tzclock"
)

// When jobs are due, in hours of the household's zone.
const (
	summaryHour = 18 // on Sundays
	dayHour     = 4
)

// Somebody who ignores more than this share of the suggestions, of so many at least,
// gets one a week.
const (
	ignoresMost    = 0.8
	ignoresSamples = 5
)

// job does what the clock asks for. Like a message's, each of its steps is safe to
// repeat. What it says is sent like the answer to a message that stands for the
// job: from nobody, without a number, in the chat that is written to.
func (w *Worker) job(ctx context.Context, d delivery, j job.Job) error {
	d.report.Kind = KindJob
	ev, err := j.Event()
	if err == nil {
		err = ev.Check("worker", "due", w.Now())
	}
	if err != nil {
		return err
	}
	if j.Name == job.Hourly {
		return w.hourly(ctx, j.Due)
	}
	chat, err := strconv.ParseInt(j.Chat, 10, 64)
	if err != nil {
		return event.BadInput("worker", "chat", "must be the number of a chat")
	}
	m := msg{Message: telegram.Message{Date: j.Due.Unix(), Chat: telegram.Chat{ID: chat}}, chat: j.Chat, scope: j.Household, event: ev}
	switch j.Name {
	case job.Week:
		return w.week(ctx, d, m)
	case job.Day:
		return w.day(ctx, d, m)
	case job.Suggest:
		return w.suggest(ctx, d, m)
	case job.Promise:
		return w.promise(ctx, d, m, j)
	}
	return event.BadInput("worker", "job", "must be the name of a job in package job")
}

// hourly logs how deep the queue is and sends what is due: one message for each job
// of each household and for each overdue promise. If they are sent again, they are
// the same jobs.
func (w *Worker) hourly(ctx context.Context, due time.Time) error {
	depth, err := w.Queue.Depth(ctx)
	if err != nil || depth.Dead > 0 {
		w.Log.WarnContext(ctx, "depth", append(depth.LogValues(), "error", err)...)
	} else {
		w.Log.InfoContext(ctx, "depth", depth.LogValues()...)
	}
	households, err := w.Profiles.Households(ctx)
	if err != nil {
		return critical("households", err)
	}
	var jobs []job.Job
	chats := map[string]string{} // where households are written to
	for _, h := range households {
		chats[h.Scope] = h.Chat
		for _, name := range w.dueAt(due) {
			jobs = append(jobs, job.Job{Name: name, Due: due, Household: h.Scope, Chat: h.Chat})
		}
	}
	overdue, err := w.Promises.Overdue(ctx, due)
	if err != nil {
		return critical("overdue", err)
	}
	for _, p := range overdue {
		j := job.Job{Name: job.Promise, Due: due, Household: p.Household, Chat: p.Chat, User: p.User, Promise: p.ID}
		if p.Chat != p.User { // the group may have another id than it had then
			j.Chat = cmp.Or(chats[p.Household], p.Chat)
		}
		jobs = append(jobs, j)
	}
	for _, j := range jobs {
		if _, err := w.Queue.Send(ctx, j.Body(), map[string]string{queue.ChatID: j.Chat}); err != nil {
			return critical("send", err)
		}
	}
	return nil
}

// dueAt lists the jobs of every household that are due at a full hour.
func (w *Worker) dueAt(at time.Time) (names []string) {
	hour := w.Zone.Hour(at)
	if hour == summaryHour && w.Zone.Weekday(at) == time.Sunday {
		names = append(names, job.Week)
	}
	if hour == dayHour {
		names = append(names, job.Day)
	}
	if !w.Quiet.Contains(w.Zone, at) {
		names = append(names, job.Suggest)
	}
	return names
}

// week brings the week's rows up to date and tells the chat what they say, if anybody
// did anything.
func (w *Worker) week(ctx context.Context, d delivery, m msg) error {
	period, shares, err := w.shares(ctx, m.scope, m.Time())
	active := slices.ContainsFunc(shares, func(s dialog.Share) bool { return s.Chores+s.Recovery > 0 })
	if err != nil || !active {
		return critical("week", err)
	}
	return w.unasked(ctx, d, m, dialog.Summary(dialog.Swedish, period, shares))
}

// unasked says something, but not in quiet hours.
func (w *Worker) unasked(ctx context.Context, d delivery, m msg, text string) error {
	if w.quiet(m) {
		d.report.Silent = silentQuiet
		return nil
	}
	return w.answer(ctx, d, m, text)
}

// day learns how often each member wrote to the bot on the day that is over, even
// if never, and whether they ignored what was suggested to them. It brings the day's
// week up to date. That adds what was done on Sunday after the summary, and shows who
// carries most.
func (w *Worker) day(ctx context.Context, d delivery, m msg) error {
	day := w.Zone.Date(m.Time()).AddDays(-1)
	lived, err := w.Profiles.Lived(ctx, m.scope)
	if err != nil {
		return critical("members", err)
	}
	for _, p := range lived {
		if p.Household != m.scope {
			continue
		}
		ev, err := event.New(w.Zone.Start(day), "interactions", p.User, day.String())
		if err != nil {
			return err
		}
		count, err := w.Limits.Get(ctx, toBotKey(p.User), w.Zone.Start(day))
		if err == nil {
			_, err = w.Prefs.Observe(ctx, ema.Observe{Subject: p.User, Metric: InteractionFrequency, Event: ev, Value: float64(count.Used)})
		}
		if err := cmp.Or(w.bestEffort(ctx, d, "interactions", err), w.learnIgnored(ctx, d, m, p, day)); err != nil {
			return err
		}
	}
	_, err = w.recompute(ctx, m.scope, w.Zone.Start(day), lived)
	return critical("week", err)
}

// suggest says what somebody usually does now, unless they mostly ignore that or it
// would disturb. It is one of the day's replies, and leaves the last of them to who does
// something. Who is meant is noted first: the day's end asks what came of it, and a
// redelivery means nobody else.
func (w *Worker) suggest(ctx context.Context, d delivery, m msg) error {
	if w.Now().Sub(m.Time()) > time.Hour {
		d.report.Silent = silentOld
		return nil
	}
	of, what, err := w.idea(ctx, m)
	if err != nil || what == "" {
		return critical("suggest", err)
	}
	weekAgo := w.Zone.Date(m.Time()).AddDays(-7)
	lately := slices.ContainsFunc(of.Suggested, func(s profile.Suggestion) bool {
		return s.Event != m.event && weekAgo.Before(w.Zone.Date(s.Event.Time()))
	})
	rate, _, err := w.Prefs.Get(ctx, of.User, IgnoresSuggestions)
	if err != nil || rate.Samples >= ignoresSamples && rate.Value > ignoresMost && lately {
		return critical("ignore rate", err)
	}
	if d.report.Silent, err = w.silence(ctx, d, m); err != nil || d.report.Silent != "" {
		return err
	}
	note := profile.Suggestion{Event: m.event, Activity: what}
	if err := w.Profiles.Suggest(ctx, of.User, note); err != nil {
		return critical("note", err)
	}
	err = w.say(ctx, d, m, speech{text: suggestionTo(of, what), grant: counter.Take{Key: m.scope, Event: m.event, Weight: 1, Cap: RepliesADay - 1}})
	if err == nil && !d.report.spoke {
		err = w.bestEffort(ctx, d, "forget", w.Profiles.Forget(ctx, of.User, note))
	}
	return err
}

func suggestionTo(of profile.Profile, what string) string {
	lang := dialog.Lang(of.Language)
	return dialog.Suggestion(lang, of.Name, classify.VerbOf(what, lang == dialog.English), what)
}

// idea is the best suggestion, or what an earlier delivery of the job has noted.
// Habits alone mostly rule out all. What else is known can only rule out more, so it
// is read only if one is left.
func (w *Worker) idea(ctx context.Context, m msg) (of profile.Profile, what string, _ error) {
	members, err := w.Profiles.Members(ctx, m.scope)
	for _, p := range members {
		for _, s := range p.Suggested {
			if s.Event == m.event {
				return p, s.Activity, err
			}
		}
	}
	var s planner.Suggestion
	habits := func(ctx context.Context, household, user string) (planner.View, error) {
		all, err := w.Habits.All(ctx, household, user)
		return planner.View{Habits: all}, err
	}
	for _, read := range []func(ctx context.Context, household, user string) (planner.View, error){habits, w.Planner.Read} {
		var views []planner.View
		for _, p := range members {
			v, bad := read(ctx, m.scope, p.User)
			views, err = append(views, v), cmp.Or(err, bad)
		}
		var ok bool
		if s, ok = planner.Suggest(views, w.Zone, m.Time()); err != nil || !ok {
			return of, "", err
		}
	}
	return s.View.Profile, s.Activity, nil
}

// learnIgnored learns which of the day's suggestions a person ignored, once for each,
// and forgets those that no limit asks about any more.
func (w *Worker) learnIgnored(ctx context.Context, d delivery, m msg, p profile.Profile, day tzclock.Date) (err error) {
	for _, s := range p.Suggested {
		of := w.Zone.Date(s.Event.Time())
		if of.AddDays(7).Before(day) {
			err = w.Profiles.Forget(ctx, p.User, s)
		} else if of == day {
			var said, ignored bool
			said, _, err = w.said(ctx, msg{event: s.Event})
			if said && err == nil {
				ignored, err = w.ignored(ctx, m, p, s, w.Zone.End(day))
			}
			if said && err == nil {
				observe := ema.Observe{Subject: p.User, Metric: IgnoresSuggestions, Event: s.Event}
				if ignored {
					observe.Value = 1
				}
				_, err = w.Prefs.Observe(ctx, observe)
			}
		}
		if err := w.bestEffort(ctx, d, "suggestion", err); err != nil {
			return err
		}
	}
	return nil
}

// ignored reports whether a person neither did by then what was suggested nor replied
// to it, except with a refusal.
func (w *Worker) ignored(ctx context.Context, m msg, p profile.Profile, s profile.Suggestion, end time.Time) (bool, error) {
	for a, err := range w.Activities.InScope(ctx, m.scope, activity.Range{From: s.Event.Time(), To: end, Match: activity.Match{Actor: p.User}}) {
		if err != nil || a.Name == s.Activity {
			return false, err
		}
	}
	text := suggestionTo(p, s.Activity)
	for said, err := range w.Messages.InScope(ctx, m.chat, message.Range{From: s.Event.Time(), NewestFirst: true, Match: message.Match{Actor: p.User}}) {
		if err != nil {
			return false, err
		}
		u, err := telegram.Parse([]byte(said.Raw)) // erased, it says nothing
		if err != nil || u.Message == nil || !said.At.Before(end) {
			continue
		}
		if r := (msg{Message: *u.Message}); w.toBot(r) && r.ReplyTo.Text == text && !dialog.Refuses(r.Words()) {
			return false, nil
		}
	}
	return true, nil
}

// promise looks after a promise whose deadline is over. It may have been kept
// without a note of that: the deed's message was handled before the promise's, or
// gave the step up. If it was not kept, its maker is reminded, until it expires a
// day later. The jobs of all hours say the reminder under one event, that of the
// first hour after the deadline: said once, it is not said again.
func (w *Worker) promise(ctx context.Context, d delivery, m msg, j job.Job) error {
	p, ok, err := w.Promises.Get(ctx, j.User, j.Promise)
	if err != nil || !ok || p.Status != promise.Active {
		return critical("promise", err)
	}
	var kept promise.Promise
	last, done, err := w.Memory.LastBy(ctx, p.Household, p.User, cmp.Or(p.Activity, p.Description))
	if done {
		kept, _, err = w.Promises.Keep(ctx, promise.Deed{User: p.User, Household: p.Household, Activity: last.Name, Event: last.Event})
	}
	if err != nil || kept.ID == p.ID {
		return critical("keep", err)
	}
	if !j.Due.Before(p.Deadline.Add(promise.Grace)) {
		_, err = w.Promises.Expire(ctx, p, m.event)
		return critical("expire", err)
	}
	if m.event, err = event.New(p.Deadline.Add(time.Hour-1).Truncate(time.Hour), "job", job.Promise, p.User, p.ID); err != nil {
		return err
	}
	of, _, err := w.Profiles.Get(ctx, p.User)
	if err != nil {
		return critical("profile", err)
	}
	if j.Chat == j.User {
		m.Chat.Type, m.person.ID = "private", m.Chat.ID
		if d.stopped, err = w.stopped(ctx, d, m); err != nil {
			return err
		}
	}
	return w.unasked(ctx, d, m, dialog.Reminder(dialog.Lang(of.Language), cmp.Or(of.Name, p.User), p.Description))
}
