package activity_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

type walk func(context.Context, activity.Range) iter.Seq2[activity.Activity, error]

// waysTo returns the four walks that find martin's "diskning" at home.
func waysTo(acts *activity.Store) map[string]walk {
	return map[string]walk{
		"InScope": func(ctx context.Context, r activity.Range) iter.Seq2[activity.Activity, error] {
			return acts.InScope(ctx, home, r)
		},
		"ByActor": func(ctx context.Context, r activity.Range) iter.Seq2[activity.Activity, error] {
			return acts.ByActor(ctx, martin, r)
		},
		"ByName": func(ctx context.Context, r activity.Range) iter.Seq2[activity.Activity, error] {
			return acts.ByName(ctx, home, "diskning", r)
		},
		"ByActorAndName": func(ctx context.Context, r activity.Range) iter.Seq2[activity.Activity, error] {
			return acts.ByActorAndName(ctx, home, martin, "diskning", r)
		},
	}
}

// part walks to the end of the Range, and returns what is left behind.
func (w walk) part(t testing.TB, r activity.Range) (all []activity.Activity, next string) {
	t.Helper()
	next = "not written"
	r.Next = &next
	all = collect(t, w(t.Context(), r))
	return all, next
}

// parts walks as often as there is more.
func (w walk) parts(t testing.TB, r activity.Range) (all []activity.Activity) {
	t.Helper()
	r.Next = &r.Cursor
	for more := true; more; more = r.Cursor != "" {
		all = append(all, collect(t, w(t.Context(), r))...)
		if len(all) > 10_000 {
			t.Fatal("the parts do not end")
		}
	}
	return all
}

// refused returns the error of a walk that yields nothing else.
func refused(t testing.TB, seq iter.Seq2[activity.Activity, error]) (failed error) {
	t.Helper()
	n := 0
	for a, err := range seq {
		if n++; n > 1 || err == nil || a.Scope != "" {
			t.Errorf("[%d] %+v came with %v", n, a, err)
		}
		failed = err
	}
	return failed
}

// wantOrder compares as sets and checks that times only rise, or only fall:
// the order inside a millisecond is stable and arbitrary.
func wantOrder(t *testing.T, what string, got, want []activity.Activity, newestFirst bool) {
	t.Helper()
	ordered := slices.IsSortedFunc(got, func(a, b activity.Activity) int {
		if newestFirst {
			a, b = b, a
		}
		return a.At.Compare(b.At)
	})
	if !ordered {
		t.Errorf("%s: not in order of time", what)
	}
	byEvent := func(a, b activity.Activity) int { return a.Event.Compare(b.Event) }
	wantSame(t, what, slices.SortedFunc(slices.Values(got), byEvent), slices.SortedFunc(slices.Values(want), byEvent))
}

// history records n dishes a minute apart, in groups of three at one time.
func history(t *testing.T, acts *activity.Store, n int) []activity.Activity {
	t.Helper()
	var all []activity.Activity
	for i := range n {
		all = append(all, chore(t, monday.Add(time.Duration(i/3)*time.Minute), int64(i+1), "diskning"))
	}
	mustRecord(t, acts, all...)
	return all
}

func TestRanges(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	all := history(t, acts, 20)
	at := func(i int) time.Time { return all[i].Event.Time() }
	for name, way := range waysTo(acts) {
		for what, tc := range map[string]struct {
			from, to time.Time
			want     []activity.Activity
		}{
			"all":                     {time.Time{}, time.Time{}, all},
			"from is part of it":      {at(6), time.Time{}, all[6:]},
			"to is not":               {time.Time{}, at(6), all[:6]},
			"just after":              {at(6).Add(1), time.Time{}, all[9:]},
			"just up to":              {time.Time{}, at(6).Add(1), all[:9]},
			"one millisecond":         {at(6), at(6).Add(time.Millisecond), all[6:9]},
			"nothing between":         {at(6), at(6), nil},
			"up to beyond the format": {time.Time{}, time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), all},
			"from beyond the format":  {time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, nil},
		} {
			for _, newest := range []bool{false, true} {
				r := activity.Range{From: tc.from, To: tc.to, NewestFirst: newest}
				got, next := way.part(t, r)
				if wantOrder(t, name+" "+what, got, tc.want, newest); next != "" {
					t.Errorf("%s %s: more follows", name, what)
				}
			}
		}
	}
}

