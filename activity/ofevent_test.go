package activity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestOfEvent(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	set := setOf(t, 7, 3)
	far := setOf(t, 7, 1)[0]
	far.Event = recordtest.Nth(t, far.Event, 255)
	away := set[0]
	away.Scope = "-200"
	mustRecord(t, acts, append(set, far, away, chore(t, monday, 8, "diskning"), chore(t, monday.Add(time.Millisecond), 7, "diskning"))...)
	for _, ev := range []event.Event{set[0].Event, set[2].Event, far.Event, recordtest.Bound(set[0].Event)} {
		got, err := acts.OfEvent(t.Context(), home, ev)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, "OfEvent", got, append(setOf(t, 7, 3), far))
	}
	got, err := acts.OfEvent(t.Context(), home, newEvent(t, monday, home, 9))
	if len(got) != 0 || err != nil {
		t.Errorf("an event that recorded nothing: %v, %v", got, err)
	}
	_, err = acts.OfEvent(t.Context(), "", far.Event)
	wantInputError(t, err, "scope must not be empty")
	_, err = acts.OfEvent(t.Context(), home, event.Event{})
	wantInputError(t, err, "ev must not be")
}

func TestOfEventFollowsPages(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	set := setOf(t, 7, 4)
	for i := range set {
		set[i].ActorName = strings.Repeat("x", 390<<10)
	}
	for range 2 {
		if _, err := acts.RecordAll(t.Context(), set); err != nil {
			t.Fatal(err)
		}
	}
	got, err := acts.OfEvent(t.Context(), home, set[0].Event)
	if err != nil || len(got) != 4 {
		t.Errorf("%d activities, %v", len(got), err)
	}
}

// A set was refused because of rows that are deleted before they are read: the
// answer is neither Duplicate nor a conflict.
func TestRecordAllRefusedForWhatIsGone(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	for n := 1; n <= 2; n++ {
		set := setOf(t, int64(n), n)
		mustRecord(t, acts, set[0])
		db.Inject(dynamotest.Fault{Op: "Query", Do: dynamotest.Before(func() {
			recordtest.Delete(t, db.Client(), acts.Table().Name, ddb.Item{"chatId": item.S(home), "activityId": item.S(set[0].Event.String())})
		})})
		out, err := acts.RecordAll(t.Context(), set)
		if out != 0 || err == nil || !strings.HasPrefix(err.Error(), "activity: RecordAll on table") || !strings.Contains(err.Error(), "deleted since: try again") {
			t.Errorf("a set of %d: %v, %v, want an error to try again for", n, out, err)
		}
		if out, err := acts.RecordAll(t.Context(), set); out != event.Created || err != nil {
			t.Errorf("a set of %d again: %v, %v", n, out, err)
		}
	}
}
