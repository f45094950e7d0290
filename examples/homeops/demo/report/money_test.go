package report_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/classify"
	"github.com/homeops/ddbpatterns/examples/homeops/demo/report"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
)

// priced are round prices, and what a service costs in region "here".
func priced(t *testing.T, services map[string]string) *prices.File {
	t.Helper()
	const source = `"source": "https://a.page", "date": "2026-01-02"`
	here := map[string]json.RawMessage{}
	for name, figures := range services {
		here[name] = json.RawMessage("{" + figures + ", " + source + "}")
		if name == "sqs" {
			here[name] = json.RawMessage("{" + figures + `, "source": "a colleague", "date": "2026-01-02"}`)
		}
	}
	text, err := json.Marshal(here)
	if err != nil {
		t.Fatal(err)
	}
	f, err := prices.Parse(fmt.Appendf(nil, `{"regions": {"here": %s}, "polling": {"connections": 5, "seconds": 20, %s},
		"functions": {"architecture": "arm64", "memoryMB": 512, "ingestMilliseconds": 1.5, "workerMilliseconds": 20, %[2]s}}`, text, source))
	if err != nil {
		t.Fatal(err)
	}
	return &f
}

// money is the report's part about money, with one space between the cells of a
// row.
func money(t *testing.T, f report.Facts) string {
	t.Helper()
	_, text, _ := strings.Cut(write(t, f), "What it would cost in money")
	var squeezed strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintln(&squeezed, strings.Join(strings.Fields(line), " "))
	}
	return squeezed.String()
}

var roundPrices = map[string]string{
	"dynamodb": `"readUnitsPerMillion": 1, "writeUnitsPerMillion": 10`,
	"sqs":      `"requestsPerMillion": 2, "fairRequestsPerMillion": 0.5`,
	"lambda":   `"requestsPerMillion": 4, "gigabyteSecond": {"arm64": 0.00002, "x86_64": 7}`,
}

func cost(rcu, wcu float64) dynamotest.Cost {
	return dynamotest.Cost{
		Requests: 1, Units: dynamotest.Units{RCU: rcu, WCU: wcu},
		ByTable: map[string]dynamotest.Units{"homeops": {RCU: rcu, WCU: wcu}}, RequestsByTable: map[string]int{"homeops": 1},
	}
}

// tally is the tally of five updates: one is refused and one comes back.
func tally() *report.Tally {
	t := report.NewTally()
	began := time.Unix(1773140000, 0)
	for i := range 5 {
		t.Update(began.Add(time.Duration(i) * 15 * time.Second)) // a minute in all
		t.Posted(1, true)
	}
	for range 4 {
		t.Ingested(ingest.Result{Disposition: ingest.Enqueued}, nil)
	}
	t.Ingested(ingest.Result{Disposition: ingest.Refused, Reason: "no JSON"}, nil)
	t.Delivered(worker.Report{Kind: worker.KindActivity, Recorded: []activity.Activity{{Name: "diskning"}}}, cost(3, 8))
	t.Delivered(worker.Report{Kind: worker.KindNone}, cost(0.5, 1))
	t.Delivered(worker.Report{Kind: worker.KindNone}, cost(0, 1))
	t.Delivered(worker.Report{Kind: worker.KindNone, Err: errors.New("lost"), Delivery: queue.Message{Receives: 1, MaxReceives: 3}}, cost(0.5, 0))
	t.Delivered(worker.Report{Kind: worker.KindNone, Duplicate: true}, cost(2, 1))
	return t
}

