package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Facts are what a report is written from.
type Facts struct {
	Where  string // which DynamoDB
	Zone   tzclock.Zone
	Tally  *Tally
	Stored Stored
	Dead   []queue.Message
}

// printer writes lines and remembers the first error.
type printer struct {
	w     io.Writer
	zone  tzclock.Zone
	names map[string]string // of people and chats, by id: no two are the same
	err   error
}

// told merges names so that each one is unique.
func told(names ...map[string]string) map[string]string {
	all, bearers := map[string]string{}, map[string]int{}
	for _, some := range names {
		for id, name := range some {
			all[id] = cmp.Or(name, all[id], id)
		}
	}
	for _, name := range all {
		bearers[name]++
	}
	for id, name := range all {
		if bearers[name] > 1 {
			all[id] = fmt.Sprintf("%s (%s)", name, id)
		}
	}
	return all
}

// name is the name of a person or a chat; a private chat has the name of its
// person.
func (p *printer) name(id string) string { return cmp.Or(p.names[id], id) }

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
	p := &printer{w: w, zone: f.Zone, names: told(f.Tally.people, f.Stored.People)}
	if f.Tally.Updates == 0 {
		p.printf("No updates.\n")
		return p.err
	}
	p.printf("%d updates, %s to %s, on %s\n", f.Tally.Updates, p.time(f.Tally.First), p.time(f.Tally.Last), f.Where)
	p.printf("The clock goes by their dates, and never back: over an hour late %d, dated ahead of the present %d.\n", f.Tally.Late, f.Tally.Unbelieved)
	p.updates(f.Tally)
	p.worker(f.Tally)
	p.dead(f)
	p.stored(f.Stored)
	p.exchanges(f.Tally)
	p.silent(f.Tally)
	p.costs(f.Tally.Costs)
	if m := f.Tally.Model; m.Requests > 0 {
		p.title("What the model was asked")
		p.printf("%d requests, %d tokens in, %d out; %d times the vocabulary answered instead\n", m.Requests, m.In, m.Out, f.Tally.FellBack)
	}
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
}

func (p *printer) more(all, listed int) {
	if all > listed {
		p.printf("and %d more\n", all-listed)
	}
}

func (p *printer) worker(t *Tally) {
	p.title("What the worker did with the queue")
	p.counts("deliveries", t.Became)
	p.counts("refused for good, and why", t.Poison)
	p.counts("skipped on a last delivery", t.Skipped)
}

func sum(of map[string]int) (n int) {
	for _, one := range of {
		n += one
	}
	return n
}

// counts writes a sum and, below it, what it consists of.
func (p *printer) counts(title string, of map[string]int) {
	p.printf("%5d  %s\n", sum(of), title)
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
				of = append(of, fmt.Sprintf("%d past their time, which DynamoDB deletes within days", t.Expired))
			}
			fmt.Fprintf(w, "%s\t%d rows\t%s\n", t.Name, t.Rows, strings.Join(of, ", "))
		}
	})
	p.title("Who did what")
	if len(s.Activities) == 0 {
		p.printf("nobody did anything\n")
	}
	p.activities(s.Activities)
}

// activities writes a column for each person and a row for each activity.
func (p *printer) activities(of map[Done]int) {
	names, total, all := map[string]int{}, map[string]int{}, 0
	for done, n := range of {
		names[done.Name] += n
		total[done.Actor] += n
		all += n
	}
	people := slices.SortedFunc(maps.Keys(total), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.name(a), p.name(b)), cmp.Compare(a, b))
	})
	p.table(true, func(w io.Writer) {
		fmt.Fprintf(w, "\t")
		for _, person := range people {
			fmt.Fprintf(w, "%s\t", p.name(person))
		}
		fmt.Fprintf(w, "all\t\n")
		for _, name := range slices.Sorted(maps.Keys(names)) {
			fmt.Fprintf(w, "%s\t", name)
			for _, person := range people {
				fmt.Fprintf(w, "%d\t", of[Done{person, name}])
			}
			fmt.Fprintf(w, "%d\t\n", names[name])
		}
		fmt.Fprintf(w, "all\t")
		for _, person := range people {
			fmt.Fprintf(w, "%d\t", total[person])
		}
		fmt.Fprintf(w, "%d\t\n", all)
	})
}

