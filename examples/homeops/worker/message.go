package worker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

// msg is a message and the event it is.
type msg struct {
	telegram.Message
	raw    string
	chat   string // as in tables: the id in the message's and its event's keys
	scope  string // of the household's records: the chat, or the group that it was before
	person telegram.User
	signed bool // it has a sender who can be learned from
	event  event.Event
	asked  *asked           // the question that it replies to
	intent *dialog.Intent   // what it wants of the bot; nil if nothing
	who    *profile.Profile // the sender's; nil if it could not be read
}

// deed is the event from which the message's activities follow.
func (m msg) deed() event.Event {
	if m.asked != nil {
		return m.asked.event
	}
	return m.event
}

// read makes the event of what Telegram repeats on a redelivery.
func (w *Worker) read(m telegram.Message, raw string) (msg, error) {
	chat := m.Chat.Key()
	ev, err := event.New(m.Time(), "telegram", chat, strconv.FormatInt(m.ID, 10))
	if err != nil {
		return msg{}, err
	}
	if err := ev.Check("worker", "date", w.Now()); err != nil {
		return msg{}, err
	}
	person, signed := m.Author()
	read := msg{Message: m, raw: raw, chat: chat, scope: chat, person: person, signed: signed && !person.IsBot, event: ev}
	read.asked = w.answered(read)
	if intent, ok := dialog.Understand(m.Words()); ok && read.signed && !m.Forwarded() {
		read.intent = &intent
	}
	return read, nil
}

// name is how people know the sender.
func (m msg) name() string { return m.person.Name() }

// message handles every message.
func (w *Worker) message(ctx context.Context, d delivery, m msg) error {
	var saved event.Outcome
	var known known
	var who *profile.Profile
	scope, stopped := m.scope, false
	from, to, moved := m.Moved()
	var g errgroup.Group
	g.Go(func() (err error) {
		saved, err = w.save(ctx, m)
		return critical("save", err)
	})
	switch {
	case moved:
		d.report.Kind = KindMoved
		g.Go(func() error { return critical("move", w.moved(ctx, m, from, to)) })
	case m.signed:
		g.Go(func() (err error) {
			scope, known, err = w.household(ctx, d, m)
			return err
		})
		g.Go(func() (err error) {
			who, err = w.profile(ctx, d, m)
			return err
		})
		if m.Chat.Private() {
			g.Go(func() (err error) {
				stopped, err = w.stopped(ctx, d, m)
				return err
			})
		}
	default:
		d.report.Kind = KindAnonym
	}
	if err := g.Wait(); err != nil {
		return err
	}
	d.report.Duplicate = saved == event.Duplicate
	if moved || !m.signed {
		return nil
	}
	m.scope, m.who, d.stopped = scope, who, stopped
	before, err := w.earlier(ctx, d, m)
	if err != nil {
		return err
	}
	m.scope, d.heldBack = before.scope, before.heldBack
	var beside errgroup.Group
	beside.Go(func() error { return w.learnToBot(ctx, d, m) })
	beside.Go(func() error { return w.learnTiming(ctx, d, m) })
	err = w.meaning(ctx, d, m, known, before)
	if err := cmp.Or(err, beside.Wait()); err != nil { // meaning's error decides when to come again
		return err
	}
	m.scope = scope // even if an earlier delivery recorded under another
	if m.who == nil {
		return nil
	}
	return w.meet(ctx, d, m, *m.who)
}

// known is what the chat had taught of the words of a message when it was sent.
type known struct{ phrases, names []alias.Match }

// household returns the scope of the chat's records, and the household's phrases
// and names that are in the message. If the scope must be read, the chat's own
// phrases are read beside it: hardly any chat was another before.
func (w *Worker) household(ctx context.Context, d delivery, m msg) (scope string, found known, _ error) {
	scope, certain := w.Moves.Known(m.chat)
	first := scope
	var g errgroup.Group
	g.Go(func() (err error) {
		found, err = w.known(ctx, d, m, first)
		return err
	})
	if m.Chat.Supergroup() && !certain {
		g.Go(func() (err error) {
			scope, err = w.Moves.Scope(ctx, m.chat)
			return critical("scope", err)
		})
	}
	if err := g.Wait(); err != nil || scope == first {
		return scope, found, err
	}
	found, err := w.known(ctx, d, m, scope)
	return scope, found, err
}

// known finds phrases and names in the message, as they were known when it was sent:
// what was taught later must not make a redelivery say something else.
func (w *Worker) known(ctx context.Context, d delivery, m msg, scope string) (found known, _ error) {
	match := func(step string, book *alias.Store, found *[]alias.Match) func() error {
		return func() error {
			all, err := book.Match(ctx, scope, m.Words())
			*found = slices.DeleteFunc(all, func(a alias.Match) bool { return a.NamedBy.Compare(m.event) > 0 })
			return w.bestEffort(ctx, d, step, err)
		}
	}
	var g errgroup.Group
	g.Go(match("phrases", w.Phrases, &found.phrases))
	g.Go(match("names", w.Names, &found.names))
	err := g.Wait()
	return found, err
}

// earlier is what deliveries before this one have done.
type earlier struct {
	recorded []activity.Activity
	scope    string // where that is kept
	said     bool   // the bot has asked or answered
	heldBack bool   // it would have, and was asked to wait
}

// earlier reads it. The first delivery of a message need not. A delivery that
// came before the chat's move was known has recorded under the chat's own id,
// and there it stays.
func (w *Worker) earlier(ctx context.Context, d delivery, m msg) (before earlier, _ error) {
	before.scope = m.scope
	if !d.report.Duplicate {
		return before, nil
	}
	var own []activity.Activity
	recorded := func(scope string, found *[]activity.Activity) func() error {
		return func() (err error) {
			*found, err = w.Activities.OfEvent(ctx, scope, m.deed())
			return critical("stored", err)
		}
	}
	var g errgroup.Group
	g.Go(recorded(m.scope, &before.recorded))
	if m.scope != m.chat {
		g.Go(recorded(m.chat, &own))
	}
	g.Go(func() (err error) {
		before.said, before.heldBack, err = w.said(ctx, m)
		return w.bestEffort(ctx, d, "said", err)
	})
	err := g.Wait()
	if len(own) > 0 {
		before.recorded, before.scope = own, m.chat
	}
	return before, err
}

// meaning finds what the message is for. What earlier deliveries made of it
// decides: phrases that were learned since must not make it something else.
func (w *Worker) meaning(ctx context.Context, d delivery, m msg, known known, before earlier) error {
	switch {
	case before.said && len(before.recorded) == 0:
		d.report.Kind, d.report.Silent = KindSaid, silentAgain
		return nil
	case m.asked != nil:
		d.report.Kind = KindTeach
		return w.replied(ctx, d, m, *m.asked, before)
	case len(before.recorded) > 0:
		return w.carryOn(ctx, d, m, before.recorded)
	}
	if m.Forwarded() { // others' words
		d.report.Kind = KindNone
		return nil
	}
	if handled, err := w.talk(ctx, d, m); handled || err != nil {
		return err
	}
	return w.activities(ctx, d, m, known)
}

// activities handles a message that wants nothing of the bot.
func (w *Worker) activities(ctx context.Context, d delivery, m msg, known known) error {
	said, err := w.Classifier.Classify(ctx, classify.Message{
		Event: m.event, Scope: m.scope, Text: m.Words(), Known: phrasesOf(known.phrases), People: peopleOf(m.Words(), known.names),
	})
	d.report.Usage = said.Usage
	if _, busy := errors.AsType[*queue.LaterError](err); busy {
		return err // another delivery is at work: do not go on without its answer, not even at the last delivery
	}
	if err := w.bestEffort(ctx, d, "classify", err); err != nil {
		return err
	}
	switch {
	case len(said.Done) > 0:
		return w.carryOut(ctx, d, m, said.Done)
	case said.Guess != nil:
		d.report.Kind = KindGuess
		return w.ask(ctx, d, m, *said.Guess)
	}
	d.report.Kind = KindNone
	return nil
}

// carryOut records what was done while it looks whether the chat is moving
// fast, then learns and responds.
func (w *Worker) carryOut(ctx context.Context, d delivery, m msg, done []classify.Done) error {
	var recorded []activity.Activity
	var silent string
	var g errgroup.Group
	g.Go(func() (err error) {
		recorded, err = w.record(ctx, d, m, done)
		return critical("record", err)
	})
	g.Go(func() (err error) {
		silent, err = w.silence(ctx, d, m)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return w.follow(ctx, d, m, recorded, silent)
}

// carryOn takes up what an earlier delivery recorded: nothing is classified
// again.
func (w *Worker) carryOn(ctx context.Context, d delivery, m msg, stored []activity.Activity) error {
	silent, err := w.silence(ctx, d, m)
	if err != nil {
		return err
	}
	return w.follow(ctx, d, m, stored, silent)
}

// follow does what follows from recorded activities: learning and, beside it,
// the reply. Neither waits for the other, and trouble in one does not stop the
// other: a fresh grant is used at once or never.
func (w *Worker) follow(ctx context.Context, d delivery, m msg, recorded []activity.Activity, silent string) error {
	d.report.Kind, d.report.Recorded, d.report.Silent = KindActivity, recorded, silent
	var g errgroup.Group
	for _, a := range recorded {
		g.Go(func() error { return w.learnEffort(ctx, d, a) })
		g.Go(func() error { return w.learnHabit(ctx, d, a) })
	}
	g.Go(func() error { return w.keep(ctx, d, recorded) })
	if len(recorded) > 0 {
		g.Go(func() error { return w.afterItsWeek(ctx, d, recorded[0]) })
	}
	var err error
	if silent == "" {
		err = w.praise(ctx, d, m, recorded)
	}
	return cmp.Or(err, g.Wait()) // praise's error decides when to come again
}

func phrasesOf(matches []alias.Match) []classify.Known {
	known := make([]classify.Known, len(matches))
	for i, match := range matches {
		known[i] = classify.Known{Phrase: match.Phrase, Name: match.Name, Start: match.Start, End: match.End}
	}
	return known
}

// peopleOf returns the people as the text writes them.
func peopleOf(text string, matches []alias.Match) []classify.Person {
	people := make([]classify.Person, len(matches))
	for i, match := range matches {
		people[i] = classify.Person{ID: match.Name, Name: text[match.Start:match.End], Start: match.Start, End: match.End}
	}
	return people
}

// langOf guesses the language of a message from its words; the household is
// Swedish.
func langOf(text string) dialog.Lang {
	if dialog.LooksEnglish(text) {
		return dialog.English
	}
	return dialog.Swedish
}
