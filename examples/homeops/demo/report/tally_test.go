package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/report"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/tzclock"
)

// said is the delivery of a message that somebody wrote in a chat.
func said(from, text string) queue.Message {
	return queue.Message{
		Receives: 1, MaxReceives: 3, Attributes: map[string]string{queue.ChatID: "-5", queue.MessageID: "9"},
		Body: fmt.Sprintf(`{"update_id":1,"message":{"message_id":9,"date":1773140000,"chat":{"id":-5},"from":{%s},"text":%q}}`, from, text),
	}
}

func asked(name string, due time.Time) queue.Message {
	return queue.Message{Receives: 1, Body: job.Job{Name: name, Due: due, Household: "-5", Chat: "-5", User: "7", Promise: "p"}.Body()}
}

// part is the part of the report under a title.
func part(t *testing.T, text, title string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, "\n"+title+"\n")
	if !ok {
		t.Fatalf("no %s in\n%s", title, text)
	}
	_, after, _ = strings.Cut(after, "\n")
	before, _, _ := strings.Cut(after, "\n\n")
	return before + "\n"
}

// addsUp checks that every line is the sum of the indented lines below it.
func addsUp(t *testing.T, text string) {
	t.Helper()
	var sum, below, lines int
	check := func() {
		if lines > 0 && sum != below {
			t.Errorf("%d is not %d:\n%s", sum, below, text)
		}
	}
	for line := range strings.Lines(text) {
		m := regexp.MustCompile(`^( *)(\d+)  \S`).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q is no count", line)
		}
		n, _ := strconv.Atoi(m[2])
		if len(m[1])+len(m[2]) > 5 {
			below, lines = below+n, lines+1
			continue
		}
		check()
		sum, below, lines = n, 0, 0
	}
	check()
}

// Every delivery of any kind is in exactly one line of the report.
func TestDeliveriesAddUp(t *testing.T) {
	t.Parallel()
	kinds := []worker.Kind{
		worker.KindActivity, worker.KindNone, worker.KindGuess, worker.KindAsk, worker.KindTeach, worker.KindAnonym, worker.KindMember, worker.KindMoved,
		worker.KindPromise, worker.KindJob, worker.KindPoison, worker.KindOther, worker.KindSaid, "of another world", "",
	}
	jobs := []string{job.Hourly, job.Week, job.Suggest, job.Day, job.Promise}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 13))
		tally := report.NewTally()
		want, failed, buried := random.IntN(60), 0, 0
		for range want {
			r := worker.Report{Kind: kinds[random.IntN(len(kinds))], Duplicate: random.IntN(3) == 0, Delivery: said(`"id":7`, "hej")}
			r.Delivery.Receives += random.IntN(3)
			switch {
			case r.Kind == worker.KindJob:
				r.Delivery.Body, r.Delivery.Attributes = asked(jobs[random.IntN(len(jobs))], time.Unix(1773140000, 0)).Body, nil
			case r.Kind == worker.KindPoison:
				r.Refused = []string{"too old", "no JSON"}[random.IntN(2)]
			case random.IntN(4) == 0:
				r.Delivery.Attributes = nil
			}
			if random.IntN(9) == 0 {
				r.Err = errors.New("lost")
				failed++
				if r.Delivery.Last() {
					buried++
				}
			}
			if random.IntN(3) == 0 {
				r.Silent, r.Skipped = "quiet hours", []string{"reply", "habit"}
			}
			tally.Delivered(r, dynamotest.Cost{})
		}
		text := write(t, report.Facts{Tally: tally})
		worked := part(t, text, "What the worker did with the queue")
		addsUp(t, worked)
		addsUp(t, part(t, text, "What the bot said, and why not"))
		if !strings.HasPrefix(worked, fmt.Sprintf("%5d  deliveries\n", want)) || tally.CameBack != failed || tally.Buried != buried {
			t.Errorf("%d deliveries, of which %d failed, are\n%s", want, failed, worked)
		}
	}
}

// A message that comes again is not counted a second time as over the cap. It is
// counted if its first delivery failed.
func TestWhatComesAgainIsCountedOnce(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	for _, r := range []worker.Report{
		{Silent: "cap reached"},
		{Silent: "cap reached"},
		{Silent: "cap reached", Duplicate: true},
		{Silent: "said before", Duplicate: true},
		{Silent: "cap reached", Duplicate: true, Delivery: queue.Message{Receives: 2}},
	} {
		tally.Delivered(r, dynamotest.Cost{})
	}
	wants(t, write(t, report.Facts{Tally: tally}), "    5  not sent\n           1  came again\n           3  cap reached\n           1  said before\n")
}

// The report tells people of one name apart, and calls people without a name by
// their username.
func TestPeopleOfOneName(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	for _, from := range []string{`"id":7,"first_name":"Kim"`, `"id":8,"first_name":"Kim"`, `"id":9,"first_name":"","username":"maja_l"`} {
		tally.Delivered(worker.Report{Kind: worker.KindAsk, Sent: "Kim", Delivery: said(from, "Vem diskade senast?")}, dynamotest.Cost{})
	}
	text := write(t, report.Facts{Tally: tally, Stored: report.Stored{
		People:     map[string]string{"7": "Kim", "9": "maja_l"},
		Activities: map[report.Done]int{{"7", "diskning"}: 2, {"9", "tvätt"}: 1},
	}})
	wants(t, text, "\n            Kim (7)  maja_l  all\n  diskning        2       0    2\n     tvätt        0       1    1\n       all        2       1    3\n",
		"  Kim (7): Vem diskade senast?\n", "  Kim (8): Vem", "  maja_l: Vem ")
}

