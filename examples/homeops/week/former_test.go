package week_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
)

// Former members are members of a week that was last computed with them, here.
func TestFormer(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	f.record(t, aWeek(t)...)
	want := f.recompute(t, wednesday, "42", "99")
	f.bring(t, wednesday.AddDate(0, 0, 7), "7")
	if _, err := f.Recompute(t.Context(), week.Recompute{Household: "-9", Members: []string{"8"}, Of: wednesday}); err != nil {
		t.Fatal(err)
	}
	asked := week.Recompute{Household: home, Members: []string{"42"}, Former: []string{"7", "99", "8"}, Of: wednesday}
	var err error
	f.db.Meter(func() { _, err = f.Recompute(t.Context(), asked) }).Want(t, dynamotest.Price{Requests: 10, RCU: 7, WCU: 3})
	if err != nil {
		t.Error(err)
	}
	f.wantTable(t, want)
}