func (p *printer) exchanges(t *Tally) {
	for _, topic := range topics {
		some := t.Exchanges[topic.title]
		if some.All == 0 {
			continue
		}
		p.title(topic.title)
		for _, e := range some.List {
			said := ""
			if e.Person != "" {
				said = p.name(e.Person) + ": " + oneLine(e.Said, 70) + "\n                      "
			}
			p.printf("%s  %s→ %s\n", p.time(e.At), said, strings.ReplaceAll(e.Answer, "\n", "\n                        "))
		}
		p.more(some.All, len(some.List))
	}
}

func (p *printer) silent(t *Tally) {
	p.title("What the bot said, and why not")
	p.printf("%5d  sent\n", t.Sent)
	p.counts("not sent", t.Silent)
}

func (p *printer) costs(c Costs) {
	p.title("What it cost: by table")
	p.table(true, func(w io.Writer) {
		fmt.Fprintf(w, "\trequests\tRCU\tWCU\t\n")
		for _, name := range slices.Sorted(maps.Keys(c.All.ByTable)) {
			fmt.Fprintf(w, "%s\t%d\t%g\t%g\t\n", name, c.All.RequestsByTable[name], c.All.ByTable[name].RCU, c.All.ByTable[name].WCU)
		}
		fmt.Fprintf(w, "all\t%d\t%g\t%g\t\n", c.All.Requests, c.All.RCU, c.All.WCU)
	})
	if c.All.Unpriced > 0 {
		p.printf("and %d requests whose cost this endpoint did not tell\n", c.All.Unpriced)
	}
	p.title("What it cost: by kind of message, for one delivery")
	p.table(true, func(w io.Writer) {
		fmt.Fprintf(w, "\t\ton average\t\t\tat most\t\t\t\n")
		fmt.Fprintf(w, "\tdeliveries\trequests\tRCU\tWCU\trequests\tRCU\tWCU\t\n")
		for _, kind := range slices.Sorted(maps.Keys(c.ByKind)) {
			k := c.ByKind[kind]
			fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%d\t%g\t%g\t\n", kind, k.Deliveries,
				mean(float64(k.All.Requests), k.Deliveries), mean(k.All.RCU, k.Deliveries), mean(k.All.WCU, k.Deliveries),
				k.Most.Requests, k.Most.RCU, k.Most.WCU)
		}
	})
}

// oneLine shortens a text to what fits, without line breaks.
func oneLine(text string, limit int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return string(runes)
}

// Stored is what the tables hold.
type Stored struct {
	Tables     []Table
	Activities map[Done]int
	People     map[string]string // actor → what they are called, as of their latest activity
}

// Table is what one table holds.
type Table struct {
	Name    string
	Rows    int
	Types   map[string]int // by the attribute "type", in a table shared by several
	Expired int            // past their time to live, on the updates' clock
}

// Done is who did what.
type Done struct{ Actor, Name string }

// Read reads the tables. The activities are those of the chats in the tally.
func Read(ctx context.Context, a *app.App, db *dynamodb.Client, t *Tally, now time.Time) (Stored, error) {
	definitions, err := schema.Merge(a.Tables(true)...)
	if err != nil {
		return Stored{}, err
	}
	s := Stored{Activities: map[Done]int{}, People: map[string]string{}}
	for _, definition := range definitions {
		table, err := readTable(ctx, db, definition, now)
		if err != nil {
			return Stored{}, fmt.Errorf("reading table %s: %w", definition.Name, err)
		}
		s.Tables = append(s.Tables, table)
	}
	for _, scope := range slices.Sorted(maps.Keys(t.scopes)) {
		for done, err := range a.Activities.InScope(ctx, scope, activity.Range{}) {
			if err != nil {
				return Stored{}, err
			}
			s.Activities[Done{done.Actor, done.Name}]++
			s.People[done.Actor] = done.ActorName
		}
	}
	return s, nil
}

func readTable(ctx context.Context, db *dynamodb.Client, definition schema.Table, now time.Time) (Table, error) {
	table := Table{Name: definition.Name, Types: map[string]int{}}
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: aws.String(definition.Name)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return Table{}, err
		}
		for _, item := range page.Items {
			table.Rows++
			if kind, ok := item["type"].(*types.AttributeValueMemberS); ok && definition.Key.Partition.Name == "pk" {
				table.Types[kind.Value]++
			}
			if ttl, ok := item[definition.TTL].(*types.AttributeValueMemberN); ok {
				if at, err := strconv.ParseInt(ttl.Value, 10, 64); err == nil && at <= now.Unix() {
					table.Expired++
				}
			}
		}
	}
	return table, nil
}