// Parts of every size, in both directions, add up to the same walk, also with
// equal times, and go on after the last row that was yielded.
func TestParts(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	all := history(t, acts, 17)
	for name, way := range waysTo(acts) {
		for _, newest := range []bool{false, true} {
			want := collect(t, way(t.Context(), activity.Range{NewestFirst: newest}))
			wantOrder(t, name, want, all, newest)
			for _, limit := range []int{0, 1, 2, 5, 16, 17, 18} {
				r := activity.Range{NewestFirst: newest, Limit: limit}
				wantSame(t, fmt.Sprintf("%s in parts of %d", name, limit), way.parts(t, r), want)
				if limit == 0 || limit > 17 {
					continue
				}
				some, next := way.part(t, r)
				wantSame(t, name+" to its Limit", some, want[:limit])
				r = activity.Range{NewestFirst: newest, Cursor: next}
				wantSame(t, name+" walked from a cursor", collect(t, way(t.Context(), r)), want[limit:])
			}
		}
	}
}

// Next is written when the loop is left or the walk fails, each time anew, and
// not if nothing was walked.
func TestNext(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	all := history(t, acts, 30)
	for name, way := range waysTo(acts) {
		want := collect(t, way(t.Context(), activity.Range{}))
		next := "not written"
		seq := way(t.Context(), activity.Range{Next: &next})
		if next != "not written" {
			t.Errorf("%s: wrote %q and nobody walked", name, next)
		}
		for _, n := range []int{1, 4, 7, 29, 30} { // at the end of a page, and in the middle of one
			first(t, n, seq)
			if n == 30 {
				if next != "" {
					t.Errorf("%s: left at the last, goes on at %q", name, next)
				}
				break
			}
			wantSame(t, fmt.Sprintf("%s, left after %d", name, n), collect(t, way(t.Context(), activity.Range{Cursor: next})), want[n:])
		}

		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "Query", Nth: 2, Times: 3})
		var got []activity.Activity
		for a, err := range way(t.Context(), activity.Range{Next: &next}) {
			if err == nil {
				got = append(got, a)
			}
		}
		rest := collect(t, way(t.Context(), activity.Range{Cursor: next}))
		if len(got) != 4 {
			t.Errorf("%s: %d before the error", name, len(got))
		}
		wantOrder(t, name+" after an error", append(got, rest...), all, false)

		_, from := way.part(t, activity.Range{Limit: 3})
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "Query", Nth: 1, Times: 3})
		if err := refused(t, way(t.Context(), activity.Range{Cursor: from, Next: &next})); err == nil || next != from {
			t.Errorf("%s: %v, and goes on at %q, want %q", name, err, next, from)
		}
		next = "not written"
		if err := refused(t, way(t.Context(), activity.Range{Cursor: "x", Next: &next})); err == nil || next != "not written" {
			t.Errorf("%s: %v, and goes on at %q", name, err, next)
		}
	}
}

// A cursor holds a position and not a partition: with any cursor the rows are
// those of the query's scope and actor.
func TestForgedCursorStaysInside(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	mine := history(t, acts, 3)
	theirs := mine[0]
	theirs.Scope, theirs.Actor = "-200", rebecca
	theirs.Event = newEvent(t, monday.Add(time.Hour), "-200", 1)
	mustRecord(t, acts, theirs)
	_, next := waysTo(acts)["InScope"].part(t, activity.Range{Limit: 1})
	raw, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil || strings.Contains(string(raw), home) {
		t.Errorf("the cursor %q names the scope, %v", raw, err)
	}
	forged := check.EncodeCursor("ByActor", []string{fmt.Sprint(monday.UnixMilli() - 1), "-200", theirs.Event.String()})
	got := collect(t, acts.ByActor(t.Context(), martin, activity.Range{Cursor: forged}))
	wantOrder(t, "ByActor from a forged scope", got, mine, false)
}

// An early break pays for one small page, a whole walk makes few requests.
func TestWalkPaysForWhatItYields(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	all := history(t, acts, 400)
	for name, way := range waysTo(acts) {
		for _, newest := range []bool{false, true} {
			cost := db.Meter(func() {
				for _, err := range way(t.Context(), activity.Range{NewestFirst: newest}) {
					if err != nil {
						t.Error(err)
					}
					break
				}
			})
			cost.Want(t, dynamotest.Price{Requests: 1, RCU: 0.5})
		}
		var got []activity.Activity
		cost := db.Meter(func() { got = collect(t, way(t.Context(), activity.Range{})) })
		wantOrder(t, name, got, all, false)
		if cost.Requests != 5 { // 4 + 16 + 64 + 256 + 60
			t.Errorf("%s: %d requests for 400 activities", name, cost.Requests)
		}
	}
}

