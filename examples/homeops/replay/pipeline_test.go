package replay

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
)

var noon = time.Date(2026, 3, 10, 11, 0, 0, 0, time.UTC)

func update(id int, at time.Time) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%[1]d,"date":%d,"from":{"id":7,"is_bot":false,"first_name":"Eva"},`+
		`"chat":{"id":-5,"type":"group"},"text":"Jag har diskat"}}`, id, at.Unix())
}

// The clock goes by dates that what follows bears out.
func TestSourceTellsWhenUpdatesCameIn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		hours []int
		more  string
		want  []int
	}{
		"one":                   {[]int{0}, "", []int{0}},
		"in order":              {[]int{0, 1, 1, 5, 200}, "", []int{0, 1, 1, 5, 200}},
		"after a year":          {[]int{0, 9000, 9001}, "", []int{0, 9000, 9001}},
		"the last, after a day": {[]int{0, 24}, "", []int{0, 24}},
		"the last, ahead":       {[]int{0, 90000}, "", []int{0, 0}},
		"one ahead":             {[]int{0, 90000, 1, 2}, "", []int{0, 0, 1, 2}},
		"the first ahead":       {[]int{90000, 1, 2}, "", []int{1, 1, 2}},
		"one comes again":       {[]int{0, 1, 50, 51, 1, 52, 53}, "", []int{0, 1, 50, 51, 51, 52, 53}},
		"some without a date":   {[]int{0, 1}, "no JSON\n\n {}\n", []int{0, 1, 1, 1}},
	} {
		var lines strings.Builder
		for i, hour := range tc.hours {
			fmt.Fprintln(&lines, update(i+1, noon.Add(time.Duration(hour)*time.Hour)))
		}
		s := newSource(strings.NewReader(lines.String() + tc.more))
		var got []int
		for {
			_, at, ok, err := s.next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, int(at.Sub(noon).Hours()))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// What is not acknowledged comes again, ever later, until a day has passed.
func TestTelegramRepeats(t *testing.T) {
	t.Parallel()
	for fails, want := range map[int]struct {
		posts int
		after time.Duration
		ok    bool
	}{
		0:       {1, 0, true},
		1:       {2, 0, true}, // at once
		3:       {4, 6 * time.Second, true},
		1 << 30: {1445, 24*time.Hour + 2*time.Second, false},
	} {
		c, posts := newClock(noon), 0
		tg := telegram{secret: "s", clock: c, webhook: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || string(body) != "text" {
				t.Errorf("%q, %v", body, err)
			}
			if posts++; posts <= fails {
				w.WriteHeader(http.StatusInternalServerError)
			}
			io.WriteString(w, "answered")
		})}
		n, ok, err := tg.deliver(t.Context(), []byte("text"))
		if err != nil || n != want.posts || ok != want.ok || c.now().Sub(noon) != want.after {
			t.Errorf("%d failures: %d posts, %v, %v later, %v", fails, n, ok, c.now().Sub(noon), err)
		}
	}
}

func started(t *testing.T, updates string) *run {
	t.Helper()
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	r, err := start(Options{Config: cfg, Updates: strings.NewReader(updates), Log: slog.New(slog.DiscardHandler)})
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
		3: {1, 1, 0}, // an attempt is three requests of the SDK's
		6: {2, 1, 0},
		9: {3, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := started(t, update(1, noon))
			r.db.Embedded.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Table: "homeops-messages", Times: lost})
			if err := r.all(t.Context()); err != nil {
				t.Fatal(err)
			}
			dead := r.queue.Dead()
			if r.tally.CameBack != want.cameBack || r.tally.Saved != want.saved || len(dead) != want.dead {
				t.Errorf("%d lost: %d came back, %d saved, %d dead", lost, r.tally.CameBack, r.tally.Saved, len(dead))
			}
			for _, m := range dead {
				if why := r.tally.Died(m.ID); !strings.Contains(why, "worker: save: message: PutItem") {
					t.Errorf("died of %q", why)
				}
			}
		})
	}
}

// What is given up on a last delivery is in the report.
func TestSkippedStepsAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := started(t, update(1, noon))
		r.db.Embedded.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Table: "homeops-response-counters", Times: -1})
		if err := r.all(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"reply": 1}
		if diff := cmp.Diff(want, r.tally.Skipped); diff != "" || r.tally.CameBack != 2 || r.tally.Sent != 0 || len(r.queue.Dead()) != 0 {
			t.Errorf("%d came back, %d sent, dead %v\n%s", r.tally.CameBack, r.tally.Sent, r.queue.Dead(), diff)
		}
	})
}

// A long file says how far it is.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lines, progress strings.Builder
		for i := range 500 {
			fmt.Fprintln(&lines, update(i+1, noon.Add(time.Duration(i)*time.Hour)))
		}
		r := started(t, lines.String())
		r.Progress = &progress
		if err := r.all(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(progress.String(), " updates replayed, up to 2026-03-") {
			t.Errorf("wrote %q", progress.String())
		}
		if r.tally.Saved != 500 {
			t.Errorf("%d saved", r.tally.Saved)
		}
	})
}
