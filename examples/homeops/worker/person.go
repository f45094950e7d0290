package worker

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/verdict"
)

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
