// Package prices reads list prices from one file: those of AWS by region, and
// those of language models by name. Each price has its source and its date. What
// the file does not have is not priced; nothing is guessed from another region.
package prices

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"regexp"
	"slices"
	"time"
)

//go:embed prices.json
var embedded []byte

// File is a file of prices, in US dollars without tax. They are those of the
// first tier, without the free one.
type File struct {
	Regions   map[string]Region `json:"regions"`
	Models    map[string]Model  `json:"models"` // by the API's name; may be missing
	Polling   Polling           `json:"polling"`
	Functions Functions         `json:"functions"`
}

// Region is what services cost in a region. A service without a price is nil.
type Region struct {
	DynamoDB *DynamoDB `json:"dynamodb"`
	SQS      *SQS      `json:"sqs"`
	Lambda   *Lambda   `json:"lambda"`
}

// Source says where figures come from: the address or the name of a page, or
// how they were measured.
type Source struct {
	Source string `json:"source"`
	Date   string `json:"date"` // such as 2026-09-11
}

// DynamoDB is on-demand capacity.
type DynamoDB struct {
	Reads  Amount `json:"readUnitsPerMillion"`
	Writes Amount `json:"writeUnitsPerMillion"`
	Source
}

// SQS is a standard queue. A request counts once for each 64 KB of its payload.
type SQS struct {
	Requests Amount `json:"requestsPerMillion"`
	// Fair is an additional price for messages with a MessageGroupId. It may be
	// missing: then only that is not priced.
	Fair Amount `json:"fairRequestsPerMillion"`
	Source
}

// Lambda is the price of invocations and of memory over time, by architecture.
type Lambda struct {
	Requests        Amount            `json:"requestsPerMillion"`
	GigabyteSeconds map[string]Amount `json:"gigabyteSecond"`
	Source
}

// Model is what a language model's tokens cost, which does not depend on a
// region.
type Model struct {
	In  Amount `json:"inputTokensPerMillion"`
	Out Amount `json:"outputTokensPerMillion"`
	Source
}

// Polling is how Lambda polls an empty queue: so many connections, each with
// one request in so many seconds.
type Polling struct {
	Connections Amount `json:"connections"`
	Seconds     Amount `json:"seconds"`
	Source
}

// Functions are the two Lambda functions: their settings, and how many
// milliseconds of an invocation are billed on average.
type Functions struct {
	Architecture string `json:"architecture"`
	MemoryMB     Amount `json:"memoryMB"`
	Ingest       Amount `json:"ingestMilliseconds"`
	Worker       Amount `json:"workerMilliseconds"`
	Source
}

// Amount is a number exactly as the file has it.
type Amount struct{ text string }

// UnmarshalJSON keeps the text. [Parse], which knows the field, checks that it
// is a number.
func (a *Amount) UnmarshalJSON(text []byte) error {
	a.text = string(text)
	return nil
}

// Known reports whether the file has the number.
func (a Amount) Known() bool { return a.text != "" }

