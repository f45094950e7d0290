package worker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/examples/homeops/words"
	"github.com/homeops/ddbpatterns/tzclock"
	"github.com/homeops/ddbpatterns/verdict"
)

// ofHousehold answers questions about those who live together. In private that
// is the household that the sender lives in.
func (w *Worker) ofHousehold(ctx context.Context, m msg, intent dialog.Intent) (string, error) {
	if m.who == nil { // it could not be read a moment ago
		who, _, err := w.Profiles.Get(ctx, m.person.Key())
		if err != nil {
			return "", err
		}
		m.who = &who
	}
	zone := cmp.Or(m.who.Zone, w.Zone)
	if m.Chat.Private() {
		m.scope = cmp.Or(m.who.Household, m.scope)
	}
	switch {
	case intent.Promise != nil:
		return w.promised(ctx, m, zone, *intent.Promise)
	case intent.Promises != nil:
		return w.promises(ctx, m, zone, *intent.Promises)
	case intent.About != nil:
		return w.about(ctx, m, *intent.About)
	}
	q := *intent.Week
	of, _ := w.Zone.Week(m.Time())
	if q.Before {
		of = of.Add(-1)
	}
	period, shares, err := w.shares(ctx, m.scope, of)
	text := dialog.Summary(q.Lang, period, shares)
	if q.Balance {
		text = dialog.Standing(q.Lang, shares)
	}
	return cmp.Or(text, dialog.NoHousehold(q.Lang)), err
}

// promised stores a promise, due when its last day ends where its maker is.
func (w *Worker) promised(ctx context.Context, m msg, zone tzclock.Zone, p dialog.Promise) (string, error) {
	name, known, err := w.activityIn(ctx, m.scope, words.Of(p.What))
	if err != nil || !known {
		return dialog.NoSuchPromise(p.Lang, p.What), err
	}
	day := zone.Date(m.Time())
	made, _, err := w.Promises.Make(ctx, promise.Make{
		Event: m.event, User: m.person.Key(), Description: p.Said, Activity: name,
		Household: m.scope, Chat: m.chat, Source: m.ID, Deadline: zone.End(day.AddDays(p.Ahead(day.Weekday()))),
	})
	return dialog.Noted(p.Lang, promiseLine(p.Lang, m.name(), made, zone)), err
}

// promiseLine shows the day that ends with the deadline.
func promiseLine(lang dialog.Lang, person string, p promise.Promise, zone tzclock.Zone) string {
	return dialog.PromiseOf(lang, person, p.Description, zone.Date(p.Deadline.Add(-1)).String())
}

// promises lists what the people asked about have still to do, by the days of the
// person who asks.
func (w *Worker) promises(ctx context.Context, m msg, zone tzclock.Zone, q dialog.Promises) (string, error) {
	about, err := w.topicOf(ctx, m, q.Rest, q.Lang)
	if err != nil || about.stranger || about.words > 0 {
		return dialog.NoSuchPerson(q.Lang), err
	}
	if about.nobody() {
		about.people, err = w.members(ctx, m.scope)
	}
	if err != nil || about.nobody() {
		return dialog.NoHousehold(q.Lang), err
	}
	return about.each(func(of person) (lines string, _ error) {
		all, err := w.Promises.Of(ctx, of.id, m.Time().Add(-promise.MaxAhead-promise.Grace))
		slices.SortStableFunc(all, func(a, b promise.Promise) int { return a.Deadline.Compare(b.Deadline) })
		for _, p := range all {
			if p.Status == promise.Active && p.Household == m.scope {
				lines += promiseLine(q.Lang, of.said, p, zone) + "\n"
			}
		}
		return strings.TrimSpace(cmp.Or(lines, dialog.NoPromises(q.Lang, of.said))), err
	})
}

// keep notes which promises the activities keep of the person who did them. They take
// turns: each reads the same promises.
func (w *Worker) keep(ctx context.Context, d delivery, all []activity.Activity) (failed error) {
	for _, a := range all {
		_, _, err := w.Promises.Keep(ctx, promise.Deed{User: a.Actor, Household: a.Scope, Activity: a.Name, Event: a.Event})
		failed = cmp.Or(failed, w.bestEffort(ctx, d, "promise", err))
	}
	return failed
}

// members are those who live in a household, by name.
func (w *Worker) members(ctx context.Context, scope string) ([]person, error) {
	found, err := w.Profiles.Members(ctx, scope)
	return byName(found), err
}

// byName adds somebody's id if they have no name, or if another has the same.
func byName(found []profile.Profile) (all []person) {
	for _, p := range found {
		who := person{id: p.User, said: p.Name}
		if p.Name == "" || slices.ContainsFunc(found, func(o profile.Profile) bool { return o.Name == p.Name && o.User != p.User }) {
			who.said = strings.TrimSpace(p.Name + " " + p.User)
		}
		all = append(all, who)
	}
	return all
}

// shares brings the rows of a week up to date and returns what it came to for
// each member of the household.
func (w *Worker) shares(ctx context.Context, scope string, of time.Time) (period string, all []dialog.Share, _ error) {
	lived, err := w.Profiles.Lived(ctx, scope)
	if err != nil {
		return "", nil, err
	}
	people := byName(lived)
	found, err := w.recompute(ctx, scope, of, lived)
	for _, s := range found {
		period = s.Period
		at := slices.IndexFunc(people, func(p person) bool { return p.id == s.User })
		all = append(all, dialog.Share{
			Person: people[at].said, Chores: s.Chores, Recovery: s.Recovery, Net: s.Net, Fairness: s.Fairness, Highlights: s.Highlights,
		})
	}
	return period, all, err
}

