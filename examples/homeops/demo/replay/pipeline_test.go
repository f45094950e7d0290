package replay

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

var (
	noon  = time.Date(2026, 3, 10, 11, 0, 0, 0, time.UTC)
	years = time.Date(2046, 3, 10, 11, 0, 0, 0, time.UTC) // after, the present of these tests
)

func update(id int, at time.Time) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%[1]d,"date":%d,"from":{"id":7,"is_bot":false,"first_name":"Eva"},`+
		`"chat":{"id":-5,"type":"group"},"text":"Jag har diskat"}}`, id, at.Unix())
}

// The clock goes by the latest date that is not ahead of the present.
func TestSourceTellsWhenUpdatesCameIn(t *testing.T) {
	t.Parallel()
	const weeks = 7 * 24
	for name, tc := range map[string]struct {
		hours        []int
		before, more string
		want         []int
	}{
		"in order":              {hours: []int{0, 1, 1, 5, 200}, want: []int{0, 1, 1, 5, 200}},
		"two, each after weeks": {hours: []int{0, 40 * weeks, 80 * weeks}, want: []int{0, 40 * weeks, 80 * weeks}},
		"chats joined":          {hours: []int{0, 500, 1000, 0, 500, 1001}, want: []int{0, 500, 1000, 1000, 1000, 1001}},
		"newest first":          {hours: []int{900, 500, 1, 0}, want: []int{900, 900, 900, 900}},
		"one ahead":             {hours: []int{0, 1 << 20, 1, 2}, want: []int{0, 0, 1, 2}},
		"the first ahead":       {hours: []int{1 << 20, 1, 2}, want: []int{1, 1, 2}},
		"all ahead":             {hours: []int{1 << 20, 1 << 21}, want: []int{-1, -1}},
		"one comes again":       {hours: []int{0, 1, 50, 51, 1, 52, 53}, want: []int{0, 1, 50, 51, 51, 52, 53}},
		"some without a date":   {hours: []int{0, 1}, more: "no JSON\n\n {}\n", want: []int{0, 1, 1, 1}},
		"no date at first":      {before: "no JSON\n", hours: []int{5, 6}, want: []int{5, 5, 6}},
		"files with marks":      {hours: []int{5}, more: "\uFEFF" + update(9, noon.Add(9*time.Hour)), want: []int{5, 9}},
		"as late as allowed":    {hours: []int{0}, more: update(9, years.Add(time.Hour)), want: []int{0, int(years.Add(time.Hour).Sub(noon).Hours())}},
		"a second later":        {hours: []int{0}, more: update(9, years.Add(time.Hour+time.Second)), want: []int{0, 0}},
		"beyond any calendar":   {hours: []int{0, 1}, more: `{"message":{"date":9223372036854775807}}`, want: []int{0, 1, 1}},
		"a date and an edit's":  {hours: []int{0}, more: fmt.Sprintf(`{"edited_message":{"date":%d,"edit_date":%d}}`, noon.Unix(), noon.Add(5*time.Hour).Unix()), want: []int{0, 5}},
		"only one is ahead":     {hours: []int{0}, more: fmt.Sprintf(`{"message":{"date":%d,"edit_date":99999999999}}`, noon.Add(5*time.Hour).Unix()), want: []int{0, 5}},
	} {
		var lines strings.Builder
		for i, hour := range tc.hours {
			fmt.Fprintln(&lines, update(i+1, noon.Add(time.Duration(hour)*time.Hour)))
		}
		s := newSource(strings.NewReader(tc.before+lines.String()+tc.more), func() time.Time { return years })
		var got []int
		for {
			l, ok, err := s.next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if bytes.HasPrefix(l.body, byteOrderMark) || len(bytes.TrimSpace(l.body)) == 0 {
				t.Errorf("%s: %q is delivered", name, l.body)
			}
			if s.at.IsZero() {
				got = append(got, -1)
				continue
			}
			got = append(got, int(s.at.Sub(noon).Hours()))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// The updates of a chat are all stored in any order; only those dated ahead of
// the present are refused.
func TestGoodUpdatesAreNotRefused(t *testing.T) {
	t.Parallel()
	at := func(days ...int) (text string) {
		for i, day := range days {
			text += update(i+1, noon.Add(time.Duration(day)*24*time.Hour)) + "\n"
		}
		return text
	}
	for name, tc := range map[string]struct {
		updates     string
		saved, late int
		unbelieved  int
	}{
		"chats joined":           {at(0, 30, 60, 90) + strings.ReplaceAll(at(0, 30, 60, 90), `"id":-5`, `"id":-6`), 8, 3, 0},
		"newest first":           {at(90, 60, 30, 0), 4, 3, 0},
		"an hour late, and more": {at(0) + update(2, noon.Add(-time.Hour)) + "\n" + update(3, noon.Add(-time.Hour-time.Second)), 3, 1, 0},
		"a mark at the front":    {"\uFEFF" + at(0, 1), 2, 0, 0},
		"one of the future":      {at(0, 1, 24000, 2), 3, 0, 1},
	} {
		r := started(t, tc.updates)
		if err := r.all(t.Context()); err != nil {
			t.Fatal(err)
		}
		letters := dead(t, r)
		if r.tally.Saved != tc.saved || len(letters) != tc.unbelieved || r.tally.Unbelieved != tc.unbelieved || r.tally.Late != tc.late || r.tally.CameBack != 0 {
			t.Errorf("%s: %d saved, %d late, %d unbelieved, %d came back, dead %v", name, r.tally.Saved, r.tally.Late, r.tally.Unbelieved, r.tally.CameBack, letters)
		}
	}
}

func started(t *testing.T, updates string) *run {
	t.Helper()
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	r, err := start(Options{Config: cfg, Updates: strings.NewReader(updates), Log: slog.New(slog.DiscardHandler), Present: years})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.setUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// An item that fails comes back when its visibility timeout has passed on the
// updates' clock, twice; the third failure makes it a dead letter.
func TestWhatFailsComesBack(t *testing.T) {
	t.Parallel()
	for lost, want := range map[int]struct{ cameBack, saved, dead int }{
		3: {1, 1, 0}, // the SDK sends three requests for an attempt
		6: {2, 1, 0},
		9: {3, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := started(t, update(1, noon))
			r.db.Embedded.Tap().Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Table: "homeops-messages", Times: lost})
			if err := r.all(t.Context()); err != nil {
				t.Fatal(err)
			}
			letters := dead(t, r)
			if r.tally.CameBack != want.cameBack || r.tally.Saved != want.saved || len(letters) != want.dead {
				t.Errorf("%d lost: %d came back, %d saved, %d dead", lost, r.tally.CameBack, r.tally.Saved, len(letters))
			}
			for _, m := range letters {
				if why := m.Why(); !strings.Contains(why, "worker: save: message: Save") {
					t.Errorf("died of %q", why)
				}
			}
		})
	}
}

func dead(t *testing.T, r *run) []queue.Message {
	t.Helper()
	letters, err := r.dead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return letters
}

// At each full hour between two updates the hour's job is done, at that hour, but
// only in the first 14 days of a gap. None comes before the first update or after
// the last, and none for an update that is late or not believed.
func TestJobsOfTheClock(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		minutes []int
		want    int
	}{
		"at a full hour":   {[]int{1, 60}, 1},
		"from a full hour": {[]int{60, 61}, 0},
		"late ones":        {[]int{30, 24*60 + 30, 30, 90, 24*60 + 31}, 24},
		"one ahead":        {[]int{30, 1 << 25, 90}, 1},
		"14 days":          {[]int{30, 30 + 14*24*60}, 336},
		"years, twice":     {[]int{30, 30 + 1000*24*60, 30 + 2000*24*60}, 672},
	} {
		var lines strings.Builder
		for i, minute := range tc.minutes {
			fmt.Fprintln(&lines, update(i+1, noon.Add(time.Duration(minute)*time.Minute)))
		}
		r := started(t, lines.String())
		due := noon
		r.app.Worker.Observe = func(_ context.Context, report worker.Report) {
			r.last = report
			j, ok, err := job.Parse(report.Delivery.Body)
			if !ok || err != nil || j.Name != job.Hourly {
				return
			}
			if !j.Due.Equal(r.clock.now()) || !j.Due.After(due) || j.Due.Truncate(time.Hour) != j.Due {
				t.Errorf("%s: due at %v, after %v, done at %v", name, j.Due, due, r.clock.now())
			}
			due = j.Due
		}
		if err := r.all(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := 0
		if jobs := r.tally.Costs.ByKind["job hourly"]; jobs != nil {
			got = jobs.Deliveries
		}
		if got != tc.want {
			t.Errorf("%s: %d jobs, want %d", name, got, tc.want)
		}
	}
}
