package histories_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// aliasStory has a few scopes, with one phrase in each. Most scopes begin with
// older spellings, which Backfill brings into the normal form.
type aliasStory struct {
	w      *world
	stores []*alias.Store
	scopes int
	began  map[string]row // what a scope began with, gathered
}

// aliasEvents is the number of events. A greater number is a later event.
const aliasEvents = 16

func newAlias(w *world) story {
	a := &aliasStory{w: w, began: map[string]row{}}
	for _, c := range w.callers {
		store, err := alias.New(c.client, "homeops", &alias.Config{Now: c.now, NoCache: true})
		if err != nil {
			panic(err)
		}
		a.stores = append(a.stores, store)
	}
	return a
}

func (a *aliasStory) tables() []schema.Table { return []schema.Table{a.stores[0].Table()} }
func (*aliasStory) keyOf(r row) string       { return str(r, "pk") }
func (*aliasStory) delay() time.Duration     { return time.Hour }
func (*aliasStory) leaps() []time.Duration   { return []time.Duration{time.Minute} }
func (*aliasStory) begin() []*call           { return nil }
func (*aliasStory) keen(*caller) bool        { return false }
func (*aliasStory) waited(*flight) bool      { return false }
func (*aliasStory) wrong() string            { return "" }
func (*aliasStory) verdict() string          { return "" }

// gather makes one row of the rows of a scope, by spelling.
func (*aliasStory) gather(all, r row) row {
	if all == nil {
		all = row{}
	}
	all[str(r, "sk")] = &types.AttributeValueMemberM{Value: r}
	return all
}

// scope returns a new scope, or one of the last two.
func (a *aliasStory) scope() string {
	if a.scopes == 0 || a.w.rnd.IntN(12) == 0 {
		a.scopes++
		a.found(fmt.Sprint(a.scopes))
	}
	return fmt.Sprint(a.scopes - a.w.rnd.IntN(min(2, a.scopes)))
}

// found writes the rows that older programs left in a scope that nobody has used
// yet.
func (a *aliasStory) found(scope string) {
	var book phrase
	for i := range book {
		if a.w.rnd.IntN(3) > 0 == (i > 0) { // mostly without a row in normal form
			book[i] = a.older()
			a.write(scope, spellings[i], book[i])
		}
	}
	if book != (phrase{}) {
		a.w.happened("ALIAS#"+scope, olderBook{book}, nil)
		a.began["ALIAS#"+scope] = a.w.rows()["ALIAS#"+scope]
	}
}

// older returns a row that was seeded, taught, confirmed or forgotten.
func (a *aliasStory) older() entry {
	e := entry{stands: true, namedBy: a.w.rnd.IntN(aliasEvents / 2)}
	if e.namedBy > 0 && a.w.rnd.IntN(4) == 0 {
		return e // forgotten
	}
	e.name, e.source = a.name(), "seed"
	if e.namedBy > 0 {
		e.source, e.teacher = "learned", "2"
	}
	if a.w.rnd.IntN(3) == 0 { // by a program of format 1
		e.confirmedBy, e.confirmations = e.namedBy+1, 2
	}
	for most := pick(a.w.rnd, []int{0, 1, 3, 7, 8, 8}); e.counted < most; { // 8 is full
		if ev := e.namedBy + 2 + a.w.rnd.IntN(aliasEvents-e.namedBy-1); !e.has(ev) {
			e = e.with(ev)
			e.confirmations++
		}
	}
	return e
}

