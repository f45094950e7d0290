package house

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

const (
	table = "records"
	home  = "-100123"
	anna  = "42"
	wash  = "dishes"
)

var (
	noon    = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	errDown = errors.New("service down")
	down    = recordtest.Down(errDown)
)

// methods are the calls of a value's methods, by name, on an API that always
// fails.
type methods = map[string]func(context.Context) error

// Each error of a request names package, method and table in the same form, for
// every method that takes a context. The SDK's error stays reachable.
func TestErrorsNameTheMethod(t *testing.T) {
	t.Parallel()
	s := storesOnDown(t)
	claim := claimOfNoTable(t)
	ev := recordtest.Event(t, noon, "errors")

	wantNamed(t, "activity", s.acts, activityCalls(s.acts, ev))
	wantNamed(t, "alias", s.book, aliasCalls(s.book, ev))
	wantNamed(t, "counter", s.limits, counterCalls(s.limits, ev))
	wantNamed(t, "ema", s.averages, emaCalls(s.averages, ev))
	people := operators(t, s.seen, down)
	wantNamed(t, "ledger", people, ledgerCalls(people, claim.Token()))
	wantNamed(t, "ledger", claim, claimCalls(claim))
	wantNamed(t, "memory", s.memories, memoryCalls(s.memories))
	wantNamed(t, "message", s.said, messageCalls(s.said))
	wantNamed(t, "pattern", s.habits, patternCalls(s.habits, ev))
	wantNamed(t, "own", s.last, recordCalls(s.counted, s.last, ev))
}

// stores has a store of each package, on an API that always fails.
type stores struct {
	acts          *activity.Store
	book          *alias.Store
	limits        *counter.Store
	averages      *ema.Store
	seen          *ledger.Store
	memories      *memory.Memory
	said          *message.Store
	habits        *pattern.Store
	counted, last *record.Rows[string]
}

func storesOnDown(t *testing.T) (s stores) {
	t.Helper()
	var errs [10]error
	clock := recordtest.Clock(noon)
	s.acts, errs[0] = activity.New(down, table, &activity.Config{Now: clock})
	s.book, errs[1] = alias.New(down, table, &alias.Config{Now: clock})
	s.limits, errs[2] = counter.New(down, table, tzclock.UTC, &counter.Config{Now: clock})
	s.averages, errs[3] = ema.New(down, table, &ema.Config{Now: clock})
	s.seen, errs[4] = ledger.New(down, table, &ledger.Config{Now: clock})
	s.said, errs[5] = message.New(down, table, &message.Config{Now: clock, ActorIndex: true})
	s.habits, errs[6] = pattern.New(down, table, tzclock.UTC, &pattern.Config{Now: clock})
	name := func(row record.Item) (string, error) { return record.Read(row).Text("name"), nil }
	s.counted, errs[7] = record.New(down, table, record.Kind[string]{Package: "own", Type: "OWN", Count: "n", Decode: name}, &record.Config{Now: clock})
	s.last, errs[8] = record.New(down, table, record.Kind[string]{Package: "own", Type: "OWN", Attributes: []string{"name"}, Decode: name}, &record.Config{Now: clock})
	s.memories, errs[9] = memory.New(s.acts, tzclock.UTC)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return s
}

// wantNamed makes each call, and fails the test for every method without a
// call.
func wantNamed(t *testing.T, pkg string, of any, calls methods) {
	t.Helper()
	takesContext := reflect.TypeFor[context.Context]()
	for method := range reflect.TypeOf(of).Methods() {
		if method.Type.NumIn() < 2 || method.Type.In(1) != takesContext {
			continue
		}
		call, ok := calls[method.Name]
		if !ok {
			t.Errorf("no call of %s's %s", pkg, method.Name)
			continue
		}
		delete(calls, method.Name)
		err := call(t.Context())
		if want := pkg + ": " + method.Name + " on table " + table + ": "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s…", err, want)
		}
		if _, gone := of.(*ledger.Claim); !gone && !errors.Is(err, errDown) {
			t.Errorf("%s's %s: %v hides the API's error", pkg, method.Name, err)
		}
	}
	for name := range calls {
		t.Errorf("%s has no %s that takes a context", pkg, name)
	}
}

