package alias_test

import (
	"context"
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/pricetest"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	f := open(t)
	for _, phrase := range []string{"confirm", "full", "correct", "forget"} {
		do(t, event.Created)(f.Put(t.Context(), alias.Put{Scope: chat, Phrase: phrase, Name: "x", Event: eventAt(t, 60), Actor: "42"}))
	}
	for minutesAgo := 51; minutesAgo < 59; minutesAgo++ {
		do(t, event.Created)(f.Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: "full", Name: "x", Event: eventAt(t, minutesAgo)}))
	}
	do(t, event.Created)(f.Put(t.Context(), alias.Put{Scope: "disown", Phrase: "x", Name: "x", Event: eventAt(t, 60), Actor: "42"}))
	f.write(t, with(golden(t, "older"), map[string]any{"pk": s("ALIAS#erase")}))
	ev := eventAt(t, 50)
	cold := func() *alias.Store { return f.another(t, nil) }
	pricetest.Run(t, f.db, []pricetest.Case{
		{Func: "Store.Put", Call: func(ctx context.Context) error {
			_, err := cold().Put(ctx, alias.Put{Scope: chat, Phrase: "put", Name: "x", Event: ev, Actor: "42"})
			return err
		}},
		{Func: "Store.Seed", Call: func(ctx context.Context) error {
			_, err := cold().Seed(ctx, chat, map[string]string{"seed": "x"})
			return err
		}},
		{Func: "Store.Confirm", Call: func(ctx context.Context) error {
			_, err := f.Confirm(ctx, alias.Confirm{Scope: chat, Phrase: "confirm", Name: "x", Event: ev})
			return err
		}},
		{Func: "Store.Confirm", In: "full", Call: func(ctx context.Context) error {
			_, err := f.Confirm(ctx, alias.Confirm{Scope: chat, Phrase: "full", Name: "x", Event: ev})
			return err
		}, Local: local(2, 0, 2), Why: "it reports nothing of a failed condition"},
		{Func: "Store.Correct", Call: func(ctx context.Context) error {
			_, err := cold().Correct(ctx, alias.Correct{Scope: chat, Phrase: "correct", Name: "y", Event: ev, Actor: "42"})
			return err
		}},
		{Func: "Store.Forget", Call: func(ctx context.Context) error {
			_, err := cold().Forget(ctx, alias.Forget{Scope: chat, Phrase: "forget", Event: ev})
			return err
		}},
		{Func: "Store.All", Call: func(ctx context.Context) error { _, err := cold().All(ctx, chat); return err }},
		{Func: "Store.Refresh", Call: func(ctx context.Context) error { _, err := cold().Refresh(ctx, chat); return err }},
		{Func: "Store.Resolve", Call: func(ctx context.Context) error { _, _, err := cold().Resolve(ctx, chat, "put"); return err }},
		{Func: "Store.Match", Call: func(ctx context.Context) error { _, err := cold().Match(ctx, chat, "put"); return err }},
		{Func: "Store.Get", Call: func(ctx context.Context) error { _, _, err := f.Get(ctx, chat, "put"); return err }},
		{Func: "Store.PhrasesOf", Call: func(ctx context.Context) error { _, err := f.PhrasesOf(ctx, chat, "x"); return err }},
		{
			Func: "Store.Erase", In: "none", Call: func(ctx context.Context) error { _, err := f.Erase(ctx, "nobody"); return err },
			Local: local(1, 0, 0), Why: "it reports nothing of a query that finds nothing",
		},
		{Func: "Store.Disown", Call: func(ctx context.Context) error { _, err := f.Disown(ctx, "disown", "42"); return err }},
		{Func: "Store.Erase", Call: func(ctx context.Context) error { _, err := f.Erase(ctx, "erase"); return err }},
	}, f.Store)
}

// What the Price paragraphs say after their first sentence.
func TestFurtherPrices(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.f.write(t, golden(t, "older"))
	correct := func(name string, minutesAgo int) func() {
		return func() { do(t, event.Created)(w.correct(name, minutesAgo)) }
	}
	w.f.db.Meter(correct("diskning", 60)).Want(t, price(1, 0, 2)) // a free phrase
	w.f.db.Meter(correct("torkning", 50)).Want(t, price(1, 0, 3)) // another name
	read := func() {
		if _, err := w.f.All(t.Context(), chat); err != nil {
			t.Error(err)
		}
	}
	w.f.db.Meter(read).Want(t, price(1, 1, 0)) // the first after a write
	w.f.db.Meter(read).Want(t, price(0, 0, 0)) // warm
	unknown := func() {
		if _, ok, err := w.f.Resolve(t.Context(), chat, "okänd"); ok || err != nil {
			t.Error(ok, err)
		}
	}
	w.f.db.Meter(unknown).Want(t, price(0, 0, 0))
	if w.f.db.InProcess() { // which prices refusals too
		w.f.db.Meter(correct("torkning", 40)).Want(t, price(2, 0, 3)) // the current name
		w.f.db.Meter(func() { owner(t, "torkning")(w.put("x", 30)) }).Want(t, price(1, 0, 1))
		w.f.db.Meter(func() { refused(t, event.ErrSuperseded)(w.forget(45)) }).Want(t, price(1, 0, 1))
	}
}

func local(requests int, rcu, wcu float64) *dynamotest.Price {
	p := price(requests, rcu, wcu)
	return &p
}

func price(requests int, rcu, wcu float64) dynamotest.Price {
	return dynamotest.Price{Requests: requests, RCU: rcu, WCU: wcu}
}
