package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

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