// A query by a name, a scope or an actor never finds those of its neighbours.
func TestNeighboursStayApart(t *testing.T) {
	t.Parallel()
	_, acts := open(t, &activity.Config{ActorType: types.ScalarAttributeTypeS})
	names := []string{
		"disk", "diskning", "disk#2", "disk#1774252800000", "disk%", "disk%23", "disk%232", "#", "%", "a", "a#b", "a#b#c",
		"dïsk", "disk 🍽", "disk🍽", "\U0010ffff", "disk$", "disk\"",
	}
	ids := []string{"a", "a#b", "#b", "b", "a%23b"}
	want := map[string][]activity.Activity{} // by name, by scope, by both ids
	var all []activity.Activity
	seq := int64(0)
	add := func(scope, actor, name string) {
		seq++
		a := activity.Activity{Scope: scope, Actor: actor, Name: name, Event: newEvent(t, monday.Add(time.Duration(seq)*time.Second), scope, seq)}
		all = append(all, a)
		for _, k := range []string{"name " + scope + "\n" + name, "scope " + scope, "actor " + actor, "both " + scope + "\n" + actor + "\n" + name} {
			want[k] = append(want[k], a)
		}
	}
	for _, name := range names {
		add("home", "martin", name)
		add("home", "martin", name)
	}
	for _, scope := range ids {
		for _, actor := range ids {
			add(scope, actor, "disk")
		}
	}
	mustRecord(t, acts, all...)
	for i, a := range all {
		newest := i%2 == 0
		r := activity.Range{NewestFirst: newest}
		wantOrder(t, "ByName", collect(t, acts.ByName(t.Context(), a.Scope, a.Name, r)), want["name "+a.Scope+"\n"+a.Name], newest)
		wantOrder(t, "InScope", collect(t, acts.InScope(t.Context(), a.Scope, r)), want["scope "+a.Scope], newest)
		wantOrder(t, "ByActor", collect(t, acts.ByActor(t.Context(), a.Actor, r)), want["actor "+a.Actor], newest)
		wantOrder(t, "ByActorAndName", collect(t, acts.ByActorAndName(t.Context(), a.Scope, a.Actor, a.Name, r)), want["both "+a.Scope+"\n"+a.Actor+"\n"+a.Name], newest)
	}
}