// recompute brings the rows of a week up to date. Members are those who live in the
// household now. Of a week that is over they are those who lived there at its end:
// nobody who came later, and also those for whom it was computed before they left.
func (w *Worker) recompute(ctx context.Context, scope string, of time.Time, lived []profile.Profile) ([]week.Summary, error) {
	r := week.Recompute{Household: scope, Of: of}
	_, end := w.Zone.Week(of)
	over := !w.Now().Before(end)
	for _, p := range lived {
		switch {
		case p.Household == scope && (!over || p.HouseholdEvent.Time().Before(end)):
			r.Members = append(r.Members, p.User)
		case over && !p.HouseholdEvent.Time().Before(end): // who left since
			r.Former = append(r.Former, p.User)
		}
	}
	if len(lived) == 0 {
		return nil, nil
	}
	return w.Weeks.Recompute(ctx, r)
}

// afterItsWeek brings up to date the week of a deed that became known when the week
// was over: no job will.
func (w *Worker) afterItsWeek(ctx context.Context, d delivery, a activity.Activity) error {
	if _, end := w.Zone.Week(a.Event.Time()); w.Now().Before(end) {
		return nil
	}
	_, _, err := w.shares(ctx, a.Scope, a.Event.Time())
	return w.bestEffort(ctx, d, "week", err)
}

// about notes what people say of themselves.
func (w *Worker) about(ctx context.Context, m msg, q dialog.About) (_ string, err error) {
	change := profile.Change{User: m.person.Key(), Event: m.event, Language: string(q.Language)}
	switch {
	case q.Home && m.Chat.Private():
		return dialog.NoHousehold(q.Lang), nil
	case q.Home:
		change.Household, change.Chat = m.scope, m.chat
	case q.Zone != "":
		if change.Zone, err = tzclock.Load(q.Zone); err != nil {
			return dialog.NoSuchZone(q.Lang, q.Zone), nil
		}
	}
	return dialog.Noted(cmp.Or(q.Language, q.Lang), m.Words()), w.Profiles.Change(ctx, change)
}

// profile returns the sender's profile, nil if it could not be read: that does
// not make them a stranger.
func (w *Worker) profile(ctx context.Context, d delivery, m msg) (*profile.Profile, error) {
	p, _, err := w.Profiles.Get(ctx, m.person.Key())
	if err != nil {
		return nil, w.bestEffort(ctx, d, "profile", err)
	}
	return &p, nil
}

// meet notes who the sender is, if the profile does not say so: on first contact, in
// each group, and when they are called something else. From then on questions may use
// the name that Telegram has for them. It comes last, so that a message means the same
// on a redelivery. It writes the profile last, so that the next delivery, or else the
// next message, repeats a meet that broke off.
func (w *Worker) meet(ctx context.Context, d delivery, m msg, p profile.Profile) error {
	same := profile.Change{User: m.person.Key(), Event: m.event, Chat: m.chat}
	change := same
	if p.Language == "" {
		change.Language = string(dialog.English)
		if code := m.person.LanguageCode; code == "" || strings.HasPrefix(code, "sv") { // the household is Swedish
			change.Language = string(dialog.Swedish)
		}
	}
	var learn []string // in which chats to learn the name
	if m.name() != p.Name {
		change.Name, learn = m.name(), p.Chats
	}
	// If their message overtook the chat's move, they live in the group that
	// the chat was before, too.
	if !m.Chat.Private() && (p.HouseholdEvent.IsZero() || p.Household == m.chat && m.scope != m.chat) {
		change.Household = m.scope
	}
	wrote := m.Chat.Private() || slices.Contains(p.Chats, m.chat)
	if !m.Chat.Private() && (!wrote || change != same) {
		learn = append(slices.Clone(learn), m.chat)
	}
	for _, chat := range learn {
		if err := w.call(ctx, m, chat); err != nil {
			bad := w.bestEffort(ctx, d, "display name", err)
			if bad != nil || verdict.Of(err).Kind == verdict.Retry {
				return bad
			}
		}
	}
	if !wrote {
		if err := w.bestEffort(ctx, d, "chat", w.Profiles.Wrote(ctx, change.User, m.chat)); err != nil {
			return err
		}
	}
	if change == same {
		return nil
	}
	return w.bestEffort(ctx, d, "first contact", w.Profiles.Change(ctx, change))
}

// call learns in a chat what the sender is called, unless it is not a name or means
// somebody else there.
func (w *Worker) call(ctx context.Context, m msg, chat string) (err error) {
	if !dialog.Callable(m.name()) {
		return nil
	}
	scope := m.scope
	if chat != m.chat {
		if scope, err = w.Moves.Scope(ctx, chat); err != nil {
			return err
		}
	}
	_, err = w.Names.Put(ctx, alias.Put{Scope: scope, Phrase: m.name(), Name: m.person.Key(), Event: m.event, Actor: m.person.Key()})
	if _, taken := errors.AsType[*alias.TakenError](err); taken {
		return nil
	}
	return err
}

func toBotKey(user string) string { return "USER#" + user + "#toBot" }

// learnToBot counts a message that is meant for the bot: one in private, a
// reply to the bot, or one that wants something of it.
func (w *Worker) learnToBot(ctx context.Context, d delivery, m msg) error {
	if m.intent == nil && !m.Chat.Private() && !w.toBot(m) {
		return nil
	}
	_, err := w.Limits.Add(ctx, counter.Add{Key: toBotKey(m.person.Key()), Event: m.event, Weight: 1})
	return w.bestEffort(ctx, d, "to bot", err)
}