func TestMoney(t *testing.T) {
	t.Parallel()
	wants(t, money(t, report.Facts{Tally: tally(), Region: "here", Prices: priced(t, roundPrices)}),
		", in here\n",
		"\nDynamoDB read units 6 $1 $0.00000600\n",
		"\nDynamoDB write units 11 $10 $0.000110\n",
		// 4 and 1 sent, 5 received, 4 deleted
		"\nSQS requests 14 $2 $0.0000280\n", "\nSQS fair queueing 14 $0.5 $0.00000700\n",
		"\nSQS empty polls 15 $2 $0.0000300\n", // three times in a minute, on five connections
		"\nLambda requests 10 $4 $0.0000400\n",
		"\nLambda GB-seconds 0.054 $20 $0.00000108\n", // (5 * 1.5 ms + 5 * 20 ms) * 0.5 GB
		"\nDynamoDB $0.000116\n", "\nSQS $0.0000650\n", "\nLambda $0.0000411\n",
		"\nall $0.000222\n",
		"of 5 connections, one each in 20 s.", "a month of 30 days has 648000, $1.30.\n",
		"activity, silent 1 $83.00 $7.50 $8.22 $98.72\n",
		"\nnone 2 $10.25 $7.50 $8.22 $25.97\n",
		"\nclassified 3 $34.50 $7.50 $8.22 $50.22\n",
		"The dearest kind: activity, silent, $98.72 a million.\n",
		"Prices, first tier: DynamoDB of 2026-01-02, SQS of 2026-01-02 (a colleague), Lambda of 2026-01-02.\n",
		"Lambda: 512 MB on arm64, 1.5 ms a request to the webhook and 20 ms a delivery. Measured on 2026-01-02: https://a.page.\n",
		"Left out: the free tier, storage, backups, logs, data transfer, KMS, the alarm, an HTTP API ")
}

// A dead letter also took a send and a delete.
func TestQueueRequestsOfDeadLetters(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		r    worker.Report
		want string
	}{
		"done":         {worker.Report{Kind: worker.KindNone}, "2 "}, // received, deleted
		"comes back":   {worker.Report{Err: errors.New("lost"), Delivery: queue.Message{Receives: 2, MaxReceives: 3}}, "1 "},
		"for the last": {worker.Report{Err: errors.New("lost"), Delivery: queue.Message{Receives: 3, MaxReceives: 3}}, "3 "},
		"a job":        {worker.Report{Kind: worker.KindJob, Delivery: asked(job.Week, time.Unix(1773140000, 0))}, "3 "},
		"an hour":      {worker.Report{Kind: worker.KindJob, Delivery: asked(job.Hourly, time.Unix(1773140000, 0))}, "5 "}, // the depth of two queues
		"poison":       {worker.Report{Kind: worker.KindPoison, Refused: "too old"}, "3 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tally := report.NewTally()
			tally.Delivered(tc.r, dynamotest.Cost{})
			wants(t, money(t, report.Facts{Tally: tally, Region: "here", Prices: priced(t, roundPrices)}), "SQS requests "+tc.want)
		})
	}
}

// If the file has no price for something, the report says that it is not
// priced.
func TestWithoutPrices(t *testing.T) {
	t.Parallel()
	f := priced(t, map[string]string{"dynamodb": roundPrices["dynamodb"]})
	text := money(t, report.Facts{Tally: tally(), Region: "here", Prices: f})
	wants(t, text, "SQS requests 14 - -\n", "GB-seconds 0.054 - -\n", "\nSQS -\n",
		"\nall but SQS, Lambda $0.000116\n", " SQS Lambda all but SQS, Lambda\n", "a month of 30 days has 648000.\n", "\nclassified 3 $34.50 - - $34.50\n",
		"Prices, first tier: DynamoDB of 2026-01-02.\n", "Not priced, and in no sum: SQS, Lambda. The file of prices has none for here.\n")

	text = money(t, report.Facts{Tally: tally(), Region: "there", Prices: f})
	wants(t, text, ", in there\n", "\nNot priced: the file of prices has no region there. It has here.\n")
	if strings.Contains(text, "$") {
		t.Errorf("guessed:\n%s", text)
	}
	text = money(t, report.Facts{Tally: tally(), Region: "here", Prices: priced(t, nil)})
	wants(t, text, "Prices, first tier: none.\n", "in no sum: DynamoDB, SQS, Lambda.")
	if money(t, report.Facts{Tally: tally(), Region: "here"}) != "" {
		t.Error("money without prices")
	}
}

