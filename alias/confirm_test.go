package alias_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

func TestConfirmCountsAnEventOnceInAnyOrder(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	refused(t, alias.ErrNotFound)(w.confirm("diskning", 65))
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 60)) // "ja" teaches and confirms
	do(t, event.Duplicate)(w.confirm("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 40))
	do(t, event.Created)(w.confirm("diskning", 50)) // arrives late
	for _, minutesAgo := range []int{60, 40, 50} {
		do(t, event.Duplicate)(w.confirm("diskning", minutesAgo))
	}
	refused(t, event.ErrSuperseded)(w.confirm("diskning", 61)) // the phrase was not taught yet
	means(t, w.f, "diskning", 3)
}

// A write that meets a transaction on the row is sent again.
func TestConfirmMeetsATransaction(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	w.f.db.Inject(dynamotest.Fault{Do: dynamotest.Answer(400, `{"__type": "TransactionConflictException"}`), Op: "UpdateItem", Times: 2})
	cost := w.f.db.Meter(func() { do(t, event.Created)(w.confirm("diskning", 40)) })
	if cost.Requests != 3 {
		t.Errorf("%v", cost)
	}
}

// confirmed has a phrase that was confirmed 8 times, 11 to 18 minutes ago.
func confirmed(t testing.TB) writer {
	t.Helper()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	for _, minutesAgo := range []int{14, 11, 18, 12, 17, 13, 16, 15} {
		do(t, event.Created)(w.confirm("diskning", minutesAgo))
	}
	return w
}

func TestConfirmRemembersTheEightGreatest(t *testing.T) {
	t.Parallel()
	w := confirmed(t)
	refused(t, event.ErrTooOld)(w.confirm("diskning", 19)) // may have been counted
	do(t, event.Duplicate)(w.confirm("diskning", 18))
	do(t, event.Created)(w.confirm("diskning", 10))
	refused(t, event.ErrTooOld)(w.confirm("diskning", 18)) // was evicted from the set
	do(t, event.Duplicate)(w.confirm("diskning", 17))
	means(t, w.f, "diskning", 9)
	var want []event.Event
	for minutesAgo := 10; minutesAgo < 18; minutesAgo++ {
		want = append(want, eventAt(t, minutesAgo))
	}
	if diff := cmp.Diff(events(want...), w.f.stored(t, "ALIAS#-100123", "ta disken")["confirmers"]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	owner(t, "diskning")(w.confirm("torkning", 5))
	owner(t, "diskning")(w.confirm("torkning", 40)) // in spite of the remembered events
}

// A confirmation of a full set that another one overtakes loses neither.
func TestConfirmBesideAnother(t *testing.T) {
	t.Parallel()
	w := confirmed(t)
	other := writer{t, w.f.beside(t)}
	w.f.db.Inject(dynamotest.Fault{Op: "UpdateItem", Nth: 2, Do: dynamotest.Before(func() { do(t, event.Created)(other.confirm("diskning", 6)) })})
	do(t, event.Created)(w.confirm("diskning", 5))
	do(t, event.Duplicate)(w.confirm("diskning", 6))
	do(t, event.Duplicate)(w.confirm("diskning", 5))
	means(t, w.f, "diskning", 10)
}

// A Correct to the name that stands is overtaken by one to another name, whose
// confirmations do not count for this one.
func TestCorrectBesideAnother(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	other := writer{t, w.f.beside(t)}
	w.f.db.Inject(dynamotest.Fault{Op: "UpdateItem", Nth: 2, Do: dynamotest.Before(func() {
		do(t, event.Created)(other.correct("torkning", 50))
		do(t, event.Created)(other.confirm("torkning", 45))
	})})
	do(t, event.Created)(w.correct("diskning", 40))
	means(t, w.f, "diskning", 0)
}

// Another name is counted from 0, by its own events; the same name keeps its
// count.
func TestCorrectAndTheConfirmations(t *testing.T) {
	t.Parallel()
	w := confirmed(t)
	do(t, event.Created)(w.correct("diskning", 30))
	do(t, event.Duplicate)(w.correct("diskning", 30))
	do(t, event.Duplicate)(w.confirm("diskning", 14))
	refused(t, event.ErrTooOld)(w.confirm("diskning", 20))
	means(t, w.f, "diskning", 8)
	do(t, event.Created)(w.correct("torkning", 29))
	if row := w.f.stored(t, "ALIAS#-100123", "ta disken"); row["confirmers"] != nil {
		t.Errorf("stored: %v", row)
	}
	do(t, event.Created)(w.confirm("torkning", 20))
	do(t, event.Created)(w.confirm("torkning", 14)) // it also confirmed another name
	means(t, w.f, "torkning", 2)
}

// A row of format 1 knows only the last event it counted: earlier ones may have
// been counted.
func TestConfirmedByOfFormat1(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	old := with(golden(t, "put"), map[string]any{"confirmations": n("3"), "confirmedBy": s(eventAt(t, 40).String()), "namedBy": s(eventAt(t, 90).String())})
	w.f.write(t, old)
	do(t, event.Duplicate)(w.confirm("diskning", 40))
	refused(t, event.ErrTooOld)(w.confirm("diskning", 50))
	owner(t, "diskning")(w.confirm("torkning", 50))       // which the row cannot have counted
	for minutesAgo := 30; minutesAgo > 20; minutesAgo-- { // past a full set
		do(t, event.Created)(w.confirm("diskning", minutesAgo))
		do(t, event.Duplicate)(w.confirm("diskning", minutesAgo))
		do(t, event.Duplicate)(w.confirm("diskning", 40))
		refused(t, event.ErrTooOld)(w.confirm("diskning", 50))
	}
	means(t, w.f, "diskning", 13)
	do(t, event.Created)(w.correct("torkning", 60))
	if row := w.f.stored(t, "ALIAS#-100123", "ta disken"); row["confirmedBy"] != nil {
		t.Errorf("stored: %v", row)
	}
	do(t, event.Created)(w.confirm("torkning", 50))
	means(t, w.f, "torkning", 1)
}
