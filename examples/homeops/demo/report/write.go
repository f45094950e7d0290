package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Facts are what a report is written from.
type Facts struct {
	Where  string       // which DynamoDB
	Region string       // which prices
	Prices *prices.File // nil for a report without money
	Zone   tzclock.Zone
	Tally  *Tally
	Stored Stored
	Dead   []queue.Message
}

// printer writes lines and remembers the first error.
type printer struct {
	w    io.Writer
	zone tzclock.Zone
	err  error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) title(text string) {
	p.printf("\n%s\n%s\n", text, strings.Repeat("─", len([]rune(text))))
}

func (p *printer) time(t time.Time) string {
	return t.In(p.zone.Location()).Format("Mon 2006-01-02 15:04")
}

// table aligns the columns of lines, whose cells end in tabs. Numbers
// stand on the right.
func (p *printer) table(numbers bool, lines func(w io.Writer)) {
	flags := uint(0)
	if numbers {
		flags = tabwriter.AlignRight
	}
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', flags)
	lines(w)
	w.Flush() // into memory
	for line := range strings.Lines(aligned.String()) {
		p.printf("%s\n", strings.TrimRight(line, " \n"))
	}
}

// Write writes the report. The same facts give the same bytes.
func Write(w io.Writer, f Facts) error {
	p := &printer{w: w, zone: f.Zone}
	if f.Tally.Updates == 0 {
		p.printf("No updates.\n")
		return p.err
	}
	p.printf("%d updates, %s to %s, on %s\n", f.Tally.Updates, p.time(f.Tally.First), p.time(f.Tally.Last), f.Where)
	p.printf("The clock goes by their dates, and never back: over an hour late %d, dated ahead of the present %d.\n", f.Tally.Late, f.Tally.Unbelieved)
	p.updates(f.Tally)
	p.edits(f.Tally.Edits)
	p.worker(f.Tally)
	p.dead(f)
	p.stored(f.Stored)
	p.exchanges(f.Tally)
	p.silent(f.Tally)
	p.habit(f.Stored)
	p.costs(f.Tally.Costs)
	p.money(f)
	return p.err
}

func (p *printer) updates(t *Tally) {
	p.title("What the webhook did with the updates")
	for _, d := range []ingest.Disposition{ingest.Enqueued, ingest.Ignored, ingest.Refused, ingest.Denied, ingest.Failed} {
		p.printf("%5d  %s\n", t.Dispositions[d], d)
		reasons := slices.SortedFunc(maps.Keys(t.Reasons), func(a, b Reason) int { return cmp.Compare(a.Why, b.Why) })
		for _, reason := range reasons {
			if reason.Disposition == d {
				p.printf("       %5d  %s\n", t.Reasons[reason], oneLine(reason.Why, 90))
			}
		}
	}
	if repeated := t.Posts - t.Updates; repeated > 0 {
		p.printf("%5d  repeated, as they were not acknowledged; %d given up on after a day\n", repeated, t.Given)
	}
}

func (p *printer) edits(edits Some[Edit]) {
	p.title("Edits: acknowledged, the stored rows stay as they were")
	if edits.All == 0 {
		p.printf("none\n")
	}
	p.table(false, func(w io.Writer) {
		for _, e := range edits.List {
			fmt.Fprintf(w, "%s\tchat %d\tmessage %d\tnow %s\n", p.time(e.At), e.Chat, e.Message, oneLine(e.Text, 50))
		}
	})
	p.more(edits.All, len(edits.List))
}

func (p *printer) more(all, listed int) {
	if all > listed {
		p.printf("and %d more\n", all-listed)
	}
}

func (p *printer) worker(t *Tally) {
	p.title("What the worker did with the queue")
	p.printf("%5d  deliveries\n", t.Deliveries)
	p.printf("%5d  messages saved\n", t.Saved)
	p.printf("%5d  messages that were saved already\n", t.Again)
	p.printf("%5d  deliveries that failed and came back\n", t.CameBack)
	p.counts("steps skipped on a last delivery", t.Skipped)
	p.counts("refused for good", t.Poison)
}

// counts writes a sum and, below it, what it consists of.
func (p *printer) counts(title string, of map[string]int) {
	sum := 0
	for _, n := range of {
		sum += n
	}
	p.printf("%5d  %s\n", sum, title)
	for _, what := range slices.Sorted(maps.Keys(of)) {
		p.printf("       %5d  %s\n", of[what], oneLine(what, 90))
	}
}

func (p *printer) dead(f Facts) {
	p.title("The dead-letter queue")
	if len(f.Dead) == 0 {
		p.printf("empty\n")
	}
	for _, m := range f.Dead[:min(len(f.Dead), kept)] {
		p.printf("%s", m.ID)
		if chat := m.Attributes[queue.ChatID]; chat != "" {
			p.printf("  chat %s, message %s", chat, m.Attributes[queue.MessageID])
		}
		body, _ := m.Content()
		p.printf("\n    why:  %s\n    body: %s\n", oneLine(m.Why(), 110), oneLine(string(body), 110))
	}
	p.more(len(f.Dead), min(len(f.Dead), kept))
}

