package ledger_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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
		if got := listed(t, store, tc.filter); got != tc.want {
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

// Pages of any size come to the same, and a page reads what it may, no more.
func TestListPages(t *testing.T) {
	t.Parallel()
	_, store := newListing(t)
	want := listed(t, store, ledger.Filter{})
	for size := range 15 {
		var keys []string
		f := ledger.Filter{ReadAtMost: size + 1}
		for pages := 0; ; pages++ {
			page, err := store.ListPage(t.Context(), f)
			must(t, err)
			for _, r := range page.Records {
				keys = append(keys, r.Key)
			}
			if len(page.Records) > size+1 || pages > 15 {
				t.Fatalf("%d records on page %d of %d rows", len(page.Records), pages, size+1)
			}
			if f.Cursor = page.Cursor; f.Cursor == "" {
				break
			}
		}
		slices.Sort(keys)
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("pages of %d: %s, want %s", size+1, got, want)
		}
	}
	first, err := store.ListPage(t.Context(), ledger.Filter{ReadAtMost: 3})
	must(t, err)
	var rest []string
	for r, err := range store.List(t.Context(), ledger.Filter{Cursor: first.Cursor}) {
		must(t, err)
		rest = append(rest, r.Key)
	}
	if got := len(rest) + len(first.Records); got != len(strings.Fields(want)) {
		t.Errorf("%d rows from a cursor on, and before it", got)
	}
	if page, err := store.ListPage(t.Context(), ledger.Filter{ReadAtMost: math.MaxInt}); err != nil || page.Cursor != "" {
		t.Errorf("all there is: %v, cursor %q", err, page.Cursor)
	}
}

// A row that cannot be read keeps no other from being listed.
func TestListAmongUnreadableRows(t *testing.T) {
	t.Parallel()
	b, store := newListing(t)
	want := listed(t, store, ledger.Filter{})
	b.put(t, ddb.Item{"pk": item.S("bad"), "claim": item.S("x"), "state": item.S("paused")})
	var keys []string
	var last error
	for r, err := range store.List(t.Context(), ledger.Filter{ReadAtMost: 3}) {
		if last != nil {
			t.Error("an error, and it was not the last")
		}
		if last = err; err == nil {
			keys = append(keys, r.Key)
		}
	}
	slices.Sort(keys)
	if got := strings.Join(keys, " "); got != want || last == nil || !strings.Contains(last.Error(), "ledger: List on table ") || strings.Contains(last.Error(), "bad") {
		t.Errorf("listed %s, then %v", got, last)
	}
	page, err := store.ListPage(t.Context(), ledger.Filter{})
	if err != nil || !slices.Equal(page.Unreadable, []string{"bad"}) {
		t.Errorf("unreadable: %q, %v", page.Unreadable, err)
	}
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	_, store := newListing(t)
	page, err := store.ListPage(t.Context(), ledger.Filter{ReadAtMost: 1})
	must(t, err)
	silent, err := store.Operators(recordtest.Silent(t))
	must(t, err)
	for name, tc := range map[string]struct {
		filter ledger.Filter
		field  string
	}{
		"an unknown state":  {ledger.Filter{States: []ledger.State{ledger.Done, "paused"}}, "Filter.States[1]"},
		"an empty state":    {ledger.Filter{States: []ledger.State{""}}, "Filter.States[0]"},
		"fewer than none":   {ledger.Filter{ReadAtMost: -1}, "Filter.ReadAtMost"},
		"a damaged cursor":  {ledger.Filter{Cursor: page.Cursor[1:]}, "Filter.Cursor"},
		"no cursor at all":  {ledger.Filter{Cursor: "x"}, "Filter.Cursor"},
		"of another action": {ledger.Filter{Cursor: mustClaim(t, store.Store, ledger.Request{Key: "k"}).Token()}, "Filter.Cursor"},
	} {
		_, err := silent.ListPage(t.Context(), tc.filter)
		recordtest.WantBad(t, err, "ledger", tc.field, name)
		for _, err := range silent.List(t.Context(), tc.filter) {
			recordtest.WantBad(t, err, "ledger", tc.field, name)
		}
	}
}

// scans counts the requests of a listing, and fails from one on.
type scans struct {
	ledger.OperatorsAPI
	sent, failAt int
}

func (s *scans) Scan(ctx context.Context, in *dynamodb.ScanInput, opts ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if s.sent++; s.sent == s.failAt {
		return nil, errCut
	}
	return s.OperatorsAPI.Scan(ctx, in, opts...)
}

// A break reads no further; an error comes last.
func TestListStops(t *testing.T) {
	t.Parallel()
	b, store := newListing(t)
	api := &scans{OperatorsAPI: b.client}
	store, err := store.Operators(api)
	must(t, err)
	for range store.List(t.Context(), ledger.Filter{ReadAtMost: 4}) {
		break
	}
	if api.sent > 2 {
		t.Errorf("%d requests before a break", api.sent)
	}
	api.sent, api.failAt = 0, 3
	var last error
	for _, err := range store.List(t.Context(), ledger.Filter{ReadAtMost: 2}) {
		last = err
	}
	if !errors.Is(last, errCut) || api.sent != 3 {
		t.Errorf("%v after %d requests", last, api.sent)
	}
}

// Law: List by any filter is every row, less what does not meet it.
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
		f := ledger.Filter{ReadAtMost: rnd.IntN(6), Stuck: rnd.IntN(3) == 0}
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
		if got := listed(t, store, f); got != strings.Join(want, " ") {
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
