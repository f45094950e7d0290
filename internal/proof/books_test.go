package proof_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/message"
)

func TestAlias(t *testing.T) {
	book := func(p process) *alias.Store {
		return must(alias.New(p.api, "book", &alias.Config{Now: p.now, NoCache: true}))
	}
	teach := func(name string, n int, do func(context.Context, *alias.Store, event.Event) (event.Outcome, error)) call {
		return call{fmt.Sprintf("%s%02d", name, n), func(ctx context.Context, p process) string {
			out, err := do(ctx, book(p), at(dawn, n))
			if _, ok := errors.AsType[*alias.TakenError](err); ok {
				return "taken"
			}
			return answer(out, err, alias.ErrNotFound)
		}}
	}
	put := func(n int, name string) call {
		return teach("Put", n, func(ctx context.Context, s *alias.Store, ev event.Event) (event.Outcome, error) {
			return s.Put(ctx, alias.Put{Scope: "home", Phrase: "diska", Name: name, Event: ev, Actor: "1"})
		})
	}
	correct := func(n int, name string) call {
		return teach("Correct", n, func(ctx context.Context, s *alias.Store, ev event.Event) (event.Outcome, error) {
			return s.Correct(ctx, alias.Correct{Scope: "home", Phrase: "diska", Name: name, Event: ev, Actor: "2"})
		})
	}
	confirm := func(n int) call {
		return teach("Confirm", n, func(ctx context.Context, s *alias.Store, ev event.Event) (event.Outcome, error) {
			return s.Confirm(ctx, alias.Confirm{Scope: "home", Phrase: "diska", Name: "x", Event: ev})
		})
	}
	forget := func(n int) call {
		return teach("Forget", n, func(ctx context.Context, s *alias.Store, ev event.Event) (event.Outcome, error) {
			return s.Forget(ctx, alias.Forget{Scope: "home", Phrase: "diska", Event: ev})
		})
	}
	full := []call{put(1, "x")}
	for n := range 8 {
		full = append(full, confirm(20+2*n))
	}
	given := map[string]string{} // names, by the events that gave them
	for n, name := range map[int]string{1: "x", 10: "x", 11: "y", 30: "y", 40: "x", 41: "y", 60: "y"} {
		given[at(dawn, n).String()] = name
	}
	s := &suite{
		table: book(nobody).Table(), differs: []string{"createdAt", "updatedAt"}, serial: true,
		starts: []starting{
			{name: "absent"},
			{name: "named", seeds: before(put(1, "x"))},
			{name: "forgotten", seeds: before(put(1, "x"), forget(2))},
			{name: "confirmed", seeds: before(put(1, "x"), confirm(50))},
			{name: "full", seeds: before(full...)},
		},
		calls: [][]call{
			{put(10, "x"), put(11, "y")},
			{confirm(50), confirm(51)},
			{confirm(50), confirm(50).again()},
			{confirm(21), confirm(50)},
			{confirm(50), correct(30, "y")},
			{confirm(50), correct(60, "y")},
			{put(10, "x"), forget(40)},
			{correct(40, "x"), correct(41, "y")},
			{correct(41, "y"), forget(40)},
			{confirm(50), confirm(51), correct(60, "y")},
			{put(10, "x"), confirm(50), forget(40)},
		},
		step: func(was, is rows, _ time.Time) error {
			old, r := was["ALIAS#home diska"], is["ALIAS#home diska"]
			confirmers := len(strings.Split(str(r, "confirmers"), ","))
			if r["confirmers"] == nil {
				confirmers = 0
			}
			named, name := given[str(r, "namedBy")], str(r, "canonicalActivity")
			switch n, then := num(old, "confirmations"), num(r, "confirmations"); {
			case named != "" && name != "" && name != named:
				return fmt.Errorf("the event that named the phrase %s stands at %s", named, name)
			case str(r, "namedBy") < str(old, "namedBy"):
				return errors.New("an earlier event named the phrase")
			case str(r, "canonicalActivity") != str(old, "canonicalActivity") && old != nil && str(r, "namedBy") == str(old, "namedBy"):
				return errors.New("the name changed without an event")
			case str(r, "canonicalActivity") == str(old, "canonicalActivity") && then > n+1, confirmers < 8 && then != int64(confirmers):
				return fmt.Errorf("%d confirmations by %d events, after %d", then, confirmers, n)
			}
			return nil
		},
	}
	s.prove(t)
}