// Rat returns the number, 0 for one that is not in the file.
func (a Amount) Rat() *big.Rat {
	r, ok := new(big.Rat).SetString(a.text)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// Each is the price of one, if the file has the price of a million.
func (a Amount) Each() *big.Rat { return new(big.Rat).Quo(a.Rat(), big.NewRat(1_000_000, 1)) }

// Of returns what so many units cost, nil in a region without a price.
func (d *DynamoDB) Of(reads, writes float64) *big.Rat {
	if d == nil {
		return nil
	}
	r, w := new(big.Rat).SetFloat64(reads), new(big.Rat).SetFloat64(writes)
	return r.Add(r.Mul(r, d.Reads.Each()), w.Mul(w, d.Writes.Each()))
}

// Dollars rounds to cents, or to three significant digits if that has more
// places: $12.35, $0.0412, $0.000412. Without a price it is "-".
func Dollars(r *big.Rat) string {
	switch {
	case r == nil:
		return "-"
	case r.Sign() == 0:
		return "$0"
	}
	places, least := 2, big.NewRat(1, 1)
	for ; places < 12 && r.Cmp(least) < 0; places++ {
		least.Quo(least, big.NewRat(10, 1))
	}
	return "$" + r.FloatString(places)
}

// Load reads a file, or the one that is part of the program if path is empty.
func Load(path string) (File, error) {
	if path == "" {
		return Parse(embedded)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	f, err := Parse(text)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Parse reads a file. The error names every field that is wrong.
func Parse(text []byte) (File, error) {
	var f File
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&f); err != nil {
		return File{}, fmt.Errorf("prices: %w", err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return File{}, errors.New("prices: more than one JSON object")
	}
	var c checker
	c.file(f)
	return f, errors.Join(c.errs...)
}

// checker collects what is wrong with a file.
type checker struct{ errs []error }

func (c *checker) wrong(field, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("prices: %s: "+format, append([]any{field}, args...)...))
}

func (c *checker) file(f File) {
	if len(f.Regions) == 0 {
		c.wrong("regions", "is missing or empty")
	}
	for _, name := range slices.Sorted(maps.Keys(f.Regions)) {
		c.region("regions."+name, f.Regions[name], f.Functions.Architecture)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Models)) {
		c.number("models."+name+".inputTokensPerMillion", f.Models[name].In)
		c.number("models."+name+".outputTokensPerMillion", f.Models[name].Out)
		c.source("models."+name, f.Models[name].Source)
	}
	c.whole("polling.connections", f.Polling.Connections, 1, 1000)
	c.whole("polling.seconds", f.Polling.Seconds, 1, 20)
	c.source("polling", f.Polling.Source)
	if f.Functions.Architecture == "" {
		c.wrong("functions.architecture", "is missing: set it to an architecture such as arm64")
	}
	c.whole("functions.memoryMB", f.Functions.MemoryMB, 128, 10240)
	c.number("functions.ingestMilliseconds", f.Functions.Ingest)
	c.number("functions.workerMilliseconds", f.Functions.Worker)
	c.source("functions", f.Functions.Source)
}

func (c *checker) region(field string, r Region, architecture string) {
	if d := r.DynamoDB; d != nil {
		c.number(field+".dynamodb.readUnitsPerMillion", d.Reads)
		c.number(field+".dynamodb.writeUnitsPerMillion", d.Writes)
		c.source(field+".dynamodb", d.Source)
	}
	if s := r.SQS; s != nil {
		c.number(field+".sqs.requestsPerMillion", s.Requests)
		if s.Fair.Known() {
			c.number(field+".sqs.fairRequestsPerMillion", s.Fair)
		}
		c.source(field+".sqs", s.Source)
	}
	if l := r.Lambda; l != nil {
		c.number(field+".lambda.requestsPerMillion", l.Requests)
		for _, name := range slices.Sorted(maps.Keys(l.GigabyteSeconds)) {
			c.number(field+".lambda.gigabyteSecond."+name, l.GigabyteSeconds[name])
		}
		if _, ok := l.GigabyteSeconds[architecture]; !ok && architecture != "" {
			c.wrong(field+".lambda.gigabyteSecond."+architecture, "is missing, although functions.architecture names it")
		}
		c.source(field+".lambda", l.Source)
	}
}

// plain is the form of an exact and short number.
var plain = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,12})?$`)

func (c *checker) number(field string, a Amount) {
	switch {
	case !a.Known():
		c.wrong(field, "is missing")
	case !plain.MatchString(a.text):
		c.wrong(field, "must be a number such as 0.67, not negative and without an exponent, is %s", a.text)
	}
}

func (c *checker) whole(field string, a Amount, least, most int64) {
	c.number(field, a)
	if r := a.Rat(); plain.MatchString(a.text) && (!r.IsInt() || r.Cmp(big.NewRat(least, 1)) < 0 || r.Cmp(big.NewRat(most, 1)) > 0) {
		c.wrong(field, "must be a whole number from %d to %d, is %s", least, most, a.text)
	}
}

func (c *checker) source(field string, s Source) {
	if s.Source == "" {
		c.wrong(field+".source", "is missing: set it to the page that has these numbers")
	}
	if _, err := time.Parse(time.DateOnly, s.Date); err != nil {
		c.wrong(field+".date", "must be a day such as 2026-09-11, is %q", s.Date)
	}
}
