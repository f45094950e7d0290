package ledger_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// listed are the keys that List yields, sorted.
func listed(t *testing.T, store *ledger.Operators, f ledger.Filter) string {
	t.Helper()
	var keys []string
	for r, err := range store.List(t.Context(), f) {
		must(t, err)
		keys = append(keys, r.Key)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// inParts are the keys that several listings yield, sorted. Each goes on behind
// the one before.
func inParts(t *testing.T, store *ledger.Operators, filter func() ledger.Filter) string {
	t.Helper()
	var keys []string
	cursor := ""
	for more := true; more; more = cursor != "" {
		f := filter()
		f.Cursor, f.Next = cursor, &cursor
		keys = append(keys, strings.Fields(listed(t, store, f))...)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// newListing is a table with a row of each kind, those of two clocks included.
func newListing(t *testing.T) (*bench, *ledger.Operators) {
	t.Helper()
	b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: 10 * time.Second, Retention: 24 * time.Hour})
	claim := func(key string) *ledger.Claim { return mustClaim(t, store, ledger.Request{Key: key}) }
	must(t, claim("A:expired").Complete(t.Context(), 1))
	b.put(t, ddb.Item{"pk": item.S("A:old-expired"), "expiresAt": item.N(b.clock.Now().Add(24 * time.Hour).Unix())})
	b.clock.Add(24 * time.Hour)
	b.put(t, ddb.Item{
		"pk": item.S("A:old"), "expiresAt": item.N(b.clock.Now().Unix() + 3600), "state": item.S("failed"), // its own word
		"seenAt": item.S(b.clock.Now().Add(-25 * time.Hour).Format(time.RFC3339)),
	})
	b.put(t, ddb.Item{"pk": item.S("A:old-for-ever")})
	claim("A:stuck")
	b.clock.Add(70 * time.Second)
	claim("A:claimed")
	must(t, claim("A:failed").Fail(t.Context(), errCut))
	must(t, claim("A:refused").Fail(t.Context(), ledger.Permanent(errCut)))
	must(t, claim("A:done").Complete(t.Context(), 1))
	wantMark(t, store, "AB:marked", event.Created)
	wantMark(t, store, "A", event.Created)
	key, err := ledger.Key("a:b%", "x")
	must(t, err)
	wantMark(t, store, key, event.Created)
	return b, b.ops(t, store)
}

// Next is written when the listing ends, is left or fails, and not if nobody walked.
func TestListGoesOn(t *testing.T) {
	t.Parallel()
	_, store := newListing(t)
	next := "not written"
	rest := func() []string { return strings.Fields(listed(t, store, ledger.Filter{Cursor: next})) }
	list := store.List(t.Context(), ledger.Filter{Next: &next})
	if next != "not written" {
		t.Errorf("nobody walked, and next is %q", next)
	}
	for range list { // left behind the first of ten
		break
	}
	want := rest()
	if len(want) != 9 {
		t.Errorf("left with 9 to come, came %v", want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range store.List(ctx, ledger.Filter{Cursor: next, Next: &next}) {
		wantErr(t, "the first request", err, context.Canceled)
	}
	if got := rest(); !slices.Equal(got, want) {
		t.Errorf("after a failure %v, want %v", got, want)
	}
	for _, err := range list {
		must(t, err)
	}
	if next != "" {
		t.Errorf("at the end, next is %q", next)
	}
}

// A row that cannot be read keeps no other from being listed, and is named.
func TestListAmongUnreadableRows(t *testing.T) {
	t.Parallel()
	b, store := newListing(t)
	want := strings.Fields(listed(t, store, ledger.Filter{}))
	b.put(t, ddb.Item{"pk": item.S("bad"), "claim": item.S("x"), "state": item.S("paused")})
	for _, size := range []int{0, 1} {
		var keys []string
		unreadable := 0
		f := ledger.Filter{ReadAtMost: size}
		f.Next = &f.Cursor
		for more := true; more; more = f.Cursor != "" {
			for r, err := range store.List(t.Context(), f) {
				if err == nil {
					keys = append(keys, r.Key)
					continue
				}
				if unreadable++; unreadable > 1 || r.Key != "bad" || !strings.Contains(err.Error(), "ledger: List on table ") || strings.Contains(err.Error(), "bad") {
					t.Fatalf("%+v, %v", r, err)
				}
			}
		}
		slices.Sort(keys)
		if !slices.Equal(keys, want) || unreadable != 1 {
			t.Errorf("listed %s, %d unreadable", keys, unreadable)
		}
	}
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	_, store := newListing(t)
	var next string
	listed(t, store, ledger.Filter{ReadAtMost: 1, Next: &next})
	silent, err := store.Operators(recordtest.Silent(t))
	must(t, err)
	for name, tc := range map[string]struct {
		filter ledger.Filter
		field  string
	}{
		"an unknown state":  {ledger.Filter{States: []ledger.State{ledger.Done, "paused"}}, "Filter.States[1]"},
		"fewer than none":   {ledger.Filter{ReadAtMost: -1}, "Filter.ReadAtMost"},
		"a damaged cursor":  {ledger.Filter{Cursor: next[1:]}, "Filter.Cursor"},
		"of another action": {ledger.Filter{Cursor: mustClaim(t, store.Store, ledger.Request{Key: "k"}).Token()}, "Filter.Cursor"},
	} {
		unchanged, n := next, 0
		tc.filter.Next = &unchanged
		for _, err := range silent.List(t.Context(), tc.filter) {
			recordtest.WantBad(t, err, "ledger", tc.field, name)
			n++
		}
		if n != 1 || unchanged != next {
			t.Errorf("%s: yielded %d times, next %q", name, n, unchanged)
		}
	}
}

// Law: List by any filter, in parts of any size, is every row, as Get reads it, less
// what does not meet it.
func TestListIsAFilterOfAll(t *testing.T) {
	t.Parallel()
	b, store := newListing(t)
	if got, want := listed(t, store, ledger.Filter{}), "A A:claimed A:done A:failed A:old A:old-for-ever A:refused A:stuck AB:marked a%3Ab%25:x"; got != want {
		t.Errorf("all: %s, want %s", got, want)
	}
	all := map[string]ledger.Record{}
	for r, err := range store.List(t.Context(), ledger.Filter{}) {
		must(t, err)
		all[r.Key] = r
		if diff := cmp.Diff(mustGet(t, store.Store, r.Key), r); diff != "" {
			t.Errorf("%s (-Get +List):\n%s", r.Key, diff)
		}
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	kinds := []ledger.State{ledger.Claimed, ledger.Failed, ledger.Done, ledger.Refused}
	for n := range 150 {
		f := ledger.Filter{Stuck: rnd.IntN(3) == 0}
		for _, kind := range kinds {
			if rnd.IntN(2) == 0 {
				f.States = append(f.States, kind)
			}
		}
		f.Source = []string{"", "A", "AB", "a:b%", "a"}[rnd.IntN(5)]
		if rnd.IntN(2) == 0 {
			f.SeenBefore = b.clock.Now().Add(time.Duration(rnd.IntN(3)-2) * 20 * time.Hour)
		}
		want := slices.Collect(maps.Keys(all))
		want = slices.DeleteFunc(want, func(key string) bool { return !meets(all[key], f, b.clock.Now()) })
		slices.Sort(want)
		part := func() ledger.Filter { f.ReadAtMost = rnd.IntN(6); return f }
		if got := inParts(t, store, part); got != strings.Join(want, " ") {
			t.Errorf("%d, %+v: %s, want %s", n, f, got, want)
		}
	}
	// One millisecond before the skew budget is over a lapsed claim is not stuck.
	b.clock.Add(-time.Millisecond)
	if got := listed(t, store, ledger.Filter{Stuck: true}); got != "" {
		t.Errorf("stuck already: %s", got)
	}
}

// meets says in plain Go what a filter says.
func meets(r ledger.Record, f ledger.Filter, now time.Time) bool {
	first, _, _ := strings.Cut(r.Key, ":")
	source := strings.NewReplacer("%25", "%", "%3A", ":").Replace(first)
	stuck := r.State == ledger.Claimed && !r.Lease.Add(10*time.Second).After(now)
	every := len(f.States) == 0 && !f.Stuck
	switch {
	case !every && !slices.Contains(f.States, r.State) && (!f.Stuck || !stuck),
		f.Source != "" && f.Source != source,
		!f.SeenBefore.IsZero() && !r.SeenAt.Before(f.SeenBefore):
		return false
	}
	return true
}
