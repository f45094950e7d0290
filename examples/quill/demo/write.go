package demo

import (
	"fmt"
	"io"
	"math/big"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
)

// Write writes the report for people. The report of a replay in order is always the
// same.
func (r *Report) Write(out io.Writer) error {
	p := &printer{}
	p.printf("quill: %d requests of Aloware and HubSpot over HTTP, from %s to %s\n%s; Power BI played here\n",
		r.Requests, stream.Start.Format(time.DateTime), r.Last.Format(time.DateTime), r.Where)
	r.events(p)
	r.posts(p)
	r.stored(p)
	r.costs(p)
	r.verdict(p)
	_, err := io.WriteString(out, p.String())
	return err
}

type printer struct{ strings.Builder }

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

// table writes a title and lines with tabs between their columns.
func (p *printer) table(title string, lines ...string) {
	p.printf("\n%s\n", title)
	w := tabwriter.NewWriter(&p.Builder, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintf(w, "  %s\n", line)
	}
	_ = w.Flush() // writing to a Builder never fails
}

// line returns a number and what it counts.
func line(name string, n int, note string, args ...any) string {
	return strings.TrimRight(fmt.Sprintf("%s\t%7d\t", name, n)+fmt.Sprintf(note, args...), "\t ")
}

func (r *Report) events(p *printer) {
	e := r.Events
	p.table("Events",
		line("received", e.Received, "new + duplicate + refused + waiting + ignored = %d", e.New+e.Duplicate+e.Refused+e.Waiting+e.Ignored),
		line("new", e.New, "facts, each durable before the answer 200"),
		line("duplicate", e.Duplicate, ""),
		line("  old", e.Old, "the pipeline before quill took them"),
		line("  later", e.Later, "another status of a call that is counted"),
		line("refused", e.Refused, "unreadable, and kept"),
		line("waiting", e.Waiting, "calls that have not ended"),
		line("  unstored", e.Unstored, "answered 503: they come again"),
		line("ignored", e.Ignored, "they carry no fact, and are not kept"),
		line("forged", r.Events.Forged, "requests, answered 401: nothing is read of them"),
		line("sent again", r.Again, "requests, for want of an answer"),
	)
}

func (r *Report) posts(p *printer) {
	f := r.Facts
	p.table("Facts to Power BI",
		line("posted", f.Posted, "in %d turns of a poster, of which %d ended in a crash, with %d posts", r.Turns+r.Ended, r.Ended, f.Posts),
		line("asked", f.Asked, "questions for what Power BI has of a batch, after a lost reply or a crash"),
		line("recovered", f.Recovered, "facts that it had: marked, not posted again"),
		line("reposted", f.Reposted, "facts, without asking"),
		line("waiting", r.Stored.Pending, "to be posted"),
		line("dimension rows", f.DimensionRows, "changes of contacts and deals"),
		line("  reposted", f.RowsReposted, "without asking, where a second row says the same"),
		line("texts cut", f.Cut, ""),
	)
}

func (r *Report) stored(p *printer) {
	s := r.Stored
	lines := []string{
		line("ledger", s.Marks, "deliveries, beside %d rows of the pipeline before", s.Older),
		line("outbox", s.Facts, "facts"),
		line("", s.Known, "contacts and deals"),
		line("", s.Refusals, "refused events that differ"),
	}
	for _, t := range s.Tables {
		if isFacts(t.Name) {
			lines = append(lines, line(t.Name, t.Rows, "rows in Power BI with %d keys, %d of them twice", t.Keys, t.Twice))
			continue
		}
		lines = append(lines, line(t.Name, t.Rows, "rows in Power BI of %d", t.Keys))
	}
	p.table("What stands in the end", lines...)
}

func (r *Report) costs(p *printer) {
	cost := func(name string, c Cost) string {
		return fmt.Sprintf("%s\t%d\t%.10g\t%.10g\t%s", name, c.Requests, c.RCU, c.WCU, r.dollars(c))
	}
	both := Cost{Requests: r.Intake.Requests + r.Posting.Requests}
	both.RCU, both.WCU = r.Intake.RCU+r.Posting.RCU, r.Intake.WCU+r.Posting.WCU
	p.table("DynamoDB, on demand in "+r.Region,
		"\trequests\tread units\twrite units\t", cost("webhooks", r.Intake), cost("posting", r.Posting), cost("all", both))
	if prices := r.Prices.Regions[r.Region].DynamoDB; prices != nil {
		p.printf("  at the list prices of %s\n", prices.Date)
	}
}

// dollars returns what units cost, to a millionth.
func (r *Report) dollars(c Cost) string {
	list := r.Prices.Regions[r.Region].DynamoDB
	if list == nil {
		return "no price"
	}
	part := func(units float64, perMillion *big.Rat) *big.Rat {
		count := new(big.Rat)
		count.SetFloat64(units)
		return count.Mul(count, perMillion).Quo(count, big.NewRat(1_000_000, 1))
	}
	sum := part(c.RCU, list.Reads.Rat())
	return "$" + sum.Add(sum, part(c.WCU, list.Writes.Rat())).FloatString(6)
}

func (r *Report) verdict(p *printer) {
	if r.OK() {
		p.printf("\nAll adds up: what was answered, what is in the ledger, in the outbox and in Power BI is what was sent.\n")
		return
	}
	p.printf("\n%d things DO NOT ADD UP:\n", r.WrongAll)
	for _, w := range r.Wrong {
		p.printf("  %s\n", w)
	}
}