func (a *aliasStory) write(scope, spelling string, e entry) {
	it := row{"pk": s("ALIAS#" + scope), "sk": s(spelling), "type": s("ALIAS")}
	optional := map[string]string{"canonicalActivity": e.name, "gsi1sk": e.name, "source": e.source, "learnedFrom": e.teacher}
	if e.named() {
		optional["gsi1pk"] = "ALIASES_BY_ACTIVITY#" + scope
		it["confirmations"] = n(e.confirmations)
	}
	if e.namedBy > 0 {
		optional["namedBy"] = numbered(e.namedBy).String()
	}
	if e.confirmedBy > 0 {
		optional["confirmedBy"] = numbered(e.confirmedBy).String()
	}
	for name, value := range optional {
		if value != "" {
			it[name] = s(value)
		}
	}
	if e.counted > 0 {
		set := &types.AttributeValueMemberBS{}
		for _, number := range e.confirmers[:e.counted] {
			ev := numbered(number)
			set.Value = append(set.Value, ev[:])
		}
		it["confirmers"] = set
	}
	if _, err := a.w.raw.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("homeops"), Item: it}); err != nil {
		panic(err)
	}
}

// phraseOf reads what gather has gathered.
func phraseOf(all row) (p phrase) {
	for i, spelling := range spellings {
		m, ok := all[spelling].(*types.AttributeValueMemberM)
		if !ok {
			continue
		}
		r := m.Value
		e := entry{
			stands: true, name: str(r, "canonicalActivity"), source: str(r, "source"), teacher: str(r, "learnedFrom"),
			namedBy: numberOf(str(r, "namedBy")), confirmedBy: numberOf(str(r, "confirmedBy")), confirmations: num(r, "confirmations"),
		}
		if str(r, "gsi1sk") != e.name {
			e.name = fmt.Sprintf("%s, and %s in the index", e.name, str(r, "gsi1sk"))
		}
		if set, ok := r["confirmers"].(*types.AttributeValueMemberBS); ok {
			for _, b := range set.Value {
				e = e.with(numberOf(event.Event(b).String()))
			}
		}
		p[i] = e
	}
	return p
}

// numberOf returns the number of an event, 0 without one.
func numberOf(text string) int {
	return 1 + slices.IndexFunc(aliasNumbers, func(other string) bool { return other == text })
}

var aliasNumbers = func() (all []string) {
	for number := range aliasEvents {
		all = append(all, numbered(number+1).String())
	}
	return all
}()

func (a *aliasStory) name() string { return pick(a.w.rnd, []string{"diskning", "kök"}) }

func (a *aliasStory) next(c *caller) *call {
	scope := a.scope()
	switch a.w.rnd.IntN(10) {
	case 0:
		return a.resolve(c, scope)
	case 1:
		return a.call(c, scope, gets{}, func(ctx context.Context) any {
			return a.seen(a.stores[c.id].Get(ctx, scope, spellings[1]))
		})
	case 2:
		return a.disown(c, scope, fmt.Sprint(a.w.rnd.IntN(3)), false)
	case 3:
		scanned := a.w.rows()
		if a.w.rnd.IntN(3) == 0 {
			scanned = a.began // the Scan lags
		}
		if call := a.backfill(c, scope, 1+a.w.rnd.IntN(2), scanned["ALIAS#"+scope]); call != nil {
			return call
		}
	}
	in := writes{verb: pick(a.w.rnd, []string{"Put", "Correct", "Confirm", "Confirm", "Forget"}), event: 1 + a.w.rnd.IntN(aliasEvents)}
	if in.verb != "Forget" {
		in.name = a.name()
	}
	return a.call(c, scope, in, func(ctx context.Context) any {
		out, err := a.send(ctx, c, scope, in)
		if owned, ok := errors.AsType[*alias.TakenError](err); ok {
			return taken{owned.Owner}
		}
		switch {
		case errors.Is(err, event.ErrSuperseded):
			return superseded{}
		case errors.Is(err, event.ErrTooOld):
			return tooOld{}
		case errors.Is(err, alias.ErrNotFound):
			return notFound{}
		case err != nil:
			return nil
		case out == event.Created:
			return created{}
		}
		return duplicate{}
	})
}

func (a *aliasStory) call(c *caller, scope string, in any, do func(context.Context) any) *call {
	return &call{caller: c, key: "ALIAS#" + scope, in: in, do: do}
}

