// Package page is one HTML page that shows the state of households and their bot.
// It has no script and loads nothing else.
package page

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
)

// weeks is how many weeks the heat map covers, including this one.
const weeks = 8

//go:embed page.html
var source string

var design = template.Must(template.New("page").Funcs(template.FuncMap{
	"along": func(n, first, step int) int { return first + n*step },
	"level": func(n, most int) int { return (4*n + most - 1) / max(1, most) }, // 0 to 4
	"units": func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) },
	"time":  func(t time.Time) string { return t.In(app.Zone.Location()).Format("Monday 2 January 2006, 15:04") },
}).Parse(source))

// Facts are the parts of the page that are not in the tables.
type Facts struct {
	At     time.Time
	Where  string          // which DynamoDB
	Depth  queue.Depth     // of the queue; Waiting is -1 where it is not known
	Since  time.Time       // from when the cost counts
	Cost   dynamotest.Cost // as [Add] adds it up
	Region string
	Prices prices.File
	Reload time.Duration // 0 for a page that stays as it is
	Of     string        // the chat of the only household shown, without queue and cost; "" for all
}

// Add adds the cost of requests to tables to the sum.
func Add(sum *dynamotest.Cost, more dynamotest.Cost) {
	if sum.ByTable == nil {
		sum.ByTable, sum.RequestsByTable = map[string]dynamotest.Units{}, map[string]int{}
	}
	sum.Unpriced += more.Unpriced
	for table, u := range more.ByTable {
		n, all := more.RequestsByTable[table], sum.ByTable[table]
		sum.Requests, sum.RCU, sum.WCU = sum.Requests+n, sum.RCU+u.RCU, sum.WCU+u.WCU
		sum.RequestsByTable[table] += n
		sum.ByTable[table] = dynamotest.Units{RCU: all.RCU + u.RCU, WCU: all.WCU + u.WCU}
	}
}

// Money is what units cost.
func (f Facts) Money(u dynamotest.Units) string {
	return prices.Dollars(f.Prices.Regions[f.Region].DynamoDB.Of(u.RCU, u.WCU))
}

// household is a section of the page.
type household struct {
	profile.Household
	Title    string   // of the chat, as of its newest message; "" if none is stored
	Names    []string // of who did something
	Hours    grid
	Weeks    []grid // this one and the last
	Limits   []limit
	Promises []line // that are open
	Balances []line // of this week, as it was last summed up
}

// line is what stands of a person.
type line struct{ Name, Text string }

// limit is how much of a day's limit the bot has used.
type limit struct {
	What, key string
	Used, Cap int64
}

// grid is a table of counts.
type grid struct {
	Title, Corner string
	Columns       []string
	Rows          []row
	Sums          []int // of the columns
	All, Most     int   // Most in one cell
}

type row struct {
	Name string
	By   []int
	Sum  int
}

func newGrid(title, corner string, columns ...string) grid {
	return grid{Title: title, Corner: corner, Columns: columns, Sums: make([]int, len(columns))}
}

func (g *grid) add(name string, column, n int) {
	i := slices.IndexFunc(g.Rows, func(r row) bool { return r.Name == name })
	if i < 0 {
		i = len(g.Rows)
		g.Rows = append(g.Rows, row{Name: name, By: make([]int, len(g.Columns))})
	}
	r := &g.Rows[i]
	r.By[column], r.Sum, g.Sums[column], g.All = r.By[column]+n, r.Sum+n, g.Sums[column]+n, g.All+n
	g.Most = max(g.Most, r.By[column])
}

// Make reads the tables and returns the page.
//
// Price: the list of households once; for each its activities of 8 weeks, 2 counters, its
// newest message, its balances and its members; for each member the promises of 8 weeks.
func Make(ctx context.Context, a *app.App, f Facts) ([]byte, error) {
	v := struct {
		Facts
		Households []household
	}{Facts: f}
	list, err := a.Profiles.Households(ctx)
	if err != nil {
		return nil, err
	}
	for _, of := range list {
		if f.Of != "" && f.Of != of.Scope && f.Of != of.Chat {
			continue
		}
		h, err := read(ctx, a, of, f.At)
		if err != nil {
			return nil, err
		}
		v.Households = append(v.Households, h)
	}
	var out bytes.Buffer
	err = design.Execute(&out, v)
	return out.Bytes(), err
}