// claimOfNoTable is a claim whose table was deleted: every request about it
// fails.
func claimOfNoTable(t *testing.T) *ledger.Claim {
	t.Helper()
	db := dynamotest.New(t, nil).Client()
	seen, err := ledger.New(db, table, nil)
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, db, seen.Table())
	c, err := seen.Claim(t.Context(), ledger.Request{Key: "errors"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(table)}); err != nil {
		t.Fatal(err)
	}
	return c
}

// failure returns the error of a call that also returns something else.
func failure[T any](_ T, err error) error { return err }

// missing does so for a call that reports whether something exists.
func missing[T any](_ T, _ bool, err error) error { return err }

// walked does so for a walk, whose first step fails.
func walked[T any](walk iter.Seq2[T, error]) error {
	for _, err := range walk {
		return err
	}
	return nil
}

func activityCalls(s *activity.Store, ev event.Event) methods {
	a := activity.Activity{Scope: home, Actor: anna, Name: wash, Event: ev}
	var r activity.Range
	return methods{
		"Record":      func(ctx context.Context) error { return failure(s.Record(ctx, a)) },
		"RecordAll":   func(ctx context.Context) error { return failure(s.RecordAll(ctx, []activity.Activity{a})) },
		"RecordMany":  func(ctx context.Context) error { return failure(s.RecordMany(ctx, []activity.Activity{a})) },
		"Delete":      func(ctx context.Context) error { return s.Delete(ctx, home, ev) },
		"DeleteEvent": func(ctx context.Context) error { return s.DeleteEvent(ctx, home, ev) },
		"Retract": func(ctx context.Context) error {
			return failure(s.Retract(ctx, activity.Retract{Scope: home, Event: ev}))
		},
		"Erase":      func(ctx context.Context) error { return failure(s.Erase(ctx, home)) },
		"EraseActor": func(ctx context.Context) error { return failure(s.EraseActor(ctx, anna)) },
		"Tally": func(ctx context.Context) error {
			return failure(s.Tally(ctx, activity.Filter{Scope: home}))
		},
		"OfEvent": func(ctx context.Context) error { return failure(s.OfEvent(ctx, home, ev)) },
		"Count": func(ctx context.Context) error {
			return failure(s.Count(ctx, activity.Filter{Scope: home, Name: wash}))
		},
		"InScope":        func(ctx context.Context) error { return walked(s.InScope(ctx, home, r)) },
		"ByActor":        func(ctx context.Context) error { return walked(s.ByActor(ctx, anna, r)) },
		"ByName":         func(ctx context.Context) error { return walked(s.ByName(ctx, home, wash, r)) },
		"ByActorAndName": func(ctx context.Context) error { return walked(s.ByActorAndName(ctx, home, anna, wash, r)) },
	}
}

func aliasCalls(s *alias.Store, ev event.Event) methods {
	return methods{
		"All":       func(ctx context.Context) error { return failure(s.All(ctx, home)) },
		"Refresh":   func(ctx context.Context) error { return failure(s.Refresh(ctx, home)) },
		"Match":     func(ctx context.Context) error { return failure(s.Match(ctx, home, wash)) },
		"Resolve":   func(ctx context.Context) error { return missing(s.Resolve(ctx, home, wash)) },
		"Get":       func(ctx context.Context) error { return missing(s.Get(ctx, home, wash)) },
		"PhrasesOf": func(ctx context.Context) error { return failure(s.PhrasesOf(ctx, home, wash)) },
		"Adopt":     func(ctx context.Context) error { return failure(s.Adopt(ctx, home)) },
		"Disown":    func(ctx context.Context) error { return failure(s.Disown(ctx, home, anna)) },
		"Erase":     func(ctx context.Context) error { return failure(s.Erase(ctx, home)) },
		"Seed":      func(ctx context.Context) error { return failure(s.Seed(ctx, home, map[string]string{"wash": wash})) },
		"Put": func(ctx context.Context) error {
			return failure(s.Put(ctx, alias.Put{Scope: home, Phrase: "wash", Name: wash, Event: ev}))
		},
		"Correct": func(ctx context.Context) error {
			return failure(s.Correct(ctx, alias.Correct{Scope: home, Phrase: "wash", Name: wash, Event: ev}))
		},
		"Confirm": func(ctx context.Context) error {
			return failure(s.Confirm(ctx, alias.Confirm{Scope: home, Phrase: "wash", Name: wash, Event: ev}))
		},
		"Forget": func(ctx context.Context) error {
			return failure(s.Forget(ctx, alias.Forget{Scope: home, Phrase: "wash", Event: ev}))
		},
	}
}

