package ema_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// Erase takes the subject's averages of the store's prefix and no others, and
// what an Observe that was under way writes afterwards holds nothing of them.
func TestErase(t *testing.T) {
	t.Parallel()
	db, store := open(t)
	prefs := storeOf(t, db, store.Table().Name, preferences)
	o := effort(ago(t, 5), 100)
	mustObserve(t, store, o, event.Created)
	mustObserve(t, prefs, o, event.Created)
	other := o
	other.Metric = "another"
	mustObserve(t, store, other, event.Created)
	db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.Before(func() {
		if n, err := store.Erase(t.Context(), o.Subject); n != 2 || err != nil {
			t.Errorf("Erase = %d, %v, want 2", n, err)
		}
	})})
	mustObserve(t, store, effort(ago(t, 4), 1), event.Created)
	if got := mustGet(t, store, o.Subject, o.Metric); got.Value != 1 || got.Samples != 1 {
		t.Errorf("%+v holds what was erased", got)
	}
	for _, want := range []int{1, 0} {
		if n, err := store.Erase(t.Context(), o.Subject); n != want || err != nil {
			t.Errorf("Erase again = %d, %v, want %d", n, err, want)
		}
	}
	if _, ok, err := prefs.Get(t.Context(), o.Subject, o.Metric); !ok || err != nil {
		t.Errorf("the other prefix's average: %v, %v", ok, err)
	}
	_, err := store.Erase(t.Context(), "")
	recordtest.WantBad(t, err, "ema", "Subject")
}
