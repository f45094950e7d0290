package alias_test

import (
	"context"
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
	words := vocabulary()
	if len(words) != 80 {
		t.Fatalf("%d phrases in the vocabulary", len(words))
	}
	done, err := f.Seed(t.Context(), chat, words)
	if want := (alias.Seeded{Created: 80}); err != nil || done != want {
		t.Fatalf("Seed: %+v, %v", done, err)
	}
	again := f.db.Meter(func() { done, err = f.another(t, nil).Seed(t.Context(), chat, words) })
	if want := (alias.Seeded{Kept: 80}); err != nil || done != want || again.WCU != 0 || again.Requests != 1 {
		t.Errorf("Seed again: %+v, %v, %v", done, err, again)
	}
	got, err := f.All(t.Context(), chat)
	if err != nil || len(got) != 80 {
		t.Fatalf("All: %d, %v", len(got), err)
	}
	for i, a := range got {
		if words[a.Phrase] != a.Name || a.Source != alias.FromSeed || i > 0 && a.Phrase <= got[i-1].Phrase {
			t.Errorf("%d: %+v", i, a)
		}
	}
}

func TestSeedLeavesWhatWasLearned(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("torkning", 60))
	done, err := w.f.Seed(t.Context(), chat, map[string]string{"Ta disken": "diskning", "ta  disken": "diskning", "pant": "pantning"})
	if want := (alias.Seeded{Created: 1, Kept: 1}); err != nil || done != want {
		t.Errorf("Seed: %+v, %v", done, err)
	}
	means(t, w.f, "torkning", 0)
}

// A process with an old cache does not overwrite what it has not seen.
func TestSeedBehindItsTimes(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	behind := w.f.another(t, nil)
	if got, err := behind.All(t.Context(), chat); err != nil || len(got) != 0 {
		t.Fatalf("All: %v, %v", got, err)
	}
	do(t, event.Created)(w.put("torkning", 60))
	done, err := behind.Seed(t.Context(), chat, map[string]string{"ta disken": "diskning"})
	if want := (alias.Seeded{Kept: 1}); err != nil || done != want {
		t.Errorf("Seed: %+v, %v", done, err)
	}
	means(t, w.f, "torkning", 0)
	// The Seed has updated its cache.
	got, _, err := behind.Resolve(t.Context(), chat, "ta disken")
	if err != nil || got.Name != "torkning" {
		t.Errorf("Resolve: %+v, %v", got, err)
	}
}

// A process with an old cache does not bring back what was forgotten since,
// either.
func TestSeedBehindAForget(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	behind := w.f.another(t, nil)
	if got, err := behind.All(t.Context(), chat); err != nil || len(got) != 0 {
		t.Fatalf("All: %v, %v", got, err)
	}
	do(t, event.Created)(w.put("torkning", 60))
	do(t, event.Created)(w.forget(50))
	done, err := behind.Seed(t.Context(), chat, map[string]string{"ta disken": "diskning"})
	if want := (alias.Seeded{Kept: 1}); err != nil || done != want {
		t.Errorf("Seed: %+v, %v", done, err)
	}
	means(t, w.f, "", 0)
}

func TestSeedSideBySide(t *testing.T) {
	t.Parallel()
	f := open(t)
	created := make([]int, 4)
	sideBySide(len(created), func(i int) {
		done, err := f.another(t, nil).Seed(t.Context(), chat, vocabulary())
		if err != nil || done.Created+done.Kept != 80 {
			t.Errorf("Seed: %+v, %v", done, err)
		}
		created[i] = done.Created
	})
	if sum := created[0] + created[1] + created[2] + created[3]; sum != 80 {
		t.Errorf("created %v", created)
	}
}

// After a Seed the same store knows the phrases without reading.
func TestSeedLeavesTheBookWarm(t *testing.T) {
	t.Parallel()
	f := open(t)
	do(t, event.Created)(f.Put(t.Context(), alias.Put{Scope: chat, Phrase: "pant", Name: "pantning", Event: eventAt(t, 60), Actor: "42"}))
	if _, err := f.Seed(t.Context(), chat, map[string]string{"diska": "diskning", "pant": "?"}); err != nil {
		t.Fatal(err)
	}
	var warm []alias.Alias
	cost := f.db.Meter(func() {
		var err error
		if warm, err = f.All(t.Context(), chat); err != nil {
			t.Error(err)
		}
	})
	cold, err := f.another(t, nil).All(t.Context(), chat)
	if diff := cmp.Diff(cold, warm); err != nil || diff != "" || cost.Requests != 0 {
		t.Errorf("%v, %v, (-cold +warm)\n%s", err, cost, diff)
	}
}

