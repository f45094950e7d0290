package page_test

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/page"
	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	weeks "github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
	"github.com/homeops/ddbpatterns/message"
)

const scope = "-5"

// now is a Wednesday, ten days after clocks went forward.
var now = time.Date(2026, time.April, 8, 18, 0, 0, 0, time.UTC)

// world is a household for which a page is written.
type world struct {
	t   *testing.T
	db  *dynamotest.Server
	app *app.App
}

func newWorld(t *testing.T) world {
	t.Helper()
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	db := dynamotest.NewServer(&dynamotest.Config{Now: func() time.Time { return now }, MaxBackoff: time.Millisecond})
	a, err := app.New(app.Options{Config: cfg, DB: db.Client(), Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.CreateTables(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	return world{t, db, a}
}

func (w world) event(at time.Time, parts ...string) event.Event {
	w.t.Helper()
	ev, err := event.New(at, parts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return ev
}

func (w world) member(user, name string) {
	w.t.Helper()
	ev := w.event(now, "member", user)
	if err := w.app.Profiles.Change(w.t.Context(), profile.Change{User: user, Name: name, Household: scope, Chat: "-1005", Event: ev}); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) did(local, user, name, what string) {
	w.t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04:05", local, app.Zone.Location())
	if err != nil {
		w.t.Fatal(err)
	}
	a := activity.Activity{Scope: scope, Actor: user, ActorName: name, Name: what, Event: w.event(at, "did", user, what)}
	if _, err := w.app.Activities.Record(w.t.Context(), a); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) page(f page.Facts) string {
	w.t.Helper()
	html, err := page.Make(w.t.Context(), w.app, f)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(html)
}

var tag = regexp.MustCompile(`(?s)<style>.*</style>|<[^>]*>`)

// lines are the texts of a part of the page, separated by spaces.
func lines(html, from, to string) (all []string) {
	_, html, _ = strings.Cut(html, from)
	html, _, _ = strings.Cut(html, to)
	for line := range strings.Lines(strings.ReplaceAll(html, "><", "> <")) {
		if text := strings.Join(strings.Fields(tag.ReplaceAllString(line, "")), " "); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// A week begins on Monday at the household's midnight, also eight weeks ago. An
// hour is the household's, before and after the clocks go forward.
func TestWeeks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.member("10", "Bo")
	w.member("9", "Ann")
	w.did("2026-02-15 23:59:59", "9", "Ann", "before") // eight weeks and a moment ago
	w.did("2026-02-16 00:00:00", "9", "Ann", "first")
	w.did("2026-03-29 23:59:59", "9", "Ann", "older")
	w.did("2026-03-30 00:00:00", "9", "Ann", "disk")
	w.did("2026-04-05 23:59:59", "10", "of old", "tvätt")
	w.did("2026-04-06 00:00:00", "9", "Ann", "disk")
	w.did("2026-04-07 12:00:00", "10", "called otherwise", "disk")
	w.did("2026-04-07 12:30:00", "11", "Kleo", "vask")
	w.did("2026-04-07 12:30:01", "11", "Cleo", "vask")
	w.did("2026-04-07 12:30:02", "9", "Ann", "vask")
	for range 2 { // the same page again
		html := w.page(page.Facts{At: now, Since: now})
		want := []string{
			"Activity Ann Cleo called otherwise Sum",
			"vask 1 2 0 3", "disk 1 0 1 2", "Sum 2 2 1 5",
		}
		if diff := cmp.Diff(want, lines(html, `<table aria-label="This week, from 2026-04-06">`, "</table>")); diff != "" {
			t.Errorf("this week:\n%s", diff)
		}
		want = []string{"Activity Ann Cleo called otherwise Sum", "disk 1 0 0 1", "tvätt 0 0 1 1", "Sum 1 0 1 2"}
		if diff := cmp.Diff(want, lines(html, `<table aria-label="Last week, from 2026-03-30">`, "</table>")); diff != "" {
			t.Errorf("last week:\n%s", diff)
		}
		want = []string{"Hour Mon Tue Wed Thu Fri Sat Sun Sum"}
		for hour := range 24 {
			row := map[int]string{0: "00 3 0 0 0 0 0 0 3", 12: "12 0 4 0 0 0 0 0 4", 23: "23 0 0 0 0 0 0 2 2"}[hour]
			if row == "" {
				row = fmt.Sprintf("%02d 0 0 0 0 0 0 0 0", hour)
			}
			want = append(want, row)
		}
		want = append(want, "Sum 3 4 0 0 0 0 2 9")
		if diff := cmp.Diff(want, lines(html, `<table aria-label="Activities in each hour">`, "</table>")); diff != "" {
			t.Errorf("hours:\n%s", diff)
		}
		if got := lines(html, `<h2 id="household-0-h">`, `<svg`); got[0] != "Ann, Cleo, called otherwise" || got[1] != "In chat -1005." || !strings.Contains(got[3], "of 9 in 8 weeks") {
			t.Errorf("%q", got)
		}
	}
}

// The names that people choose are shown as text, and two people with one name
// are shown apart.
func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.member("1", "Ann")
	for user, name := range map[string]string{"1": "<b>Ann", "2": "Bo", "3": "Bo", "5": "Bo 2"} {
		w.did("2026-03-01 12:00:00", user, name, "disk")
	}
	w.did("2026-04-07 12:00:00", "4", "", `<script>"'`)
	html := w.page(page.Facts{At: now, Since: now})
	if strings.Contains(html, "<b>") || strings.Contains(html, "<script") {
		t.Error("a name is markup")
	}
	got := lines(html, `<table aria-label="This week`, "</table>")
	want := []string{"Activity 4 &lt;b&gt;Ann Bo 2 Bo 2 5 Bo 3 Sum", "&lt;script&gt;&#34;&#39; 1 0 0 0 0 1", "Sum 1 0 0 0 0 1"}
	if diff := cmp.Diff(want, got[1:]); diff != "" {
		t.Error(diff)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.member("1", "Ann")
	for i := range 5 {
		for key, most := range map[string]int64{scope: 3, scope + "#answers": 50} {
			for _, at := range []time.Time{now, now.AddDate(0, 0, -1)} {
				if _, err := w.app.Limits.Take(t.Context(), counter.Take{Key: key, Event: w.event(at, fmt.Sprint(i)), Weight: 1, Cap: most}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	html := w.page(page.Facts{At: now, Since: now})
	for _, want := range []string{
		`<dt>Replies today</dt><dd>3 <small>of 3</small>`, `<rect class="on" width="3"`,
		`<dt>Answers today</dt><dd>5 <small>of 50</small>`, `<rect class="on" width="5"`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is not in the page", want)
		}
	}
}

// A household has its chat's title, the promises that are open in it, and who has carried
// more this week. A page of one household shows no other, and neither queue nor cost.
func TestOneHousehold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.member("1", "Ann")
	w.member("2", "Bo")
	raw := `{"update_id":1,"message":{"message_id":9,"date":1775600000,"chat":{"id":-1005,"type":"supergroup","title":"Home & <away>"}}}`
	if _, err := w.app.Messages.Save(t.Context(), message.Message{Scope: "-1005", Seq: 9, Actor: "1", Text: "x", At: now.Add(-time.Hour), Raw: raw}); err != nil {
		t.Fatal(err)
	}
	other := w.event(now, "other")
	if err := w.app.Profiles.Change(t.Context(), profile.Change{User: "3", Name: "Eve", Household: "-9", Chat: "-9", Event: other}); err != nil {
		t.Fatal(err)
	}
	for i, p := range []promise.Make{
		{User: "1", Description: "vacuum", Activity: "dammsugning", Household: scope, Chat: scope},
		{User: "1", Description: "elsewhere", Activity: "disk", Household: "-9", Chat: "-9"},
		{User: "2", Description: "done", Activity: "disk", Household: scope, Chat: scope},
	} {
		p.Event, p.Deadline = w.event(now.Add(-2*time.Hour), fmt.Sprint(i)), app.Zone.End(app.Zone.Date(now).AddDays(1))
		if _, _, err := w.app.Promises.Make(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, err := w.app.Promises.Keep(t.Context(), promise.Deed{User: "2", Household: scope, Activity: "disk", Event: w.event(now.Add(-time.Hour), "kept")}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, of := range []time.Time{now, now.AddDate(0, 0, -7)} {
		a := activity.Activity{Scope: scope, Actor: "2", ActorName: "Bo", Name: "disk", Kind: "chore", Effort: 1.5, Event: w.event(of, "did")}
		if _, err := w.app.Activities.Record(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if _, err := w.app.Weeks.Recompute(t.Context(), weeks.Recompute{Household: scope, Members: []string{"1", "2"}, Of: of}); err != nil {
			t.Fatal(err)
		}
	}
	all := w.page(page.Facts{At: now, Since: now})
	for _, of := range []string{scope, "-1005"} {
		one := w.page(page.Facts{At: now, Since: now, Of: of})
		for _, part := range []string{
			`<h2 id="household-0-h"><bdi>Home &amp; &lt;away&gt;</bdi></h2>`, "<bdi>Bo</bdi>, in chat -1005.",
			"<p><bdi>Ann</bdi>: <bdi>vacuum, by Thursday 9 April</bdi></p>",
		} {
			if !strings.Contains(one, part) || !strings.Contains(all, part) {
				t.Errorf("%s is not in the page", part)
			}
		}
		if n := strings.Count(one, "<bdi>Bo</bdi>: <bdi>1.5 more than Ann</bdi>"); n != 1 || strings.Count(one, "more than") != 1 {
			t.Errorf("%d balances", n)
		}
		for _, part := range []string{"Chat -9", "Dead letters", "#queue", "#cost", "Cost by table"} {
			if strings.Contains(one, part) || !strings.Contains(all, part) {
				t.Errorf("%s is in the page of one, or not in that of all", part)
			}
		}
		if strings.Contains(one, "elsewhere") || strings.Contains(one, "<bdi>done,") {
			t.Error("promises that are another household's, or kept")
		}
	}
	if strings.Contains(w.page(page.Facts{At: now, Of: "-7"}), "household-0") {
		t.Error("another household's page shows one")
	}
}

// The page says what is not known, and shows no figure for it.
func TestFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	priced, err := prices.Load("")
	if err != nil {
		t.Fatal(err)
	}
	var cost dynamotest.Cost
	for range 2 {
		page.Add(&cost, dynamotest.Cost{
			ByTable: map[string]dynamotest.Units{"b": {RCU: 1.5, WCU: 500_000}, "a": {RCU: 1e7}}, RequestsByTable: map[string]int{"a": 3, "b": 4}, Unpriced: 2,
		})
	}
	html := w.page(page.Facts{At: now, Where: "there", Since: now, Depth: queue.Depth{Waiting: 7, InFlight: 8, Dead: 9}, Cost: cost, Region: "eu-north-1", Prices: priced, Reload: 30 * time.Second})
	money := func(reads, writes float64) string {
		return prices.Dollars(priced.Regions["eu-north-1"].DynamoDB.Of(reads, writes))
	}
	want := []string{
		"Table Requests Read units Write units Money",
		"a 6 20000000 0 " + money(2e7, 0), "b 8 3 1000000 " + money(3, 1e6), "Sum 14 20000003 1000000 " + money(2e7+3, 1e6),
	}
	if diff := cmp.Diff(want, lines(html, `<table aria-label="Cost by table">`, "</table>")); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{
		"<dd>7</dd>", "<dd>8</dd>", `card warn"><dt>Dead letters</dt><dd>9 <small>see`, "from there.", `http-equiv="refresh" content="30"`, `href="?still"`,
		"Another 4 requests", "None yet",
	} {
		if !strings.Contains(html, part) {
			t.Errorf("%s is not in the page", part)
		}
	}
	html = w.page(page.Facts{At: now, Since: now, Depth: queue.Depth{Waiting: -1, Dead: 4}, Cost: cost})
	for _, part := range []string{"Dead letters", "refresh", "still", "$"} {
		if strings.Contains(html, part) {
			t.Errorf("%s is in the page", part)
		}
	}
}

// If tables cannot be read, the result is an error and not a page.
func TestNothingAfterAnError(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"Query", "GetItem"} {
		w := newWorld(t)
		w.member("1", "Ann")
		w.did("2026-04-07 12:00:00", "1", "Ann", "disk")
		cost := w.db.Tap().Meter(func() { w.page(page.Facts{At: now, Since: now}) })
		for nth := range cost.ByOp[op] {
			w.db.Tap().Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: op, Nth: nth + 1, Times: -1})
			if html, err := page.Make(t.Context(), w.app, page.Facts{At: now, Since: now}); err == nil || len(html) > 0 {
				t.Errorf("%s %d: %v, and %d bytes", op, nth+1, err, len(html))
			}
			if idle := w.db.Tap().Heal(); len(idle) > 0 {
				t.Errorf("never met: %v", idle)
			}
		}
	}
	if _, err := page.Make(t.Context(), newWorld(t).app, page.Facts{}); err != nil {
		t.Error(err)
	}
}

// The price that is published: 5 Queries and 2 GetItems for a household, a Query and a
// GetItem for a member, and the list.
func TestPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.member("1", "Ann")
	w.did("2026-04-07 12:00:00", "1", "Ann", "disk")
	cost := w.db.Tap().Meter(func() { w.page(page.Facts{At: now, Since: now}) })
	cost.Want(t, dynamotest.Price{Requests: 9, RCU: 6})
}