func counterCalls(s *counter.Store, ev event.Event) methods {
	return methods{
		"Take": func(ctx context.Context) error {
			return failure(s.Take(ctx, counter.Take{Key: home, Event: ev, Weight: 1, Cap: 1}))
		},
		"Add": func(ctx context.Context) error {
			return failure(s.Add(ctx, counter.Add{Key: home, Event: ev, Weight: 1}))
		},
		"Refund": func(ctx context.Context) error {
			return failure(s.Refund(ctx, counter.Refund{Key: home, Event: ev, Weight: 1}))
		},
		"AddUnkeyed": func(ctx context.Context) error {
			return failure(s.AddUnkeyed(ctx, counter.AddUnkeyed{Key: home, At: noon, Weight: 1}))
		},
		"Get":   func(ctx context.Context) error { return failure(s.Get(ctx, home, tzclock.UTC.Date(noon))) },
		"Erase": func(ctx context.Context) error { return failure(s.Erase(ctx, home)) },
		"Adjust": func(ctx context.Context) error {
			return failure(s.Adjust(ctx, counter.Adjust{Key: home, Event: ev, From: 1, To: 1}))
		},
	}
}

func emaCalls(s *ema.Store, ev event.Event) methods {
	return methods{
		"Observe": func(ctx context.Context) error {
			return failure(s.Observe(ctx, ema.Observe{Subject: anna, Metric: wash, Event: ev, Value: 1}))
		},
		"Get":   func(ctx context.Context) error { return missing(s.Get(ctx, anna, wash)) },
		"All":   func(ctx context.Context) error { return failure(s.All(ctx, anna)) },
		"Erase": func(ctx context.Context) error { return failure(s.Erase(ctx, anna)) },
	}
}

