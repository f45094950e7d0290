package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
)

// The services that are paid for.
const (
	dynamo = "DynamoDB"
	queues = "SQS"
	lambda = "Lambda"
)

var services = []string{dynamo, queues, lambda}

var million = big.NewRat(1_000_000, 1)

// used counts what is paid for.
type used struct {
	reads, writes   float64       // DynamoDB's request units
	queued          int           // requests to the queue about messages
	idle            time.Duration // through which Lambda asks the queue for messages
	ingests, worker int           // invocations
}

// usedBy is what a replay would have used.
func usedBy(t *Tally) used {
	return used{
		reads: t.Costs.All.RCU, writes: t.Costs.All.WCU,
		queued: t.queueRequests(), idle: t.Last.Sub(t.First), ingests: t.Posts, worker: t.Deliveries,
	}
}

// queueRequests are a send for what came in, for each job and for each dead letter,
// a receive for each delivery, a delete for each that does not come back, and two for
// the depth at every full hour.
func (t *Tally) queueRequests() int {
	sends := t.Dispositions[ingest.Enqueued] + t.Dispositions[ingest.Refused] + t.Jobs + sum(t.Poison) + t.Buried
	return sends + t.Deliveries + (t.Deliveries - t.CameBack + t.Buried) + 2*t.Became["job "+job.Hourly]
}

// usedByMessages is what messages of the given kinds used: each was posted once,
// and sent, received and deleted once.
func usedByMessages(kinds ...*KindCost) (u used, messages int) {
	for _, k := range kinds {
		u.reads, u.writes = u.reads+k.All.RCU, u.writes+k.All.WCU
		messages += k.Deliveries
	}
	u.queued, u.ingests, u.worker = 3*messages, messages, messages
	return u, messages
}

// meter is something that is counted and has a price.
type meter struct {
	service, what string
	count         *big.Rat
	price         *big.Rat // dollars for one; nil if the file has none
}

// meters lists what was used with its prices.
func meters(u used, f prices.File, region prices.Region) []meter {
	var reads, writes, requests, fair, invocations, seconds *big.Rat
	if p := region.DynamoDB; p != nil {
		reads, writes = p.Reads.Each(), p.Writes.Each()
	}
	if p := region.SQS; p != nil {
		requests = p.Requests.Each()
		if p.Fair.Known() {
			fair = p.Fair.Each()
		}
	}
	if p := region.Lambda; p != nil {
		invocations, seconds = p.Requests.Each(), p.GigabyteSeconds[f.Functions.Architecture].Rat()
	}
	return []meter{
		{dynamo, "read units", new(big.Rat).SetFloat64(u.reads), reads},
		{dynamo, "write units", new(big.Rat).SetFloat64(u.writes), writes},
		{queues, "requests", whole(u.queued), requests},
		{queues, "fair queueing", whole(u.queued), fair},
		{queues, "empty polls", emptyPolls(u.idle, f.Polling), requests},
		{lambda, "requests", whole(u.ingests + u.worker), invocations},
		{lambda, "GB-seconds", gigabyteSeconds(u, f.Functions), seconds},
	}
}