func TestSeedNamesEachLeftover(t *testing.T) {
	t.Parallel()
	f := open(t)
	want := []string{"borsta hunden", "gå ut med hunden", "hundpromenad", "mata hunden", "rasta hunden"}
	for _, phrase := range want {
		f.db.Inject(dynamotest.Fault{Do: denied, Op: "PutItem", Key: ddb.Item{"sk": item.S(phrase)}})
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
	if want := (alias.Seeded{Created: 75}); done != want {
		t.Errorf("Seed: %+v", done)
	}
	// A second call writes only those.
	done, err = f.Seed(t.Context(), chat, vocabulary())
	if want := (alias.Seeded{Created: 5, Kept: 75}); err != nil || done != want {
		t.Errorf("Seed again: %+v, %v", done, err)
	}
}

// Eight puts are under way at once.
func TestSeedIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, w writer) {
		w.f.db.Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Second), Op: "PutItem", Times: -1})
		began := time.Now()
		if done, err := w.f.Seed(t.Context(), chat, vocabulary()); err != nil || done.Created != 80 {
			t.Errorf("Seed: %+v, %v", done, err)
		}
		if took := time.Since(began); took != 80/8*time.Second {
			t.Errorf("80 puts of a second each took %v", took)
		}
	})
}

func TestSeedCancelled(t *testing.T) {
	t.Parallel()
	f := open(t)
	store := f.another(t, nil)
	if _, err := store.All(t.Context(), chat); err != nil { // warm, so that it comes to the puts
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.Seed(ctx, chat, map[string]string{"diska": "diskning", "pant": "pantning"})
	var left *event.LeftoverError
	if !errors.As(err, &left) || len(left.Leftovers) != 2 || !errors.Is(err, context.Canceled) {
		t.Errorf("Seed: %v", err)
	}
	if got, err := store.All(t.Context(), chat); err != nil || len(got) != 0 {
		t.Errorf("All: %v, %v", got, err)
	}
}

// The budget of a household: reading its seeds costs 2.5 RCU, once.
func TestEightySeedsCold(t *testing.T) {
	t.Parallel()
	f := open(t)
	const scope = "-1001234567890"
	if _, err := f.Seed(t.Context(), scope, vocabulary()); err != nil {
		t.Fatal(err)
	}
	now := monday
	store := f.another(t, func(c *alias.Config) { c.Now = func() time.Time { return now } })
	match := func() {
		got, err := store.Match(t.Context(), scope, "Jag tog disken och ska GÅ UT  med hunden")
		if err != nil || len(got) != 2 || got[0].Name != "diskning" || got[1].Name != "hund" {
			t.Errorf("Match: %v, %v", got, err)
		}
	}
	if cold := f.db.Meter(match); cold.Requests != 1 || cold.RCU > 2.5 {
		t.Errorf("cold: %v", cold)
	}
	if warm := f.db.Meter(match); warm.Requests != 0 {
		t.Errorf("warm: %v", warm)
	}
	now = now.Add(5 * time.Minute)
	if cold := f.db.Meter(match); cold.Requests != 1 || cold.RCU > 2.5 {
		t.Errorf("cold again: %v", cold)
	}
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
	check := func(done alias.Seeded, err error, want alias.Seeded) {
		t.Helper()
		var left *event.LeftoverError
		if !errors.As(err, &left) || done != want {
			t.Fatalf("Seed: %+v, %v", done, err)
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
	}
	done, err := f.Seed(t.Context(), chat, seeds)
	check(done, err, alias.Seeded{Created: 1})
	if all, err := f.All(t.Context(), chat); err != nil || len(all) != 1 || all[0].Phrase != "a" {
		t.Errorf("All: %+v, %v", all, err)
	}
	delete(seeds, "a")
	delete(seeds, "A")
	if cost := f.db.Meter(func() { done, err = f.Seed(t.Context(), "-200", seeds) }); cost.Requests != 0 {
		t.Errorf("bad input alone: %v", cost)
	}
	check(done, err, alias.Seeded{})
}

// A put whose reply was lost finds its own row, as the doc comment says.
func TestSeedLosesAReply(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem", Nth: 1})
	done, err := f.Seed(t.Context(), chat, map[string]string{"diska": "diskning"})
	if want := (alias.Seeded{Kept: 1}); err != nil || done != want {
		t.Errorf("Seed: %+v, %v", done, err)
	}
}