func TestWalkRefuses(t *testing.T) {
	t.Parallel()
	acts := silent(t)
	for name, way := range waysTo(acts) {
		for want, r := range map[string]activity.Range{
			"Range.Limit must not be negative": {Limit: -1},
			"Range.To lies before From":        {From: monday.Add(1), To: monday},
			"Range.Consistent is not possible": {Consistent: true},
		} {
			if name == "InScope" && r.Consistent {
				continue
			}
			wantInputError(t, refused(t, way(t.Context(), r)), want)
		}
	}
	_, err := acts.Count(t.Context(), activity.Filter{Scope: "\xff"})
	wantInputError(t, err, "Filter.Scope must be valid")
	for want, seq := range map[string]iter.Seq2[activity.Activity, error]{
		"scope must not be empty":       acts.InScope(t.Context(), "", activity.Range{}),
		"scope makes a key":             acts.ByName(t.Context(), strings.Repeat("s", 2049), "diskning", activity.Range{}),
		"scope must be valid":           acts.ByActorAndName(t.Context(), "\xff", martin, "diskning", activity.Range{}),
		"actor must be a whole decimal": acts.ByActor(t.Context(), "martin", activity.Range{}),
		"scope and actor makes":         acts.ByActorAndName(t.Context(), strings.Repeat("s", 2047), martin, "diskning", activity.Range{}),
		"name must not be empty":        acts.ByName(t.Context(), home, "", activity.Range{}),
		"name makes a key":              acts.ByName(t.Context(), home, strings.Repeat("x", 1011), activity.Range{}),
	} {
		wantInputError(t, refused(t, seq), want)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	all := history(t, acts, 12)
	elsewhere := all[0]
	elsewhere.Scope = "-200"
	other := chore(t, monday, 100, "tvätt")
	hers := chore(t, monday, 101, "diskning")
	hers.Actor = rebecca
	mustRecord(t, acts, elsewhere, other, hers)
	from, to := all[3].Event.Time(), all[9].Event.Time()
	for name, tc := range map[string]struct {
		filter activity.Filter
		want   int
	}{
		"scope":                      {activity.Filter{Scope: home}, 14},
		"scope, consistently":        {activity.Filter{Scope: home, Consistent: true}, 14},
		"actor":                      {activity.Filter{Actor: martin}, 14},
		"actor in a period":          {activity.Filter{Actor: martin, From: from, To: to}, 6},
		"name":                       {activity.Filter{Scope: home, Name: "diskning"}, 13},
		"actor and name":             {activity.Filter{Scope: home, Actor: martin, Name: "diskning"}, 12},
		"actor and name in a period": {activity.Filter{Scope: home, Actor: martin, Name: "diskning", From: from, To: to}, 6},
		"nothing":                    {activity.Filter{Scope: home, Name: "pantning"}, 0},
	} {
		if got, err := acts.Count(t.Context(), tc.filter); got != tc.want || err != nil {
			t.Errorf("%s: %d, %v, want %d", name, got, err, tc.want)
		}
	}
	for want, filter := range map[string]activity.Filter{
		"Filter must have a Scope or an Actor": {},
		"Filter.Name must be set if Scope and Actor are set: no index has all activities of one actor in one scope. To count without a Name, leave Actor empty and set Match.Actor": {Scope: home, Actor: martin},
		"Filter.Scope must be set if Name is set": {Name: "diskning"},
		"Filter.Consistent is possible only with": {Actor: martin, Consistent: true},
		"Filter.To lies before From":              {Scope: home, From: to, To: from},
	} {
		_, err := acts.Count(t.Context(), filter)
		wantInputError(t, err, want)
	}
}

func TestCountFollowsPages(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	var all []activity.Activity
	for seq := range int64(30) {
		a := chore(t, monday.Add(time.Duration(seq)*time.Minute), seq+1, "diskning")
		a.ActorName = strings.Repeat("x", 50<<10)
		all = append(all, a)
	}
	mustRecord(t, acts, all...)
	for _, filter := range []activity.Filter{{Scope: home}, {Actor: martin}, {Scope: home, Name: "diskning"}, {Scope: home, Actor: martin, Name: "diskning"}} {
		cost := db.Meter(func() {
			if got, err := acts.Count(t.Context(), filter); got != 30 || err != nil {
				t.Errorf("%+v: %d, %v", filter, got, err)
			}
		})
		if cost.Requests != 2 {
			t.Errorf("%+v: %d requests for 1.5 MB", filter, cost.Requests)
		}
	}
}

func TestCursorsAreRefused(t *testing.T) {
	t.Parallel()
	ms, id := fmt.Sprint(monday.UnixMilli()), newEvent(t, monday, home, 1).String()
	good := map[string][]string{"InScope": {id}, "ByActor": {ms, home, id}, "ByName": {ms, id}, "ByActorAndName": {ms, id}}
	bad := map[string][][]string{
		"InScope": {{"01"}},
		"ByActor": {{"soon", home, id}, {ms, "", id}},
		"ByName":  {{ms, ""}, {"../" + id, id}},
	}
	for name, way := range waysTo(silent(t)) {
		own := check.EncodeCursor(name, good[name])
		cursors := []string{"%%%", own[:len(own)-1]}
		for other, position := range good {
			if other != name {
				cursors = append(cursors, check.EncodeCursor(other, position))
			}
		}
		for _, position := range bad[name] {
			cursors = append(cursors, check.EncodeCursor(name, position))
		}
		for _, c := range cursors {
			recordtest.WantBad(t, refused(t, way(t.Context(), activity.Range{From: monday, Cursor: c})), "activity", "Range.Cursor", name, c)
		}
		err := refused(t, way(t.Context(), activity.Range{NewestFirst: true, Cursor: own}))
		wantInputError(t, err, "Range.Cursor is damaged or belongs to another query")
	}
	notATime := activity.Range{Cursor: check.EncodeCursor("ByActor", []string{"soon", home, id})}
	wantInputError(t, refused(t, silent(t).ByActor(t.Context(), martin, notATime)), "Range.Cursor points to a row outside the range")
}