func (p *printer) stored(s Stored) {
	p.title("What stands in the tables")
	p.table(false, func(w io.Writer) {
		for _, t := range s.Tables {
			var of []string
			for _, kind := range slices.Sorted(maps.Keys(t.Types)) {
				of = append(of, fmt.Sprintf("%d %s", t.Types[kind], kind))
			}
			if t.Expired > 0 {
				of = append(of, fmt.Sprintf("%d have expired by now: DynamoDB deletes them within days", t.Expired))
			}
			fmt.Fprintf(w, "%s\t%d rows\t%s\n", t.Name, t.Rows, strings.Join(of, ", "))
		}
	})
	p.title("Who did what")
	if len(s.Activities) == 0 {
		p.printf("nobody did anything\n")
		return
	}
	p.activities(s)
}

// activities writes a column for each person and a row for each activity.
func (p *printer) activities(s Stored) {
	people := slices.SortedFunc(maps.Keys(s.People), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.People[a], s.People[b]), cmp.Compare(a, b))
	})
	names, total := map[string]int{}, map[string]int{}
	for done, n := range s.Activities {
		names[done.Name] += n
		total[done.Actor] += n
	}
	p.table(true, func(w io.Writer) {
		fmt.Fprintf(w, "\t")
		for _, person := range people {
			fmt.Fprintf(w, "%s\t", s.People[person])
		}
		fmt.Fprintf(w, "all\t\n")
		sum := 0
		for _, name := range slices.Sorted(maps.Keys(names)) {
			fmt.Fprintf(w, "%s\t", name)
			for _, person := range people {
				fmt.Fprintf(w, "%d\t", s.Activities[Done{person, name}])
			}
			fmt.Fprintf(w, "%d\t\n", names[name])
			sum += names[name]
		}
		fmt.Fprintf(w, "all\t")
		for _, person := range people {
			fmt.Fprintf(w, "%d\t", total[person])
		}
		fmt.Fprintf(w, "%d\t\n", sum)
	})
}

var topicTitles = [topics]string{
	AskedWho:   "Who did it last?",
	AskedWhen:  "When did somebody last do it?",
	AskedOften: "How often this week?",
	Taught:     "Words and names that people taught",
	Unsure:     "What the bot was unsure about",
}

func (p *printer) exchanges(t *Tally) {
	for topic := range topics {
		some := t.Questions[topic]
		p.title(topicTitles[topic])
		if some.All == 0 {
			p.printf("nothing yet\n")
		}
		for _, e := range some.List {
			p.printf("%s  %s: %s\n                      → %s\n", p.time(e.At), e.Person, oneLine(e.Said, 70), e.Answer)
		}
		p.more(some.All, len(some.List))
	}
}

func (p *printer) silent(t *Tally) {
	p.title("What the bot said, and why not")
	p.printf("%5d  messages sent\n", t.Sent)
	p.counts("times it kept silent", t.Silent)
}

func (p *printer) costs(c Costs) {
	p.title("What it cost: by table")
	p.table(true, func(w io.Writer) {
		fmt.Fprintf(w, "\trequests\tRCU\tWCU\t\n")
		var all TableCost
		for _, name := range slices.Sorted(maps.Keys(c.ByTable)) {
			t := c.ByTable[name]
			fmt.Fprintf(w, "%s\t%d\t%g\t%g\t\n", name, t.Requests, t.RCU, t.WCU)
			all.Requests, all.RCU, all.WCU = all.Requests+t.Requests, all.RCU+t.RCU, all.WCU+t.WCU
		}
		fmt.Fprintf(w, "all\t%d\t%g\t%g\t\n", all.Requests, all.RCU, all.WCU)
	})
	if c.Unpriced > 0 {
		p.printf("and %d requests whose cost this endpoint did not tell\n", c.Unpriced)
	}
	p.title("What it cost: by kind of message, for one delivery")
	p.table(true, func(w io.Writer) {
		fmt.Fprintf(w, "\t\ton average\t\t\tat most\t\t\tround\t\n")
		fmt.Fprintf(w, "\tdeliveries\trequests\tRCU\tWCU\trequests\tRCU\tWCU\ttrips\t\n")
		for _, kind := range slices.Sorted(maps.Keys(c.ByKind)) {
			k := c.ByKind[kind]
			fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%d\t%g\t%g\t%d\t\n", kind, k.Deliveries,
				mean(float64(k.All.Requests), k.Deliveries), mean(k.All.RCU, k.Deliveries), mean(k.All.WCU, k.Deliveries),
				k.Most.Requests, k.Most.RCU, k.Most.WCU, k.Trips)
		}
	})
	p.printf("\nRound trips: the longest chain of requests of which each waited for the answer to the one before.\n")
}

// oneLine shortens a text to what fits, without line breaks.
func oneLine(text string, limit int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return string(runes)
}
