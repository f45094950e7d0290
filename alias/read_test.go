package alias_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// phrasesOf lists the phrases.
func phrasesOf(aliases []alias.Alias) []string {
	var phrases []string
	for _, a := range aliases {
		phrases = append(phrases, a.Phrase)
	}
	return phrases
}

func TestScopesAreApart(t *testing.T) {
	t.Parallel()
	f := open(t)
	scopes := []string{"-100123", "-100123#4", "#", "%23", "ALIAS#-100123", "-1001234"}
	for i, scope := range scopes {
		put := alias.Put{Scope: scope, Phrase: "ta disken", Name: fmt.Sprint(i), Event: eventAt(t, 60)}
		do(t, event.Created)(f.Put(t.Context(), put))
	}
	for i, scope := range scopes {
		for name, ask := range map[string]func() ([]alias.Alias, error){
			"All":       func() ([]alias.Alias, error) { return f.All(t.Context(), scope) },
			"Refresh":   func() ([]alias.Alias, error) { return f.Refresh(t.Context(), scope) },
			"PhrasesOf": func() ([]alias.Alias, error) { return f.PhrasesOf(t.Context(), scope, fmt.Sprint(i)) },
		} {
			got, err := ask()
			if err != nil || len(got) != 1 || got[0].Name != fmt.Sprint(i) || got[0].Scope != scope {
				t.Errorf("%s of %q: %v, %v", name, scope, got, err)
			}
		}
	}
}

func TestPhrasesOfAreExactAndOrdered(t *testing.T) {
	t.Parallel()
	f := open(t)
	for phrase, name := range map[string]string{"ö": "disk", "a": "disk", "å": "disk", "b": "diskning", "c": "Disk", "d": "disk#2"} {
		do(t, event.Created)(f.Put(t.Context(), alias.Put{Scope: chat, Phrase: phrase, Name: name, Event: eventAt(t, 60)}))
	}
	// A page comes in another order, as an index may give it if its entries have equal keys.
	reversed := recordtest.Between(f.db.Client(), func(in any, send recordtest.Send) (any, error) {
		out, err := send(in)
		if page, ok := out.(*dynamodb.QueryOutput); ok && err == nil {
			slices.Reverse(page.Items)
		}
		return out, err
	})
	got, err := f.through(t, reversed, nil).PhrasesOf(t.Context(), chat, "disk")
	if diff := cmp.Diff([]string{"a", "å", "ö"}, phrasesOf(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// A store sees its own writes at once, another process's after Refresh.
func TestOwnWritesAreSeen(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	other := w.f.another(t, nil)
	sees := func(s *alias.Store, want string, confirmations int64) {
		t.Helper()
		got, _, err := s.Resolve(t.Context(), chat, "TA disken")
		if err != nil || got.Name != want || got.Confirmations != confirmations {
			t.Errorf("it sees %q, %d times confirmed, %v; want %q, %d", got.Name, got.Confirmations, err, want, confirmations)
		}
	}
	sees(w.f.Store, "", 0)
	sees(other, "", 0)
	do(t, event.Created)(w.put("diskning", 60))
	sees(w.f.Store, "diskning", 0)
	do(t, event.Created)(w.correct("torkning", 50))
	sees(w.f.Store, "torkning", 0)
	do(t, event.Created)(w.confirm("torkning", 40))
	sees(w.f.Store, "torkning", 1)
	sees(other, "", 0)
	if _, err := other.Refresh(t.Context(), chat); err != nil {
		t.Error(err)
	}
	sees(other, "torkning", 1)
	do(t, event.Created)(w.forget(30))
	sees(w.f.Store, "", 0)
}

// A write that failed for its caller may still have taken effect.
func TestFailedWriteDropsTheBook(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	if _, _, err := w.f.Resolve(t.Context(), chat, "ta disken"); err != nil {
		t.Fatal(err)
	}
	w.f.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Times: -1})
	if out, err := w.put("diskning", 60); err == nil && out != event.Duplicate {
		t.Fatalf("no reply arrived, and Put said %v", out)
	}
	w.f.db.Heal()
	if got, ok, err := w.f.Resolve(t.Context(), chat, "ta disken"); err != nil || !ok || got.Name != "diskning" {
		t.Errorf("Resolve: %+v, %v, %v", got, ok, err)
	}
}

// A caller's changes to the answer do not reach the next caller.
func TestAnswersAreTheCallers(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	for range 2 {
		got, err := w.f.All(t.Context(), chat)
		if err != nil || len(got) != 1 || got[0].Name != "diskning" {
			t.Fatalf("All: %v, %v", got, err)
		}
		got[0].Name = "mine"
	}
}

// A book of more than one page is read to its end.
func TestLargeBook(t *testing.T) {
	t.Parallel()
	f := open(t)
	seeds := map[string]string{}
	for i := range 600 {
		seeds[fmt.Sprintf("%03d %s", i, strings.Repeat("x", 950))] = strings.Repeat("y", 900)
	}
	if done, err := f.Seed(t.Context(), chat, seeds); err != nil || done != 600 {
		t.Fatalf("Seed: %d, %v", done, err)
	}
	cold := f.another(t, nil)
	var got []alias.Alias
	cost := f.db.Meter(func() {
		var err error
		if got, err = cold.All(t.Context(), chat); err != nil {
			t.Error(err)
		}
	})
	if len(got) != 600 || cost.Requests < 2 {
		t.Errorf("%d, %v", len(got), cost)
	}
	if got, err := f.PhrasesOf(t.Context(), chat, strings.Repeat("y", 900)); err != nil || len(got) != 600 {
		t.Errorf("PhrasesOf: %d, %v", len(got), err)
	}
}
