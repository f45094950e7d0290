package alias_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

// calls are all methods, by name.
func calls(t *testing.T, s *alias.Store) map[string]func() error {
	ctx, ev := t.Context(), eventAt(t, 60)
	return map[string]func() error{
		"All":       func() error { _, err := s.All(ctx, chat); return err },
		"Refresh":   func() error { _, err := s.Refresh(ctx, chat); return err },
		"Resolve":   func() error { _, _, err := s.Resolve(ctx, chat, "pant"); return err },
		"Match":     func() error { _, err := s.Match(ctx, chat, "pant"); return err },
		"Get":       func() error { _, _, err := s.Get(ctx, chat, "pant"); return err },
		"PhrasesOf": func() error { _, err := s.PhrasesOf(ctx, chat, "pantning"); return err },
		"Put": func() error {
			_, err := s.Put(ctx, alias.Put{Scope: chat, Phrase: "pant", Name: "x", Event: ev})
			return err
		},
		"Correct": func() error {
			_, err := s.Correct(ctx, alias.Correct{Scope: chat, Phrase: "pant", Name: "x", Event: ev})
			return err
		},
		"Confirm": func() error {
			_, err := s.Confirm(ctx, alias.Confirm{Scope: chat, Phrase: "pant", Name: "x", Event: ev})
			return err
		},
		"Forget": func() error {
			_, err := s.Forget(ctx, alias.Forget{Scope: chat, Phrase: "pant", Event: ev})
			return err
		},
		"Adopt": func() error { _, err := s.Adopt(ctx, chat); return err },
		"Seed": func() error {
			_, err := s.Seed(ctx, chat, map[string]string{"diska": "diskning"})
			if left, ok := errors.AsType[*event.LeftoverError](err); ok {
				return left.Leftovers[0].Err
			}
			return err
		},
	}
}

// Errors name the method that was called and the table, and keep the reason.
func TestErrorsNameTheMethod(t *testing.T) {
	t.Parallel()
	f := open(t)
	writes := map[string]bool{"Put": true, "Correct": true, "Confirm": true, "Forget": true, "Seed": true}
	for kind, ops := range map[string][]string{"reads": {""}, "writes": {"PutItem", "UpdateItem"}} {
		for _, op := range ops {
			f.db.Inject(dynamotest.Fault{Do: denied, Op: op, Times: -1})
		}
		for method, call := range calls(t, f.another(t, func(c *alias.Config) { c.NoCache = true })) {
			err := call()
			if kind == "writes" && !writes[method] {
				if err != nil {
					t.Errorf("%s: %v", method, err)
				}
				continue
			}
			if want := "alias: " + method + " on table " + f.table + ": operation error "; !isDenied(err) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s fail: got %v, want %s …", kind, err, want)
			}
		}
		f.db.Heal()
	}
}

func TestErrorsAboutItemsNameTheMethod(t *testing.T) {
	t.Parallel()
	for method := range calls(t, nil) {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write(t, with(golden(t, "older"), map[string]any{"namedBy": s("zzz")}))
			err := calls(t, f.Store)[method]()
			want := "alias: " + method + " on table " + f.table + ": a stored item cannot be read: attribute namedBy is not an event"
			if err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
				t.Errorf("got %v, want %s …", err, want)
			}
		})
	}
}

// A caller that waits for another's read and gives up gets an error with its
// own method's name.
func TestWaitingNamesTheMethod(t *testing.T) {
	t.Parallel()
	f := open(t)
	under, end := make(chan struct{}), make(chan struct{})
	f.db.Inject(dynamotest.Fault{Do: dynamotest.Before(func() { close(under); <-end }), Op: "Query"})
	store := f.another(t, nil)
	done := make(chan error)
	go func() { _, err := store.All(t.Context(), chat); done <- err }()
	<-under
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := store.Resolve(ctx, chat, "pant")
	want := "alias: Resolve on table " + f.table + ": waiting for the rows of the scope: context canceled"
	if !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	close(end)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
