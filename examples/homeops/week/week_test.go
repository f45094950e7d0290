package week_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

const home = "-4123456789"

// wednesday is in 2026-W08.
var wednesday = time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)

func clock() time.Time { return wednesday }

// flat is a household's tables.
type flat struct {
	*week.Store
	db   *dynamotest.DB
	acts *activity.Store
	api  record.API
}

func open(t testing.TB) flat {
	t.Helper()
	return on(t, dynamotest.Open(t, pricetest.Watch))
}

func on(t testing.TB, db *dynamotest.DB) flat {
	t.Helper()
	f := through(t, db, db.Client())
	db.Create(f.Table(), f.acts.Table())
	return f
}

// through returns the stores of a process whose requests for weeks and activities
// go through the clients.
func through(t testing.TB, db *dynamotest.DB, api interface {
	record.API
	activity.API
},
) flat {
	t.Helper()
	acts, err := activity.New(api, db.Name("homeops-activities"), &activity.Config{Now: func() time.Time { return wednesday.AddDate(1, 0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	s, err := week.New(api, db.Name("homeops"), acts, tzclock.Stockholm, clock)
	if err != nil {
		t.Fatal(err)
	}
	return flat{s, db, acts, api}
}

// did returns an activity: who, what, how much effort. A negative effort means
// recovery.
func did(t testing.TB, at time.Time, id int, who, what string, effort float64) activity.Activity {
	t.Helper()
	ev := recordtest.Event(t, at, "telegram", home, fmt.Sprint(id))
	a := activity.Activity{Scope: home, Actor: who, Event: ev, Name: what, Kind: "chore", Effort: effort}
	if effort < 0 {
		a.Kind, a.Effort = "recovery", -effort
	}
	return a
}

func (f flat) record(t testing.TB, all ...activity.Activity) {
	t.Helper()
	for _, a := range all {
		if _, err := f.acts.Record(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// aWeeks is what a week came to: the summaries of those asked for, and the balances
// between them.
type aWeeks struct {
	Period    string
	Summaries []week.Summary
	Balances  []week.Balance
}

func (f flat) bring(t testing.TB, of time.Time, members ...string) []week.Summary {
	t.Helper()
	all, err := f.Recompute(t.Context(), week.Recompute{Household: home, Members: members, Of: of})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// recompute returns the summaries of the answer, and the stored balances.
func (f flat) recompute(t testing.TB, of time.Time, members ...string) aWeeks {
	t.Helper()
	w := aWeeks{Period: week.Period(tzclock.Stockholm.Date(of)), Summaries: f.bring(t, of, members...)}
	all, err := f.Balances(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if b.Period == w.Period && slices.Contains(members, b.A) && slices.Contains(members, b.B) {
			w.Balances = append(w.Balances, b)
		}
	}
	return w
}

// summary returns the stored row.
func (f flat) summary(t testing.TB, user, period string) week.Summary {
	t.Helper()
	rows, err := record.New(f.db.Client(), f.Table().Name, record.Kind[week.Summary]{Package: "test", Type: "SUMMARY", Decode: week.DecodeSummary}, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, _, err := rows.Get(t.Context(), "USER#"+user, "SUMMARY#"+period)
	if err != nil {
		t.Fatal(err)
	}
	return one
}

// aWeek is what a household of two did.
func aWeek(t testing.TB) []activity.Activity {
	t.Helper()
	at := func(h int) time.Time { return wednesday.Add(time.Duration(h) * time.Hour) }
	return []activity.Activity{
		did(t, at(0), 1, "99", "diskning", 1), did(t, at(1), 2, "99", "diskning", 1), did(t, at(2), 3, "99", "tvätt", 1),
		did(t, at(3), 4, "42", "städning", 2), did(t, at(4), 5, "42", "vila", -0.5), did(t, at(5), 6, "99", "dammsugning", 1.5),
		did(t, at(6), 7, "99", "sopor", 0.5), did(t, at(7), 8, "7", "diskning", 100), did(t, at(8), 9, "42", "fika", 0),
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.record(t, aWeek(t)...)
	got := f.recompute(t, wednesday, "99", "42")
	golden.Want(t, f.db.Client(), f.Table().Name, "testdata/balance.json", "pk", "sk")
	golden.Want(t, f.db.Client(), f.Table().Name, "testdata/summary.json", "pk", "sk")
	want := aWeeks{
		Period: "2026-W08",
		Summaries: []week.Summary{
			{
				User: "99", Household: home, Period: "2026-W08", Chores: 5, Net: 5, Fairness: 1 - 2*(5.0/7-0.5),
				Highlights: []string{"diskning 2", "dammsugning 1", "sopor 1"},
			},
			{
				User: "42", Household: home, Period: "2026-W08", Chores: 2, Recovery: 1, Net: 1.5, Fairness: 1 - 2*(0.5-2.0/7),
				Highlights: []string{"fika 1", "städning 1", "vila 1"},
			},
		},
		Balances: []week.Balance{{Household: home, A: "42", B: "99", Period: "2026-W08", NetA: 1.5, NetB: 5}},
	}
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	f.wantStored(t, got)
}

var near = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })

// wantStored checks that the stored rows are those of a week.
func (f flat) wantStored(t testing.TB, w aWeeks) {
	t.Helper()
	for _, want := range w.Summaries {
		if diff := cmp.Diff(want, f.summary(t, want.User, w.Period), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("summary (-want +got)\n%s", diff)
		}
	}
	all, err := f.Balances(t.Context(), home)
	for _, want := range w.Balances {
		if err != nil || !slices.Contains(all, want) {
			t.Errorf("%v: %+v is not among %+v", err, want, all)
		}
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.record(t, aWeek(t)...)
	pricetest.Run(t, f.db, []pricetest.Case{
		{Func: "Store.Recompute", Call: func(ctx context.Context) error {
			_, err := f.Recompute(ctx, week.Recompute{Household: home, Members: []string{"42", "99"}, Of: wednesday})
			return err
		}},
		{Func: "Store.Balance", Call: func(ctx context.Context) error {
			_, ok, err := f.Balance(ctx, home, "42", "99", "2026-W08")
			return found(ok, err)
		}},
		{Func: "Store.Summary", Call: func(ctx context.Context) error {
			one, ok, err := f.Summary(ctx, "99", "2026-W08")
			return found(ok && one.User == "99", err)
		}},
		{Func: "Store.Balances", Call: func(ctx context.Context) error { _, err := f.Balances(ctx, home); return err }},
	}, f.Store)
}

func TestErrorsNameMethodAndTable(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	f.db.Inject(dynamotest.Fault{Do: dynamotest.Answer(400, `{"__type": "AccessDeniedException"}`), Op: "UpdateItem", Times: -1})
	_, nowhere := f.Recompute(t.Context(), week.Recompute{Household: home, Members: []string{"1"}, Of: wednesday})
	f = through(t, dynamotest.New(t, nil), dynamotest.New(t, nil).Client())
	_, read := f.Recompute(t.Context(), week.Recompute{Household: home, Members: []string{"1"}, Of: wednesday})
	_, all := f.Balances(t.Context(), home)
	for method, err := range map[string]error{"Recompute": nowhere, "Get": read, "All": all} {
		if err == nil || !strings.HasPrefix(err.Error(), "week: "+method+" on table homeops: ") {
			t.Error(err)
		}
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	f := open(t)
	if _, err := f.Balances(t.Context(), ""); err == nil {
		t.Error("balances of nobody")
	}
	for _, table := range []string{"", "x"} {
		if _, err := week.New(nil, table, f.acts, tzclock.Stockholm, clock); err == nil {
			t.Error("New took bad input")
		}
	}
}

// found returns an error if nothing was found.
func found(ok bool, err error) error {
	if err == nil && !ok {
		err = errors.New("not found")
	}
	return err
}
