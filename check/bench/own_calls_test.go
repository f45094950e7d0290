package bench_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// An ownCall is a main call of a package, and the same requests made with
// guregu/dynamo.
type ownCall struct {
	name   string
	do     func(context.Context, stores) error
	guregu func(guregu, context.Context) error
}

var (
	noon   = time.Date(2026, 5, 11, 12, 0, 0, 0, time.UTC)
	clock  = func() time.Time { return noon.Add(time.Minute) }
	happen = must(event.New(noon, "bench", "42", "4711"))
)

// ownCalls never meet a row of their own event, so each is the common case, the
// first call.
var ownCalls = []ownCall{
	{"ledger.MarkSeen", func(ctx context.Context, s stores) error {
		_, err := s.ledger.MarkSeen(ctx, "ORDER:4711")
		return err
	}, guregu.markSeen},
	{"ledger.Do", func(ctx context.Context, s stores) error {
		_, err := ledger.Do(ctx, s.ledger, ledger.Request{Key: "ORDER:4712", Payload: []byte("42 of 7")},
			func(context.Context, *ledger.Claim) (string, error) { return "receipt 4712", nil })
		return err
	}, guregu.claimAndComplete},
	{"counter.Take", func(ctx context.Context, s stores) error {
		_, err := s.counter.Take(ctx, counter.Take{Key: "-100123", Event: happen, Weight: 1, Cap: 3})
		return err
	}, guregu.take},
	{"counter.Get", func(ctx context.Context, s stores) error {
		_, err := s.counter.Get(ctx, "-100123", noon)
		return err
	}, guregu.count},
	{"activity.Record", func(ctx context.Context, s stores) error {
		_, err := s.activity.Record(ctx, activity.Activity{Scope: "-100123", Actor: "42", ActorName: "Ann", Event: happen, Name: "dishes", Kind: "chore", Seq: 4711, Effort: 1.5, Confidence: 0.9})
		return err
	}, guregu.record},
	{"activity.InScope of 20", func(ctx context.Context, s stores) error {
		return twenty(s.activity.InScope(ctx, "full", activity.Range{Limit: 20, NewestFirst: true}))
	}, guregu.activities20},
	{"message.Save", func(ctx context.Context, s stores) error {
		_, err := s.message.Save(ctx, message.Message{Scope: "-100123", Seq: 4711, Actor: "42", ActorName: "Ann", Text: "done", Raw: `{"text":"done"}`, At: noon})
		return err
	}, guregu.save},
	{"message.InScope of 20", func(ctx context.Context, s stores) error {
		return twenty(s.message.InScope(ctx, "full", message.Range{Limit: 20}))
	}, guregu.messages20},
	{"memory.LastOf", func(ctx context.Context, s stores) error {
		_, _, err := s.memory.LastOf(ctx, "full", "dishes")
		return err
	}, guregu.last},
	{"alias.Confirm", func(ctx context.Context, s stores) error {
		_, err := s.alias.Confirm(ctx, alias.Confirm{Scope: "full", Phrase: "the dishes", Name: "dishes", Event: happen})
		return err
	}, guregu.confirm},
	{"pattern.Observe", func(ctx context.Context, s stores) error {
		_, err := s.pattern.Observe(ctx, pattern.Observe{Scope: "full", Actor: "42", Name: "dishes", Event: happen})
		return err
	}, guregu.observe},
	{"ema.Observe", func(ctx context.Context, s stores) error {
		_, err := s.ema.Observe(ctx, ema.Observe{Subject: "42", Metric: "dishes", Event: happen, Value: 1.5})
		return err
	}, guregu.learn},
}

// twenty collects what a list yields.
func twenty[T any](list iter.Seq2[T, error]) error {
	var all []T
	for one, err := range list {
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	return counted(len(all), nil)
}

func counted(n int, err error) error {
	if err == nil && n != 20 {
		err = fmt.Errorf("got %d rows", n)
	}
	return err
}

// stores has a store of each package, over one API.
type stores struct {
	ledger   *ledger.Store
	counter  *counter.Store
	activity *activity.Store
	message  *message.Store
	memory   *memory.Memory
	alias    *alias.Store
	pattern  *pattern.Store
	ema      *ema.Store
}

func newStores(b *testing.B, db api) stores {
	b.Helper()
	acts := must(activity.New(db, "activities", &activity.Config{Now: clock}))
	return stores{
		ledger:   must(ledger.New(db, "ledger", &ledger.Config{Now: clock})),
		counter:  must(counter.New(db, "counters", tzclock.Stockholm, &counter.Config{Now: clock})),
		activity: acts,
		message:  must(message.New(db, "messages", &message.Config{Now: clock})),
		memory:   must(memory.New(acts, tzclock.Stockholm)),
		alias:    must(alias.New(db, "rows", &alias.Config{Now: clock})),
		pattern:  must(pattern.New(db, "rows", tzclock.Stockholm, &pattern.Config{Now: clock})),
		ema:      must(ema.New(db, "rows", &ema.Config{Prefix: "EFFORT", Now: clock})),
	}
}

func (s stores) tables() []schema.Table {
	return []schema.Table{s.ledger.Table(), s.counter.Table(), s.activity.Table(), s.message.Table(), s.alias.Table(), s.pattern.Table(), s.ema.Table()}
}

// fill writes the rows that the calls find: 20 earlier ones of each kind.
func (s stores) fill(ctx context.Context) error {
	if _, err := s.alias.Seed(ctx, "full", map[string]string{"the dishes": "dishes"}); err != nil {
		return err
	}
	for i := range 20 {
		at := noon.Add(time.Duration(i-30) * time.Minute)
		ev := must(event.New(at, "bench", "full", strconv.Itoa(i)))
		if _, err := s.activity.Record(ctx, activity.Activity{Scope: "full", Actor: "42", ActorName: "Ann", Event: ev, Name: "dishes", Kind: "chore", Seq: int64(i + 1), Effort: 1.5, Confidence: 0.9}); err != nil {
			return err
		}
		if _, err := s.message.Save(ctx, message.Message{Scope: "full", Seq: int64(i + 1), Actor: "42", ActorName: "Ann", Text: "done", Raw: `{"text":"done"}`, At: at}); err != nil {
			return err
		}
		if _, err := s.pattern.Observe(ctx, pattern.Observe{Scope: "full", Actor: "42", Name: "dishes", Event: ev}); err != nil {
			return err
		}
		if _, err := s.ema.Observe(ctx, ema.Observe{Subject: "42", Metric: "dishes", Event: ev, Value: float64(i)}); err != nil {
			return err
		}
	}
	_, err := s.counter.Add(ctx, counter.Add{Key: "-100123", Event: must(event.New(noon, "bench", "another")), Weight: 1})
	return err
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
