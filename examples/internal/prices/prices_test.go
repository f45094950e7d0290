package prices_test

import (
	"cmp"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/examples/internal/prices"
)

const file = `{
 "regions": {"eu-west-9": {
  "dynamodb": {"readUnitsPerMillion": 0.1, "writeUnitsPerMillion": 0.5, "source": "a page", "date": "2026-01-02"},
  "sqs": {"requestsPerMillion": 0.4, "fairRequestsPerMillion": 0.1, "source": "a page", "date": "2026-01-02"},
  "lambda": {"requestsPerMillion": 0.2, "gigabyteSecond": {"arm64": 0.0000133334}, "source": "a page", "date": "2026-01-02"}}},
 "polling": {"connections": 5, "seconds": 20, "source": "a page", "date": "2026-01-02"},
 "functions": {"architecture": "arm64", "memoryMB": 256, "ingestMilliseconds": 1.5, "workerMilliseconds": 20, "source": "a stopwatch", "date": "2026-01-02"}}`

// unchecked are the prices that do not come from a page of AWS, by the beginning of
// their sources.
var unchecked = map[string]string{"eu-north-1 sqs": "a research document for a deployment in eu-north-1"}

// The file in the program is valid, and names a page for every price except the
// unchecked ones.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	f, err := prices.Load("")
	if err != nil {
		t.Fatal(err)
	}
	for name, region := range f.Regions {
		sources := map[string]prices.Source{"polling": f.Polling.Source}
		if p := region.DynamoDB; p != nil {
			sources["dynamodb"] = p.Source
		}
		if p := region.SQS; p != nil {
			sources["sqs"] = p.Source
		}
		if p := region.Lambda; p != nil {
			sources["lambda"] = p.Source
		}
		for service, s := range sources {
			if !strings.HasPrefix(s.Source, cmp.Or(unchecked[name+" "+service], "https://")) {
				t.Errorf("%s: %s: %q is not a page", name, service, s.Source)
			}
		}
		if region.DynamoDB == nil || region.DynamoDB.Writes.Rat().Cmp(region.DynamoDB.Reads.Rat()) <= 0 {
			t.Errorf("%s: a write unit costs more than a read unit", name)
		}
	}
	for name, m := range f.Models {
		if !strings.HasPrefix(m.Source.Source, "https://") || m.In.Rat().Sign() <= 0 || m.Out.Rat().Cmp(m.In.Rat()) < 0 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if _, ok := f.Regions["eu-north-1"]; !ok {
		t.Error("the default region has no prices")
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := prices.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	region := f.Regions["eu-west-9"]
	if got := region.Lambda.GigabyteSeconds["arm64"].Rat(); got.Cmp(big.NewRat(133334, 10_000_000_000)) != 0 {
		t.Errorf("a price of %s", got)
	}
	if got := f.Functions.Ingest.Rat(); got.Cmp(big.NewRat(3, 2)) != 0 || region.SQS.Date != "2026-01-02" || f.Polling.Source.Source != "a page" {
		t.Errorf("%+v", f)
	}
	if got := (prices.Amount{}).Rat(); got.Sign() != 0 {
		t.Errorf("no number is %s", got)
	}
	if _, err := prices.Load(path + "x"); err == nil || !strings.Contains(err.Error(), path+"x") {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := prices.Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("an empty file: %v", err)
	}
}

// A service without a price in a region is left out, and so are fair queues.
// Nothing is guessed.
func TestServicesMayBeMissing(t *testing.T) {
	t.Parallel()
	f, err := prices.Parse([]byte(strings.Replace(file, `"sqs": {"requestsPerMillion": 0.4, "fairRequestsPerMillion": 0.1, "source": "a page", "date": "2026-01-02"},`, "", 1)))
	if region := f.Regions["eu-west-9"]; err != nil || region.SQS != nil || region.DynamoDB == nil || region.Lambda == nil {
		t.Errorf("%+v, %v", region, err)
	}
	f, err = prices.Parse([]byte(strings.Replace(file, `"fairRequestsPerMillion": 0.1, `, "", 1)))
	if sqs := f.Regions["eu-west-9"].SQS; err != nil || sqs == nil || !sqs.Requests.Known() || sqs.Fair.Known() {
		t.Errorf("without fair queues: %+v, %v", sqs, err)
	}
}

func TestWrongFiles(t *testing.T) {
	t.Parallel()
	const region = "prices: regions.eu-west-9."
	for name, tc := range map[string]struct{ old, new, want string }{
		"no number":         {`PerMillion": 0.1, "write`, `PerMillion": "0,1", "write`, region + `dynamodb.readUnitsPerMillion: must be a number such as 0.67, not negative and without an exponent, is "0,1"`},
		"negative":          {`"writeUnitsPerMillion": 0.5`, `"writeUnitsPerMillion": -0.5`, region + "dynamodb.writeUnitsPerMillion: must"},
		"an exponent":       {`{"requestsPerMillion": 0.4`, `{"requestsPerMillion": 4e-1`, region + "sqs.requestsPerMillion: must"},
		"null":              {`"fairRequestsPerMillion": 0.1`, `"fairRequestsPerMillion": null`, region + "sqs.fairRequestsPerMillion: must"},
		"too long":          {`"requestsPerMillion": 0.2`, `"requestsPerMillion": 0.2222222222222`, region + "lambda.requestsPerMillion: must"},
		"missing":           {`"readUnitsPerMillion": 0.1, `, ``, region + "dynamodb.readUnitsPerMillion: is missing"},
		"no page":           {`0.5, "source": "a page"`, `0.5, "source": ""`, region + "dynamodb.source: is missing"},
		"no day":            {`0.5, "source": "a page", "date": "2026-01-02"`, `0.5, "source": "a page", "date": "2026-13-02"`, region + `dynamodb.date: must be a day such as 2026-09-11, is "2026-13-02"`},
		"no architecture":   {`"arm64", `, `"", `, "prices: functions.architecture: is missing"},
		"another":           {`"arm64", `, `"x86_64", `, region + "lambda.gigabyteSecond.x86_64: is missing"},
		"seconds of memory": {`0.0000133334`, `true`, region + "lambda.gigabyteSecond.arm64: must"},
		"date of SQS":       {`"fairRequestsPerMillion": 0.1, "source": "a page"`, `"fairRequestsPerMillion": 0.1`, region + "sqs.source: is missing"},
		"date of Lambda":    {`}, "source": "a page"`, `}`, region + "lambda.source: is missing"},
		"no connection":     {`"connections": 5`, `"connections": 0`, "prices: polling.connections: must be a whole number from 1 to 1000, is 0"},
		"half a connection": {`"connections": 5`, `"connections": 1.5`, "prices: polling.connections: must be a whole number"},
		"too rare":          {`"seconds": 20`, `"seconds": 21`, "prices: polling.seconds: must be a whole number from 1 to 20, is 21"},
		"source of polling": {`20, "source": "a page"`, `20`, "prices: polling.source: is missing"},
		"little memory":     {`256`, `127`, "prices: functions.memoryMB: must be a whole number from 128 to 10240, is 127"},
		"no milliseconds":   {`"ingestMilliseconds": 1.5, `, ``, "prices: functions.ingestMilliseconds: is missing"},
		"time back":         {`"workerMilliseconds": 20`, `"workerMilliseconds": -1`, "prices: functions.workerMilliseconds: must"},
		"unmeasured":        {`"a stopwatch"`, `""`, "prices: functions.source: is missing"},
		"free tokens":       {`"regions": {`, `"models": {"m": {"outputTokensPerMillion": 1, "source": "a page", "date": "2026-01-02"}}, "regions": {`, "prices: models.m.inputTokensPerMillion: is missing"},
		"a rumour":          {`"regions": {`, `"models": {"m": {"inputTokensPerMillion": 1, "outputTokensPerMillion": -1, "date": "2026-01-02"}}, "regions": {`, "prices: models.m.outputTokensPerMillion: must be a number such as 0.67, not negative and without an exponent, is -1\nprices: models.m.source: is missing"},
		"no region":         {`"regions": {`, `"regions": {}, "x": {`, `unknown field "x"`},
		"an unknown field":  {`"memoryMB"`, `"memory"`, `unknown field "memory"`},
		"another kind":      {`"source": "a stopwatch"`, `"source": 5`, "source"},
		"more behind it":    {`"a stopwatch", "date": "2026-01-02"}}`, `"a stopwatch", "date": "2026-01-02"}} {}`, "more than one JSON object"},
		"no JSON":           {`{`, `(`, "prices: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(file, tc.old, tc.new, 1)
			if _, err := prices.Parse([]byte(text)); text == file || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	if _, err := prices.Parse([]byte("{}")); err == nil || !strings.Contains(err.Error(), "regions: is missing") || !strings.Contains(err.Error(), "polling.date") {
		t.Errorf("nothing at all: %v", err)
	}
}

// Sums are rounded for people.
func TestDollars(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "$0", "12": "$12.00", "12.345": "$12.35", "1": "$1.00", "0.9996": "$1.000", "0.999": "$0.999", "0.1": "$0.100",
		"0.0412": "$0.0412", "0.00041249": "$0.000412", "0.000001": "$0.00000100", "123456789.987": "$123456789.99",
	} {
		sum, _ := new(big.Rat).SetString(text)
		if got := prices.Dollars(sum); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	f, err := prices.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if got := prices.Dollars(f.Regions["eu-west-9"].DynamoDB.Of(20e6, 4.5e6)); got != "$4.25" {
		t.Errorf("20 million reads and 4.5 million writes: %s", got)
	}
	if got := prices.Dollars(f.Regions["elsewhere"].DynamoDB.Of(1, 1)); got != "-" {
		t.Errorf("without a price: %s", got)
	}
}