// The sums leave out a part without a price, and include the rest of its
// service.
func TestWithoutThePriceOfFairQueues(t *testing.T) {
	t.Parallel()
	wants(t, money(t, report.Facts{Tally: tally(), Region: "here", Prices: priced(t, map[string]string{
		"dynamodb": roundPrices["dynamodb"], "lambda": roundPrices["lambda"], "sqs": `"requestsPerMillion": 2`,
	})}),
		"SQS requests 14 $2 $0.0000280\n", "SQS fair queueing 14 - -\n", "\nSQS $0.0000580\n", "\nall but SQS fair queueing $0.000215\n",
		" SQS Lambda all but SQS fair queueing\n", "\nclassified 3 $34.50 $6.00 $8.22 $48.72\n",
		"SQS of 2026-01-02", "Not priced, and in no sum: SQS fair queueing. The file of prices has none for here.\n")
}

// If nothing was classified, nothing is divided by it, and the report says what
// is not known.
func TestMoneyOfNothing(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	tally.Delivered(worker.Report{Kind: worker.KindAsk}, dynamotest.Cost{Requests: 3, Unpriced: 2})
	text := money(t, report.Facts{Tally: tally, Region: "here", Prices: priced(t, roundPrices)})
	wants(t, text, "classified 0 $0 $0 $0 $0\n", "DynamoDB's part lacks 2 requests whose cost this endpoint did not tell.\n",
		"SQS empty polls 0 $2 $0\n")
	if strings.Contains(text, "dearest") {
		t.Errorf("the dearest of none:\n%s", text)
	}
}

// The tokens of every delivery that asked a model are counted, even if it failed,
// and priced if the file has the model. Without a model the report says nothing of
// tokens.
func TestTokens(t *testing.T) {
	t.Parallel()
	tally := report.NewTally()
	for _, u := range []classify.Usage{
		{Model: "big", Requests: 1, In: 1_000_000, Out: 300_000},
		{Model: "big", Requests: 2, In: 500_000, Out: 100_000, FellBack: true},
		{Model: "big", FellBack: true}, // the circuit was open
		{Model: "big", Replayed: true},
		{Model: "other", Requests: 1, In: 7, Out: 1},
		{},
	} {
		tally.Delivered(worker.Report{Kind: worker.KindNone, Usage: u, Err: errors.New("lost afterwards")}, dynamotest.Cost{})
	}
	f := priced(t, roundPrices)
	var models struct{ Models map[string]prices.Model }
	if err := json.Unmarshal([]byte(`{"models": {"big": {"inputTokensPerMillion": 2, "outputTokensPerMillion": 10, "source": "https://a.page", "date": "2026-01-02"}}}`), &models); err != nil {
		t.Fatal(err)
	}
	f.Models = models.Models
	text := write(t, report.Facts{Tally: tally, Region: "here", Prices: f})
	wants(t, part(t, text, "What the model was asked: big"), "    2  deliveries asked it, by 3 requests\n    1  got an earlier delivery's answer, without tokens\n    2  fell back to the vocabulary\n",
		"Tokens: 1500000 in, 400000 out. They cost $7.00, which is $3500000.00 for a million questions; a million tokens cost $2 in and $10 out, as of 2026-01-02 (https://a.page). It is in no sum below.\n")
	wants(t, part(t, text, "What the model was asked: other"), "    1  deliveries asked it, by 1 request\n", "Tokens: 7 in, 1 out. The file of prices has no model of that name.\n")
	if text := write(t, report.Facts{Tally: report.NewTally()}); strings.Contains(text, "model") {
		t.Errorf("nobody was asked:\n%s", text)
	}
}
