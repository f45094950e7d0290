package week_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// model computes a week in another way than the store does: in the design's own
// formula, by days of the calendar, one member after the other.
func model(t testing.TB, all []activity.Activity, of time.Time, members ...string) aWeeks {
	t.Helper()
	stockholm, err := time.LoadLocation("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	period := func(at time.Time) string {
		year, w := at.In(stockholm).ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, w)
	}
	w, total, n := aWeeks{Period: period(of)}, 0.0, float64(len(members))
	effort, nets := map[string]float64{}, map[string]float64{}
	for _, user := range members {
		s := week.Summary{User: user, Household: home, Period: w.Period}
		times := map[string]int{}
		for _, a := range all {
			if a.Actor != user || period(a.Event.Time()) != w.Period {
				continue
			}
			if a.Kind == "chore" {
				s.Chores, s.Net, effort[user], total = s.Chores+1, s.Net+a.Effort, effort[user]+a.Effort, total+a.Effort
			} else if a.Kind == "recovery" {
				s.Recovery, s.Net = s.Recovery+1, s.Net-a.Effort
			} else {
				continue
			}
			times[a.Name]++
		}
		for name, n := range times {
			s.Highlights = append(s.Highlights, fmt.Sprintf("%s %d", name, n))
		}
		slices.SortFunc(s.Highlights, func(a, b string) int {
			nameA, timesA, _ := strings.Cut(a, " ")
			nameB, timesB, _ := strings.Cut(b, " ")
			return cmp.Or(mustInt(timesB)-mustInt(timesA), strings.Compare(nameA, nameB))
		})
		s.Highlights = s.Highlights[:min(3, len(s.Highlights))]
		nets[user] = s.Net
		w.Summaries = append(w.Summaries, s)
	}
	for i := range w.Summaries {
		w.Summaries[i].Fairness = 1
		if n > 1 && total > 0 {
			w.Summaries[i].Fairness = 1 - math.Abs(effort[w.Summaries[i].User]/total-1/n)*n/(n-1)
		}
	}
	for _, a := range members {
		for _, b := range members {
			if mustInt(a) < mustInt(b) {
				w.Balances = append(w.Balances, week.Balance{Household: home, A: a, B: b, Period: w.Period, NetA: nets[a], NetB: nets[b]})
			}
		}
	}
	return w
}

func mustInt(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// alike compares weeks except for empty lists and the order of balances.
var alike = gocmp.Options{
	near, cmpopts.EquateEmpty(),
	cmpopts.SortSlices(func(a, b week.Balance) bool { return a.A+" "+a.B < b.A+" "+b.B }),
}

func wantWeek(t testing.TB, got, want aWeeks) {
	t.Helper()
	if diff := gocmp.Diff(want, got, alike); diff != "" {
		t.Errorf("week (-want +got)\n%s", diff)
	}
}

// random returns activities in and around the week, also of guests and of kinds
// that count for nothing.
func random(t testing.TB, r *rand.Rand, n int, people ...string) (all []activity.Activity) {
	t.Helper()
	names := []string{"diskning", "tvätt", "vila", "städning", "sopor"}
	for i := range n {
		at := wednesday.Add(time.Duration(r.IntN(10*24)-5*24) * time.Hour)
		a := did(t, at, 1000+i, people[r.IntN(len(people))], names[r.IntN(len(names))], float64(r.IntN(50)-15)/10)
		if r.IntN(10) == 0 {
			a.Kind = "none"
		}
		all = append(all, a)
	}
	return all
}

func TestRandomWeeksAreTheModels(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := on(t, dynamotest.New(t, nil))
		people := []string{"9", "10", "100", "8999999999", "11"}
		members := slices.Clone(people[:r.IntN(len(people)-1)])
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		all := random(t, r, r.IntN(40), people...)
		for _, part := range [][]activity.Activity{all[:len(all)/2], all[len(all)/2:]} {
			f.record(t, part...)
			f.recompute(t, wednesday, members...)
		}
		got := f.recompute(t, wednesday, members...)
		wantWeek(t, got, model(t, all, wednesday, members...))
		f.wantStored(t, got)
	}
}

