package report_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/report"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/tzclock"
)

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
		tally.Ingested(ingest.Result{Disposition: ingest.Ignored, Kind: telegram.KindEdit, Chat: -5, Message: int64(i + 1), Reason: "an edit"}, []byte(body))
		asked := strings.Replace(strings.Replace(body, "edited_message", "message", 1), `"text"}`, `"Vem diskade senast?"}`, 1)
		tally.Delivered(worker.Report{Kind: worker.KindAsk, Delivery: queue.Message{Body: asked}, Sent: "Anna"}, dynamotest.Cost{})
		dead = append(dead, queue.Message{ID: fmt.Sprint("m-", i), Body: "body"})
	}
	text := write(t, report.Facts{Tally: tally, Dead: dead})
	if n := strings.Count(text, "and 975 more\n"); n != 3 || strings.Count(text, "\n") > 250 {
		t.Errorf("%d lists are cut, %d lines", n, strings.Count(text, "\n"))
	}
	wants(t, text, " 1000  an edit\n", " 1000  sent\n")
}

// A kind's figures are sums, and the most that a delivery had.
func TestCostOfAKind(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	for _, requests := range []int{8, 9, 2} {
		cost := dynamotest.Cost{Requests: requests, Units: dynamotest.Units{RCU: 0.5, WCU: 1}}
		tally.Delivered(worker.Report{Kind: worker.KindNone}, cost)
	}
	kind := tally.Costs.ByKind["none"]
	if kind.Deliveries != 3 || kind.All != (dynamotest.Price{Requests: 19, RCU: 1.5, WCU: 3}) || kind.Most != (dynamotest.Price{Requests: 9, RCU: 0.5, WCU: 1}) {
		t.Errorf("%+v", kind)
	}
}

// Deliveries are of different kinds if their price differs.
func TestKinds(t *testing.T) {
	t.Parallel()
	one := []activity.Activity{{Name: "diskning"}}
	tally := report.NewTally()
	for _, r := range []worker.Report{
		{Kind: worker.KindActivity, Recorded: one, Sent: "Tack"},
		{Kind: worker.KindActivity, Recorded: one, Silent: "quiet hours"},
		{Kind: worker.KindActivity, Recorded: append(one, one...), Sent: "Tack"},
		{Kind: worker.KindActivity, Recorded: one, Duplicate: true},
		{Kind: worker.KindActivity, Err: errors.New("lost")},
		{Kind: worker.KindMember},
		{Kind: worker.KindNone},
		{Kind: "other"},
		{},
	} {
		tally.Delivered(r, dynamotest.Cost{})
	}
	wants(t, write(t, report.Facts{Tally: tally}), "activity, answered  ", "activity, silent  ", "activity, several at once  ",
		"activity, again  ", "failed, comes back  ", "membership  ", " none           1  ", " other           1  ", " of another kind           1  ",
		"    1  quiet hours\n")
}

// The report says how the dates stand to the clock.
func TestDates(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	for _, d := range []struct{ unbelieved, late bool }{{true, false}, {false, true}, {true, true}, {false, false}, {false, true}} {
		tally.Dated(d.unbelieved, d.late)
	}
	wants(t, write(t, report.Facts{Tally: tally}), "\nThe clock goes by their dates, and never back: over an hour late 3, dated ahead of the present 2.\n")
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

func TestWriteFails(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	tally.Update(time.Now())
	if err := report.Write(bufio.NewWriterSize(broken{}, 1), report.Facts{Tally: tally, Zone: tzclock.Stockholm}); err == nil {
		t.Error("a full disk goes unnoticed")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }
