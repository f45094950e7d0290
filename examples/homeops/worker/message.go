package worker

import (
	"context"
	"strconv"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/dialog"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/trips"
)

// msg is a message and the event it is.
type msg struct {
	telegram.Message
	raw    string
	chat   string // as tables hold it
	person telegram.User
	signed bool // it has a sender who can be learned from
	event  event.Event
}

// read names the event by what Telegram repeats on a redelivery.
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
	return msg{Message: m, raw: raw, chat: chat, person: person, signed: signed && !person.IsBot, event: ev}, nil
}

// name is how people know the sender.
func (m msg) name() string {
	if m.person.FirstName != "" {
		return m.person.FirstName
	}
	return m.person.Username
}

// message is the way of every message.
func (w *Worker) message(ctx context.Context, d delivery, m msg) error {
	var saved event.Outcome
	var known []alias.Match
	g := trips.SideBySide(ctx)
	g.Go(func(ctx context.Context) (err error) {
		saved, err = w.save(ctx, m)
		return critical("save", err)
	})
	if m.signed {
		g.Go(func(ctx context.Context) (err error) {
			known, err = w.Phrases.Match(ctx, m.chat, m.Words())
			return w.bestEffort(ctx, d, "phrases", err)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	d.report.Duplicate = saved == event.Duplicate
	if !m.signed {
		d.report.Kind = KindAnonym
		return nil
	}
	before, err := w.earlier(ctx, d, m)
	if err != nil {
		return err
	}
	g = trips.SideBySide(ctx)
	g.Go(func(ctx context.Context) error { return w.learnTiming(ctx, d, m) })
	g.Go(func(ctx context.Context) error { return w.meaning(ctx, d, m, known, before) })
	return g.Wait()
}

// earlier is what deliveries before this one have done.
type earlier struct {
	recorded []activity.Activity
	said     bool // the bot has asked or answered
}

// earlier asks for it. The first delivery of a message need not.
func (w *Worker) earlier(ctx context.Context, d delivery, m msg) (before earlier, _ error) {
	if !d.report.Duplicate {
		return earlier{}, nil
	}
	g := trips.SideBySide(ctx)
	g.Go(func(ctx context.Context) (err error) {
		before.recorded, err = w.Activities.OfEvent(ctx, m.chat, m.event)
		return critical("stored", err)
	})
	g.Go(func(ctx context.Context) (err error) {
		before.said, err = w.said(ctx, m)
		return w.bestEffort(ctx, d, "said", err)
	})
	return before, g.Wait()
}

// meaning finds what the message is for. What earlier deliveries made of it
// decides: phrases that were learned since must not make it something else.
func (w *Worker) meaning(ctx context.Context, d delivery, m msg, known []alias.Match, before earlier) error {
	question, reply, replied := w.answered(m)
	switch {
	case before.said && len(before.recorded) == 0:
		d.report.Kind, d.report.Silent = KindSaid, silentAgain
		return nil
	case replied:
		d.report.Kind = KindTeach
		return w.replied(ctx, d, m, question, reply, before)
	case len(before.recorded) > 0:
		return w.carryOn(ctx, d, m, before.recorded)
	}
	if handled, err := w.talk(ctx, d, m); handled || err != nil {
		return err
	}
	return w.activities(ctx, d, m, known)
}

// activities is the way of a message that wants nothing of the bot.
func (w *Worker) activities(ctx context.Context, d delivery, m msg, known []alias.Match) error {
	said, err := w.Classifier.Classify(ctx, m.Words(), phrasesOf(known))
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
	g := trips.SideBySide(ctx)
	g.Go(func(ctx context.Context) (err error) {
		recorded, err = w.record(ctx, d, m, done)
		return critical("record", err)
	})
	g.Go(func(ctx context.Context) (err error) {
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
// the reply. Neither waits for the other, and neither's trouble stops the
// other: a fresh grant is used at once or never.
func (w *Worker) follow(ctx context.Context, d delivery, m msg, recorded []activity.Activity, silent string) error {
	d.report.Kind, d.report.Recorded, d.report.Silent = KindActivity, recorded, silent
	g := trips.SideBySide(ctx)
	for _, a := range recorded {
		g.Go(func(ctx context.Context) error { return w.learnEffort(ctx, d, a) })
		g.Go(func(ctx context.Context) error { return w.learnHabit(ctx, d, a) })
	}
	if silent == "" {
		g.Go(func(ctx context.Context) error { return w.praise(ctx, d, m, recorded) })
	}
	return g.Wait()
}

func phrasesOf(matches []alias.Match) []classify.Known {
	known := make([]classify.Known, len(matches))
	for i, match := range matches {
		known[i] = classify.Known{Phrase: match.Phrase, Name: match.Name, Start: match.Start, End: match.End}
	}
	return known
}

// langOf guesses the language of a message from its words; the household is
// Swedish.
func langOf(text string) dialog.Lang {
	if dialog.LooksEnglish(text) {
		return dialog.English
	}
	return dialog.Swedish
}
