package planner_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/planner"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

const home = "-5"

// noon of a Wednesday in Stockholm, in winter.
var noon = time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

type world struct {
	db       *dynamotest.DB
	table    string
	profiles *profile.Store
	promises *promise.Store
	weeks    *week.Store
	habits   *pattern.Store
	acts     *activity.Store
	planner  *planner.Planner
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func open(t *testing.T, db *dynamotest.DB) world {
	t.Helper()
	w := world{db: db, table: db.Name("homeops")}
	w.profiles = must[*profile.Store](t)(profile.New(db.Client(), w.table, clock))
	w.promises = must[*promise.Store](t)(promise.New(db.Client(), w.table, clock))
	w.acts = must[*activity.Store](t)(activity.New(db.Client(), db.Name("activities"), &activity.Config{Now: clock}))
	w.habits = must[*pattern.Store](t)(pattern.New(db.Client(), w.table, tzclock.Stockholm, &pattern.Config{Now: clock}))
	w.weeks = must[*week.Store](t)(week.New(db.Client(), w.table, w.acts, tzclock.Stockholm, clock))
	w.planner = must[*planner.Planner](t)(planner.New(db.Client(), w.table, w.weeks, w.habits))
	db.Create(w.promises.Table(), w.acts.Table())
	return w
}

func at(t *testing.T, when time.Time, id string) event.Event {
	t.Helper()
	return recordtest.Event(t, when, "telegram", home, id)
}

// live gives Anna and Bo some history: a profile, a promise, a week, a habit.
func (w world) live(t *testing.T) {
	t.Helper()
	for i, user := range []string{"5001", "5002"} {
		ev := at(t, noon, fmt.Sprint(i))
		if err := w.profiles.Change(t.Context(), profile.Change{User: user, Event: ev, Name: "N" + user, Household: home, Chat: home}); err != nil {
			t.Fatal(err)
		}
		_, _, err := w.promises.Make(t.Context(), promise.Make{
			Event: ev, User: user, Description: "diska", Activity: "diskning", Household: home, Chat: home, Source: 1, Deadline: noon.Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		must[event.Outcome](t)(w.habits.Observe(t.Context(), pattern.Observe{Scope: home, Actor: user, Name: "diskning", Event: ev}))
		must[event.Outcome](t)(w.acts.Record(t.Context(), activity.Activity{
			Scope: home, Actor: user, Event: ev, Name: "diskning", Kind: "chore", Effort: float64(2 + i), Confidence: 1,
		}))
	}
	must[[]week.Summary](t)(w.weeks.Recompute(t.Context(), week.Recompute{Household: home, Members: []string{"5001", "5002"}, Of: noon}))
}

var zones = cmp.Comparer(func(a, b tzclock.Zone) bool { return a == b })

// Read returns what each package would read, in one round trip.
func TestRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, dynamotest.New(t, &dynamotest.Config{Now: clock, Latency: 10 * time.Millisecond}))
		w.live(t)
		other := golden.Item(t, "testdata/other.json") // a type of another program
		recordtest.Put(t, w.db.Client(), w.table, other)
		who, _, err := w.profiles.Get(t.Context(), "5002")
		if err != nil {
			t.Fatal(err)
		}
		want := planner.View{
			Profile:  who,
			Promises: must[[]promise.Promise](t)(w.promises.Of(t.Context(), "5002", time.Time{})),
			Summaries: []week.Summary{{
				User: "5002", Household: home, Period: "2026-W08", Chores: 1, Net: 3, Fairness: 0.8, Highlights: []string{"diskning 1"},
			}},
			Balances: must[[]week.Balance](t)(w.weeks.Balances(t.Context(), home)),
			Habits:   must[[]pattern.Habit](t)(w.habits.All(t.Context(), home, "5002")),
		}
		if want.Profile.Name != "N5002" || len(want.Promises) != 1 || want.Summaries[0].Chores != 1 || len(want.Balances) != 1 || len(want.Habits) != 1 {
			t.Fatalf("nothing to read: %+v", want)
		}
		var got planner.View
		cost := w.db.Meter(func() { got, err = w.planner.Read(t.Context(), home, "5002") })
		if diff := cmp.Diff(want, got, zones); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if cost.Depth != 1 {
			t.Errorf("%d round trips", cost.Depth)
		}
		got, err = w.planner.Read(t.Context(), home, "5003") // who has only joined
		want = planner.View{Profile: profile.Profile{User: "5003"}, Balances: want.Balances}
		if diff := cmp.Diff(want, got, zones, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestTrouble(t *testing.T) {
	t.Parallel()
	w := open(t, dynamotest.New(t, &dynamotest.Config{Now: clock}))
	if _, err := planner.New(w.db.Client(), "", w.weeks, w.habits); err == nil {
		t.Error("New without a table")
	}
	if v, err := w.planner.Read(t.Context(), home, ""); err == nil {
		t.Errorf("of nobody: %+v", v)
	}
	w.live(t)
	for _, kind := range []string{"PROMISE", "SUMMARY"} {
		bad := golden.Item(t, "testdata/other.json")
		bad["sk"], bad["type"], bad["deadline"], bad["netLoad"] = record.Text(kind), record.Text(kind), record.Text("soon"), record.Text("heavy")
		recordtest.Put(t, w.db.Client(), w.table, bad)
	}
	v, err := w.planner.Read(t.Context(), home, "5002")
	if err != nil || len(v.Promises) != 1 || len(v.Summaries) != 1 {
		t.Errorf("beside rows that nobody can read: %+v, %v", v, err)
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	w := open(t, dynamotest.Open(t, pricetest.Watch))
	w.live(t)
	pricetest.Run(t, w.db, []pricetest.Case{
		{Func: "Planner.Read", Call: func(ctx context.Context) error { _, err := w.planner.Read(ctx, home, "5001"); return err }},
	})
}

// habit returns a habit of 10 times: 8 on Wednesdays, 4 at noon.
func habit(name string, change ...func(*pattern.Habit)) pattern.Habit {
	h := pattern.Habit{Name: name, Total: 10, LastSeen: noon.AddDate(0, 0, -7)}
	h.ByDay[time.Wednesday], h.ByDay[time.Sunday] = 8, 2
	h.ByHour[12], h.ByHour[18], h.ByHour[19] = 4, 3, 3
	for _, do := range change {
		do(&h)
	}
	return h
}

func person(user string, habits ...pattern.Habit) planner.View {
	return planner.View{Profile: profile.Profile{User: user}, Habits: habits}
}

func promised(v planner.View, what string, status promise.Status) planner.View {
	v.Promises = append(v.Promises, promise.Promise{Activity: what, Status: status})
	return v
}

func balanced(v planner.View, balances ...week.Balance) planner.View {
	v.Balances = balances
	return v
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	midnight := tzclock.Stockholm.Start(tzclock.Stockholm.Date(noon))
	total := func(n, day, hour int64) func(*pattern.Habit) {
		return func(h *pattern.Habit) {
			h.Total, h.ByDay, h.ByHour = n, [7]int64{}, [24]int64{}
			h.ByDay[time.Wednesday], h.ByDay[time.Sunday] = day, n-day
			h.ByHour[12] = hour
			for i := range n - hour { // one at each of other hours
				h.ByHour[(13+i)%24]++
			}
		}
	}
	seen := func(when time.Time) func(*pattern.Habit) { return func(h *pattern.Habit) { h.LastSeen = when } }
	pair := func(a, b string, delta float64) week.Balance {
		return week.Balance{A: a, B: b, Period: "2026-W08", NetA: 5 + delta, NetB: 5}
	}
	anna := person("5001", habit("diskning"))
	for name, tc := range map[string]struct {
		views []planner.View
		want  string // "user activity"
	}{
		"nobody":                 {nil, ""},
		"no habit":               {[]planner.View{person("5001")}, ""},
		"what she usually does":  {[]planner.View{anna}, "5001 diskning"},
		"four times is no habit": {[]planner.View{person("5001", habit("diskning", total(4, 4, 4)))}, ""},
		"five times is one":      {[]planner.View{person("5001", habit("diskning", total(5, 5, 5)))}, "5001 diskning"},
		"a seventh of the days":  {[]planner.View{person("5001", habit("diskning", total(7, 1, 7)))}, "5001 diskning"},
		"less than a seventh":    {[]planner.View{person("5001", habit("diskning", total(8, 1, 8)))}, ""},
		"a quarter of the hours": {[]planner.View{person("5001", habit("diskning", total(8, 8, 2)))}, "5001 diskning"},
		"mostly at another hour": {[]planner.View{person("5001", habit("diskning", func(h *pattern.Habit) {
			h.Total, h.ByHour = 10, [24]int64{12: 4, 13: 6}
		}))}, ""},
		"less than a quarter":               {[]planner.View{person("5001", habit("diskning", total(9, 9, 2)))}, ""},
		"yesterday's last moment":           {[]planner.View{person("5001", habit("diskning", seen(midnight.Add(-1))))}, "5001 diskning"},
		"done today":                        {[]planner.View{person("5001", habit("diskning", seen(midnight)))}, ""},
		"done today by another":             {[]planner.View{anna, person("5002", pattern.Habit{Name: "diskning", LastSeen: midnight})}, ""},
		"promised":                          {[]planner.View{promised(anna, "diskning", promise.Active)}, ""},
		"promised by another":               {[]planner.View{anna, promised(person("5002"), "diskning", promise.Active)}, ""},
		"promised something else":           {[]planner.View{promised(anna, "tvätt", promise.Active)}, "5001 diskning"},
		"a promise that was kept":           {[]planner.View{promised(anna, "diskning", promise.Fulfilled)}, "5001 diskning"},
		"the greatest product":              {[]planner.View{anna, person("5002", habit("tvätt", total(10, 9, 4)))}, "5002 tvätt"},
		"the greatest product, not the day": {[]planner.View{anna, person("5002", habit("tvätt", total(10, 9, 3)))}, "5001 diskning"},
		"the first of two people":           {[]planner.View{person("9000", habit("tvätt")), person("10000", habit("diskning"))}, "9000 tvätt"},
		"the first of two habits":           {[]planner.View{person("5001", habit("diskning"), habit("tvätt"))}, "5001 diskning"},
		"carries the most, by 3":            {[]planner.View{balanced(anna, pair("5001", "5002", 3))}, "5001 diskning"},
		"carries the most, by more":         {[]planner.View{balanced(anna, pair("5001", "5002", 3.1))}, ""},
		"carries the most, as the second":   {[]planner.View{balanced(anna, pair("4000", "5001", -3.1))}, ""},
		"the other does":                    {[]planner.View{balanced(anna, pair("4000", "5001", 9))}, "5001 diskning"},
		"one of two who do":                 {[]planner.View{balanced(anna, pair("5001", "5002", 9), pair("5001", "5003", 1))}, "5001 diskning"},
		"the others among themselves":       {[]planner.View{balanced(anna, pair("5002", "5003", 9))}, "5001 diskning"},
		"the week before":                   {[]planner.View{balanced(anna, week.Balance{A: "5001", B: "5002", Period: "2026-W07", NetA: 9})}, "5001 diskning"},
		"the next best, then":               {[]planner.View{balanced(anna, pair("5001", "5002", 9)), person("5002", habit("tvätt", total(10, 2, 3)))}, "5002 tvätt"},
	} {
		got, ok := planner.Suggest(tc.views, tzclock.Stockholm, noon)
		text := ""
		if ok {
			text = got.View.Profile.User + " " + got.Activity
		}
		if text != tc.want {
			t.Errorf("%s: %q, want %q", name, text, tc.want)
		}
	}
	for hour, want := range map[int]bool{10: false, 11: true, 12: false} { // UTC
		if _, ok := planner.Suggest([]planner.View{anna}, tzclock.Stockholm, noon.Add(time.Duration(hour-11)*time.Hour)); ok != want {
			t.Errorf("at %d: %v", hour, ok)
		}
	}
}