// Households of one, two and three, and the ends of the formula.
func TestFairness(t *testing.T) {
	t.Parallel()
	for what, tc := range map[string]struct {
		efforts []float64 // by member; negative is recovery
		fair    []float64
		net     []float64
	}{
		"nobody lives here":             {nil, nil, nil},
		"alone":                         {[]float64{3}, []float64{1}, []float64{3}},
		"alone and idle":                {[]float64{-1}, []float64{1}, []float64{-1}},
		"two, alike":                    {[]float64{2, 2}, []float64{1, 1}, []float64{2, 2}},
		"two, all of it one's":          {[]float64{0, 7}, []float64{0, 0}, []float64{0, 7}},
		"two, three quarters":           {[]float64{3, 1}, []float64{0.5, 0.5}, []float64{3, 1}},
		"two, nothing but rest":         {[]float64{-1, -2}, []float64{1, 1}, []float64{-1, -2}},
		"three, alike":                  {[]float64{0.1, 0.1, 0.1}, []float64{1, 1, 1}, []float64{0.1, 0.1, 0.1}},
		"three, all of it one's":        {[]float64{0, 0.3, 0}, []float64{0.5, 0, 0.5}, []float64{0, 0.3, 0}},
		"three, one of whom rests":      {[]float64{1, 1, -4}, []float64{0.75, 0.75, 0.5}, []float64{1, 1, -4}},
		"three, chores without effort":  {[]float64{0, 0, 0}, []float64{1, 1, 1}, []float64{0, 0, 0}},
		"four, all of it the last's":    {[]float64{0, 0, 0, 2}, []float64{2. / 3, 2. / 3, 2. / 3, 0}, []float64{0, 0, 0, 2}},
		"two, more rest than there was": {[]float64{-9, 1}, []float64{0, 0}, []float64{-9, 1}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := on(t, dynamotest.New(t, nil))
			var members []string
			var all []activity.Activity
			for i, effort := range tc.efforts {
				members = append(members, fmt.Sprint(i+9))
				all = append(all, did(t, wednesday, i+1, members[i], "x", effort))
			}
			f.record(t, all...)
			f.record(t, did(t, wednesday, 99, "5", "diskning", 1000)) // a guest
			got := f.recompute(t, wednesday, members...)
			wantWeek(t, got, model(t, all, wednesday, members...))
			for i, s := range got.Summaries {
				if s.Fairness < 0 || s.Fairness > 1 || math.Abs(s.Fairness-tc.fair[i]) > 1e-12 || s.Net != tc.net[i] {
					t.Errorf("%s: fairness %v and net %v, want %v and %v", s.User, s.Fairness, s.Net, tc.fair[i], tc.net[i])
				}
				if (tc.fair[i] == 0 || tc.fair[i] == 1) && s.Fairness != tc.fair[i] {
					t.Errorf("%s: fairness %v, want %v to the last digit", s.User, s.Fairness, tc.fair[i])
				}
			}
			if n := len(members); len(got.Balances) != n*(n-1)/2 {
				t.Errorf("%d balances of %d", len(got.Balances), n)
			}
		})
	}
}

