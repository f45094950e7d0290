package activity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// damaged puts activities and, between them, rows that cannot be read: one with
// an id that is not an event, and one with a text for its number.
func damaged(t *testing.T) (*dynamotest.DB, *activity.Store, []activity.Activity) {
	t.Helper()
	db, acts := open(t, nil)
	var all []activity.Activity
	for i := range 6 {
		all = append(all, chore(t, monday.Add(time.Duration(i)*time.Minute), int64(i+1), "diskning"))
	}
	mustRecord(t, acts, all...)
	strange := oldRow(t, "01KMCVD-7", home, martin, "diskning", monday.Add(90*time.Second).UnixMilli())
	strange["timestamp"] = item.Digits(fmt.Sprint(monday.Add(90*time.Second).UnixMilli(), ".5")) // sorts among the others
	strange["chatUser"] = item.S(home + "#" + martin)
	recordtest.Put(t, db.Client(), acts.Table().Name, strange)
	row, err := acts.Encode(all[3])
	if err != nil {
		t.Fatal(err)
	}
	row["messageId"] = item.S("seven")
	recordtest.Put(t, db.Client(), acts.Table().Name, row)
	return db, acts, append(all[:3:3], all[4:]...)
}

// A row that cannot be read ends a walk with an error that says what is wrong
// with it, or is passed to OnUnreadable and left out.
func TestUnreadableRows(t *testing.T) {
	t.Parallel()
	db, acts, all := damaged(t)
	var told []error
	patient, err := activity.New(db.Client(), acts.Table().Name, &activity.Config{OnUnreadable: func(err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	ways, strict := waysTo(patient), waysTo(acts)
	for name, way := range ways {
		for _, newest := range []bool{false, true} {
			r := activity.Range{NewestFirst: newest}
			var failed error
			for _, err := range strict[name](t.Context(), r) {
				failed = err
			}
			if failed == nil || !strings.Contains(failed.Error(), "attribute messageId is not") && !strings.Contains(failed.Error(), "attribute activityId is not an event") {
				t.Errorf("%s: %v", name, failed)
			}
			told = nil
			wantOrder(t, name, collect(t, way(t.Context(), r)), all, newest)
			if len(told) != 2 {
				t.Errorf("%s told of %d: %v", name, len(told), told)
			}
			for _, u := range told {
				if !strings.Contains(u.Error(), fmt.Sprintf("of scope %q: ", home)) {
					t.Errorf("%s told of %+v", name, u)
				}
			}
			r.ReadAtMost = 1 // a part may end at a row that cannot be read
			wantOrder(t, name+" in parts", way.parts(t, r), all, newest)
		}
	}

	// Count and Tally read no messageId.
	told = nil
	if n, err := patient.Count(t.Context(), activity.Filter{Scope: home, Name: "diskning"}); n != len(all)+1 || err != nil {
		t.Errorf("Count = %d, %v", n, err)
	}
	tally, err := patient.Tally(t.Context(), activity.Filter{Scope: home, Name: "diskning"})
	if diff := cmp.Diff([]activity.Tally{{Actor: martin, Name: "diskning", Kind: "chore", Count: len(all) + 1}}, tally); err != nil || diff != "" {
		t.Errorf("Tally: %v (-want +got):\n%s", err, diff)
	}
	if len(told) != 2 || !strings.Contains(told[0].Error(), `row "01KMCVD-7" of scope`) || !strings.Contains(told[1].Error(), `row "01KMCVD-7" of scope`) {
		t.Errorf("told of %v", told)
	}
	if _, err := acts.Count(t.Context(), activity.Filter{Scope: home, Name: "diskning"}); err == nil || !strings.Contains(err.Error(), "activityId is not an event") {
		t.Errorf("Count: %v", err)
	}

	// OfEvent never returns a part of an event.
	told = nil
	unread := chore(t, monday.Add(3*time.Minute), 4, "diskning")
	errs := map[string]error{}
	_, errs["OfEvent"] = patient.OfEvent(t.Context(), home, unread.Event)
	_, errs["Record"] = patient.Record(t.Context(), unread)
	_, errs["RecordAll"] = patient.RecordAll(t.Context(), []activity.Activity{unread})
	for method, err := range errs {
		if err == nil || told != nil || !strings.HasPrefix(err.Error(), "activity: "+method+" on table "+acts.Table().Name+": attribute messageId") {
			t.Errorf("%s: %v, told of %v", method, err, told)
		}
	}
}

const (
	composed   = "st\u00e4dning"
	decomposed = "sta\u0308dning"
)

func TestTally(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	var all []activity.Activity
	for i := range 30 {
		a := chore(t, monday.Add(time.Duration(i)*time.Hour), int64(i+1), []string{"tvätt", "diskning", "diskning"}[i%3])
		a.Actor = []string{martin, rebecca}[i%2]
		if i%5 == 0 {
			a.Kind = ""
		}
		all = append(all, a)
	}
	away := all[0]
	away.Scope = "-200"
	mustRecord(t, acts, append(all, away)...)
	from, to := all[6].Event.Time(), all[24].Event.Time()
	got, err := acts.Tally(t.Context(), activity.Filter{Scope: home, From: from, To: to})
	if err != nil {
		t.Fatal(err)
	}
	want := []activity.Tally{
		{martin, "diskning", "", 2},
		{martin, "diskning", "chore", 4},
		{martin, "tvätt", "chore", 3},
		{rebecca, "diskning", "chore", 6},
		{rebecca, "tvätt", "", 1},
		{rebecca, "tvätt", "chore", 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Tally (-want +got):\n%s", diff)
	}
	_, err = acts.Tally(t.Context(), activity.Filter{Name: "diskning"})
	wantInputError(t, err, "Filter.Scope must be set")
	if got, err := acts.Tally(t.Context(), activity.Filter{Scope: "-300"}); got != nil || err != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}

// Two spellings of a name that look the same are one name.
func TestNamesAreInNFC(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	a := chore(t, monday, 7, decomposed)
	b := a
	b.Name = composed
	mustRecord(t, acts, a)
	for _, given := range []activity.Activity{b, a} {
		if out, err := acts.Record(t.Context(), given); out != event.Duplicate || err != nil {
			t.Errorf("%v, %v", out, err)
		}
	}
	// An older writer's row keeps its form: it is found by key and by actor, and
	// for a redelivery it is the same activity.
	old := chore(t, monday.Add(time.Minute), 8, decomposed)
	row, err := acts.Encode(old)
	if err != nil {
		t.Fatal(err)
	}
	row["activity"], row["activityTimestamp"] = item.S(decomposed), item.S(activity.NameTime(decomposed, old.Event.Time().UnixMilli()))
	recordtest.Put(t, db.Client(), acts.Table().Name, row)
	if out, err := acts.Record(t.Context(), old); out != event.Duplicate || err != nil {
		t.Errorf("an older writer's: %v, %v", out, err)
	}
	wantSame(t, "in the scope", everything(t, acts), []activity.Activity{b, old})
	for _, name := range []string{composed, decomposed} {
		wantSame(t, "by name", collect(t, acts.ByName(t.Context(), home, name, activity.Range{})), []activity.Activity{b})
		wantSame(t, "by both", collect(t, acts.ByActorAndName(t.Context(), home, martin, name, activity.Range{})), []activity.Activity{b})
		if n, err := acts.Count(t.Context(), activity.Filter{Scope: home, Name: name}); n != 1 || err != nil {
			t.Errorf("Count = %d, %v", n, err)
		}
	}
	got, err := acts.Tally(t.Context(), activity.Filter{Scope: home})
	if diff := cmp.Diff([]activity.Tally{{Actor: martin, Name: composed, Kind: "chore", Count: 2}}, got); err != nil || diff != "" {
		t.Errorf("Tally: %v (-want +got):\n%s", err, diff)
	}
}

func TestNextIsBehindAnUnreadableRow(t *testing.T) {
	t.Parallel()
	_, acts, all := damaged(t)
	for name, way := range waysTo(acts) {
		var got []activity.Activity
		r := activity.Range{}
		r.Next = &r.Cursor
		for failed, more := 0, true; more; more = r.Cursor != "" {
			for a, err := range way(t.Context(), r) {
				if err == nil {
					got = append(got, a)
				} else if failed++; failed > 2 {
					t.Fatalf("%s: a third row cannot be read: %v", name, err)
				}
			}
		}
		wantOrder(t, name, got, all, false)
	}
}