func operators(t *testing.T, s *ledger.Store, api ledger.OperatorsAPI) *ledger.Operators {
	t.Helper()
	o, err := s.Operators(api)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func ledgerCalls(s *ledger.Operators, token string) methods {
	return methods{
		"Claim":    func(ctx context.Context) error { return failure(s.Claim(ctx, ledger.Request{Key: home})) },
		"MarkSeen": func(ctx context.Context) error { return failure(s.MarkSeen(ctx, home)) },
		"Get":      func(ctx context.Context) error { return missing(s.Get(ctx, home)) },
		"List":     func(ctx context.Context) error { return walked(s.List(ctx, ledger.Filter{})) },
		"Reopen":   func(ctx context.Context) error { return s.Reopen(ctx, ledger.Record{Key: home}) },
		"Erase":    func(ctx context.Context) error { return s.Erase(ctx, home) },
		"Forget":   func(ctx context.Context) error { return s.Forget(ctx, ledger.Record{Key: home}) },
		"Resume":   func(ctx context.Context) error { return failure(s.Resume(ctx, token)) },
	}
}

func claimCalls(c *ledger.Claim) methods {
	return methods{
		"Complete": func(ctx context.Context) error { return c.Complete(ctx, wash) },
		"Fail":     func(ctx context.Context) error { return c.Fail(ctx, errDown) },
		"Renew":    func(ctx context.Context) error { return c.Renew(ctx) },
		"Release":  func(ctx context.Context) error { return c.Release(ctx) },
	}
}

func memoryCalls(m *memory.Memory) methods {
	return methods{
		"LastOf": func(ctx context.Context) error { return missing(m.LastOf(ctx, home, wash)) },
		"LastBy": func(ctx context.Context) error { return missing(m.LastBy(ctx, home, anna, wash)) },
		"CountBy": func(ctx context.Context) error {
			return failure(m.CountBy(ctx, activity.Filter{Scope: home, Name: wash}))
		},
		"ThisWeek": func(ctx context.Context) error {
			return failure(m.ThisWeek(ctx, memory.ThisWeek{Scope: home, Name: wash, Of: noon}))
		},
		"TallyWeek": func(ctx context.Context) error {
			return failure(m.TallyWeek(ctx, home, noon))
		},
	}
}

func messageCalls(s *message.Store) methods {
	return methods{
		"Save": func(ctx context.Context) error {
			return failure(s.Save(ctx, message.Message{Scope: home, Seq: 1, At: noon}))
		},
		"DropRaw":    func(ctx context.Context) error { return s.DropRaw(ctx, home, 7) },
		"Erase":      func(ctx context.Context) error { return failure(s.Erase(ctx, home)) },
		"EraseActor": func(ctx context.Context) error { return failure(s.EraseActor(ctx, anna)) },
		"ByActor":    func(ctx context.Context) error { return walked(s.ByActor(ctx, anna, message.Range{})) },
		"Get":        func(ctx context.Context) error { return missing(s.Get(ctx, home, 1)) },
		"Recent":     func(ctx context.Context) error { return failure(s.Recent(ctx, home, 1)) },
		"InScope":    func(ctx context.Context) error { return walked(s.InScope(ctx, home, message.Range{})) },
		"FastConversation": func(ctx context.Context) error {
			return failure(s.FastConversation(ctx, message.FastConversation{Scope: home, Seq: 2, Actor: anna, At: noon}))
		},
	}
}

func patternCalls(s *pattern.Store, ev event.Event) methods {
	return methods{
		"Observe": func(ctx context.Context) error {
			return failure(s.Observe(ctx, pattern.Observe{Scope: home, Actor: anna, Name: wash, Event: ev}))
		},
		"ObserveAll": func(ctx context.Context) error {
			return failure(s.ObserveAll(ctx, pattern.ObserveAll{Scope: home, Actor: anna, Name: wash, Events: []event.Event{ev}}))
		},
		"Get":   func(ctx context.Context) error { return missing(s.Get(ctx, home, anna, wash)) },
		"All":   func(ctx context.Context) error { return failure(s.All(ctx, home, anna)) },
		"Erase": func(ctx context.Context) error { return failure(s.Erase(ctx, home, anna)) },
	}
}

// recordCalls returns the calls of rows that count, and of rows whose last
// event wins.
func recordCalls(counted, last *record.Rows[string], ev event.Event) methods {
	nothing := func(record.Item, event.Event) (record.Item, error) { return nil, nil }
	return methods{
		"Apply": func(ctx context.Context) error {
			return failure(counted.Apply(ctx, record.Apply{Partition: home, Sort: wash, Event: ev, Next: nothing}))
		},
		"ApplyAll": func(ctx context.Context) error {
			return failure(counted.ApplyAll(ctx, record.ApplyAll{Partition: home, Sort: wash, Events: []event.Event{ev}, Next: nothing}))
		},
		"ApplyItem": func(ctx context.Context) error {
			return failure(counted.ApplyItem(ctx, record.Apply{Partition: home, Sort: wash, Event: ev, Next: nothing}))
		},
		"Set": func(ctx context.Context) error {
			return failure(last.Set(ctx, record.Set{Partition: home, Sort: wash, Event: ev, Values: record.Item{"name": record.Text("x")}}))
		},
		"Get":   func(ctx context.Context) error { return missing(last.Get(ctx, home, wash)) },
		"All":   func(ctx context.Context) error { return failure(last.All(ctx, home)) },
		"Erase": func(ctx context.Context) error { return failure(last.Erase(ctx, home)) },
	}
}

// schema's only call is a function, not a method.
func TestCreateNamesItself(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := schema.Create(ctx, dynamotest.New(t, nil).Client(), schema.Table{Name: table, Key: schema.Key{Partition: schema.String("pk")}})
	if want := "schema: Create on table " + table + ": "; !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}