func read(ctx context.Context, a *app.App, of profile.Household, at time.Time) (household, error) {
	today := a.Zone.Date(at)
	monday := today.Monday()
	first, last := monday.AddDays(-7*(weeks-1)), monday.AddDays(-7)
	people := map[string]string{} // id → name, as of their latest activity
	var all []activity.Activity
	for done, err := range a.Activities.InScope(ctx, of.Scope, activity.Range{From: a.Zone.Start(first), To: a.Zone.End(today)}) {
		if err != nil {
			return household{}, err
		}
		all = append(all, done)
		people[done.Actor] = done.ActorName
	}
	tellApart(people)
	names := slices.Sorted(maps.Values(people))
	h := household{
		Household: of, Names: names,
		Hours: newGrid("Activities in each hour", "Hour", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
		Weeks: []grid{newGrid("This week, from "+monday.String(), "Activity", names...), newGrid("Last week, from "+last.String(), "Activity", names...)},
	}
	for hour := range 24 {
		h.Hours.add(fmt.Sprintf("%02d", hour), 0, 0) // so that all are there, in order
	}
	for _, done := range all {
		day := a.Zone.Date(done.At)
		h.Hours.add(fmt.Sprintf("%02d", a.Zone.Hour(done.At)), first.DaysUntil(day)%7, 1)
		if back := day.Monday().DaysUntil(monday) / 7; back < len(h.Weeks) {
			h.Weeks[back].add(done.Name, slices.Index(names, people[done.Actor]), 1)
		}
	}
	for _, g := range h.Weeks {
		slices.SortFunc(g.Rows, func(x, y row) int { return cmp.Or(cmp.Compare(y.Sum, x.Sum), cmp.Compare(x.Name, y.Name)) })
	}
	for _, l := range []limit{{"Replies", of.Scope, 0, worker.RepliesADay}, {"Answers", of.Scope + "#answers", 0, worker.AnswersADay}} {
		count, err := a.Limits.Get(ctx, l.key, at)
		if err != nil {
			return household{}, err
		}
		l.Used = count.Used
		h.Limits = append(h.Limits, l)
	}
	newest, err := a.Messages.Recent(ctx, of.Chat, 1)
	if err != nil {
		return household{}, err
	}
	for _, m := range newest {
		if update, err := telegram.Parse([]byte(m.Raw)); err == nil && update.Message != nil {
			h.Title = update.Message.Chat.Title
		}
	}
	return h, h.settle(ctx, a, people, at)
}

// settle reads what members have promised, and who has carried more than whom this week.
func (h *household) settle(ctx context.Context, a *app.App, people map[string]string, at time.Time) error {
	today := a.Zone.Date(at)
	members, err := a.Profiles.Members(ctx, h.Scope)
	if err != nil {
		return err
	}
	for _, p := range members {
		people[p.User] = cmp.Or(people[p.User], p.Name, p.User)
	}
	for _, p := range members {
		promises, err := a.Promises.Of(ctx, p.User, a.Zone.Start(today.AddDays(-7*weeks)))
		if err != nil {
			return err
		}
		for _, one := range promises {
			if one.Status == promise.Active && one.Household == h.Scope && at.Before(one.Deadline.Add(promise.Grace)) {
				by := one.Deadline.Add(-time.Second).In(cmp.Or(p.Zone, a.Zone).Location()).Format("Monday 2 January")
				h.Promises = append(h.Promises, line{people[p.User], fmt.Sprintf("%s, by %s", one.Description, by)})
			}
		}
	}
	balances, err := a.Weeks.Balances(ctx, h.Scope)
	for _, b := range balances {
		if more := b.Delta(); b.Period == week.Period(today) && more != 0 {
			if more < 0 {
				b.A, b.B, more = b.B, b.A, -more
			}
			h.Balances = append(h.Balances, line{people[b.A], fmt.Sprintf("%.1f more than %s", more, cmp.Or(people[b.B], b.B))})
		}
	}
	return err
}

// tellApart adds the id to a name that is missing, that several people have, or
// whose digits may look like an added id.
func tellApart(people map[string]string) {
	bearers := map[string]int{"": 2}
	for _, name := range people {
		bearers[name]++
	}
	for id, name := range people {
		if bearers[name] > 1 || strings.ContainsAny(name, "0123456789") {
			people[id] = strings.TrimSpace(name + " " + id)
		}
	}
}