func whole(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

// emptyPolls is the most that there can be: the polls of a queue that is always
// empty.
func emptyPolls(idle time.Duration, p prices.Polling) *big.Rat {
	rounds := new(big.Rat).Quo(big.NewRat(int64(idle), int64(time.Second)), p.Seconds.Rat())
	ended := new(big.Int).Quo(rounds.Num(), rounds.Denom())
	return new(big.Rat).Mul(new(big.Rat).SetInt(ended), p.Connections.Rat())
}

func gigabyteSeconds(u used, f prices.Functions) *big.Rat {
	ms := new(big.Rat).Mul(whole(u.ingests), f.Ingest.Rat())
	ms.Add(ms, new(big.Rat).Mul(whole(u.worker), f.Worker.Rat()))
	return ms.Mul(ms, new(big.Rat).Quo(f.MemoryMB.Rat(), big.NewRat(1000*1024, 1)))
}

// sums adds up what meters cost, by service. It leaves out meters without a
// price.
func sums(list []meter) (by map[string]*big.Rat, all *big.Rat) {
	by, all = map[string]*big.Rat{}, new(big.Rat)
	for _, m := range list {
		if cost := times(m.price, m.count); cost != nil {
			by[m.service] = new(big.Rat).Add(cmp.Or(by[m.service], new(big.Rat)), cost)
			all.Add(all, cost)
		}
	}
	return by, all
}

// allOf names the sum of the meters that have prices.
func allOf(list []meter) string {
	missing := unpriced(list)
	if len(missing) == 0 {
		return "all"
	}
	return "all but " + strings.Join(missing, ", ")
}

// unpriced names what the sums leave out: a service, or a part of a service that
// has prices for other parts.
func unpriced(list []meter) (missing []string) {
	for _, service := range services {
		var all, without []string
		for _, m := range list {
			if m.service == service {
				all = append(all, service+" "+m.what)
				if m.price == nil {
					without = append(without, service+" "+m.what)
				}
			}
		}
		if len(without) == len(all) {
			without = []string{service}
		}
		missing = append(missing, without...)
	}
	return missing
}

// times multiplies; it returns nil for a nil price.
func times(price, count *big.Rat) *big.Rat {
	if price == nil {
		return nil
	}
	return new(big.Rat).Mul(price, count)
}

// money writes what the run would have cost, and what a million messages would.
func (p *printer) money(f Facts) {
	if f.Prices == nil {
		return
	}
	p.title("What it would cost in money, in " + f.Region)
	region, ok := f.Prices.Regions[f.Region]
	if !ok {
		p.printf("Not priced: the file of prices has no region %s. It has %s.\n",
			f.Region, strings.Join(slices.Sorted(maps.Keys(f.Prices.Regions)), ", "))
		return
	}
	p.run(f, region)
	p.millions(f, region)
	p.basis(f, region)
}

// models writes what models were asked, and what their tokens cost. No other sum
// includes that, because it is not paid to AWS.
func (p *printer) models(f Facts) {
	for _, name := range slices.Sorted(maps.Keys(f.Tally.Models)) {
		m := f.Tally.Models[name]
		p.title("What the model was asked: " + name)
		p.printf("%5d  deliveries asked it, by %s\n%5d  got an earlier delivery's answer, without tokens\n%5d  fell back to the vocabulary\n",
			m.Asked, number(m.Requests, "request"), m.Replayed, m.FellBack)
		p.printf("Tokens: %d in, %d out. ", m.In, m.Out)
		if f.Prices == nil {
			p.printf("\n")
			continue
		}
		price, priced := f.Prices.Models[name]
		if !priced {
			p.printf("The file of prices has no model of that name.\n")
			continue
		}
		cost := new(big.Rat).Add(times(price.In.Each(), new(big.Rat).SetInt64(m.In)), times(price.Out.Each(), new(big.Rat).SetInt64(m.Out)))
		p.printf("They cost %s, which is %s for a million questions; a million tokens cost $%s in and $%s out, as of %s (%s). It is in no sum below.\n",
			prices.Dollars(cost), prices.Dollars(times(cost, new(big.Rat).Quo(million, whole(max(m.Asked, 1))))),
			decimal(price.In.Rat(), 12), decimal(price.Out.Rat(), 12), price.Date, price.Source.Source)
	}
}

// run writes what the replay used and what that costs.
func (p *printer) run(f Facts, region prices.Region) {
	list := meters(usedBy(f.Tally), *f.Prices, region)
	by, all := sums(list)
	p.table(true, func(w io.Writer) {
		fmt.Fprintf(w, "this run\tused\ta million\tcost\t\n")
		for _, m := range list {
			fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\t\n", m.service, m.what, decimal(m.count, 3), listed(m.price), prices.Dollars(times(m.price, m.count)))
		}
		for _, service := range services {
			fmt.Fprintf(w, "%s\t\t\t%s\t\n", service, prices.Dollars(by[service]))
		}
		fmt.Fprintf(w, "%s\t\t\t%s\t\n", allOf(list), prices.Dollars(all))
	})
	polling := f.Prices.Polling
	month := emptyPolls(30*24*time.Hour, polling)
	p.printf("\nEmpty polls come whatever is sent: of %s connections, one each in %s s. They are those of the updates' time; a month of 30 days has %s",
		decimal(polling.Connections.Rat(), 0), decimal(polling.Seconds.Rat(), 0), decimal(month, 0))
	if region.SQS != nil {
		p.printf(", %s", prices.Dollars(times(region.SQS.Requests.Each(), month)))
	}
	p.printf(".\nFair queueing: SQS takes that besides for messages in groups, here chats. It is counted on every request.\n")
	if n := f.Tally.Costs.All.Unpriced; n > 0 {
		p.printf("DynamoDB's part lacks %d requests whose cost this endpoint did not tell.\n", n)
	}
}

// millions writes what a million messages cost, of each kind and in this mix.
func (p *printer) millions(f Facts, region prices.Region) {
	c := f.Tally.Costs
	var classified []*KindCost
	var dearest string
	most := new(big.Rat)
	p.printf("\n")
	p.table(true, func(w io.Writer) {
		fmt.Fprintf(w, "a million\tin this run\t%s\t%s\t\n", strings.Join(services, "\t"), allOf(meters(used{}, *f.Prices, region)))
		for _, kind := range slices.Sorted(maps.Keys(c.ByKind)) {
			k := c.ByKind[kind]
			if !k.Classified {
				continue
			}
			classified = append(classified, k)
			if cost := perMillion(w, kind, *f.Prices, region, k); cost.Cmp(most) > 0 {
				most, dearest = cost, kind
			}
		}
		perMillion(w, "classified", *f.Prices, region, classified...)
	})
	p.printf("\nClassified: the classifier was asked about the message, on its first delivery, and nothing failed. The last row is the mix of this run.\n")
	p.printf("Each is a request to the webhook, a delivery, and three requests to the queue: send, receive, delete. One of over 64 KB would count as several, here it is one. Empty polls come on top.\n")
	if dearest != "" {
		p.printf("The dearest kind: %s, %s a million.\n", dearest, prices.Dollars(most))
	}
}

// perMillion writes a row and returns its sum.
func perMillion(w io.Writer, name string, f prices.File, region prices.Region, kinds ...*KindCost) *big.Rat {
	u, messages := usedByMessages(kinds...)
	by, all := sums(meters(u, f, region))
	scale := new(big.Rat).Quo(million, whole(max(messages, 1)))
	fmt.Fprintf(w, "%s\t%d\t", name, messages)
	for _, service := range services {
		fmt.Fprintf(w, "%s\t", prices.Dollars(times(by[service], scale)))
	}
	sum := times(all, scale)
	fmt.Fprintf(w, "%s\t\n", prices.Dollars(sum))
	return sum
}

// basis writes what the figures rest on and what they leave out.
func (p *printer) basis(f Facts, region prices.Region) {
	sources := map[string]prices.Source{}
	if s := region.DynamoDB; s != nil {
		sources[dynamo] = s.Source
	}
	if s := region.SQS; s != nil {
		sources[queues] = s.Source
	}
	if s := region.Lambda; s != nil {
		sources[lambda] = s.Source
	}
	var dated []string
	for _, service := range services {
		s, ok := sources[service]
		switch {
		case ok && strings.HasPrefix(s.Source, "https://"):
			dated = append(dated, service+" of "+s.Date)
		case ok: // the source is not a page: the reader should know
			dated = append(dated, fmt.Sprintf("%s of %s (%s)", service, s.Date, s.Source))
		}
	}
	p.printf("\nPrices, first tier: %s.\n", cmp.Or(strings.Join(dated, ", "), "none"))
	if missing := unpriced(meters(used{}, *f.Prices, region)); len(missing) > 0 {
		p.printf("Not priced, and in no sum: %s. The file of prices has none for %s.\n", strings.Join(missing, ", "), f.Region)
	}
	fn := f.Prices.Functions
	p.printf("Lambda: %s MB on %s, %s ms a request to the webhook and %s ms a delivery. Measured on %s: %s.\n",
		decimal(fn.MemoryMB.Rat(), 0), fn.Architecture, decimal(fn.Ingest.Rat(), 3), decimal(fn.Worker.Rat(), 3), fn.Date, fn.Source.Source)
	p.printf("Left out: the free tier, storage, backups, logs, data transfer, KMS, the alarm, an HTTP API in place of the function's URL, cold starts, and a model if the classifier asks one.\n")
}

// listed is the price of a million, as in the price list.
func listed(price *big.Rat) string {
	if price == nil {
		return "-"
	}
	return "$" + decimal(times(price, million), 12)
}

// decimal writes a number with at most so many places.
func decimal(r *big.Rat, places int) string {
	text := r.FloatString(places)
	if places == 0 {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
