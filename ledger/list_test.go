package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	b := newBench(t)
	store := b.store(t, ledger.Config{Lease: time.Minute, MaxSkew: 10 * time.Second, Retention: 24 * time.Hour})
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

func TestList(t *testing.T) {
	t.Parallel()
	b, store := newListing(t)
	now := b.clock.Now()
	states := func(s ...ledger.State) ledger.Filter { return ledger.Filter{States: s} }
	for name, tc := range map[string]struct {
		filter ledger.Filter
		want   string
	}{
		"all":         {ledger.Filter{}, "A A:claimed A:done A:failed A:old A:old-for-ever A:refused A:stuck AB:marked a%3Ab%25:x"},
		"claimed":     {states(ledger.Claimed), "A:claimed A:stuck"},
		"done":        {states(ledger.Done), "A A:done A:old A:old-for-ever AB:marked a%3Ab%25:x"},
		"two":         {states(ledger.Failed, ledger.Refused, ledger.Failed), "A:failed A:refused"},
		"stuck":       {ledger.Filter{Stuck: true}, "A:stuck"},
		"to look at":  {ledger.Filter{Stuck: true, States: []ledger.State{ledger.Failed, ledger.Refused}}, "A:failed A:refused A:stuck"},
		"stuck, done": {ledger.Filter{Stuck: true, States: []ledger.State{ledger.Done}, Source: "A"}, "A A:done A:old A:old-for-ever A:stuck"},
		"all claimed": {ledger.Filter{Stuck: true, States: []ledger.State{ledger.Claimed}}, "A:claimed A:stuck"},
		"source":      {ledger.Filter{Source: "A", States: []ledger.State{ledger.Done}}, "A A:done A:old A:old-for-ever"},
		"escaped":     {ledger.Filter{Source: "a:b%"}, "a%3Ab%25:x"},
		"seen before": {ledger.Filter{SeenBefore: now}, "A:old A:old-for-ever A:stuck"},
		"seen by now": {ledger.Filter{SeenBefore: now.Add(time.Millisecond), Source: "AB"}, "AB:marked"},
		"of a day":    {ledger.Filter{SeenBefore: now.Add(-24 * time.Hour), Source: "A"}, "A:old A:old-for-ever"},
		"nothing":     {ledger.Filter{Source: "nowhere"}, ""},
	} {
		if got := listed(t, store, tc.filter); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		tc.filter.ReadAtMost = 2
		if got := inParts(t, store, func() ledger.Filter { return tc.filter }); got != tc.want {
			t.Errorf("%s, two rows at a time: %s, want %s", name, got, tc.want)
		}
	}
	// One millisecond before the skew budget is over a lapsed claim is not stuck.
	b.clock.Add(-time.Millisecond)
	if got := listed(t, store, ledger.Filter{Stuck: true}); got != "" {
		t.Errorf("stuck already: %s", got)
	}
}

// What List yields is what Get reads.
func TestListGivesWholeRecords(t *testing.T) {
	t.Parallel()
	_, store := newListing(t)
	for r, err := range store.List(t.Context(), ledger.Filter{}) {
		must(t, err)
		if diff := cmp.Diff(mustGet(t, store.Store, r.Key), r); diff != "" {
			t.Errorf("%s (-Get +List):\n%s", r.Key, diff)
		}
	}
}

// Next is written when the listing ends, is left or fails, each time anew, and
// not if nobody walked.
func TestListGoesOn(t *testing.T) {
	t.Parallel()
	_, store := newListing(t)
	all := strings.Fields(listed(t, store, ledger.Filter{}))
	next := "not written"
	f := ledger.Filter{Next: &next}
	rest := func() []string { return strings.Fields(listed(t, store, ledger.Filter{Cursor: next})) }
	list := store.List(t.Context(), f)
	if next != "not written" {
		t.Errorf("nobody walked, and next is %q", next)
	}
	for left := len(all) - 1; left >= 0; left -= 3 {
		n := len(all)
		for _, err := range list {
			must(t, err)
			if n--; n == left {
				break
			}
		}
		if got := rest(); left > 0 && len(got) != left || left == 0 && next != "" {
			t.Errorf("left with %d to come, came %v", left, got)
		}
	}
	f.ReadAtMost = math.MaxInt
	if listed(t, store, f); next != "" {
		t.Errorf("at the end, next is %q", next)
	}
	f.ReadAtMost = 3
	listed(t, store, f)
	f.Cursor, f.Next = next, nil
	want := rest()
	f.Next = &next
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range store.List(ctx, f) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the first request: %v", err)
		}
	}
	if got := rest(); !slices.Equal(got, want) {
		t.Errorf("after a failure %v, want %v", got, want)
	}
}

// A listing reads on behind the megabyte that one request returns.
func TestListReadsOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.ops(t, b.store(t, ledger.Config{}))
	for _, key := range []string{"a", "b", "c", "d"} {
		b.put(t, ddb.Item{"pk": item.S(key), "notes": item.S(strings.Repeat("x", 350<<10))})
	}
	var keys []string
	for r, err := range store.List(t.Context(), ledger.Filter{}) {
		must(t, err)
		if keys = append(keys, r.Key); len(keys) > 4 {
			break
		}
	}
	slices.Sort(keys)
	if got := strings.Join(keys, " "); got != "a b c d" {
		t.Errorf("listed %s", got)
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
			if size == 0 && f.Cursor != "" {
				t.Error("the row ended the listing")
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
		"an empty state":    {ledger.Filter{States: []ledger.State{""}}, "Filter.States[0]"},
		"fewer than none":   {ledger.Filter{ReadAtMost: -1}, "Filter.ReadAtMost"},
		"a damaged cursor":  {ledger.Filter{Cursor: next[1:]}, "Filter.Cursor"},
		"no cursor at all":  {ledger.Filter{Cursor: "x"}, "Filter.Cursor"},
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

// Law: List by any filter, in parts of any size, is every row, less what does not
// meet it.
func TestListIsAFilterOfAll(t *testing.T) {
	t.Parallel()
	b, store := newListing(t)
	all := map[string]ledger.Record{}
	for r, err := range store.List(t.Context(), ledger.Filter{}) {
		must(t, err)
		all[r.Key] = r
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

// A request reads up to 1 MB, however small the rows are.
func TestListReadsAMegabyteOfSmallRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const rows = 17000
	for i := 0; i < rows; i += 25 {
		var puts []types.WriteRequest
		for n := range 25 {
			row := ddb.Item{"pk": item.S(fmt.Sprintf("a:%d", i+n)), "seenAt": item.S("2026-03-15T12:00:00.000Z")}
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
		}
		_, err := b.client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{b.table: puts}})
		must(t, err)
	}
	n := 0
	cost := b.db.Meter(func() {
		for _, err := range b.ops(t, b.store(t, ledger.Config{})).List(t.Context(), ledger.Filter{}) {
			must(t, err)
			n++
		}
	})
	if n != rows || cost.Requests != 1 {
		t.Errorf("%d rows in %d requests", n, cost.Requests)
	}
}
