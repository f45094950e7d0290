package alias_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

func TestSeedIsIdempotent(t *testing.T) {
	t.Parallel()
	f := open(t)
	const scope = "-1001234567890"
	words := vocabulary()
	if len(words) != 80 {
		t.Fatalf("%d phrases in the vocabulary", len(words))
	}
	done, err := f.Seed(t.Context(), scope, words)
	if want := 80; err != nil || done != want {
		t.Fatalf("Seed: %d, %v", done, err)
	}
	again := f.db.Meter(func() { done, err = f.another(t, nil).Seed(t.Context(), scope, words) })
	if want := 0; err != nil || done != want || again.WCU != 0 || again.Requests != 1 {
		t.Errorf("Seed again: %+v, %v, %v", done, err, again)
	}
	// The budget of a household: reading its seeds costs 2.5 RCU, once.
	store := f.another(t, nil)
	for _, want := range []dynamotest.Price{price(1, 2.5, 0), price(0, 0, 0)} {
		var got []alias.Alias
		cost := f.db.Meter(func() { got, err = store.All(t.Context(), scope) })
		cost.Want(t, want)
		if err != nil || len(got) != 80 || !slices.IsSortedFunc(got, func(a, b alias.Alias) int { return strings.Compare(a.Phrase, b.Phrase) }) {
			t.Errorf("All: %d, %v", len(got), err)
		}
		for _, a := range got {
			if words[a.Phrase] != a.Name || a.Source != alias.FromSeed {
				t.Errorf("%+v", a)
			}
		}
	}
}

// A process with an old cache does not overwrite what it has not seen, nor bring
// back what was forgotten since.
func TestSeedBehindItsTimes(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	behind := w.f.beside(t)
	if got, err := behind.All(t.Context(), chat); err != nil || len(got) != 0 {
		t.Fatalf("All: %v, %v", got, err)
	}
	do(t, event.Created)(w.put("torkning", 60))
	refused(t, alias.ErrNotFound)(w.f.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: "pant", Event: eventAt(t, 60)}))
	done, err := behind.Seed(t.Context(), chat, map[string]string{"ta disken": "diskning", "pant": "pantning"})
	if want := 0; err != nil || done != want {
		t.Errorf("Seed: %d, %v", done, err)
	}
	means(t, w.f, "torkning", 0)
	behind.resolves(t, chat, "pant", "")
	// The Seed has updated its cache.
	behind.resolves(t, chat, "ta disken", "torkning")
}

func TestSeedNamesEachLeftover(t *testing.T) {
	t.Parallel()
	f := open(t)
	want := []string{"borsta hunden", "gå ut med hunden", "hundpromenad", "mata hunden", "rasta hunden"}
	for _, phrase := range want {
		f.db.Inject(dynamotest.Fault{Do: denied, Op: "UpdateItem", Key: ddb.Item{"sk": item.S(phrase)}})
	}
	done, err := f.another(t, nil).Seed(t.Context(), chat, vocabulary())
	var left *event.LeftoverError
	if !errors.As(err, &left) || !isDenied(err) || strings.Contains(err.Error(), "hund") {
		t.Fatalf("Seed: %v", err)
	}
	var phrases []string
	for _, l := range left.Leftovers {
		if vocabulary()[l.Key] != "hund" || !isDenied(l.Err) {
			t.Errorf("left over: %+v", l)
		}
		phrases = append(phrases, l.Key)
	}
	if diff := cmp.Diff(want, phrases); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := 75; done != want {
		t.Errorf("Seed: %+v", done)
	}
	// A second call writes only those.
	done, err = f.Seed(t.Context(), chat, vocabulary())
	if want := 5; err != nil || done != want {
		t.Errorf("Seed again: %+v, %v", done, err)
	}
}

// Eight puts are under way at once.
func TestSeedIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, w writer) {
		w.f.db.Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Second), Op: "UpdateItem", Times: -1})
		began := time.Now()
		if done, err := w.f.Seed(t.Context(), chat, vocabulary()); err != nil || done != 80 {
			t.Errorf("Seed: %d, %v", done, err)
		}
		if took := time.Since(began); took != 80/8*time.Second {
			t.Errorf("80 puts of a second each took %v", took)
		}
	})
}

// Each read of the book pays for the remembered confirmations, and they are
// bounded: a book of phrases that were all confirmed often costs 4 RCU.
func TestEightyConfirmedPhrasesCold(t *testing.T) {
	t.Parallel()
	f := open(t)
	for phrase, name := range vocabulary() {
		p := alias.Put{Scope: chat, Phrase: phrase, Name: name, Event: eventAt(t, 60), Actor: "1234567890"}
		do(t, event.Created)(f.Put(t.Context(), p))
		for minutesAgo := 10; minutesAgo < 20; minutesAgo++ {
			if _, err := f.Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: phrase, Name: name, Event: eventAt(t, 30-minutesAgo)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	cost := f.db.Meter(func() {
		if _, err := f.another(t, nil).Match(t.Context(), chat, "Jag tog disken"); err != nil {
			t.Error(err)
		}
	})
	cost.Want(t, price(1, 4, 0))
}

// Each phrase that is bad input is named with its reason, as it was given, and
// does not stop the others.
func TestBadSeeds(t *testing.T) {
	t.Parallel()
	f := open(t)
	bad := map[string]string{
		"":       "Phrase must hold a visible character",
		"c":      "Name must not be empty",
		"d\x00":  "Phrase must not hold control characters",
		"Disk":   "Phrase is given twice, in spellings that stand for different names",
		"disk ":  "Phrase is given twice, in spellings that stand for different names",
		" disk ": "Phrase is given twice, in spellings that stand for different names",
	}
	seeds := map[string]string{"": "B", "c": "", "d\x00": "x", "Disk": "x", "disk ": "y", " disk ": "x", "a": "A", "A": "A"}
	done, err := f.Seed(t.Context(), chat, seeds)
	var left *event.LeftoverError
	if want := 1; !errors.As(err, &left) || done != want {
		t.Fatalf("Seed: %d, %v", done, err)
	}
	got := map[string]string{}
	for _, l := range left.Leftovers {
		if in, ok := l.Err.(*event.InputError); ok && in.Package == "alias" {
			got[l.Key] = in.Field + " " + in.Reason
		}
	}
	if diff := cmp.Diff(bad, got); diff != "" {
		t.Errorf("left over (-want +got)\n%s", diff)
	}
	if !slices.IsSortedFunc(left.Leftovers, func(a, b event.Leftover) int { return strings.Compare(a.Key, b.Key) }) {
		t.Errorf("not by key: %+v", left.Leftovers)
	}
	if all, err := f.All(t.Context(), chat); err != nil || len(all) != 1 || all[0].Phrase != "a" {
		t.Errorf("All: %+v, %v", all, err)
	}
	alone := func() { _, err = f.Seed(t.Context(), "-200", map[string]string{"": "B"}) }
	if cost := f.db.Meter(alone); cost.Requests != 0 || err == nil {
		t.Errorf("bad input alone: %v, %v", cost, err)
	}
}
