package alias_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

// calls are all methods, by name. Each uses what it needs of the input.
func calls(t *testing.T, s *alias.Store) map[string]func(in alias.Put) error {
	ctx := t.Context()
	return map[string]func(alias.Put) error{
		"Put":     func(in alias.Put) error { _, err := s.Put(ctx, in); return err },
		"Correct": func(in alias.Put) error { _, err := s.Correct(ctx, alias.Correct(in)); return err },
		"Confirm": func(in alias.Put) error {
			_, err := s.Confirm(ctx, alias.Confirm{Scope: in.Scope, Phrase: in.Phrase, Name: in.Name, Event: in.Event})
			return err
		},
		"Forget": func(in alias.Put) error {
			_, err := s.Forget(ctx, alias.Forget{Scope: in.Scope, Phrase: in.Phrase, Event: in.Event})
			return err
		},
		"Seed": func(in alias.Put) error {
			_, err := s.Seed(ctx, in.Scope, map[string]string{"diska": "diskning"})
			if left, ok := errors.AsType[*event.LeftoverError](err); ok {
				return left.Leftovers[0].Err
			}
			return err
		},
		"All":       func(in alias.Put) error { _, err := s.All(ctx, in.Scope); return err },
		"Refresh":   func(in alias.Put) error { _, err := s.Refresh(ctx, in.Scope); return err },
		"Resolve":   func(in alias.Put) error { _, _, err := s.Resolve(ctx, in.Scope, in.Phrase); return err },
		"Get":       func(in alias.Put) error { _, _, err := s.Get(ctx, in.Scope, in.Phrase); return err },
		"Match":     func(in alias.Put) error { _, err := s.Match(ctx, in.Scope, in.Phrase); return err },
		"PhrasesOf": func(in alias.Put) error { _, err := s.PhrasesOf(ctx, in.Scope, in.Name); return err },
	}
}

// Errors name the method that was called and the table, and keep the reason.
func TestErrorsNameTheMethod(t *testing.T) {
	t.Parallel()
	f := open(t)
	writes := map[string]bool{"Put": true, "Correct": true, "Confirm": true, "Forget": true, "Seed": true}
	for kind, ops := range map[string][]string{"reads": {""}, "writes": {"UpdateItem"}} {
		for _, op := range ops {
			f.db.Inject(dynamotest.Fault{Do: denied, Op: op, Times: -1})
		}
		for method, call := range calls(t, f.another(t, func(c *alias.Config) { c.NoCache = true })) {
			err := call(alias.Put{Scope: chat, Phrase: "pant", Name: "pantning", Event: eventAt(t, 60)})
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

// What is stored is nobody's bad input.
func TestErrorsAboutItemsNameTheMethod(t *testing.T) {
	t.Parallel()
	for attribute, value := range map[string]map[string]any{
		"confirmations": s("two"), "createdAt": s("yesterday"), "updatedAt": s("today"), "namedBy": s("zzz"), "confirmedBy": s("zzz"),
		"confirmers": set([]byte("short")), "confirmers ": s("not a set"),
	} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write(t, with(golden(t, "older"), map[string]any{strings.TrimSpace(attribute): value}))
			for method, call := range calls(t, f.Store) {
				if method == "Correct" || method == "Forget" { // which replace what is there
					continue
				}
				in := alias.Put{Scope: chat, Phrase: "pant", Name: "x", Event: eventAt(t, 60)}
				if method == "PhrasesOf" {
					in.Name = "pantning"
				}
				err := call(in)
				want := "alias: " + method + " on table " + f.table + ": a stored item cannot be read: "
				if _, bad := errors.AsType[*event.InputError](err); bad || err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("got %v, want %s …", err, want)
				}
			}
		})
	}
}