// A household's balances are those of all weeks.
func TestBalancesOfAHousehold(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	if all, err := f.Balances(t.Context(), home); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	f.record(t, did(t, wednesday, 1, "10", "diskning", 2), did(t, wednesday.AddDate(0, 0, 7), 2, "9", "diskning", 1))
	var want []week.Balance
	for i := range 2 {
		want = append(want, f.recompute(t, wednesday.AddDate(0, 0, 7*i), "9", "10", "11").Balances...)
	}
	slices.SortStableFunc(want, func(a, b week.Balance) int { return strings.Compare(a.A+"#"+a.B, b.A+"#"+b.B) })
	got, err := f.Balances(t.Context(), home)
	slices.SortStableFunc(got, func(a, b week.Balance) int { return strings.Compare(a.A+"#"+a.B, b.A+"#"+b.B) })
	if diff := gocmp.Diff(want, got); err != nil || diff != "" || len(got) != 6 {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The bounds are those of the local week, which may have 167 or 169 hours. Weeks
// are counted in the year of their Thursday.
func TestBounds(t *testing.T) {
	t.Parallel()
	for period, bounds := range map[string][2]string{
		"2026-W08": {"2026-02-15T23:00:00Z", "2026-02-22T23:00:00Z"},
		"2026-W13": {"2026-03-22T23:00:00Z", "2026-03-29T22:00:00Z"}, // 167 hours
		"2026-W43": {"2026-10-18T22:00:00Z", "2026-10-25T23:00:00Z"}, // 169
		"2026-W53": {"2026-12-27T23:00:00Z", "2027-01-03T23:00:00Z"},
		"2026-W01": {"2025-12-28T23:00:00Z", "2026-01-04T23:00:00Z"},
	} {
		t.Run(period, func(t *testing.T) {
			t.Parallel()
			f := on(t, dynamotest.New(t, nil))
			var at [2]time.Time
			for i, bound := range bounds {
				var err error
				if at[i], err = time.Parse(time.RFC3339, bound); err != nil {
					t.Fatal(err)
				}
			}
			all := []activity.Activity{
				did(t, at[0].Add(-time.Millisecond), 1, "42", "before", 1), did(t, at[0], 2, "42", "first", 10),
				did(t, at[1].Add(-time.Millisecond), 3, "42", "last", 100), did(t, at[1], 4, "42", "after", 1000),
			}
			f.record(t, all...)
			for _, of := range []time.Time{at[0], at[0].Add(80 * time.Hour), at[1].Add(-time.Nanosecond)} {
				got := f.recompute(t, of, "42")
				wantWeek(t, got, model(t, all, of, "42"))
				if got.Period != period || week.Period(tzclock.Stockholm.Date(of)) != period || got.Summaries[0].Net != 110 {
					t.Errorf("%+v", got)
				}
			}
		})
	}
}

// A week of more than a megabyte takes several pages, with a request for each
// megabyte.
func TestWeekOfManyPages(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	var all []activity.Activity
	for i := range 700 {
		a := did(t, wednesday.Add(time.Duration(i)*time.Minute), i, []string{"42", "99"}[i%2], "diskning", 1)
		a.Data = map[string]any{"note": strings.Repeat("x", 3800)}
		all = append(all, a)
	}
	f.record(t, all...)
	cost := f.db.Meter(func() { f.bring(t, wednesday, "42", "99") })
	f.wantTable(t, model(t, all, wednesday, "42", "99"))
	if cost.ByOp["Query"] != 3 || cost.ByOp["GetItem"] != 3 || cost.ByOp["UpdateItem"] != 3 || cost.Depth > 9 {
		t.Errorf("%v", cost)
	}
}

// The price of households of other sizes follows the formula. A household of more
// than 16 has no balances.
func TestPriceGrowsWithThePairs(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	f.record(t, aWeek(t)...)
	var members []string
	for n := range 19 {
		rows := n + n*(n-1)/2
		if n > 16 {
			rows = n
		}
		want := dynamotest.Price{Requests: 2*rows + 1, RCU: float64(rows + 1), WCU: float64(rows)}
		f.db.Meter(func() { f.bring(t, wednesday, members...) }).Want(t, want)
		members = append(members, fmt.Sprint(95+n))
	}
}

// Rows of an older system, without a version and with times without decimals, are
// read as they are and brought up to date without loss.
func TestRowsOfTheOlderSystem(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	for _, row := range []string{"balance", "summary"} {
		golden.Put(t, f.db.Client(), f.Table().Name, "testdata/older-"+row+".json")
	}
	stood := aWeeks{
		Period: "2026-W08",
		Summaries: []week.Summary{{
			User: "99", Period: "2026-W08", Chores: 7, Recovery: 1, Net: 9.5, Fairness: 0.25, Highlights: []string{"diskning 7"},
		}},
		Balances: []week.Balance{{Household: home, A: "42", B: "99", Period: "2026-W08", NetA: 3, NetB: 9.5}},
	}
	f.wantStored(t, stood)
	f.record(t, aWeek(t)...)
	got := f.recompute(t, wednesday, "99", "42")
	f.wantStored(t, got)
	wantWeek(t, got, model(t, aWeek(t), wednesday, "99", "42"))
	for _, row := range f.db.Items(f.Table().Name) {
		if text := golden.Format(row); !strings.Contains(text, `"version"`) || !strings.Contains(text, "note") && strings.Contains(text, "BALANCE") {
			t.Errorf("lost something:\n%s", text)
		}
		if f := record.Read(row); f.Text("updatedAt") != "2026-02-18T11:00:00.000Z" || f.Text("createdAt") != "2026-02-16T09:00:00Z" && f.Text("pk") == "USER#99" {
			t.Errorf("created %s, updated %s", f.Text("createdAt"), f.Text("updatedAt"))
		}
	}
}