// What the bot says unasked is listed with its job, and every exchange under its
// topic.
func TestExchanges(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	due := time.Date(2026, 4, 12, 16, 0, 0, 0, time.UTC)
	for _, name := range []string{job.Suggest, job.Week, job.Promise} {
		tally.Delivered(worker.Report{Kind: worker.KindJob, Sent: "about " + name + "\nmore", Delivery: asked(name, due)}, dynamotest.Cost{Requests: 3})
	}
	tally.Delivered(worker.Report{Kind: worker.KindJob, Delivery: asked(job.Hourly, due)}, dynamotest.Cost{Requests: 1})
	tally.Delivered(worker.Report{Kind: worker.KindJob, Delivery: asked(job.Hourly, due)}, dynamotest.Cost{Requests: 2})
	tally.Delivered(worker.Report{Kind: worker.KindTeach, Sent: "Learned", Delivery: said(`"id":7`, "ja")}, dynamotest.Cost{})
	tally.Delivered(worker.Report{Kind: worker.KindGuess, Sent: "Menade du", Delivery: said(`"id":7`, "diksat")}, dynamotest.Cost{})
	tally.Delivered(worker.Report{Kind: worker.KindActivity, Sent: "Tack", Recorded: []activity.Activity{{Scope: "-5"}}, Delivery: said(`"id":7`, "Vem diskade senast?")}, dynamotest.Cost{})
	text := write(t, report.Facts{Tally: tally})
	for title, want := range map[string]string{
		"Said unasked: what somebody usually does now": "about suggest",
		"Said unasked: how the week was":               "about week",
		"Said unasked: promises that are overdue":      "about promise",
	} {
		if got := part(t, text, title); got != "Sun 2026-04-12 18:00  → "+want+"\n                        more\n" {
			t.Errorf("%s:\n%s", title, got)
		}
	}
	wants(t, part(t, text, "Words and names that people taught"), "7: ja\n", "→ Learned\n")
	wants(t, part(t, text, "What the bot was unsure about"), "7: diksat\n")
	wants(t, text, " job hourly           2         1.5 ", "    8  deliveries\n           2  job hourly\n           1  job promise\n")
	if strings.Contains(text, "Who did it last?") || tally.Jobs != 5 {
		t.Errorf("%d jobs; praise is an answer:\n%s", tally.Jobs, text)
	}
}

func write(t *testing.T, f report.Facts) string {
	t.Helper()
	var b bytes.Buffer
	f.Zone = tzclock.Stockholm
	if f.Tally.Updates == 0 {
		f.Tally.Update(time.Unix(1773140000, 0))
	}
	if err := report.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func wants(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in\n%s", w, text)
		}
	}
}

// The report of a long file stays short, too.
func TestListsAreCut(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	var dead []queue.Message
	for i := range 1000 {
		body := fmt.Sprintf(`{"update_id":%d,"edited_message":{"message_id":%[1]d,"date":1773140000,"chat":{"id":-5},"text":"text"}}`, i+1)
		tally.Ingested(ingest.Result{Disposition: ingest.Ignored, Kind: telegram.KindEdit, Chat: -5, Message: int64(i + 1), Reason: "an edit"})
		asked := strings.Replace(strings.Replace(body, "edited_message", "message", 1), `"text"}`, `"Vem diskade senast?"}`, 1)
		tally.Delivered(worker.Report{Kind: worker.KindAsk, Delivery: queue.Message{Body: asked}, Sent: "Anna"}, dynamotest.Cost{})
		dead = append(dead, queue.Message{ID: fmt.Sprint("m-", i), Body: "body"})
	}
	text := write(t, report.Facts{Tally: tally, Dead: dead})
	if n := strings.Count(text, "and 975 more\n"); n != 2 || strings.Count(text, "\n") > 250 {
		t.Errorf("%d lists are cut, %d lines", n, strings.Count(text, "\n"))
	}
	wants(t, text, " 1000  an edit\n", " 1000  sent\n")
}

// A dead letter has the reason for its refusal, or its last error.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	dead := []queue.Message{
		{ID: "m-1", Receives: 3, Body: "one\ntwo"},
		{ID: "m-9", Body: strings.Repeat("å", 500), Attributes: map[string]string{queue.Reason: "too far ahead", queue.ChatID: "-5", queue.MessageID: "7"}},
	}
	text := write(t, report.Facts{Tally: tally, Dead: dead})
	wants(t, text, "m-1\n    why:  no reason, 3 receives\n    body: one two\n",
		"m-9  chat -5, message 7\n    why:  too far ahead\n    body: "+strings.Repeat("å", 109)+"…\n")
}

// The report mentions costs that the endpoint did not report.
func TestUnpriced(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	tally.Delivered(worker.Report{}, dynamotest.Cost{
		Requests: 5, Unpriced: 2, ByTable: map[string]dynamotest.Units{"homeops": {RCU: 1.5, WCU: 2}}, RequestsByTable: map[string]int{"homeops": 3},
	})
	wants(t, write(t, report.Facts{Tally: tally}), "homeops         3  1.5    2\n", "and 2 requests whose cost this endpoint did not tell\n")
}
