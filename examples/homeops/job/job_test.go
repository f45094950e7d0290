package job_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

var due = time.Date(2026, 3, 29, 17, 0, 0, 0, time.UTC)

var all = []job.Job{
	{Name: job.Hourly, Due: due},
	{Name: job.Week, Due: due, Household: "-5", Chat: "-6"},
	{Name: job.Suggest, Due: due, Household: "-5", Chat: "-6"},
	{Name: job.Day, Due: due, Household: "-5"},
	{Name: job.Promise, Due: due, Household: "-5", Chat: "-6", User: "7", Promise: "2026-02-17T10:30:00Z#prm_abc123"},
}

// Each job is read as it was sent. No job is an update, and no two have the same
// event.
func TestJobs(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, j := range all {
		got, ok, err := job.Parse(j.Body())
		if diff := cmp.Diff(j, got); diff != "" || !ok || err != nil {
			t.Errorf("%s: %v, %v\n%s", j.Body(), ok, err, diff)
		}
		update, err := telegram.Parse([]byte(j.Body()))
		if err != nil || update.Kind() != telegram.KindOther {
			t.Errorf("%s: an update: %v, %v", j.Name, update.Kind(), err)
		}
		for _, other := range []job.Job{j, {j.Name, due.Add(time.Hour), j.Household, j.Chat, j.User, j.Promise}} {
			ev, err := other.Event()
			if err != nil || !ev.Time().Equal(other.Due) || seen[ev.String()] != "" {
				t.Errorf("%+v: %v of %v is that of %q, %v", other, ev, ev.Time(), seen[ev.String()], err)
			}
			seen[ev.String()] = other.Body()
		}
	}
}

// Each part tells two jobs apart, except the chat in which the household is
// written to: it may have changed between two sendings of one job.
func TestWhatAJobIsAbout(t *testing.T) {
	t.Parallel()
	of := func(change func(*job.Job)) string {
		j := all[4]
		change(&j)
		ev, err := j.Event()
		if err != nil {
			t.Fatal(err)
		}
		return ev.String()
	}
	same := of(func(*job.Job) {})
	for name, change := range map[string]func(*job.Job){
		"household": func(j *job.Job) { j.Household = "-9" },
		"user":      func(j *job.Job) { j.User = "9" },
		"promise":   func(j *job.Job) { j.Promise = "9" },
	} {
		if of(change) == same {
			t.Errorf("another %s is the same job", name)
		}
	}
	if of(func(j *job.Job) { j.Chat = "-9" }) != same {
		t.Error("another chat is another job")
	}
}

// Any time within an hour is that hour's job, written in any time zone, and with
// the parts in any order.
func TestAnHoursJob(t *testing.T) {
	t.Parallel()
	want, err := all[0].Event()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"2026-03-29T17:00:00Z", "2026-03-29T17:00:07Z", "2026-03-29T17:59:59.999Z", "2026-03-29T19:20:00+02:00", "2026-03-29T22:50:00+05:30"} {
		for _, body := range []string{`{"job":"hourly","due":"` + text + `"}`, `{ "due": "` + text + `", "job": "hourly" }`} {
			j, ok, err := job.Parse(body)
			if err != nil || !ok || !j.Due.Equal(due) {
				t.Fatalf("%s: %v, %v, %v", body, j.Due, ok, err)
			}
			if got, err := j.Event(); err != nil || got != want {
				t.Errorf("%s is another job: %v", body, err)
			}
		}
	}
}

func TestHostileBodies(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "{", "null", "7", `"job"`, `["job"]`, `{}`, `{"due":"2026-03-29T17:00:00Z"}`,
		`{"update_id":7,"job":"hourly","due":"2026-03-29T17:00:00Z"}`, // an update, even if Telegram adds such fields
		`{"update_id":7,"message":{"message_id":1,"date":1,"chat":{"id":1},"text":"{\"job\":\"hourly\"}"}}`,
		`{"update_id":7,"message":{"message_id":1,"date":1,"chat":{"id":1},"job":"hourly"}}`,
	} {
		if j, ok, err := job.Parse(body); ok || err != nil {
			t.Errorf("%s is a job: %+v, %v", body, j, err)
		}
	}
	const at = `,"due":"2026-03-29T17:00:00Z"`
	for _, body := range []string{
		`{"job":"hourly"`, `{"job":7}`, `{"job":"hourly","due":"tomorrow"}`, `{"job":"hourly","due":1774803600}`,
		`{"job":"promise","household":["-5"],"user":"7","promise":"x"` + at + `}`,
	} {
		if j, ok, err := job.Parse(body); !ok || err == nil || !strings.Contains(err.Error(), "not a job") {
			t.Errorf("%s: %+v, %v, %v", body, j, ok, err)
		}
	}
	for _, at := range []time.Time{{}, time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if _, err := (job.Job{Name: job.Hourly, Due: at}).Event(); err == nil {
			t.Errorf("%v: a time that no event can have", at)
		}
	}
}