func (a *aliasStory) send(ctx context.Context, c *caller, scope string, in writes) (event.Outcome, error) {
	store, spelling, ev := a.stores[c.id], spellings[in.event%3], numbered(in.event)
	switch in.verb {
	case "Put":
		return store.Put(ctx, alias.Put{Scope: scope, Phrase: spelling, Name: in.name, Event: ev, Actor: in.teacher()})
	case "Correct":
		return store.Correct(ctx, alias.Correct{Scope: scope, Phrase: spelling, Name: in.name, Event: ev, Actor: in.teacher()})
	case "Confirm":
		return store.Confirm(ctx, alias.Confirm{Scope: scope, Phrase: spelling, Name: in.name, Event: ev})
	}
	return store.Forget(ctx, alias.Forget{Scope: scope, Phrase: spelling, Event: ev})
}

// known is what a phrase stands for, as a read returns it.
type known struct {
	name, source, teacher string
	confirmations         int64
}

func (e entry) alias() any {
	if !e.named() {
		return absent{}
	}
	return known{e.name, e.source, e.teacher, e.confirmations}
}

func (*aliasStory) seen(found alias.Alias, ok bool, err error) any {
	switch {
	case err != nil && strings.HasSuffix(err.Error(), "its phrase is not in normal form, see Backfill"):
		return unreadable{}
	case err != nil:
		return nil
	case !ok:
		return absent{}
	}
	return known{found.Name, string(found.Source), found.LearnedFrom, found.Confirmations}
}

func (a *aliasStory) resolve(c *caller, scope string) *call {
	return a.call(c, scope, resolves{}, func(ctx context.Context) any {
		return a.seen(a.stores[c.id].Resolve(ctx, scope, spellings[2]))
	})
}

// backfill returns a call that moves a row of the scope, as it was read; nil if there
// was no row under this spelling.
func (a *aliasStory) backfill(c *caller, scope string, spelling int, all row) *call {
	read, ok := all[spellings[spelling]].(*types.AttributeValueMemberM)
	if !ok {
		return nil
	}
	return a.call(c, scope, moves{spelling, phraseOf(all)[spelling]}, func(ctx context.Context) any {
		move, _, err := a.stores[c.id].Backfill(read.Value)
		if err != nil {
			return err
		}
		_, err = c.client.TransactWriteItems(ctx, move)
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok && slices.ContainsFunc(cancelled.CancellationReasons, failed) {
			return duplicate{}
		}
		if err != nil {
			return nil
		}
		return created{}
	})
}

func failed(reason types.CancellationReason) bool { return *reason.Code == "ConditionalCheckFailed" }

// intrude erases a scope.
func (a *aliasStory) intrude() {
	if a.scopes == 0 {
		return
	}
	store, err := alias.New(a.w.raw, "homeops", &alias.Config{NoCache: true})
	if err != nil {
		panic(err)
	}
	scope := a.scope()
	n, err := store.Erase(context.Background(), scope)
	if err != nil {
		panic(err)
	}
	if n > 0 {
		a.w.happened("ALIAS#"+scope, erased{}, nil)
	}
}

// disown returns a call whose writes are moves of their own.
func (a *aliasStory) disown(c *caller, scope, actor string, alone bool) *call {
	return a.call(c, scope, disowns{actor, alone}, func(ctx context.Context) any {
		c.current().op = "none"
		n, err := a.stores[c.id].Disown(ctx, scope, actor)
		if err != nil {
			return nil
		}
		return removed{n}
	})
}

func (a *aliasStory) end() []*call {
	var calls []*call
	for i := range a.scopes {
		scope, c := fmt.Sprint(i+1), a.w.callers[0]
		calls = append(calls, a.resolve(c, scope))
		for spelling := range spellings {
			if call := a.backfill(c, scope, spelling, a.w.rows()["ALIAS#"+scope]); spelling > 0 && call != nil {
				calls = append(calls, call)
			}
		}
		calls = append(calls, a.resolve(c, scope))
		for actor := range 3 {
			calls = append(calls, a.disown(c, scope, fmt.Sprint(actor), true))
		}
	}
	return calls
}