func TestMessage(t *testing.T) {
	messages := func(p process) *message.Store {
		return must(message.New(p.api, "messages", &message.Config{Now: p.now, Retention: 24 * time.Hour}))
	}
	save := func(words string, age time.Duration) call {
		return call{"Save " + words, func(ctx context.Context, p process) string {
			return answer(messages(p).Save(ctx, message.Message{Scope: "chat", Seq: 1, Actor: "7", Text: words, At: start.Add(-age)}))
		}}
	}
	erase := call{"Erase", func(ctx context.Context, p process) string {
		_, err := messages(p).Erase(ctx, "chat")
		return finished(err)
	}}
	s := &suite{
		table: messages(nobody).Table(), differs: []string{"createdAt"}, serial: true,
		starts: []starting{
			{name: "absent"},
			{name: "saved", seeds: before(save("old", time.Hour))},
			{name: "expired", seeds: []seed{ago(24*time.Hour+time.Minute, save("old", 24*time.Hour+time.Minute))}},
		},
		calls: [][]call{{save("a", time.Hour), save("b", time.Hour)}, {save("a", time.Hour), erase}, {erase, erase.again()}, {save("a", time.Hour), save("b", time.Hour), erase}},
		step: func(was, is rows, now time.Time) error {
			for key, old := range was {
				if r := is[key]; r != nil && str(r, "text") != str(old, "text") && now.Unix() < num(old, "ttl") {
					return fmt.Errorf("the message %q was replaced by %q", str(old, "text"), str(r, "text"))
				}
			}
			return nil
		},
		told: func(c call, told string, now rows) error {
			for _, r := range now {
				if taken(told) && num(r, "ttl") <= start.Unix() {
					return fmt.Errorf("%s was told %s, and the message has expired", c.name, told)
				}
			}
			return nil
		},
	}
	s.prove(t)
}

func TestActivity(t *testing.T) {
	log := func(p process) *activity.Store {
		return must(activity.New(p.api, "activities", &activity.Config{Now: p.now, Retention: 24 * time.Hour}))
	}
	doing := func(name string, do func(context.Context, *activity.Store, event.Event) (event.Outcome, error)) call {
		return call{name, func(ctx context.Context, p process) string {
			out, err := do(ctx, log(p), at(dawn, 1))
			if _, ok := errors.AsType[*activity.ConflictError](err); ok {
				return "conflict"
			}
			return answer(out, err, activity.ErrRetracted, activity.ErrNotFound)
		}}
	}
	record := func(name string) call {
		return doing("Record "+name, func(ctx context.Context, s *activity.Store, ev event.Event) (event.Outcome, error) {
			return s.Record(ctx, activity.Activity{Scope: "chat", Actor: "7", Event: ev, Name: name})
		})
	}
	retract := func(name string, tombstone bool) call {
		return doing(name, func(ctx context.Context, s *activity.Store, ev event.Event) (event.Outcome, error) {
			return s.Retract(ctx, activity.Retract{Scope: "chat", Event: ev, Tombstone: tombstone})
		})
	}
	step := func(was, is rows, now time.Time) error {
		for key, old := range was {
			r := is[key]
			gone, goes := old["retractedAt"] != nil, r["retractedAt"] != nil
			switch {
			case str(r, "createdAt") != str(old, "createdAt") && str(r, "createdAt") >= time.Unix(num(r, "ttl"), 0).UTC().Format(time.RFC3339):
				return errors.New("what had expired was recorded")
			case now.Unix() >= num(old, "ttl"):
			case r == nil, gone && str(r, "retractedAt") != str(old, "retractedAt"), !goes && str(r, "activity") != str(old, "activity"):
				return fmt.Errorf("%s became %s", str(old, "activity")+str(old, "retractedAt"), str(r, "activity")+str(r, "retractedAt"))
			}
		}
		return nil
	}
	starts := []starting{
		{name: "absent"}, {name: "recorded", seeds: before(record("a"))}, {name: "retracted", seeds: before(retract("Tombstone", true))},
	}
	s := &suite{
		table: log(nobody).Table(), differs: []string{"createdAt", "retractedAt"}, serial: true, starts: starts, step: step,
		told: func(c call, told string, now rows) error {
			for _, r := range now {
				if c.name == "Tombstone" && taken(told) && r["retractedAt"] == nil {
					return errors.New("told that it is retracted, and it stands")
				}
			}
			return nil
		},
		calls: [][]call{{record("a"), record("b")}, {record("a"), record("a").again()}, {record("a"), retract("Tombstone", true)}, {retract("Retract", false), retract("Tombstone", true)}},
	}
	s.prove(t)
	standing := *s // without a tombstone, only what stands is retracted
	standing.calls = [][]call{{record("a"), retract("Retract", false)}, {record("a"), record("b"), retract("Retract", false)}}
	standing.step = func(was, is rows, now time.Time) error {
		for key, r := range is {
			if was[key] == nil && r["retractedAt"] != nil {
				return errors.New("nothing was retracted")
			}
		}
		return step(was, is, now)
	}
	t.Run("standing", standing.prove)
}
