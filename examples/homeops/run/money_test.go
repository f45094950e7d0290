package run

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The prices of the test's file, in picodollars for one. A dollar for a million
// is a microdollar for one, which is a million picodollars.
const (
	readUnit, writeUnit = 125_000, 625_000
	sqsRequest, fair    = 400_000, 100_000
	invocation, second  = 200_000, 13_333_400 // a GB-second
	ingestMs, workerMs  = 3, 40
)

// The money in the report follows from its own figures: it is worked out here
// in whole picodollars, from the parts of the report that have no prices.
func TestMoneyOfTheReport(t *testing.T) {
	t.Parallel()
	const source = `"source": "a page", "date": "2026-01-02"`
	prices := filepath.Join(t.TempDir(), "prices.json")
	text := `{"regions": {"us-west-9": {
		"dynamodb": {"readUnitsPerMillion": 0.125, "writeUnitsPerMillion": 0.625, ` + source + `},
		"sqs": {"requestsPerMillion": 0.4, "fairRequestsPerMillion": 0.1, ` + source + `},
		"lambda": {"requestsPerMillion": 0.2, "gigabyteSecond": {"arm64": 0.0000133334}, ` + source + `}}},
		"polling": {"connections": 5, "seconds": 20, ` + source + `},
		"functions": {"architecture": "arm64", "memoryMB": 256, "ingestMilliseconds": 3, "workerMilliseconds": 40, ` + source + `}}`
	if err := os.WriteFile(prices, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, map[string]string{"DYNAMO_REGION": "us-west-9"}, "", "-prices", prices)
	if got.exit != exitOK {
		t.Fatalf("exit %d: %s", got.exit, got.err)
	}
	before, money, ok := strings.Cut(got.out, "What it would cost in money, in us-west-9\n")
	if !ok {
		t.Fatal("no money in the report")
	}
	figure := func(in, expression string) float64 {
		t.Helper()
		found := regexp.MustCompile("(?m)^ *" + expression).FindStringSubmatch(in)
		if found == nil {
			t.Fatalf("%s is not in\n%s", expression, in)
		}
		n, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	_, byTable, _ := strings.Cut(before, "by table\n")
	rcu, wcu := figure(byTable, `all +\d+ +([\d.]+)`), figure(byTable, `all +\d+ +[\d.]+ +([\d.]+)`)
	updates, deliveries := int64(figure(before, `(\d+) updates, `)), int64(figure(before, `(\d+)  deliveries\n`))
	queued := int64(figure(before, `(\d+)  enqueued\n`)+figure(before, `(\d+)  refused\n`)+figure(before, `(\d+)  refused for good\n`)) + 2*deliveries
	for _, name := range []string{"hourly", "week", "day", "suggest", "promise"} {
		queued += int64(figure(before, `(\d+)  job `+name+`\n`))
	}
	queued += 2 * int64(figure(before, `(\d+)  job hourly\n`)) // how deep the queue and its dead letters are
	if got := int64(figure(money, `SQS requests +(\d+) `)); got != queued {
		t.Errorf("%d requests to the queue, want %d", got, queued)
	}
	dynamo := int64(2*rcu)*readUnit/2 + int64(2*wcu)*writeUnit/2
	polls := int64(figure(money, `SQS empty polls +(\d+) `))
	sqs := queued*(sqsRequest+fair) + polls*sqsRequest
	lambda := (updates+deliveries)*invocation + (updates*ingestMs+deliveries*workerMs)*second/4/1000
	for part, want := range map[string]int64{
		"DynamoDB": dynamo, "SQS": sqs, "Lambda": lambda, "all": dynamo + sqs + lambda,
	} {
		same(t, part, figure(money, part+` +\$([\d.]+)\n`), float64(want)/1e12)
	}
	// The conversation lasts from the 9th of March to the 22nd of April: 44 days and some.
	if polls < 44*21600 || polls > 45*21600 {
		t.Errorf("%d empty polls", polls)
	}

	// A million: the rows of the price list for one delivery, added up again.
	_, byKind, _ := strings.Cut(before, "for one delivery\n")
	var all, units float64
	for _, kind := range []string{"activity, answered", "activity, several at once", "activity, silent", "none", "unsure"} {
		n := figure(byKind, kind+` +(\d+) `)
		one := figure(byKind, kind+` +\d+ +[\d.]+ +([\d.]+) `)*readUnit + figure(byKind, kind+` +\d+ +[\d.]+ +[\d.]+ +([\d.]+) `)*writeUnit
		same(t, kind, figure(money, kind+` +\d+ +\$([\d.]+) `), one/1e6)
		all, units = all+n, units+n*one
	}
	if n := figure(money, `classified +(\d+) `); n != all {
		t.Errorf("%g classified, want %g", n, all)
	}
	same(t, "DynamoDB of a million", figure(money, `classified +\d+ +\$([\d.]+) `), units/all/1e6)
	same(t, "SQS of a million", figure(money, `classified +\d+ +\$[\d.]+ +\$([\d.]+) `), 3*(sqsRequest+fair)/1e6)
	same(t, "Lambda of a million", figure(money, `classified +\d+ +\$[\d.]+ +\$[\d.]+ +\$([\d.]+) `), (2*invocation+(ingestMs+workerMs)*second/4000.0)/1e6)
	if !strings.Contains(money, "The dearest kind: activity, several at once, $") {
		t.Errorf("another is the dearest:\n%s", money)
	}
}

// same compares figures that are written with three digits or in cents, and
// averages with four.
func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if off := got - want; max(off, -off) > max(want/150, 1e-12) {
		t.Errorf("%s: the report has $%s, worked out are $%s", what, fmt.Sprint(got), fmt.Sprint(want))
	}
}
